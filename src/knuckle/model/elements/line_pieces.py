"""The pieces of a line, from one of its points to the next: how long they are, and what a tension does there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ONE, constant
from knuckle.spatial import Force, Transform
from knuckle.spatial.three import add, cross, matvec, tmatvec

from .line_points import LineEntry, LinePoint, Wrap
from .wrapping import bent, straight


class Piece(NamedTuple):
    """A piece of a line. `first`, `second` and `over` are the numbers of frames among those of the line."""

    first: int
    start: LinePoint
    second: int
    end: LinePoint
    wrap: Wrap | None
    over: int
    divisor: Any

    def taut(self, X: Sequence[Transform]) -> tuple[Any, list[tuple[int, Force]]]:
        """Its length, and the forces of 1 N along it on frames, in their coordinates."""
        a, b = (X[k].inv.point(point.own) for k, point in ((self.first, self.start), (self.second, self.end)))
        pulls: list[tuple[int, Force]] = []
        if self.wrap is None:
            length, *ways = straight(a, b)
        else:
            W = X[self.over]
            side = self.wrap.side and W.point(X[self.over + 1].inv.point(self.wrap.side.own))
            a, b = W.point(a), W.point(b)
            length, f, g = bent(self.wrap, a, b, side)
            pulls.append((self.over, -Force(add(cross(a, f), cross(b, g)), add(f, g))))
            ways = tmatvec(W.E, f), tmatvec(W.E, g)
        for k, point, way in zip((self.first, self.second), (self.start, self.end), ways, strict=True):
            f = matvec(X[k].E, way)
            pulls.append((k, Force(cross(point.own, f), f)))
        return length / self.divisor, [(k, f / self.divisor) for k, f in pulls]


def pieces(entries: Sequence[LineEntry]) -> Iterator[Piece]:
    """The pieces of a line.

    Raises:
        ValueError: the entries are no line.
    """
    divisor, k = ONE, 0
    last: tuple[int, LinePoint] | None = None
    over: tuple[Wrap | None, int] = None, 0
    has_piece = False
    for entry in entries:
        if isinstance(entry, LinePoint):
            if last is not None:
                yield Piece(*last, k, entry, *over, divisor)
                has_piece = True
            last, over = (k, entry), (None, 0)
        elif isinstance(entry, Wrap):
            if last is None or over[0] is not None:
                raise ValueError("needs a point before each surface that it goes over")
            over = entry, k
        else:
            if over[0] is not None or (last is not None and not has_piece):
                raise ValueError("needs two points or more before a pulley, and a point after each surface")
            last, has_piece, divisor = None, False, constant(entry.divisor)
        k += len(entry.frames)
    if over[0] is not None or not has_piece:
        raise ValueError("needs two points or more in each part, and a point after each surface")
