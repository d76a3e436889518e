"""Whether the text of a kernel is running, and whether its scalars are of one state.

Where they are, an array of NumPy's is a vector or a matrix of constants. Elsewhere an array stands for one scalar, in
many states.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator


class _Inside(threading.local):
    depth = 0
    one_state = False


_inside = _Inside()
running_texts: list[None] = []
"""An entry for every text that is running in some thread. Lists change in one step, so that threads need no lock."""


def _after_fork() -> None:
    """In a forked process only the thread that forked goes on."""
    running_texts[:] = [None] * _inside.depth


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def inside_a_kernel(*, one_state: bool = True) -> Generator[None]:
    """While the text of a kernel runs, in this thread, on scalars of one state or possibly of many."""
    before = _inside.one_state
    _inside.depth += 1
    _inside.one_state = one_state or before
    running_texts.append(None)
    try:
        yield
    finally:
        running_texts.pop()
        _inside.depth -= 1
        _inside.one_state = before


def is_inside() -> bool:
    """Whether the text of a kernel is running."""
    return _inside.depth > 0


def is_of_one_state() -> bool:
    """Whether the text of a kernel is running on scalars of one state."""
    return _inside.one_state
