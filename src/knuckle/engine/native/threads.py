"""Threads over the states of a batch. Every state is computed by itself, so their number changes no digit."""

from __future__ import annotations

import contextlib
import operator
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from knuckle.public_names import public_in

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

LEAST = 1024
"""States that make a thread worth its while."""


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Threads:
    """The number of threads, and the pool of them, which is made when it is first needed."""

    def __init__(self) -> None:
        self.count = _cores()
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """No pool: the threads of a process do not come along when it forks."""
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def set(self, count: int) -> None:
        with self._lock:  # the old pool ends with the last call that uses it
            self.count, self._pool = count, None

    def pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="knuckle")
            return self._pool


_threads = _Threads()


@public_in("compilation")
def set_threads(count: int | None = None) -> None:
    """How many threads a batch is computed with: all cores unless said otherwise; None for that again.

    The results are the same, to the last bit, for any number.
    """
    try:
        number = _cores() if count is None else operator.index(count)
    except TypeError:
        number = 0
    if number < 1 or isinstance(count, bool):
        raise ValueError(f"the number of threads is a whole number from 1, not {count!r}")
    _threads.set(number)


@public_in("compilation")
def get_threads() -> int:
    """How many threads a batch is computed with."""
    return _threads.count


def in_parallel(size: int, width: int, work: Callable[[int, int], None]) -> None:
    """`work(start, end)` over 0 … size in pieces of whole vectors."""
    count = min(_threads.count, size // LEAST)
    if count <= 1:
        return work(0, size)
    step = -(-size // count)
    step = -(-step // width) * width
    bounds = [(start, min(start + step, size)) for start in range(0, size, step)]
    try:
        pieces = [_threads.pool().submit(work, *bound) for bound in bounds[1:]]
    except RuntimeError:  # the interpreter is shutting down, and starts no threads
        return work(0, size)
    work(*bounds[0])
    for piece in pieces:
        piece.result()


Piece = TypeVar("Piece")


def shared(pieces: Sequence[Piece], count: int, work: Callable[[Piece, threading.Event], None]) -> None:
    """`work` on every piece by `count` threads, each of which takes the next one.

    If one fails or is interrupted, the event is set: the others leave off, and are waited for.
    """
    rest, stop = iter(pieces), threading.Event()  # threads may share an iterator over a sequence

    def take_turns() -> None:
        for piece in rest:
            if stop.is_set():
                return
            work(piece, stop)

    helpers: list[Future[None]] = []
    try:
        with contextlib.suppress(RuntimeError):  # the interpreter is shutting down, and starts no threads
            helpers += [_threads.pool().submit(take_turns) for _ in range(count - 1)]
        take_turns()
        for helper in helpers:
            helper.result()
    except BaseException:
        stop.set()
        raise
    finally:
        for helper in helpers:
            helper.cancel()
        for helper in helpers:
            if not helper.cancelled():
                helper.exception()
