"""The surface of a height field: cubic patches through the heights, with slopes that go on from one to the next.

Between four heights in a row runs the cubic of Catmull and Rom, along x and along y. Heights beyond the rim go on
straight; there is no surface there, but the patches at the rim need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from knuckle.model.parts import HeightField
from knuckle.scalar import ZERO, Grid, absolute, less, maximum, minimum, select, sqrt
from knuckle.spatial import repeated
from knuckle.spatial.three import Vec3, dot, sub

ROUNDS = 40
"""The most steps of Newton's method; a few are enough unless the ball is far off or the surface very bent."""
CLOSE = 1e-13
"""The step of Newton's method, in cells, at which it ends."""
CONVEX = 1e-6
"""The least curvature of the squared distance, relative to a plane's, at which it counts as convex."""


class Height(NamedTuple):
    """z and its derivatives by x and y."""

    z: Any
    x: Any
    y: Any
    xx: Any
    xy: Any
    yy: Any

    @property
    def normal(self) -> Vec3:
        """Upwards."""
        length = sqrt(1 + self.x * self.x + self.y * self.y)
        return -self.x / length, -self.y / length, 1 / length


@dataclass(frozen=True)
class TerrainSurface:
    """A height field as heights at every place; `grid` has its heights with one more row and column on each side."""

    field: HeightField
    grid: Grid

    @classmethod
    def of(cls, field: HeightField) -> TerrainSurface:
        rows = _continued([[x for (x,) in _continued([[x] for x in row])] for row in field.heights])
        return cls(field, Grid(tuple(x for row in rows for x in row), len(rows[0]), 4, 4))

    @property
    def reach(self) -> tuple[float, float]:
        """Half its lengths along x and y."""
        (dx, dy), rows = self.field.spacing, self.field.heights
        return dx * (len(rows[0]) - 1) / 2, dy * (len(rows) - 1) / 2

    def at(self, x: Any, y: Any) -> Height:
        """The height over a place; beyond the rim, what the nearest patch goes on with."""
        (dx, dy), (a, b) = self.field.spacing, self.reach
        column, row = (x + a) / dx, (y + b) / dy
        i, k, heights = self.grid.window(row, column)
        along, across = _weights(column - k), _weights(row - i)
        lines = [[dot4(w, heights[4 * r : 4 * r + 4]) for w in along] for r in range(4)]
        (z, zy, zyy), (zx, zxy), (zxx,) = (
            [dot4(w, [line[n] for line in lines]) for w in across[: 3 - n]] for n in range(3)
        )
        return Height(z, zx / dx, zy / dy, zxx / (dx * dx), zxy / (dx * dy), zyy / (dy * dy))

    def is_over(self, x: Any, y: Any) -> Any:
        """1 between the rims, 0 beyond them."""
        a, b = self.reach
        return select(less(a, absolute(x)), 0.0, select(less(b, absolute(y)), 0.0, 1.0))

    def foot(self, c: Vec3) -> tuple[Vec3, Vec3]:
        """The place of the surface whose normal goes through c, from the one below c on, and the normal there.

        Newton's method on the slopes of d = |c − s(x, y)|²/2. Where d is not convex, the curvature of the surface is
        left out. A step that does not lessen d is taken back, and the next one is shorter; none is longer than a cell.
        """
        (dx, dy), (a, b) = self.field.spacing, self.reach
        slack = CLOSE * dx * dy

        def distance(x: Any, y: Any, z: Any) -> Any:
            d = sub((x, y, z), c)
            return dot(d, d) / 2

        def closer(_: Any, x: Any, y: Any, longest: Any) -> tuple[Any, ...]:
            h = self.at(x, y)
            u, v = _newton_step(h, x - c[0], y - c[1], h.z - c[2])
            step = maximum(absolute(u) / dx, absolute(v) / dy)
            part = longest / maximum(step, longest)
            p, q = maximum(-a, minimum(a, x + part * u)), maximum(-b, minimum(b, y + part * v))
            is_worse = less(distance(x, y, h.z) + slack, distance(p, q, self.at(p, q).z))
            length = minimum(1.0, part * step * select(is_worse, 0.25, 2.0))
            longest = select(is_worse, length, maximum(longest, length))
            return step - CLOSE, select(is_worse, x, p), select(is_worse, y, q), longest

        x, y = maximum(-a, minimum(a, c[0])), maximum(-b, minimum(b, c[1]))
        _, x, y, _ = repeated(closer, (1.0, x, y, 1.0), ROUNDS)
        h = self.at(x, y)
        return (x, y, h.z), h.normal

    def clearance(self, c: Vec3) -> Any:
        """How far c is above the place of the surface below it."""
        return c[2] - self.at(c[0], c[1]).z

    def gap(self, c: Vec3) -> tuple[Any, Vec3]:
        """How far c is above the surface, along the normal through it, and that normal."""
        foot, n = self.foot(c)
        return dot(n, sub(c, foot)), n


def _newton_step(h: Height, dx: Any, dy: Any, drop: Any) -> tuple[Any, Any]:
    """By how much x and y change, where the surface is at this distance from c."""
    f, g = dx + drop * h.x, dy + drop * h.y
    p, q, r = 1 + h.x * h.x, h.x * h.y, 1 + h.y * h.y
    P, Q, R = p + drop * h.xx, q + drop * h.xy, r + drop * h.yy
    is_bent = less(minimum(P, P * R - Q * Q), CONVEX)
    p, q, r = select(is_bent, p, P), select(is_bent, q, Q), select(is_bent, r, R)
    area = p * r - q * q
    return (q * g - r * f) / area, (q * f - p * g) / area


def dot4(w: Any, x: Any) -> Any:
    return sum((a * b for a, b in zip(w, x, strict=True)), ZERO)


def _continued(rows: list[list[float]]) -> list[list[float]]:
    """With one more at each end, as the two there go on."""
    first, last = ([2 * a - b for a, b in zip(x, y, strict=True)] for x, y in (rows[:2], rows[:-3:-1]))
    return [first, *rows, last]


def _weights(s: Any) -> list[list[Any]]:
    """What four heights in a row contribute between the second and the third, and its first two derivatives."""
    return [
        [((2 - s) * s - 1) * s / 2, ((3 * s - 5) * s * s + 2) / 2, ((4 - 3 * s) * s + 1) * s / 2, (s - 1) * s * s / 2],
        [((4 - 3 * s) * s - 1) / 2, (9 * s - 10) * s / 2, ((8 - 9 * s) * s + 1) / 2, (3 * s - 2) * s / 2],
        [2 - 3 * s, 9 * s - 5, 4 - 9 * s, 3 * s - 1],
    ]
