"""Inertias of uniform bodies: solid, hollow and thin, centred at the origin unless placed elsewhere."""

from __future__ import annotations

import math
from typing import Any

from knuckle.errors import ModelError
from knuckle.model.parts import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from knuckle.model.placement import Placement, finite, to_transform, vector
from knuckle.spatial import Inertia


def solid_box(mass: Any, size: Any, at: Placement = None) -> Inertia:
    """A box by its side lengths: I_xx = m (y² + z²) / 12."""
    x, y, z = (_positive(s, "size") for s in vector(size, "size"))
    m = _mass(mass) / 12
    return _placed(mass, (m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y)), at)


def solid_cylinder(mass: Any, radius: Any, length: Any, at: Placement = None) -> Inertia:
    """A cylinder along z."""
    return hollow_cylinder(mass, radius, length, 0, at)


def solid_sphere(mass: Any, radius: Any, at: Placement = None) -> Inertia:
    """A ball: 2/5 m r²."""
    return hollow_sphere(mass, radius, 0, at)


def solid_ellipsoid(mass: Any, radii: Any, at: Placement = None) -> Inertia:
    """An ellipsoid by its half axes: I_xx = m (b² + c²) / 5."""
    a, b, c = (_positive(r, "radii") for r in vector(radii, "radii"))
    m = _mass(mass) / 5
    return _placed(mass, (m * (b * b + c * c), m * (a * a + c * c), m * (a * a + b * b)), at)


def solid_capsule(mass: Any, radius: Any, length: Any, at: Placement = None) -> Inertia:
    """A cylinder along z with half balls on its ends; `length` is that of the cylinder alone."""
    r, h = _positive(radius, "radius"), _positive(length, "length")
    cylinder = _mass(mass) * h / (h + 4 * r / 3)
    ends = mass - cylinder
    axial = cylinder * r * r / 2 + ends * 2 * r * r / 5
    across = cylinder * (h * h / 12 + r * r / 4) + ends * (2 * r * r / 5 + h * h / 4 + 3 * h * r / 8)
    return _placed(mass, (across, across, axial), at)


def rod(mass: Any, length: Any, at: Placement = None) -> Inertia:
    """A thin rod along z: m l² / 12 across, nothing about its own axis."""
    across = _mass(mass) * _positive(length, "length") * length / 12
    return _placed(mass, (across, across, 0), at)


def hollow_cylinder(mass: Any, radius: Any, length: Any, inner_radius: Any, at: Placement = None) -> Inertia:
    """A tube along z. With `inner_radius` equal to `radius` it is a thin shell without ends."""
    r, h = _positive(radius, "radius"), _positive(length, "length")
    squares = r * r + _inside(inner_radius, radius) * inner_radius
    m = _mass(mass)
    across = m * (3 * squares + h * h) / 12
    return _placed(mass, (across, across, m * squares / 2), at)


def hollow_sphere(mass: Any, radius: Any, inner_radius: Any, at: Placement = None) -> Inertia:
    """A ball with a ball cut out of it. With `inner_radius` equal to `radius` it is a thin shell: 2/3 m r²."""
    R, r = _positive(radius, "radius"), _inside(inner_radius, radius)
    fourth = R * R * R * R + R * R * R * r + R * R * r * r + R * r * r * r + r * r * r * r
    I = 2 * _mass(mass) * fourth / (5 * (R * R + R * r + r * r))
    return _placed(mass, (I, I, I), at)


def hollow_box(mass: Any, size: Any, wall: Any, at: Placement = None) -> Inertia:
    """A closed box with walls of the same thickness."""
    outer = [_positive(s, "size") for s in vector(size, "size")]
    inner = [s - 2 * _positive(wall, "wall") for s in outer]
    if any(isinstance(s, (int, float)) and s <= 0 for s in inner):
        raise ModelError(f"walls of {wall!r} leave no room in a box of {tuple(outer)}")
    volumes = [a[0] * a[1] * a[2] for a in (outer, inner)]
    density = _mass(mass) / (volumes[0] - volumes[1])
    full, hole = (solid_box(density * v, s) for v, s in zip(volumes, (outer, inner), strict=True))
    I = (full - hole).I
    return _placed(mass, (I.xx, I.yy, I.zz), at)


def point_mass(mass: Any, at: Placement = None) -> Inertia:
    """All the mass in one point."""
    return _placed(_mass(mass), (0, 0, 0), at)


def solid(shape: Shape, mass: Any, at: Placement = None) -> Inertia:
    """A solid body of a shape that has a volume."""
    match shape:
        case Box(size):
            return solid_box(mass, size, at)
        case Cylinder(radius, length):
            return solid_cylinder(mass, radius, length, at)
        case Capsule(radius, length):
            return solid_capsule(mass, radius, length, at)
        case Sphere(radius):
            return solid_sphere(mass, radius, at)
        case Ellipsoid(radii):
            return solid_ellipsoid(mass, radii, at)
        case _:
            raise ModelError(f"a {type(shape).__name__.lower()} has no volume that is known here")


def volume(shape: Shape) -> float | None:
    """The volume of a shape, if it is known from the shape alone."""
    match shape:
        case Box((x, y, z)):
            return x * y * z
        case Cylinder(radius, length):
            return math.pi * radius**2 * length
        case Capsule(radius, length):
            return math.pi * radius**2 * (length + 4 / 3 * radius)
        case Sphere(radius):
            return 4 / 3 * math.pi * radius**3
        case Ellipsoid((a, b, c)):
            return 4 / 3 * math.pi * a * b * c
        case _:
            return None


def _placed(mass: Any, moments: tuple[Any, Any, Any], at: Placement) -> Inertia:
    a, b, c = moments
    I = Inertia.of(mass, (0, 0, 0), ((a, 0, 0), (0, b, 0), (0, 0, c)))
    if at is None:
        return I
    X = to_transform(at, "at")
    return X.T @ I @ X


def _mass(mass: Any) -> Any:
    return _not_negative(finite(mass, "mass"), "mass")


def _positive(x: Any, what: str) -> Any:
    if isinstance(finite(x, what), (int, float)) and x <= 0:
        raise ModelError(f"{what} needs to be above zero, not {x!r}")
    return x


def _not_negative(x: Any, what: str) -> Any:
    if isinstance(x, (int, float)) and x < 0:
        raise ModelError(f"{what} cannot be negative: {x!r}")
    return x


def _inside(inner: Any, outer: Any) -> Any:
    if isinstance(_not_negative(finite(inner, "inner_radius"), "inner_radius"), (int, float)) and inner > outer:
        raise ModelError(f"inner_radius {inner!r} is larger than the radius {outer!r}")
    return inner
