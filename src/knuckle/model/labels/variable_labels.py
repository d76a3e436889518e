"""Names and units of the variables of a model, for plots, tables and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knuckle.joints import Joint
from knuckle.model.model import Model

_QUATERNION = ("w", "x", "y", "z")
_AXES = ("x", "y", "z")
_PREFIX = {("q", "rad"): "r", ("q", "m"): "p", ("v", "rad"): "w", ("v", "m"): "v"}


def position_labels(model: Model) -> tuple[str, ...]:
    """One name per entry of q: the joint's, with what tells its variables apart where it has several."""
    return tuple(label for name, kind in _independent(model) for label in _labels(name, kind.q_units, "q"))


def velocity_labels(model: Model) -> tuple[str, ...]:
    """One name per entry of v."""
    return tuple(label for name, kind in _independent(model) for label in _labels(name, kind.v_units, "v"))


def position_units(model: Model) -> tuple[str, ...]:
    """The unit of each entry of q: "rad", "m" or "1"."""
    return tuple(unit for _, kind in _independent(model) for unit in kind.q_units)


def velocity_units(model: Model) -> tuple[str, ...]:
    """The unit of each entry of v: "rad/s" or "m/s"."""
    return tuple(f"{unit}/s" for _, kind in _independent(model) for unit in kind.v_units)


def force_units(model: Model) -> tuple[str, ...]:
    """The unit of each entry of τ: "N m" or "N"."""
    return tuple("N" if unit == "m" else "N m" for _, kind in _independent(model) for unit in kind.v_units)


def _independent(model: Model) -> Iterator[tuple[str, Joint]]:
    coupled = model.coupled
    return ((joint.name, joint.type) for i, joint in enumerate(model.joints) if i not in coupled)


def _labels(name: str, units: Sequence[str], variable: str) -> list[str]:
    """w, x, y, z for a quaternion; an axis for three of a kind; numbers for all else."""
    if len(units) == 1:
        return [name]
    places = {unit: [k for k, u in enumerate(units) if u == unit] for unit in units}
    own = [str(k) for k in range(len(units))]
    for unit, where in places.items():
        if unit == "1" and len(where) == 4:
            letters: Sequence[str] = _QUATERNION
        elif len(where) == 3 and (variable, unit) in _PREFIX:
            letters = [_PREFIX[variable, unit] + axis for axis in _AXES]
        else:
            continue
        for k, letter in zip(where, letters, strict=True):
            own[k] = letter
    return [f"{name}.{label}" for label in own]
