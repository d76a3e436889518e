"""Numbers of operations."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Count:
    """Numbers of operations; sine and cosine count one each."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0

    @property
    def total(self) -> int:
        return self.mul + self.add + self.div + self.sqrt + self.trig

    def __add__(self, other: Count) -> Count:
        return Count(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, times: int) -> Count:
        return Count(*(getattr(self, f.name) * times for f in fields(self)))
