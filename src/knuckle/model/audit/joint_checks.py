"""What an audit says about joints: limits, couplings, loops, order, and whether forward dynamics can work."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from knuckle.joints import Continuous, Prismatic, Revolute
from knuckle.model.coupling import described
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, LoopJoint, Note, TreeJoint
from knuckle.spatial import Vector

from .survey import bulk, joints_without_inertia, neutral, positions

_TWO_TURNS = 4 * math.pi


def check_joints(model: Model) -> Iterator[Note]:
    """Findings on every joint, and on the joints together."""
    for joint in model.joints:
        yield from _limits(joint)
        yield from _drive(joint)
    yield from _together(model, "no position limits", _unlimited)
    yield from _together(model, "velocity limit of zero: it may not move", _no_velocity)
    yield from _together(model, "effort limit of zero: nothing may drive it", _no_effort)
    yield from _together(model, "`neutral` is outside the limits: it starts where it may not be", _start_outside)
    yield from _massless(model)
    for c in model.couplings:
        text = f"{described(c, model.joint_names)}; it has no variable of its own"
        yield Note("info", model.joint_names[c.joint], text)
    yield from _loops(model)
    yield from _order(model)


# limits


def _limits(joint: TreeJoint) -> Iterator[Note]:
    limits: Any = joint.limits
    for low, high in zip(limits.lower, limits.upper, strict=True):
        if low > high:
            yield Note("error", joint.name, f"its lower limit {low:g} is above its upper limit {high:g}")
        elif low == high:
            yield Note("warning", joint.name, f"its limits leave it no way to move: both are {low:g}")
    for unit, low, high in zip(joint.type.q_units, limits.lower, limits.upper, strict=True):
        beyond = [x for x in (low, high) if unit == "rad" and math.isfinite(x) and abs(x) > _TWO_TURNS]
        if beyond and all(x % 5 == 0 for x in beyond):
            yield Note("warning", joint.name, f"a limit of {beyond[-1]:g} is more than two turns: is it in degrees?")


def _one_freedom(joint: TreeJoint) -> bool:
    return isinstance(joint.type, (Revolute, Prismatic)) and not isinstance(joint.type, Continuous)


def _unlimited(joint: TreeJoint) -> bool:
    limits: Any = joint.limits
    return _one_freedom(joint) and not any(map(math.isfinite, (*limits.lower, *limits.upper)))


def _no_velocity(joint: TreeJoint) -> bool:
    limits: Any = joint.limits
    return 0 in limits.velocity


def _no_effort(joint: TreeJoint) -> bool:
    limits: Any = joint.limits
    return 0 in limits.effort


def _start_outside(joint: TreeJoint) -> bool:
    limits: Any = joint.limits
    bounds = zip(limits.lower, joint.start, limits.upper, strict=True)
    return _one_freedom(joint) and any(not low <= x <= high and low <= high for low, x, high in bounds)


def _drive(joint: TreeJoint) -> Iterator[Note]:
    for what in ("damping", "friction", "rotor_inertia", "stiffness"):
        if any(isinstance(x, (int, float)) and x < 0 for x in getattr(joint, what)):
            yield Note("error", joint.name, f"its {what.replace('_', ' ')} is negative: it would drive itself")


def _together(model: Model, text: str, applies: Any) -> Iterator[Note]:
    """One note for all joints that something applies to."""
    if names := [joint.name for joint in model.joints if applies(joint)]:
        yield Note("info", _listed(names), text)


def _listed(names: Iterable[str], most: int = 8) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


# inertia that the joints feel


def _massless(model: Model) -> Iterator[Note]:
    bulks = [bulk(body.inertia) for body in model.bodies]
    if any(b is None or not all(map(math.isfinite, (b.mass, *b.com, *b.moments))) for b in bulks):
        return
    empty = [b is not None and b.empty for b in bulks]
    hollow = [all(empty[j] for j in model.subtree(i)) for i in range(model.nb)]
    generic = joints_without_inertia(model, _generic(model))
    for i in generic:
        if not hollow[i]:
            text = "the bodies it moves have no inertia about its axis, so forward dynamics fails"
            yield Note("error", model.joint_names[i], f"{text}: they need inertia, or the joint rotor_inertia")
        elif model.parents[i] == ROOT or not (hollow[model.parents[i]] and model.parents[i] in generic):
            bodies = _listed(model.body_names[j] for j in model.subtree(i))
            text = f"nothing it moves has mass or inertia ({bodies}), so forward dynamics fails"
            yield Note("error", model.joint_names[i], f"{text}: add inertia or rotor_inertia, or lock the joint")
    for i in joints_without_inertia(model, neutral(model)):
        if i not in generic:
            text = "at the neutral position the inertia matrix is singular here: its freedom is that of other joints"
            yield Note("warning", model.joint_names[i], text)
    if light := [model.body_names[i] for i in range(model.nb) if empty[i] and not hollow[i]]:
        yield Note("info", _listed(light), "no mass of its own, but what it carries has")


def _generic(model: Model) -> Vector:
    """A position without symmetry, always the same."""
    import numpy as np

    rng = np.random.default_rng(1)
    free = (joint for i, joint in enumerate(model.joints) if i not in model.coupled)
    return Vector(x for joint in free for x in joint.type.random(rng))


# loops and order


def _loops(model: Model) -> Iterator[Note]:
    if not model.loops:
        return
    constraints = sum(6 - loop.type.nv for loop in model.loops)
    freedoms = f"{model.nv} freedoms of the tree less {constraints} constraints"
    text = f"{len(model.loops)} joints close {len(model.loops)} independent loops: {freedoms} leave at least"
    yield Note("info", _listed(loop.name for loop in model.loops), f"{text} {max(model.nv - constraints, 0)}")
    X = positions(model, neutral(model))
    for loop in model.loops:
        if loop.predecessor == loop.successor:
            yield Note("warning", loop.name, "it joins a body to itself")
        elif (gap := _gap(loop, X)) > 1e-6:
            yield Note("info", loop.name, f"the loop is open by {gap:.3g} at the neutral position")


def _gap(loop: LoopJoint, X: Any) -> float:
    """|δ| of a loop (RBDA 8.25), metres and radians alike."""
    ends = loop.X_predecessor @ X[loop.predecessor], loop.X_successor @ X[loop.successor]
    delta, _ = loop.type.loop(ends[1] @ ends[0].inverse())
    return math.hypot(*map(float, delta))


def _order(model: Model) -> Iterator[Note]:
    """Where other readers would number the joints in another way."""
    ranks = list(range(model.nb)), sorted(range(model.nb), key=lambda i: model.joint_names[i])
    for words, rank in zip(("in the order of the file", "by name, as Pinocchio does"), ranks, strict=True):
        order = _depth_first(model, rank)
        if order != list(range(model.nb)):
            names = _listed((model.joint_names[i] for i in order), 12)
            yield Note(
                "info", model.name, f"a reader that goes depth first, children {words}, has the joints as: {names}"
            )


def _depth_first(model: Model, rank: Sequence[int]) -> list[int]:
    """The joints depth first, children in the order that `rank` has them."""
    children: dict[int, list[int]] = {}
    for i in rank:
        children.setdefault(model.parents[i], []).append(i)
    order: list[int] = []
    waiting = children.get(ROOT, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children.get(order[-1], [])[::-1]
    return order
