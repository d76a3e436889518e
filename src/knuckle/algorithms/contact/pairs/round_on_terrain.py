"""Cylinders and ellipsoids on a height field."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, cylinder_rims, lowest_of_ellipsoid
from knuckle.model.parts import Cylinder, Ellipsoid, HeightField
from knuckle.scalar import maximum, minimum, sqrt
from knuckle.spatial import Transform, repeated
from knuckle.spatial.three import Vec3, add, dot, matvec, scale, sub, tmatvec

from .terrain_gaps import ball_on_surface, deepest_of_line, deepest_of_square, places_along
from .terrain_surface import TerrainSurface

ROUNDS = 60
"""How often the normal below an ellipsoid is looked for at most."""
CLOSE = 1e-13
"""The change of a normal at which it is known."""
LEAST, MOST = 0.05, 2.0
"""The part of a change that is taken: as two changes in a row suggest (Irons and Tuck 1969), within bounds."""


def ellipsoid_on_terrain(ellipsoid: Ellipsoid, X: Transform, field: HeightField, Y: Transform) -> Places:
    """The point whose normal is that of the terrain below it: by turns the lowest point along a normal, and the normal
    below that point, from the one below the centre on. In a hollow that is narrower than itself it is some point."""
    surface = TerrainSurface.of(field)

    def lowest(n: Vec3) -> Vec3:
        return lowest_of_ellipsoid(ellipsoid, X, tmatvec(Y.E, n))

    def off(n: Vec3) -> Vec3:
        return sub(surface.foot(matvec(Y.E, sub(lowest(n), Y.r)))[1], n)

    def turned(_: Any, part: Any, *both: Any) -> tuple[Any, ...]:
        n, before = both[:3], both[3:]
        now = off(n)
        change = sub(now, before)
        part = -part * dot(before, change) / maximum(dot(change, change), 1e-300)
        part = maximum(LEAST, minimum(MOST, part))
        return sqrt(dot(now, now) + 1e-300) - CLOSE, part, *add(n, scale(part, now)), *now

    start = surface.at(*matvec(Y.E, sub(X.r, Y.r))[:2]).normal
    first = off(start)
    _, _, x, y, z, *_ = repeated(turned, (1.0, 1.0, *add(start, first), *first), ROUNDS)
    return [ball_on_surface(surface, lowest((x, y, z)), 0.0, Y, 1e3 * max(ellipsoid.radii))]


def cylinder_on_terrain(cylinder: Cylinder, X: Transform, field: HeightField, Y: Transform) -> Places:
    """Three points of the lower rim and the lowest one of the upper, as over the plane below its centre; the deepest of
    some places of the lower end, and of those along its side between the lowest points of both rims."""
    surface, r = TerrainSurface.of(field), cylinder.radius
    n = tmatvec(Y.E, surface.at(*matvec(Y.E, sub(X.r, Y.r))[:2]).normal)
    rim, upper, (centre, steepest, across) = cylinder_rims(cylinder, X, n)
    sides = scale(r, steepest), scale(r, across)
    count = places_along(2 * cylinder.radius, field)

    def on_disc(s: Any, t: Any) -> tuple[Any, Any]:
        part = 1 / sqrt(maximum(s * s + t * t, 1.0))
        return part * s, part * t

    s, t = on_disc(*deepest_of_square(surface, Y, centre, *sides, count, on_disc))
    inside = add(centre, add(scale(s, sides[0]), scale(t, sides[1])))
    middle, half = scale(0.5, add(rim[0], upper)), scale(0.5, sub(upper, rim[0]))
    along = deepest_of_line(surface, Y, middle, half, places_along(cylinder.length, field))
    points = [*rim, upper, inside, add(middle, scale(along, half))]
    return [ball_on_surface(surface, point, 0.0, Y, 1e3 * (r + cylinder.length)) for point in points]
