"""What takes long to compile is said in the terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
import time


class CompileNotice:
    """Says in the terminal what is being compiled, if it takes longer than a second, and how long it took."""

    DELAY = 1.0

    def __init__(self, subject: str) -> None:
        self._subject, self._start, self._is_shown = subject, time.perf_counter(), False
        self._timer = threading.Timer(self.DELAY, self._begin)
        self._timer.daemon = True

    def _begin(self) -> None:
        self._is_shown = True
        self._show(f"knuckle: compiling {self._subject} …")

    def _show(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    def __enter__(self) -> None:
        if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._is_shown:
            self._show(f"knuckle: compiled {self._subject} in {time.perf_counter() - self._start:.1f} s")
