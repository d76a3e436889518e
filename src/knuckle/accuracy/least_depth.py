"""The same graph cut to a spanning tree of least depth (RBDA 10.2): depth makes the mass matrix ill-conditioned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.model import ROOT, Model
from knuckle.model.build.spanning_tree import Connection, spanning
from knuckle.spatial import IDENTITY


def depth(model: Model) -> int:
    """The largest number of joints between a body and the base."""
    levels: dict[int, int] = {ROOT: 0}
    for i, p in enumerate(model.parents):
        levels[i] = levels[p] + 1
    return max(levels.values())


def least_depth(model: Model) -> Model:
    """The same bodies and joints, with loops cut where the tree is least deep.

    Joints that move from the tree to a loop lose damping, friction, springs, rotors and limits; couplings and
    actuators are left out. Bodies' frames go to their new joints.
    """
    names = {ROOT: model.base.name, **dict(enumerate(model.body_names))}
    tree = [
        Connection(joint.name, joint.type, names[joint.parent], names[i], joint.X_tree)
        for i, joint in enumerate(model.joints)
    ]
    closing = [
        Connection(l.name, l.type, names[l.predecessor], names[l.successor], l.X_predecessor, l.X_successor)
        for l in model.loops
    ]
    cut = spanning(model.base, model.bodies, [*tree, *closing])
    return Model(
        bodies=cut.bodies, joints=cut.joints, loops=cut.loops, frames=cut.frames, name=model.name, base=model.base,
        gravity=model.gravity,
    )  # fmt: skip


def position_of(model: Model, q: NDArray[Any], cut: Model) -> NDArray[Any]:
    """The position of a model that `least_depth` cut, for a position of the model itself, whose loops are closed."""
    places = positions(model, model.positions(q.tolist()))
    old = {ROOT: IDENTITY, **{cut.body_names.index(name): places[i] for i, name in enumerate(model.body_names)}}
    to_old = {frame.name.removesuffix("_origin"): frame.X for frame in cut.frames}
    new = {i: X if i == ROOT else to_old.get(cut.body_names[i], IDENTITY).inverse() @ X for i, X in old.items()}
    values: list[float] = []
    for i, joint in enumerate(cut.joints):
        across = new[i] @ (joint.X_tree @ new[joint.parent]).inverse()
        values += [float(x) for x in joint.type.locate(across)]
    return np.array(values)
