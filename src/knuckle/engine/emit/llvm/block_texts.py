"""The blocks of a program, each printed once."""

from __future__ import annotations

from knuckle.engine.trace import Block

from .vector_lanes import Lanes


class BlockTexts:
    """The functions that blocks have become, by block."""

    wide: Lanes | None = None
    """Where code is for one state: the vectors that it may compute several of its numbers in."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._names: dict[Block, str] = {}
        self._texts: list[str] = []

    def name(self, block: Block) -> str:
        """What the function of a block is called; it is printed now if it is not yet."""
        if block not in self._names:
            self._names[block] = f"block{len(self._names)}"
            self._texts.append(self.printed(block, self._names[block]))
        return self._names[block]

    def add(self, texts: list[str]) -> None:
        """More functions of the same module."""
        self._texts += texts

    def texts(self) -> list[str]:
        """All functions so far, those that others call among them."""
        return self._texts

    def printed(self, block: Block, name: str) -> str:
        """The text of a block."""
        from .block import block_to_llvm

        return block_to_llvm(block, self, name)
