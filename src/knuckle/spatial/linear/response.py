"""Equations of a response: (E + P G) x = b with a symmetric G, and blocks of three on the diagonals of E and P.

Code has loops for them that leave out what is zero: blocks of P and b, as those of contacts that are open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ZERO, Dual

from .elimination import looping

BLOCK = 3
"""Unknowns that belong together."""


@dataclass(frozen=True)
class LoopedResponse:
    """A symmetric matrix in loops."""

    n: int
    entries: tuple[Any, ...]
    """G by rows, beside each other"""
    looped: Callable[[str, int, list[Any]], list[Any]]

    @classmethod
    def of(cls, G: Sequence[dict[int, Any]]) -> LoopedResponse | None:
        """G by the entries of its rows; None where the kind of its scalars has no loops, or derivatives."""
        n = len(G)
        flat = [row.get(k, ZERO) for row in G for k in range(n)]
        looped = looping(flat)
        if looped is None or any(isinstance(x, Dual) for x in flat):
            return None
        entries = looped("lay", n * n, flat)
        return None if entries is None else cls(n, tuple(entries), looped)

    @property
    def rows(self) -> list[dict[int, Any]]:
        """The entries of rows, where they lie."""
        return [dict(enumerate(self.entries[self.n * i : self.n * (i + 1)])) for i in range(self.n)]

    def times(self, x: Sequence[Any]) -> list[Any]:
        """G x."""
        return self.looped("multiply", self.n, [*self.entries, *x])

    def eliminated(self, E: Sequence[Any], P: Sequence[Any], b: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """What solves (E + P G) x = c for each c that is zero where b and P are; blocks are given by rows."""
        factors = self.looped("eliminate response", self.n, [*self.entries, *E, *P, *b])
        return lambda c: self.looped("substitute response", self.n, [*factors, *c])[: self.n]
