"""The blocks of a program, each printed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

from knuckle.engine.trace import Block

from .vector_lanes import Lanes

Places = tuple[tuple[int, int] | None, ...]
"""Of each input of a block, where it lies already: the number of a buffer, and its place there; None elsewhere."""


AT_ONCE = 2
"""How much is done in one call at least: calls cost as well, and too much at once is waited for."""


class Between(NamedTuple):
    """A function of what is pending, and of how much of it to do, that long code calls now and then: after so many
    operations once."""

    function: str
    work: int

    def due(self, done: int) -> tuple[list[str], int]:
        """The call after operations that were done, if there are enough of them; and what is left of these."""
        if done < AT_ONCE * self.work:
            return [], done
        return [f"call void @{self.function}(ptr %pending, i64 {done // self.work})"], done % self.work


class BlockTexts:
    """The functions that blocks have become, by block."""

    wide: Lanes | None = None
    """Where code is for one state: the vectors that it may compute several of its numbers in."""

    between: Between | None = None
    """What long blocks call now and then"""

    going_out: frozenset[Block] = frozenset()
    """Products that are written past the caches, as nobody reads them"""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._names: dict[tuple[Block, Places], str] = {}
        self._shared: dict[Hashable, str] = {}
        self._texts: list[str] = []

    def name(self, block: Block, places: Places = ()) -> str:
        """What the function of a block is called; it is printed now if it is not yet."""
        key = block, places
        if key not in self._names:
            self._names[key] = f"block{len(self._names)}"
            self._texts.append(self.printed(block, self._names[key], places))
        return self._names[key]

    def shared(self, key: Hashable, text: Callable[[str], str]) -> str:
        """What a function is called that several blocks call; its text is made of its name if there is none yet."""
        if key not in self._shared:
            self._shared[key] = f"shared{len(self._shared)}"
            self._texts.append(text(self._shared[key]))
        return self._shared[key]

    def add(self, texts: list[str]) -> None:
        """More functions of the same module."""
        self._texts += texts

    def texts(self) -> list[str]:
        """All functions so far, those that others call among them."""
        return self._texts

    def printed(self, block: Block, name: str, places: Places) -> str:
        """The text of a block."""
        from .block import block_to_llvm

        return block_to_llvm(block, self, name, places)
