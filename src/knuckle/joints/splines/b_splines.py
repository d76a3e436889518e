"""Uniform cubic B-splines (notes 2.56-2.62) of one parameter, whose segment is chosen without a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ZERO, less, select


class Weight(NamedTuple):
    """A basis function at a point: its value and its first and second derivatives."""

    value: Any
    first: Any
    second: Any


def basis(u: Any) -> tuple[Weight, Weight, Weight, Weight]:
    """B₁ … B₄ at u within a segment (2.57)."""
    w = 1 - u
    return (
        Weight(w * w * w / 6, -(w * w) / 2, w),
        Weight(((3 * u - 6) * u * u + 4) / 6, (3 * u - 4) * u / 2, 3 * u - 2),
        Weight((((3 - 3 * u) * u + 3) * u + 1) / 6, ((2 - 3 * u) * u + 1) / 2, 1 - 3 * u),
        Weight(u * u * u / 6, u * u / 2, u),
    )


def cumulative(u: Any) -> tuple[Weight, Weight, Weight]:
    """B̃₂, B̃₃ and B̃₄ at u within a segment: sums of the basis functions from the last on (2.61); B̃₁ is one."""
    w = 1 - u
    return (
        Weight(1 - w * w * w / 6, w * w / 2, -w),
        Weight((((3 - 2 * u) * u + 3) * u + 1) / 6, ((1 - u) * u * 2 + 1) / 2, 1 - 2 * u),
        Weight(u * u * u / 6, u * u / 2, u),
    )


def choose(q: Any, options: Sequence[Any]) -> Any:
    """The option of the segment that q is in: k for k ≤ q < k + 1, the outer ones for all that lies beyond.

    The choice is of the kind and precision of q, though the options may be plain numbers.
    """
    if all(option is options[0] for option in options):
        return options[0]
    chosen = options[0] + 0 * q
    for k in range(1, len(options)):
        chosen = select(less(q, k), chosen, options[k])
    return chosen


def weights(q: Any, count: int) -> list[Weight]:
    """The weight of each of `count` control values at q in [0, count − 3]; all but four are zero."""
    segments = count - 3
    four = basis(q - choose(q, range(segments)))

    def weight(i: int, part: int) -> Any:
        return choose(q, [four[i - k][part] if 0 <= i - k < 4 else ZERO for k in range(segments)])

    return [Weight(*(weight(i, part) for part in range(3))) for i in range(count)]
