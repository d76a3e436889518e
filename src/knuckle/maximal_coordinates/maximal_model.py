"""A model in maximal coordinates, made of one in any others (notes 1.10, 2.8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from knuckle.errors import ModelError
from knuckle.joints import Fixed, Free
from knuckle.model import ROOT, Body, Frame, Keyframe, Limits, LoopJoint, Model, TreeJoint
from knuckle.model.contact.contact_candidates import contact_candidates
from knuckle.model.elements import JointSpring
from knuckle.public_names import public
from knuckle.scalar import ZERO, constant
from knuckle.spatial import SPATIAL, Inertia

from .kept_joints import acting_without, dropped_from, kept_joints
from .state_maps import freed_bodies, maximal_state

LIGHT = 1e-14
"""Moments of inertia below so much of the largest are none."""


@public
def maximal(model: Model, bodies: Iterable[str] | None = None, *, drop: Iterable[str] = ()) -> Model:
    """The same mechanism in maximal coordinates: bodies on free joints on the base, and their joints as loop joints.

    Bodies keep their numbers, names, frames and shapes, and loops and force elements stay what they are. Springs,
    dampers and rotors of the joints become `JointSpring` elements. A joint keeps its name; the free joint of a body is
    called `BODY_free`. `kn.maximal_state` and `kn.reduced_state` go from states to states, `kn.maximal_forces` from
    joint forces to joint forces.

    A joint with limits, dry friction or actuators keeps its variable, and all that it has, so that stops count turns
    and what sticks has a velocity that is zero: half the inertia of its body stays on it, as the body `BODY_half` after
    all others, welded to the free half by the loop joint `JOINT_weld`. Its variables come after those of free bodies.

    Args:
        model: the mechanism, in space.
        bodies: names of the bodies to make free; all, if not given. The others stay on their joints.
        drop: of "friction", "limits", "actuators" and "rotor_inertia", what is to be left out of these joints.

    Raises:
        ModelError: a joint of these bodies follows others, or is followed; or a body has no inertia of its own.
    """
    freed, dropped = freed_bodies(model, bodies), dropped_from(drop)
    _must_be_possible(model, freed)
    kept = kept_joints(model, freed, dropped)
    q, _ = maximal_state(model, model.start, (0.0,) * model.nv, bodies=_names(model, freed), drop=dropped)
    frames, loops, elements = list(model.frames), list[LoopJoint](), list(model.elements)
    joints, halves, at = list(model.joints), list[Body](), 0
    held = list[TreeJoint]()
    for i, joint in enumerate(model.joints):
        size = 7 if i in freed else joint.type.nq if i not in model.coupled else 0
        start, at = tuple(float(x) for x in q[at : at + size]), at + size
        if i not in freed:
            continue
        joints[i] = TreeJoint(f"{model.bodies[i].name}_free", Free(), ROOT, start=start)
        if i in kept:
            loops.append(LoopJoint(f"{joint.name}_weld", Fixed(), model.nb + len(held), i))
            halves.append(Body(f"{model.bodies[i].name}_half", 0.5 * model.bodies[i].inertia))
            held.append(_without(joint, dropped))
            continue
        if joint.type.nv < SPATIAL.dimension:
            loops.append(LoopJoint(joint.name, joint.type, joint.parent, i, joint.X_tree))
        if spring := _spring(model, i, dropped):
            frames.append(Frame(spring.predecessor, joint.parent, joint.X_tree))
            elements.append(spring)
    bodies_now = (replace(x, inertia=0.5 * x.inertia) if i in kept else x for i, x in enumerate(model.bodies))
    made = model.replace(
        joints=(*joints, *held), bodies=(*bodies_now, *halves), frames=tuple(frames), loops=(*loops, *model.loops),
        elements=tuple(elements), keyframes=(),
    )  # fmt: skip
    if "actuators" in dropped:
        lost = {model.joints[i].name for i in freed}
        made = made.replace(actuators=acting_without(model, lost))
    return _with_keyframes(model, _touching_as(model, made), freed, dropped)


def _names(model: Model, freed: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(model.body_names[i] for i in freed)


def _without(joint: TreeJoint, dropped: tuple[str, ...]) -> TreeJoint:
    """A joint without what is left out."""
    nothing: dict[str, Any] = {"friction": (), "limits": Limits(), "rotor_inertia": ()}
    return replace(joint, **{name: nothing[name] for name in dropped if name in nothing})


def _must_be_possible(model: Model, freed: tuple[int, ...]) -> None:
    if model.algebra is not SPATIAL:
        raise ModelError(f"{model.name} is a planar model, and bodies on free joints move in space")
    for i in freed:
        body = model.bodies[i]
        if _is_light(body.inertia):
            raise ModelError(
                "has no inertia in some direction, and on a free joint that would be a joint that moves no inertia: "
                "leave it out of `bodies`",
                element=body.name,
            )


def _is_light(inertia: Inertia) -> bool:
    """Whether an inertia has no inverse; symbols may have one."""
    if constant(inertia.mass) is ZERO:
        return True
    try:
        mass, (xx, xy, yy, xz, yz, zz) = float(inertia.mass), map(float, inertia.I_com)
    except TypeError:
        return False
    least, _, most = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass <= 0 or least <= LIGHT * most


def _spring(model: Model, i: int, dropped: tuple[str, ...]) -> JointSpring | None:
    """The springs, dampers and rotors of joint i as an element, where there are some."""
    joint = model.joints[i]
    rotors = () if "rotor_inertia" in dropped else joint.rotor_inertia
    parts = joint.stiffness, joint.rest, joint.damping, rotors
    if all(constant(x) is ZERO for part in (parts[0], *parts[2:]) for x in part):
        return None
    return JointSpring(f"{joint.name}_spring", f"{joint.name}_predecessor", model.bodies[i].name, joint.type, *parts)


def _touching_as(model: Model, made: Model) -> Model:
    """The new model with the pairs ignored that could not touch before: bodies that were welded together."""
    names = (model.base.name, *model.body_names)

    def pairs(of: Model) -> dict[frozenset[str], tuple[str, str]]:
        named = ((names[a.body + 1], names[b.body + 1]) for a, b in contact_candidates(of))
        return {frozenset(pair): pair for pair in named}

    before = pairs(model)
    new = tuple(pair for key, pair in pairs(made).items() if key not in before)
    return made.replace(contact=replace(made.contact, ignored=(*made.contact.ignored, *new))) if new else made


def _with_keyframes(model: Model, made: Model, freed: tuple[int, ...], dropped: tuple[str, ...]) -> Model:
    keys: list[Keyframe] = []
    for key in model.keyframes:
        q, v = maximal_state(model, key.q, key.v, bodies=_names(model, freed), drop=dropped)
        keys.append(replace(key, q=tuple(map(float, q)), v=tuple(map(float, v))))
    return made.replace(keyframes=tuple(keys))
