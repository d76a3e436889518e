"""Keyframes while a model is edited: their variables go where the joints go that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Keyframe

if TYPE_CHECKING:
    from .model import Model


def carried(old: Model, new: Model) -> tuple[Keyframe, ...]:
    """The keyframes of `old` for `new`, joint by joint: a joint is known by its name.

    A joint that is new, or of another type, is where it starts, and at rest. One that followed others and no longer
    does is where they put it.
    """
    return tuple(_carried(key, old, new) for key in old.keyframes)


def together(a: Model, b: Model) -> tuple[Keyframe, ...]:
    """Keyframes of two models for q = (q_a, q_b): of the same name as one; where one has none, its joints start."""
    of_a, of_b = ({key.name: key for key in model.keyframes} for model in (a, b))
    names = dict.fromkeys((*of_a, *of_b))
    pairs = ((name, of_a.get(name) or _start(a, name), of_b.get(name) or _start(b, name)) for name in names)
    return tuple(
        Keyframe(name, (*x.q, *y.q), (*x.v, *y.v), (*x.ctrl, *y.ctrl), max(x.time, y.time)) for name, x, y in pairs
    )


def _start(model: Model, name: str) -> Keyframe:
    return Keyframe(name, model.start, (0.0,) * model.nv)


def _carried(key: Keyframe, old: Model, new: Model) -> Keyframe:
    before = {name: i for i, name in enumerate(old.joint_names)}
    q, v = list[float](), list[float]()
    for k, joint in enumerate(new.joints):
        if k in new.coupled:
            continue
        i = before.get(joint.name)
        if i is None or (old.joints[i].type.nq, old.joints[i].type.nv) != (joint.type.nq, joint.type.nv):
            q += joint.start
            v += (0.0,) * joint.type.nv
        elif i in old.coupled:
            q += (float(x) for x in old.positions(key.q)[i])
            v += (float(x) for x in old.velocities(key.q, key.v)[i])
        else:
            q += key.q[old.q_slices[i]]
            v += key.v[old.v_slices[i]]
    return Keyframe(key.name, tuple(q), tuple(v), key.ctrl, key.time)
