"""The vectors that LLVM code computes with."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from knuckle.engine.emit.sincos import DOUBLE, SINGLE, Pair
from knuckle.engine.emit.single_precision import single

PAGE = 4096
"""Where the stack of long code begins: at a multiple of this, as its constants do. A load waits for a store before it
to a place of the same last twelve bits, and for long where stores go past the caches. Which constants lie so would else
be a matter of luck, another one in each process, and of up to half of the speed."""


@dataclass(frozen=True)
class Lanes:
    """The vectors to compute with: "f64" or "f32", and how many lanes, a power of two."""

    dtype: str
    width: int

    def __post_init__(self) -> None:
        if self.dtype not in ("f64", "f32"):
            raise ValueError(f'dtype is "f64" or "f32", not {self.dtype!r}')
        if self.width < 1 or self.width & (self.width - 1):
            raise ValueError(f"a vector has 1, 2, 4, 8, … lanes, not {self.width}")

    @cached_property
    def scalar(self) -> str:
        return "double" if self.dtype == "f64" else "float"

    @cached_property
    def vector(self) -> str:
        return self.of(self.scalar)

    @property
    def pair(self) -> Pair:
        return DOUBLE if self.dtype == "f64" else SINGLE

    def of(self, element: str) -> str:
        return f"<{self.width} x {element}>"

    def suffix(self) -> str:
        """How intrinsics name the vector type."""
        return f"v{self.width}{self.dtype}"

    @property
    def library_suffix(self) -> str:
        """What the functions of the C library end with for these numbers."""
        return "" if self.dtype == "f64" else "f"

    def constant(self, x: float) -> str:
        """x in every lane."""
        return "<" + ", ".join([f"{self.scalar} {self.literal(x)}"] * self.width) + ">"

    def constants(self, numbers: Sequence[float]) -> str:
        """A number for every lane. A float is written as the double of its value, as LLVM wants it."""
        return "<" + ", ".join(f"{self.scalar} {self.literal(x)}" for x in numbers) + ">"

    def literal(self, x: float) -> str:
        """One number, as LLVM reads it exactly."""
        value = x if self.dtype == "f64" else single(x)
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    @property
    def bytes(self) -> int:
        """The size of one number."""
        return 8 if self.dtype == "f64" else 4

    @property
    def bits(self) -> str:
        """The vector of integers that has the size of this one."""
        return self.of(f"i{8 * self.bytes}")

    def integer(self, n: int) -> str:
        return "<" + ", ".join([f"i{8 * self.bytes} {n}"] * self.width) + ">"
