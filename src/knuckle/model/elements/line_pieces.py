"""The pieces of a line, from one of its points to the next: how long they are, and what a tension does there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ONE, constant
from knuckle.spatial import Force, Transform
from knuckle.spatial.three import Vec3, add, cross, matvec, scale, tmatvec

from .line_points import LineEntry, LinePoint, Wrap
from .local_slopes import across
from .wrapping import bent, drawn, straight


class LinePiece(NamedTuple):
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
        a, b = self._ends(X)
        pulls: list[tuple[int, Force]] = []
        if self.wrap is None:
            length, *ways, _ = straight(a, b)
        else:
            W, a, b, side = self._on_surface(self.wrap, X, a, b)
            length, f, g, _ = bent(self.wrap, a, b, side)
            pulls.append((self.over, -Force(add(cross(a, f), cross(b, g)), add(f, g))))
            ways = tmatvec(W.E, f), tmatvec(W.E, g)
        for k, point, way in zip((self.first, self.second), (self.start, self.end), ways, strict=True):
            f = matvec(X[k].E, way)
            pulls.append((k, Force(cross(point.own, f), f)))
        return length / self.divisor, [(k, f / self.divisor) for k, f in pulls]

    def across(self, X: Sequence[Transform]) -> tuple[Any, list[list[tuple[int, Force]]]]:
        """The length of a straight piece, and unit forces on its ends in two directions across it."""
        length, way, _, _ = straight(*self._ends(X))
        sides: list[list[tuple[int, Force]]] = []
        for side in across(way):
            pair: list[tuple[int, Force]] = []
            for k, point, sign in ((self.first, self.start, ONE), (self.second, self.end, -ONE)):
                f = matvec(X[k].E, scale(sign, side))
                pair.append((k, Force(cross(point.own, f), f)))
            sides.append(pair)
        return length, sides

    def drawn(self, X: Sequence[Transform]) -> list[Vec3]:
        """Points along it, of plain numbers, in base coordinates."""
        a, b = self._ends(X)
        if self.wrap is None:
            return [a, b]
        W, a, b, side = self._on_surface(self.wrap, X, a, b)
        return [W.inv.point(p) for p in drawn(self.wrap, a, b, side)]

    def _ends(self, X: Sequence[Transform]) -> tuple[Vec3, Vec3]:
        return X[self.first].inv.point(self.start.own), X[self.second].inv.point(self.end.own)

    def _on_surface(
        self, wrap: Wrap, X: Sequence[Transform], a: Vec3, b: Vec3
    ) -> tuple[Transform, Vec3, Vec3, Vec3 | None]:
        """The frame of the surface, and the ends and the side point in its coordinates."""
        W = X[self.over]
        side = None if wrap.side is None else W.point(X[self.over + 1].inv.point(wrap.side.own))
        return W, W.point(a), W.point(b), side


def pieces(entries: Sequence[LineEntry]) -> Iterator[LinePiece]:
    """The pieces of a line.

    Raises:
        ValueError: the entries are no line.
    """
    divisor, k = ONE, 0
    last: tuple[int, LinePoint] | None = None
    over: tuple[Wrap | None, int] = None, 0
    has_piece = False
    for number, entry in enumerate(entries):
        if isinstance(entry, LinePoint):
            if last is not None:
                yield LinePiece(*last, k, entry, *over, divisor)
                has_piece = True
            last, over = (k, entry), (None, 0)
        elif isinstance(entry, Wrap):
            if last is None or over[0] is not None:
                raise ValueError("needs a point before each surface that it goes over")
            over = entry, k
        else:
            if over[0] is not None or (number > 0 and not has_piece):
                raise ValueError("needs two points or more before a pulley, and a point after each surface")
            last, has_piece, divisor = None, False, constant(entry.divisor)
        k += len(entry.frames)
    if over[0] is not None or not has_piece:
        raise ValueError("needs two points or more in each part, and a point after each surface")
