"""Products of large matrices and vectors, which symbols record as one operation: the layers of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar.dual import Dual, parts
from knuckle.scalar.kinds import kind_of
from knuckle.scalar.structural import ZERO


def product(rows: Sequence[Sequence[Any]], x: Sequence[Any]) -> list[Any] | None:
    """A x, as one operation; None where every operation is to stand by itself.

    Where x has derivatives, (A x)' = A x'.
    """
    if any(isinstance(entry, Dual) for row in rows for entry in row):
        return None
    if any(isinstance(entry, Dual) for entry in x):
        both: list[tuple[Any, ...]] = list(zip(*map(parts, x), strict=True))
        recorded = [product(rows, part) for part in both]
        if recorded == [None, None]:
            return None
        value, slope = (_sums(rows, part) if done is None else done for done, part in zip(recorded, both, strict=True))
        return list(map(Dual, value, slope))
    multiply = next((kind.multiplied for kind in map(kind_of, x) if kind.multiplied is not None), None)
    return None if multiply is None else multiply(rows, x)


def _sums(rows: Sequence[Sequence[Any]], x: Sequence[Any]) -> list[Any]:
    return [sum((a * b for a, b in zip(row, x, strict=True)), ZERO) for row in rows]
