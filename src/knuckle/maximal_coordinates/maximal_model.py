"""A model in maximal coordinates, made of one in any others (notes 1.10, 2.8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from knuckle.errors import ModelError
from knuckle.joints import Free
from knuckle.model import ROOT, Frame, Keyframe, LoopJoint, Model, TreeJoint
from knuckle.model.contact.contact_candidates import contact_candidates
from knuckle.model.elements import JointSpring
from knuckle.public_names import public
from knuckle.scalar import ZERO, constant
from knuckle.spatial import SPATIAL, Inertia

from .state_maps import freed_bodies, maximal_state

DROPPED = ("friction", "limits", "rotor_inertia")
"""What may be left out: of these loop joints can have rotors only."""
LIGHT = 1e-14
"""Moments of inertia below so much of the largest are none."""


@public
def maximal(model: Model, bodies: Iterable[str] | None = None, *, drop: Iterable[str] = ()) -> Model:
    """The same mechanism in maximal coordinates: bodies on free joints on the base, and their joints as loop joints.

    Bodies keep their numbers, names, frames and shapes, and loops and force elements stay what they are. Springs,
    dampers and rotors of the joints become `JointSpring` elements. A joint keeps its name; the free joint of a body is
    called `BODY_free`. `kn.maximal_state` and `kn.reduced_state` go from states to states, `kn.maximal_forces` from
    joint forces to joint forces.

    Args:
        model: the mechanism, in space.
        bodies: names of the bodies to make free; all, if not given. The others stay on their joints.
        drop: of "friction", "limits" and "rotor_inertia", what is to be left out. Loop joints cannot have the first
            two: dry friction needs the forces that a joint carries, and stops a variable that counts turns.

    Raises:
        ModelError: a joint of these bodies has what loop joints cannot have, or follows others, or is followed; or a
            body has no inertia of its own.
    """
    freed, dropped = freed_bodies(model, bodies), tuple(drop)
    if unknown := [name for name in dropped if name not in DROPPED]:
        raise ValueError(f"drop is any of {', '.join(map(repr, DROPPED))}, not {unknown[0]!r}")
    _must_be_possible(model, freed, dropped)
    q, _ = maximal_state(model, model.start, (0.0,) * model.nv, bodies=_names(model, freed))
    frames, loops, elements = list(model.frames), list[LoopJoint](), list(model.elements)
    joints, at = list(model.joints), 0
    for i, joint in enumerate(model.joints):
        size = 7 if i in freed else joint.type.nq if i not in model.coupled else 0
        start, at = tuple(float(x) for x in q[at : at + size]), at + size
        if i not in freed:
            continue
        joints[i] = TreeJoint(f"{model.bodies[i].name}_free", Free(), ROOT, start=start)
        if joint.type.nv < SPATIAL.dimension:
            loops.append(LoopJoint(joint.name, joint.type, joint.parent, i, joint.X_tree))
        if spring := _spring(model, i, dropped):
            frames.append(Frame(spring.predecessor, joint.parent, joint.X_tree))
            elements.append(spring)
    made = model.replace(
        joints=tuple(joints), frames=tuple(frames), loops=(*loops, *model.loops), elements=tuple(elements), keyframes=()
    )
    return _with_keyframes(model, _touching_as(model, made), freed)


def _names(model: Model, freed: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(model.body_names[i] for i in freed)


def _must_be_possible(model: Model, freed: tuple[int, ...], dropped: tuple[str, ...]) -> None:
    if model.algebra is not SPATIAL:
        raise ModelError(f"{model.name} is a planar model, and bodies on free joints move in space")
    for i in freed:
        joint, body = model.joints[i], model.bodies[i]
        finite = any(np.isfinite(x) for x in (*joint.limits.lower, *joint.limits.upper))
        has = {
            "friction": any(constant(x) is not ZERO for x in joint.friction),
            "limits": finite,
        }
        for name, is_there in has.items():
            if is_there and name not in dropped:
                raise ModelError(
                    f"has {name}, which a loop joint cannot have: leave its body out of `bodies`, or the {name} by "
                    f"drop=({name!r},)",
                    element=joint.name,
                )
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


def _with_keyframes(model: Model, made: Model, freed: tuple[int, ...]) -> Model:
    keys: list[Keyframe] = []
    for key in model.keyframes:
        q, v = maximal_state(model, key.q, key.v, bodies=_names(model, freed))
        keys.append(replace(key, q=tuple(map(float, q)), v=tuple(map(float, v))))
    return made.replace(keyframes=tuple(keys))
