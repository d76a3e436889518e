"""Threads over the states of a batch. Every state is computed by itself, so their number changes no digit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

LEAST = 1024
"""States that make a thread worth its while."""


class _Threads:
    def __init__(self) -> None:
        self.count = os.cpu_count() or 1
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def set(self, count: int) -> None:
        with self._lock:
            self.count, old, self._pool = count, self._pool, None
        if old is not None:
            old.shutdown(wait=False)

    def pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="knuckle")
            return self._pool


_threads = _Threads()


def set_threads(count: int | None = None) -> None:
    """How many threads a batch is computed with: all cores unless said otherwise; None for that again."""
    number = (os.cpu_count() or 1) if count is None else count
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"the number of threads is a whole number from 1, not {count!r}")
    _threads.set(number)


def get_threads() -> int:
    """How many threads a batch is computed with."""
    return _threads.count


def in_parallel(size: int, width: int, work: Callable[[int, int], int]) -> int:
    """`work(start, end)` over 0 … size in pieces of whole vectors; the largest of what the pieces return."""
    count = min(_threads.count, max(1, size // LEAST))
    if count == 1:
        return work(0, size)
    step = -(-size // count)
    step = -(-step // width) * width
    bounds = [(start, min(start + step, size)) for start in range(0, size, step)]
    return max(_threads.pool().map(lambda bound: work(*bound), bounds))
