"""Uniform cubic B-splines (notes 2.56-2.62) of one parameter, whose segment is chosen without a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from knuckle.joints.axis import wrapped
from knuckle.scalar import ZERO, arctan2, less, select


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


def around(q: Any, period: int) -> Any:
    """q less as many whole periods as leave it between zero and one period, to all digits of q."""
    half_turn = arctan2(0 * (q * q), -1.0)
    within = wrapped(q * (2 * half_turn / period)) * (period / (2 * half_turn))
    return select(less(within, 0), within + period, within)


def weights(q: Any, count: int, cyclic: bool = False) -> list[Weight]:
    """The weight of each of `count` control values at q in [0, count − 3]; all but four are zero.

    Where they are cyclic, the first three follow the last, and q may be any number.
    """
    segments = count if cyclic else count - 3
    q = around(q, count) if cyclic else q
    four = basis(q - choose(q, range(segments)))

    def weight(i: int, part: int) -> Any:
        places = ((i - k) % count if cyclic else i - k for k in range(segments))
        return choose(q, [four[place][part] if 0 <= place < 4 else ZERO for place in places])

    return [Weight(*(weight(i, part) for part in range(3))) for i in range(count)]
