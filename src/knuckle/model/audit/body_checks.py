"""What an audit says about bodies: masses, inertias, shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from knuckle.model.model import Model
from knuckle.model.parts import Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Note, Shape, Sphere

from .survey import Bulk, Extent, bulk, extent, shapes_of

_TRIANGLE = 1e-2
"""Principal moments are written with few digits: the triangle inequality may fail by this part of the largest."""
_DENSEST, _LIGHTEST = 25_000.0, 1.0
"""kg/m³: heavier than any material, lighter than a gas bag."""


def check_bodies(model: Model) -> Iterator[Note]:
    """Findings on every moving body."""
    for body in model.bodies:
        found = bulk(body.inertia)
        if found is None:
            yield Note("info", body.name, "its inertia is not made of plain numbers and was not examined")
            continue
        yield from _inertia(body.name, found)
        where = extent(shapes_of(body))
        if found.mass > 0 and where is not None and where.complete:
            volumes = [e.volume for shapes in (body.visuals, body.collisions) if (e := extent(shapes)) is not None]
            yield from _against_shapes(body.name, found, where, max(volumes))
    for body in (model.base, *model.bodies):
        yield from _shapes(body)
    yield from _meshes(model)


def _inertia(name: str, b: Bulk) -> Iterator[Note]:
    numbers = (b.mass, *b.com, *b.moments)
    if not all(map(math.isfinite, numbers)):
        yield Note("error", name, "its inertia has entries that are no finite numbers")
        return
    small, middle, large = b.moments
    moments = f"principal moments {small:.4g}, {middle:.4g}, {large:.4g} kg·m²"
    if b.mass < 0:
        yield Note("error", name, f"its mass is negative: {b.mass:.6g} kg")
    elif b.mass == 0 and large > 0:
        yield Note("warning", name, f"it has rotational inertia but no mass: {moments}")
    elif b.mass > 0 and not any(b.moments):
        yield Note("info", name, f"a point mass: {b.mass:.4g} kg and no rotational inertia")
    if small < 0:
        yield Note("error", name, f"its rotational inertia is not positive: {moments}")
    elif small + middle < (1 - _TRIANGLE) * large:
        text = f"no body can have it: {moments} break the triangle inequality, {small:.4g} + {middle:.4g} < {large:.4g}"
        yield Note("warning", name, text)


def _against_shapes(name: str, b: Bulk, e: Extent, volume: float) -> Iterator[Note]:
    if (away := e.distance(b.com)) > e.size > 0:
        text = f"its centre of mass is {away:.3g} m outside its shapes, which are {e.size:.3g} m across"
        yield Note("warning", name, text)
    if volume > 0 and not _LIGHTEST < (density := b.mass / volume) < _DENSEST:
        yield Note("warning", name, f"its shapes would have a density of {density:.3g} kg/m³; water has 1000")
    if b.gyration > e.size > 0:
        text = f"its inertia is that of its mass at a radius of {b.gyration:.3g} m, but its shapes are"
        yield Note("warning", name, f"{text} {e.size:.3g} m across: is the inertia in kg·mm², g·cm² or the like?")


def _shapes(body: Body) -> Iterator[Note]:
    for what, shapes in (("visual", body.visuals), ("collision", body.collisions)):
        seen: list[Geometry] = []
        for geometry in shapes:
            if min(_lengths(geometry.shape), default=1.0) <= 0:
                yield Note("error", body.name, f"a {what} shape without size: {geometry.shape}")
            if any(geometry.shape == other.shape and geometry.X == other.X for other in seen):
                yield Note("info", body.name, f"the same {what} shape in the same place twice: {geometry.shape}")
            seen.append(geometry)


def _lengths(shape: Shape) -> tuple[float, ...]:
    match shape:
        case Box(size):
            return size
        case Cylinder(radius, length):
            return radius, length
        case Capsule(radius, _) | Sphere(radius):
            return (radius,)
        case Ellipsoid(radii):
            return radii
        case _:
            return ()


def _meshes(model: Model) -> Iterator[Note]:
    shapes = [g.shape for body in (model.base, *model.bodies) for g in (*body.visuals, *body.collisions)]
    missing = sorted({shape.uri for shape in shapes if isinstance(shape, Mesh) and shape.path is None})
    if missing:
        names = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        yield Note(
            "info", model.name, f"{len(missing)} mesh files were not found (the dynamics do not need them): {names}"
        )
