"""The shortest line between two points over a sphere or a cylinder.

All of it happens in a plane: that of the two points and the centre of a sphere, that across the axis of a cylinder.
There the line is a tangent, an arc and a tangent; on a cylinder it climbs evenly, so that it is the hypotenuse of what
it is in the plane and of the height. No direction is divided by the length of a tangent, which may be zero.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from knuckle.scalar import ONE, ZERO, absolute, arctan2, constant, cos, less, maximum, minimum, select, sin, sqrt
from knuckle.spatial import repeated
from knuckle.spatial.three import ZERO3, Vec3, add, cross, dot, scale, sub

from .line_points import Wrap

CLOSEST = 1e-30
"""The square of the distance, in m², below which two points are one: between them there is no direction."""
_SHORT = 1e-15
"""The length, in m, below which a line in the plane is none."""
_PARALLEL = 1e-24
"""The square of the sine below which two directions have no plane."""
_ROUNDS, _CLOSE = 60, 1e-8
"""Steps to the edge that a line is bent over, at most, and how close to it they end, in radians: two more follow."""


class Bend(NamedTuple):
    """The length of a line between two points, the unit vectors along which it leaves them, and how far it is straight
    from them on."""

    length: Any
    first: Vec3
    second: Vec3
    leads: tuple[Any, Any]


class _Ends(NamedTuple):
    """Two points as seen from the centre, in a plane: how far they are, and the angle φ between them.

    n points to them, e is across n, along the circle to the other point the shorter way; t is the length of a tangent.
    """

    n: tuple[Vec3, Vec3]
    e: tuple[Vec3, Vec3]
    d: tuple[Any, Any]
    t: tuple[Any, Any]
    turn: tuple[Any, Any]
    """sin φ and cos φ"""
    outside: Any
    """Above zero where both points are outside the circle, zero where one is on it."""


def straight(a: Vec3, b: Vec3) -> Bend:
    """The straight line."""
    d = sub(b, a)
    square = dot(d, d)
    length = sqrt(select(less(square, CLOSEST), CLOSEST, square))
    n = scale(1 / length, d)
    return Bend(length, n, scale(-1, n), (length, ZERO))


def bent(wrap: Wrap, a: Vec3, b: Vec3, side: Vec3 | None) -> Bend:
    """The line over a surface, in the coordinates of its frame."""
    r, flat = constant(wrap.radius), wrap.shape == "cylinder"
    ends = _ends((_across(a), _across(b)) if flat else (a, b), r, flat)
    bends, bend = _through(ends, r) if wrap.inside else _around(ends, r, side)
    if flat:
        bend = _climbing(bend, b[2] - a[2])
    direct = straight(a, b)
    first, second = _chosen(bends, bend.first, direct.first), _chosen(bends, bend.second, direct.second)
    leads = select(bends, bend.leads[0], direct.leads[0]), select(bends, bend.leads[1], direct.leads[1])
    return Bend(select(bends, bend.length, direct.length), first, second, leads)


def drawn(wrap: Wrap, a: Vec3, b: Vec3, side: Vec3 | None, step: float = 0.1) -> list[Vec3]:
    """Points of the line over a surface, of plain numbers: its ends, where it touches, and some on the arc between."""
    length, first, second, leads = bent(wrap, a, b, side)
    p, q = add(a, scale(leads[0], first)), add(b, scale(leads[1], second))
    rise = q[2] - p[2] if wrap.shape == "cylinder" else 0.0
    arc = math.sqrt(max(float(length - leads[0] - leads[1]) ** 2 - float(rise) ** 2, 0.0)) / float(wrap.radius)
    count = math.ceil(arc / step)
    centre, across = ((ZERO, ZERO, p[2]), (first[0], first[1], ZERO)) if wrap.shape == "cylinder" else (ZERO3, first)
    n, e = sub(p, centre), scale(constant(wrap.radius) / sqrt(dot(across, across)), across)
    turned = (
        add(add(centre, (ZERO, ZERO, rise * k / count)), add(scale(math.cos(x), n), scale(math.sin(x), e)))
        for k, x in ((k, arc * k / count) for k in range(1, count))
    )
    return [a, p, *turned, q, b]


def _across(p: Vec3) -> Vec3:
    return p[0], p[1], ZERO


def _chosen(condition: Any, a: Vec3, b: Vec3) -> Vec3:
    return select(condition, a[0], b[0]), select(condition, a[1], b[1]), select(condition, a[2], b[2])


def _ends(points: tuple[Vec3, Vec3], r: Any, flat: bool) -> _Ends:
    squares = dot(points[0], points[0]), dot(points[1], points[1])
    n, d, t = zip(*(_seen(p, square, r) for p, square in zip(points, squares, strict=True)), strict=True)
    normal, sine = _turn_in_plane(*n) if flat else _turn(*n)
    e = cross(normal, n[0]), cross(n[1], normal)
    cosine = dot(*n)
    outside = minimum(*squares) - r * r
    return _Ends(n, e, d, t, (sine, cosine), outside)  # type: ignore[arg-type]


def _seen(p: Vec3, square: Any, r: Any) -> tuple[Vec3, Any, Any]:
    """n, d and t of a point; of one on the circle, if it is inside."""
    gap = square - r * r
    away = less(CLOSEST, gap)
    d, t = sqrt(select(away, square, r * r)), select(away, sqrt(select(away, gap, 1.0)), 0.0)
    return _chosen(less(gap, 0), (1.0, 0.0, 0.0), scale(1 / d, p)), d, t


def _turn(n: Vec3, other: Vec3) -> tuple[Vec3, Any]:
    """The axis of the shorter turn from one direction to another, and its sine; any axis across where they are one."""
    c = cross(n, other)
    square = dot(c, c)
    parallel = less(square, _PARALLEL)
    steep = less(0.8, absolute(n[2]))
    across = cross(n, (select(steep, 1.0, 0.0), 0.0, select(steep, 0.0, 1.0)))
    size = sqrt(select(parallel, dot(across, across), square))
    return scale(1 / size, _chosen(parallel, across, c)), select(parallel, 0.0, size)


def _turn_in_plane(n: Vec3, other: Vec3) -> tuple[Vec3, Any]:
    """The same about the z axis."""
    c = n[0] * other[1] - n[1] * other[0]
    return (ZERO, ZERO, select(less(c, 0), -1.0, 1.0)), absolute(c)


def _around(ends: _Ends, r: Any, side: Vec3 | None) -> tuple[Any, Bend]:
    """Where it bends, and the line there: over the outside, the shorter way unless that is on the wrong side.

    The arc is θ = φ − α₁ − α₂, with tan α = t / r for the angle between a point and where its tangent touches; the long
    way around it is 2π − φ − α₁ − α₂, between 0 and 2π.
    """
    (sine, cosine), (t, u), way = ends.turn, ends.t, constant(1)
    x, y = r * r - t * u, r * (t + u)
    theta = arctan2(x * sine - y * cosine, x * cosine + y * sine)
    if side is not None:
        wrong = less(maximum(dot(side, ends.e[0]), dot(side, ends.e[1])), 0)
        way = select(wrong, -1.0, 1.0)
        lead, ahead = x * way * sine - y * cosine, x * cosine + y * way * sine
        theta = select(wrong, arctan2(r - r, -ONE), 0.0) + arctan2(way * lead, way * ahead)
    first, second = (
        add(scale(-t / d, n), scale(way * r / d, e)) for n, e, d, t in zip(ends.n, ends.e, ends.d, ends.t, strict=True)
    )
    bends = less(0, select(less(ends.outside, 0), -1.0, theta))
    return bends, Bend(ends.t[0] + r * theta + ends.t[1], first, second, ends.t)


def _through(ends: _Ends, r: Any) -> tuple[Any, Bend]:
    """Where it bends, and the line there: through the inside, over that point of the edge which makes it shortest.

    The point is at an angle ψ from the first end, where l'(ψ) = 0; where both ends see the edge, l is convex.
    """
    phi, alpha = arctan2(*ends.turn), [arctan2(t, r) for t in ends.t]

    def slope(psi: Any) -> tuple[Any, Any]:
        """l' / r and its slope."""
        total, steepness = ZERO, ZERO
        for d, angle, way in ((ends.d[0], psi, 1), (ends.d[1], phi - psi, -1)):
            c, s, rho = cos(angle), sin(angle), _far(d, r, angle)
            total += way * d * s / rho
            steepness += d * (d * c - r) * (d - r * c) / (rho * rho * rho)
        return total, select(less(steepness, CLOSEST), 1.0, steepness)

    def closer(_: Any, psi: Any, low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
        f, df = slope(psi)
        low, high = select(less(f, 0), psi, low), select(less(f, 0), high, psi)
        newton = psi - f / df
        better = select(less(minimum(newton - low, high - newton), 0), (low + high) / 2, newton)
        return absolute(better - psi) - _CLOSE, better, low, high

    low, high = maximum(phi - alpha[1], 0.0), minimum(phi, alpha[0])
    _, psi, _, _ = repeated(closer, (1.0, (low + high) / 2, low, high), _ROUNDS)
    for _ in range(2):  # exact, and with exact slopes of the first and the second order
        f, df = slope(psi)
        psi = psi - f / df
    leads, ways = list[Any](), list[Vec3]()
    for n, e, d, angle in zip(ends.n, ends.e, ends.d, (psi, phi - psi), strict=True):
        c, s, rho = cos(angle), sin(angle), _far(d, r, angle)
        leads.append(rho)
        ways.append(add(scale((r * c - d) / rho, n), scale(r * s / rho, e)))
    bends = select(less(0, ends.outside), alpha[0] + alpha[1] - phi, -1.0)
    return less(0, bends), Bend(leads[0] + leads[1], ways[0], ways[1], (leads[0], leads[1]))


def _far(d: Any, r: Any, angle: Any) -> Any:
    """How far a point at distance d is from one of the circle, by the angle between them."""
    half = sin(angle / 2)
    square = (d - r) * (d - r) + 4 * d * r * half * half
    return sqrt(select(less(square, CLOSEST), CLOSEST, square))


def _climbing(bend: Bend, height: Any) -> Bend:
    """A line in a plane with a height that it climbs evenly."""
    square = bend.length * bend.length + height * height
    length = sqrt(select(less(square, CLOSEST), CLOSEST, square))
    level, up = bend.length / length, height / length
    (a, b, _), (c, d, _) = scale(level, bend.first), scale(level, bend.second)
    steepness = length / select(less(bend.length, _SHORT), 1.0, bend.length)
    return Bend(length, (a, b, up), (c, d, -up), (steepness * bend.leads[0], steepness * bend.leads[1]))
