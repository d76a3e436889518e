"""What a person gives for surfaces, ground and terrain, checked and made into the parts of a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

from knuckle.errors import ModelError
from knuckle.model.parts import Geometry, HeightField, Plane
from knuckle.model.placement import finite, vector
from knuckle.model.surfaces import Surface
from knuckle.spatial import Transform, rotation
from knuckle.spatial.three import IDENTITY3

ENDLESS = (0.0, 0.0)


def surface_from(name: str, *values: Any) -> Surface:
    """A surface of numbers as given: friction, torsional, rolling, restitution, stiffness, damping."""
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"a surface needs a name, not {name!r}")
    plain = (x.item() if hasattr(x, "item") else x for x in values)
    try:
        return Surface(name, *plain)
    except ValueError as error:
        raise ModelError(str(error), element=name) from None


def ground_plane(normal: Sequence[float], height: float, surface: str, name: str) -> Geometry:
    """An endless plane `height` along a normal of any length, its z axis along that."""
    along = vector(normal, "normal", name)
    length = math.hypot(*along)
    if length == 0:
        raise ModelError(f"normal needs a direction, not {tuple(normal)}", element=name)
    n = (along[0] / length, along[1] / length, along[2] / length)
    h = finite(height, "height", name)
    E = IDENTITY3 if n == (0.0, 0.0, 1.0) else (*rotation.perpendicular(n), n)
    return Geometry(Plane(ENDLESS), Transform.of(E, (h * n[0], h * n[1], h * n[2])), name, surface=surface)


def height_field(heights: Any, spacing: float | Sequence[float], name: str) -> HeightField:
    """Terrain from an array of heights with two axes, and one distance for both of them or one for each."""
    try:
        rows = tuple(tuple(float(x) for x in cast(Iterable[Any], row)) for row in heights)
    except (TypeError, ValueError):
        raise ModelError(
            f"heights need an array of numbers with two axes, not {_described(heights)}", element=name
        ) from None
    distances: Sequence[Any] = spacing if isinstance(spacing, Iterable) else (spacing, spacing)
    if len(distances) != 2:
        raise ModelError(f"spacing is a length, or one along x and one along y, not {spacing!r}", element=name)
    dx, dy = (float(finite(d, "spacing", name)) for d in distances)
    try:
        return HeightField(rows, (dx, dy))
    except ValueError as error:
        raise ModelError(str(error), element=name) from None


def _described(heights: Any) -> str:
    shape = getattr(heights, "shape", None)
    return f"one of shape {shape}" if shape is not None else type(heights).__name__
