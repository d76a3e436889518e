"""Constants that are computed from others exactly, as fractions, and rounded once.

Doubles are fractions, and sums and products of fractions have no rounding; they are cut to forty digits on the way, so
that they do not grow with the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar, cast

from knuckle.scalar import ONE, ZERO, constant
from knuckle.spatial import Inertia, Sym3, Transform
from knuckle.spatial.three import IDENTITY3, matmul, matscale, matsub, transpose

BITS = 140
Part = TypeVar("Part", Inertia, Transform)


def _each(x: Part, change: Callable[[Any], Any]) -> Part:
    """A transform or an inertia with each of its numbers changed, structural ones left alone."""

    def number(value: Any) -> Any:
        return value if value is ZERO or value is ONE else change(value)

    if isinstance(x, Transform):
        E: Any = tuple(tuple(map(number, row)) for row in x.E)
        return cast(Any, Transform(E, tuple(map(number, x.r))))  # type: ignore[arg-type]
    h: Any = tuple(map(number, x.h))
    return cast(Any, Inertia(number(x.mass), h, Sym3(*map(number, x.I))))


def is_plain(x: Any) -> bool:
    """Whether a transform or an inertia is made of plain numbers: its constants can be looked at."""
    if isinstance(x, Transform):
        return all(map(is_plain, (*x.E[0], *x.E[1], *x.E[2], *x.r)))
    if isinstance(x, Inertia):
        return all(map(is_plain, (x.mass, *x.h, *x.I)))
    return x is ZERO or x is ONE or isinstance(x, (int, float))


def exactly(x: Part) -> Part:
    """A part of plain numbers, as fractions."""
    return _each(x, Fraction)


def shortened(x: Inertia) -> Inertia:
    """Fractions of forty digits."""
    return _each(x, _cut)


def rounded(x: Inertia) -> Inertia:
    """The nearest doubles."""
    return _each(x, lambda value: constant(float(value)))


def together(own: Any, guests: Sequence[tuple[Any, Any]]) -> Any:
    """The inertia of a body with others fastened to it, each with the transform to its frame: I + Σ Xᵀ J X (RBDA 2.66).

    Plain numbers are added up exactly and rounded once.
    """
    if not all(map(is_plain, (own, *(part for guest in guests for part in guest)))):
        return sum((X.T @ J @ X for J, X in guests), own)
    total = exactly(own)
    for J, X in guests:
        exact_X = exactly(X)
        total = shortened(total + exact_X.T @ exactly(J) @ exact_X)
    return rounded(total)


def as_rotation(X: Transform) -> Transform:
    """A transform of plain numbers whose rotation is one but for some roundings, with the nearest one: ½ E (3 − EᵀE).

    Each entry is rounded once; what is known to be zero or one stays so.
    """
    E = exactly(X).E
    near = matscale(Fraction(1, 2), matmul(E, matsub(matscale(3, IDENTITY3), matmul(transpose(E), E))))

    def entry(old: Any, new: Any) -> Any:
        return old if old is ZERO or old is ONE or old == -1 else constant(float(new))

    rows: Any = tuple(tuple(map(entry, old, new)) for old, new in zip(X.E, near, strict=True))
    return Transform(rows, X.r)


def _cut(x: Any) -> Fraction:
    """The same for x and −x: what cancels does so here too."""
    size = abs(x.numerator)
    extra = size.bit_length() - BITS
    return x if extra <= 0 else Fraction((size >> extra) << extra, x.denominator) * (1 if x > 0 else -1)
