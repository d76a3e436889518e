"""Sliders for the joints of a model: their ranges, and the positions they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from knuckle.functions import difference, integrate, neutral
from knuckle.functions.loops.assembly import close as close_loops
from knuckle.joints import Joint
from knuckle.model import Model
from knuckle.model.labels import velocity_labels
from knuckle.spatial import Vector
from knuckle.viewer.scene.triangles import Array


@dataclass(frozen=True)
class Slider:
    """A slider: its name and unit, its range, and the velocity variable along which it moves the mechanism."""

    name: str
    unit: str
    low: float
    high: float
    variable: int


def sliders(model: Model) -> list[Slider]:
    """One slider per velocity variable. Limits are ranges; without them ±π rad and ±1 m about the neutral position."""
    made: list[Slider] = []
    labels = velocity_labels(model)
    for i, joint in enumerate(model.joints):
        if i in model.coupled:
            continue
        units, start = joint.type.v_units, model.v_slices[i].start
        for n, unit in enumerate(units):
            plain = is_plain(joint.type)
            rest = joint.start[n] if plain else 0.0
            low, high = (joint.limits.lower[n], joint.limits.upper[n]) if plain else (-math.inf, math.inf)
            reach = 1.0 if unit == "m" else math.pi
            low, high = (low if math.isfinite(low) else rest - reach), (high if math.isfinite(high) else rest + reach)
            made.append(Slider(labels[start + n], unit, low, high if high > low else low + 1e-6, start + n))
    return made


def is_plain(kind: Joint) -> bool:
    """Whether the velocity variables of a joint are the rates of its position variables."""
    if kind.nq != kind.nv:
        return False
    q, v = Vector(0.3 + 0.1 * k for k in range(kind.nq)), Vector(1.0 + k for k in range(kind.nv))
    return all(float(x) == float(y) for x, y in zip(kind.rate(q, v), v, strict=True))


def values_of(model: Model, q: Array) -> Array:
    """The sliders' values (nv) at positions `q`: these themselves, or the way there from the neutral position."""
    values = np.array(difference(model, neutral(model), q), float)
    for qs, vs in _plain_slices(model):
        values[vs] = q[qs]
    return values


def position_of(model: Model, values: Array) -> Array:
    """The positions (nq) for the sliders' values (nv)."""
    q = np.array(integrate(model, neutral(model), np.asarray(values, float)), float)
    for qs, vs in _plain_slices(model):
        q[qs] = values[vs]
    return q


def loops_closed(model: Model, q: Array, variable: int) -> Array | None:
    """The positions near `q` that close the loops and leave the joint of a velocity variable alone; None if none do."""
    if not model.loops:
        return q
    joint = next(
        i for i, rows in enumerate(model.v_slices) if i not in model.coupled and rows.start <= variable < rows.stop
    )
    found = close_loops(model, q, keep=[model.joint_names[joint]], attempts=1, tolerance=1e-8)
    return found.q if found.closed else None


def _plain_slices(model: Model) -> list[tuple[slice, slice]]:
    numbered = [(i, joint) for i, joint in enumerate(model.joints) if i not in model.coupled and is_plain(joint.type)]
    return [(model.q_slices[i], model.v_slices[i]) for i, _ in numbered]


def random_posture(model: Model, rng: np.random.Generator) -> Array:
    """A position with every joint somewhere in the range of its slider; bodies that float stay where they are."""
    values = values_of(model, np.array(neutral(model), float))
    floating = {k for i, joint in enumerate(model.joints) if joint.type.nv == 6 for k in model.variables(i)}
    for slider in sliders(model):
        if slider.variable not in floating:
            values[slider.variable] = rng.uniform(slider.low, slider.high)
    return position_of(model, values)
