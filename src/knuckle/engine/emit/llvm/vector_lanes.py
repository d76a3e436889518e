"""The vectors that LLVM code computes with, and lines that do."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from knuckle.engine.emit.sincos import DOUBLE, SINGLE, Pair
from knuckle.engine.emit.single_precision import single


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


class BasicBlock:
    """Lines of a basic block, with fresh names."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.lines = lanes, list[str]()
        self._fresh = 0

    def put(self, text: str) -> str:
        """A line that defines a fresh name; returns the name."""
        self._fresh += 1
        self.lines.append(f"%x{self._fresh} = {text}")
        return f"%x{self._fresh}"

    def arithmetic(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} contract {self.lanes.vector} {a}, {b}")

    def intrinsic(self, name: str, *args: str) -> str:
        V = self.lanes.vector
        return self.put(f"call {V} @llvm.{name}.{self.lanes.suffix()}({', '.join(f'{V} {a}' for a in args)})")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.intrinsic("fma", a, b, c)

    def choose(self, condition: str, a: str, b: str) -> str:
        V = self.lanes.vector
        return self.put(f"select {self.lanes.of('i1')} {condition}, {V} {a}, {V} {b}")
