"""How far a long run is: a bar in a terminal, or a function of the user's; and Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

Progress: TypeAlias = bool | Callable[[float], Any] | None
"""None: a bar on long runs in a terminal. True: a bar at once. False: none. A function: called with the part done."""

PATIENCE = 1.0
"""Seconds before a bar appears."""
INTERVAL = 0.1
"""Seconds between two reports."""


class Reporter:
    """Says how far a run is, a few times in a second; nothing that it does touches the run."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._call = progress if callable(progress) else None
        is_seen = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]
        self._shows = progress is True or (progress is None and is_seen)
        self._patience = 0.0 if progress is True else PATIENCE
        self._what = what
        self._bar: Any = None
        self._task: Any = None
        self._started = self._last = time.monotonic()

    def report(self, part: float, note: str = "") -> None:
        """`part` of the run is done, between 0 and 1; a note is shown with it."""
        now = time.monotonic()
        if now - self._last < INTERVAL and part < 1:
            return
        self._last = now
        if self._call:
            self._call(part)
        elif self._bar is not None:
            self._bar.update(self._task, completed=part, description=self._what + note)
        elif self._shows and now - self._started >= self._patience and part < 1:
            self._open(part)

    def _open(self, part: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
        console = Console(stderr=True)
        self._bar = Progress(*columns, console=console, transient=console.is_terminal)
        self._task = self._bar.add_task(self._what, total=1.0, completed=part)
        self._bar.start()

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()


class Interrupt:
    """Whether Ctrl-C was pressed."""

    pressed = False


@contextlib.contextmanager
def interruptible() -> Generator[Interrupt]:
    """Ctrl-C sets a flag, so that a step is finished or not begun; a second one interrupts as usual.

    Only where Python's own handler is in place and in the main thread, which is the only one that may change it;
    elsewhere a KeyboardInterrupt comes as it always does.
    """
    flag = Interrupt()
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield flag
        return

    def pressed(number: int, frame: Any) -> None:
        if flag.pressed:
            raise KeyboardInterrupt
        flag.pressed = True

    signal.signal(signal.SIGINT, pressed)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
