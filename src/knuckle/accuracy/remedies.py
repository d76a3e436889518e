"""What would help (RBDA 10.1, 10.2), and by how much: each remedy is tried, and the error measured again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions.base_frame import floats
from knuckle.joints import Free
from knuckle.model import Model
from knuckle.spatial import SPATIAL

from .function_errors import FunctionError, error_of, exact_result
from .least_depth import depth, least_depth, position_of
from .sensitivity import loop_conditions, mass_matrix_conditions

Array = NDArray[Any]
HELPS = 2.0
"""Errors that fall by more than this: what is less is chance."""
RATIO = 1e3
"""Neighbours whose masses differ as those of bodies of ten times the size do (RBDA 10.1)."""
GYRATION = 2.0
"""How many radii of gyration away from the centre of mass an origin may be (RBDA 10.1)."""
NEARLY_SINGULAR = 1e3


@dataclass(frozen=True)
class Remedy:
    """One of the book's remedies.

    Attributes:
        name: which.
        finding: what was looked at, in words.
        gain: by how many times the error, or the condition that causes it, falls; 1 where nothing is to be gained.
        advice: what to do, where it helps.
    """

    name: str
    finding: str
    gain: float
    advice: str = ""

    @property
    def helps(self) -> bool:
        """Whether it is worth doing."""
        return self.gain > HELPS


def remedies(
    model: Model, state: Mapping[str, Array], errors: Mapping[str, FunctionError], digits: int
) -> tuple[Remedy, ...]:
    """All of them, for the states of a study; `errors` are those of single precision by function."""
    return (
        _origin(model, state, errors, digits),
        _mean_velocity(model, state, errors, digits),
        _body_frames(model),
        _inertia_ratios(model),
        _depth(model, state),
        _singular_loops(model, state),
    )


def _measured_again(
    model: Model, state: Mapping[str, Array], errors: Mapping[str, FunctionError], digits: int
) -> tuple[float, str]:
    """The largest fall of a median error with other states, and of which function."""
    best = (1.0, "")
    for name, before in errors.items():
        after = error_of(model, name, state, exact_result(model, name, state, digits), before.precision)
        gain = before.median / max(after.median, before.rounding)
        best = max(best, (gain, name))
    return best


def _base_part(model: Model, values: Array, part: slice, new: float) -> Array:
    changed = values.copy()
    changed[:, part] = new
    return changed


def _origin(model: Model, state: Mapping[str, Array], errors: Mapping[str, FunctionError], digits: int) -> Remedy:
    name = "an origin near the mechanism"
    if not floats(model):
        return Remedy(name, "nothing floats: the base is the origin", 1.0)
    far = float(np.abs(state["q"][:, 4:7]).max())
    near = {**state, "q": _base_part(model, state["q"], slice(4, 7), 0.0)}
    chosen = {k: e for k, e in errors.items() if k not in ("center_of_mass", "potential_energy")}
    gain, which = _measured_again(model, near, chosen, digits)
    return Remedy(
        name, f"the base is up to {far:.3g} m from the origin", gain, f"place the origin near the base, for {which}"
    )


def _mean_velocity(
    model: Model, state: Mapping[str, Array], errors: Mapping[str, FunctionError], digits: int
) -> Remedy:
    name = "a frame that moves along"
    if not floats(model):
        return Remedy(name, "nothing floats: there is no mean velocity", 1.0)
    fast = float(np.abs(state["v"][:, 3:6]).max())
    slow = {**state, "v": _base_part(model, state["v"], slice(3, 6), 0.0)}
    chosen = {k: e for k, e in errors.items() if k in ("coriolis_matrix", "mass_matrix", "jacobian")}
    gain, which = _measured_again(model, slow, chosen, digits)
    advice = f"compute in a frame that moves with the base, for {which}"
    return Remedy(name, f"the base moves with up to {fast:.3g} m/s", gain, advice)


def _body_frames(model: Model) -> Remedy:
    """How far the origins of bodies are from their centres of mass; rounding grows with the square (RBDA fig. 10.2).

    A joint's axis goes through the origin: only the way along the axis can be saved.
    """
    name = "body frames near the bodies"
    if model.algebra is not SPATIAL:
        return Remedy(name, "a planar model", 1.0)
    worst = (1.0, "", 0.0)
    for body, joint, I in zip(model.bodies, model.joints, model.I, strict=True):
        mass = float(I.mass)
        if mass <= 0:
            continue
        c = np.array([float(x) for x in I.com])
        xx, _, yy, _, _, zz = (float(x) for x in I.I_com)
        gyration = math.sqrt(max(xx + yy + zz, 0.0) / 2 / mass)
        axis = np.array([float(x) for x in getattr(joint.type, "axis", (0, 0, 0))])
        left = np.linalg.norm(c - (c @ axis) * axis) if axis.any() else np.linalg.norm(c)
        left = 0.0 if isinstance(joint.type, Free) else left
        now, then = (max(1.0, float(x) / (GYRATION * gyration)) if gyration else 1.0 for x in (np.linalg.norm(c), left))
        if now > then:
            worst = max(worst, ((now / then) ** 2, body.name, float(np.linalg.norm(c)) / gyration))
    gain, body, away = worst
    if not body:
        return Remedy(name, f"no origin is beyond {GYRATION:.0f} radii of gyration where it need not be", 1.0)
    finding = f"the origin of {body} is {away:.0f} radii of gyration from its centre of mass"
    return Remedy(name, finding, gain, f"slide the frame of {body} along its axis (compiled code does by itself)")


def _inertia_ratios(model: Model) -> Remedy:
    name = "inertias of like size"
    heaviest = {i: float(I.mass) for i, I in enumerate(model.I)}
    worst = (1.0, "", "")
    for i, p, _ in model.outward():
        if p in heaviest and heaviest[i] > 0 and heaviest[p] > 0:
            ratio = max(heaviest[i] / heaviest[p], heaviest[p] / heaviest[i])
            worst = max(worst, (ratio, model.body_names[i], model.body_names[p]))
    ratio, a, b = worst
    finding = f"{a} and {b} differ {ratio:.0f}-fold in mass" if a else "no neighbours with mass"
    return Remedy(name, finding, max(1.0, ratio / RATIO), f"use doubles, or lump {a} and {b} together")


def _depth(model: Model, state: Mapping[str, Array]) -> Remedy:
    name = "a tree of least depth"
    now = depth(model)
    if not model.loops:
        return Remedy(name, f"{now} joints deep, and no loop to cut elsewhere", 1.0)
    cut = least_depth(model)
    then = depth(cut)
    if then >= now:
        return Remedy(name, f"{now} joints deep, and no tree of this graph is less deep", 1.0)
    q = np.array([position_of(model, x, cut) for x in state["q"]])
    before, after = mass_matrix_conditions(model, state["q"])[0], mass_matrix_conditions(cut, q)[0]
    gain = float(np.median(before) / np.median(after))
    kept = ", ".join(loop.name for loop in cut.loops)
    return Remedy(name, f"{now} joints deep, and {then} would do", gain, f"cut the loops at {kept} instead")


def _singular_loops(model: Model, state: Mapping[str, Array]) -> Remedy:
    name = "loops that are not nearly singular"
    if not model.loops:
        return Remedy(name, "no loops", 1.0)
    conditions = loop_conditions(model, state["q"])
    worst = float(conditions.max())
    gain = worst / float(np.median(conditions)) if worst > NEARLY_SINGULAR else 1.0
    return Remedy(name, f"condition of the loops up to {worst:.2g}", gain, "keep away from there, or use doubles")
