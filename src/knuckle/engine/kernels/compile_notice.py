"""What takes long to compile is said in the terminal, and in a notebook."""

from __future__ import annotations

import contextlib
import sys
import threading
import time


class CompileNotice:
    """Says to those who wait what is being compiled, if it takes longer than half a second, and how long it took."""

    DELAY = 0.5

    def __init__(self, subject: str) -> None:
        self._subject, self._start, self._is_shown = subject.lstrip("_"), time.perf_counter(), False
        self._timer = threading.Timer(self.DELAY, self._begin)
        self._timer.daemon = True

    def _begin(self) -> None:
        self._is_shown = True
        self._show(f"knuckle: compiling {self._subject}, which is kept for the next time …")

    def _show(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    def __enter__(self) -> None:
        if _is_watched():
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._is_shown:
            self._show(f"knuckle: compiled {self._subject} in {time.perf_counter() - self._start:.1f} s")


def _is_watched() -> bool:
    """Whether somebody reads what is written to standard error: in a terminal, or in a notebook."""
    stream = sys.stderr
    if stream is None:  # pyright: ignore[reportUnnecessaryComparison]
        return False
    return type(stream).__module__.startswith("ipykernel") or stream.isatty()
