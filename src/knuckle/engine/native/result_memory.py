"""Memory for large results. Blocks of arrays that are gone are kept for the next result.

Fresh memory is slow: the system finds a page for every piece of it and clears the page before the first number arrives.
For the mass matrices of a humanoid, 11 kB each, that takes several times as long as computing them. A block that was
used before costs nothing. What is kept is offered to the system (MADV_FREE), which takes it back whenever memory runs
short, so a kept block is no loss to others; and there is an end to what is kept.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

LEAST = 1 << 22
"""Bytes of a result that is worth a block of its own; smaller ones are kept by the C library."""
GRAIN = 1 << 21
"""Blocks have whole pages of the large kind."""
MOST = 1 << 28
"""Bytes that are kept at most."""


class MemoryBlock:
    """Memory of the system, until nobody refers to it."""

    __slots__ = ("_mapping", "address", "size")

    def __init__(self, size: int) -> None:
        whole = size + GRAIN  # a place for the first page to begin
        if hasattr(mmap, "MAP_PRIVATE"):
            self._mapping = mmap.mmap(-1, whole, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._mapping = mmap.mmap(-1, whole)
        self._advise("MADV_HUGEPAGE")
        start: int = np.frombuffer(self._mapping, np.uint8).ctypes.data
        self.address, self.size = -(-start // GRAIN) * GRAIN, size

    def offer(self) -> None:
        """What the block holds is no longer needed: the system may take its pages."""
        self._advise("MADV_FREE")

    def _advise(self, name: str) -> None:
        advice = getattr(mmap, name, None)
        if advice is not None:
            with contextlib.suppress(OSError):  # a system may know the word and not the thing: all works without
                self._mapping.madvise(advice)


class Blocks:
    """Blocks that are free, oldest first. Lists change in one step, so threads, collectors and forks need no lock."""

    def __init__(self) -> None:
        self.free: list[MemoryBlock] = []

    def take(self, size: int) -> MemoryBlock:
        """A block of at least this size, and not much larger."""
        whole = -(-size // GRAIN) * GRAIN
        for block in reversed(tuple(self.free)):
            if whole <= block.size <= whole + whole // 4:
                try:
                    self.free.remove(block)
                except ValueError:  # another thread was faster
                    continue
                return block
        try:
            return MemoryBlock(whole)
        except OSError:  # no room: without what is kept there may be
            self.free.clear()
            return MemoryBlock(whole)

    def give_back(self, block: MemoryBlock) -> None:
        """Keeps a block, and lets the oldest go if it is too much."""
        if block.size <= MOST:
            block.offer()
            self.free.append(block)
        while sum(kept.size for kept in tuple(self.free)) > MOST:
            try:
                del self.free[0]
            except IndexError:  # another thread was faster
                return


blocks = Blocks()


class _Lease:
    """Who holds a block: the base of an array. The block goes back when the array and all its views are gone."""

    def __init__(self, block: MemoryBlock, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._block, self._blocks = block, blocks
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (block.address, False), "version": 3}

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending():  # when what giving back needs may be gone
            self._blocks.give_back(self._block)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array of any contents, as `numpy.empty` makes it."""
    size = math.prod(shape) * dtype.itemsize
    if size < LEAST:
        return np.empty(shape, dtype)
    try:
        return np.asarray(_Lease(blocks.take(size), shape, dtype))
    except OSError as error:
        raise MemoryError(f"a result of shape {shape} and dtype {dtype} needs {size} bytes: {error}") from None
