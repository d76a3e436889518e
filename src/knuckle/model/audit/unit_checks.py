"""What an audit says about magnitudes: numbers that look as if they were in other units than metres and kilograms."""

from __future__ import annotations

import math
from collections.abc import Iterator

from knuckle.model.model import Model
from knuckle.model.parts import Note

from .survey import bulk, reach

_HEAVIEST, _LIGHTEST = 1e5, 1e-4
_LONGEST, _SHORTEST = 100.0, 1e-3
_EARTH = 9.78, 9.84


def check_units(model: Model) -> Iterator[Note]:
    """Findings on lengths, masses, inertias and gravity."""
    yield from _masses(model)
    yield from _lengths(model)
    yield from _inertias(model)
    yield from _gravity(model)


def _masses(model: Model) -> Iterator[Note]:
    total = sum(b.mass for body in model.bodies if (b := bulk(body.inertia)) is not None)
    if not total:
        return
    if total > _HEAVIEST:
        yield Note("warning", model.name, f"its total mass is {total:.4g} kg: is it in grams?")
    elif 0 < total < _LIGHTEST:
        yield Note("warning", model.name, f"its total mass is {total:.4g} kg: is it in tonnes?")


def _lengths(model: Model) -> Iterator[Note]:
    lengths = {joint.name: math.hypot(*map(float, joint.X_tree.r)) for joint in model.joints}
    for name, length in lengths.items():
        if length > _LONGEST:
            yield Note("warning", name, f"it is {length:.4g} m from its parent: is that in millimetres?")
    if 0 < max(lengths.values(), default=0.0) < _SHORTEST:
        longest = max(lengths.values())
        yield Note(
            "warning", model.name, f"no joint is more than {longest:.3g} m from its parent: is that in kilometres?"
        )


def _inertias(model: Model) -> Iterator[Note]:
    """Radii of gyration and centres of mass beyond the whole mechanism."""
    size = reach(model)
    if not size:
        return
    for body in model.bodies:
        b = bulk(body.inertia)
        if b is None or b.mass <= 0:
            continue
        if (away := math.hypot(*b.com)) > max(2 * size, 1.0):
            text = f"its centre of mass is {away:.3g} m from its frame, in a mechanism that reaches {size:.3g} m"
            yield Note("warning", body.name, f"{text}: is that in millimetres?")
        if b.gyration > max(2 * size, 1.0):
            text = f"its inertia is that of its mass at a radius of {b.gyration:.3g} m, in a mechanism that reaches"
            yield Note("warning", body.name, f"{text} {size:.3g} m: is it in kg·mm², g·mm² or the like?")


def _gravity(model: Model) -> Iterator[Note]:
    x, y, z = model.gravity
    g = math.hypot(x, y, z)
    if g == 0:
        yield Note("info", model.name, "there is no gravity")
        return
    if not _EARTH[0] < g < _EARTH[1]:
        yield Note("warning", model.name, f"gravity is {g:.4g} m/s², not that of the Earth")
    if x or y or z > 0:
        yield Note("info", model.name, f"gravity points along ({x:g}, {y:g}, {z:g}), not along −z")
