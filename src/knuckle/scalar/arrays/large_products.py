"""Products of large matrices and vectors, which symbols record as one operation: the layers of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar.dual import Dual, parts
from knuckle.scalar.kinds import kind_of


def product(rows: Sequence[Sequence[Any]], x: Sequence[Any]) -> list[Any] | None:
    """A x, as one operation; None where every operation is to stand by itself.

    Where A or x have derivatives, (A x)' = A x' + A' x.
    """
    if any(isinstance(entry, Dual) for entry in x):
        value, slope = zip(*map(parts, x), strict=True)
        results = product(rows, value), product(rows, slope)
        if results[0] is None or results[1] is None:
            return None
        return [a if isinstance(a, Dual) or isinstance(b, Dual) else Dual(a, b) for a, b in zip(*results, strict=True)]
    multiply = next((kind.multiplied for kind in map(kind_of, x) if kind.multiplied is not None), None)
    return None if multiply is None else multiply(rows, x)
