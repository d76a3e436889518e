"""Joints that move by a law of time (RBDA 3.4, 9.1): the forces of the drives that make them do so."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.dynamics import rnea
from knuckle.algorithms.loops import loop_constraints
from knuckle.engine.calls.function import kernel
from knuckle.errors import ModelError
from knuckle.functions.loops.loop_forces import forces as loop_forces
from knuckle.joints import Driven
from knuckle.model import Limits, Model, TreeJoint
from knuckle.public_names import public
from knuckle.scalar import is_inside
from knuckle.spatial import Vector

from . import forward_dynamics
from .per_joint import all_wrenches

Array = NDArray[Any]


@public
def drive_forces(
    model: Model,
    t: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    f_ext: ArrayLike | None = None,
    *,
    stabilization: float | None = None,
) -> dict[str, Array]:
    """The forces (..., n) of the drives of all `Driven` joints of the tree, by the joints' names.

    A driven joint has no variable: its law gives its position, velocity and acceleration, and the other joints
    accelerate as `tau` and `f_ext` make them. Its drive has the force that this takes, along the freedoms that the
    joint would have without its law: the drive's power is that force times the law's velocity.

    Args:
        model: the mechanism, whose joints still have their laws.
        t: the time (...), a number or one for each state.
        q: positions (..., nq) of the joints that have variables.
        v: velocity variables (..., nv).
        tau: joint forces (..., nv); none, if not given.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        stabilization: T_stab of closed loops, as for `forward_dynamics`.

    Raises:
        ModelError: no joint moves by a law of time.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"drive_forces needs a knuckle.Model first, not {type(model).__name__}")
    if not any(isinstance(joint.type, Driven) for joint in model.joints):
        raise ModelError("no joint moves by a law of time: its drive is a knuckle.joints.Driven")
    time: Any = Vector((t,)) if is_inside() else np.asarray(t, float)[..., None]
    applied: Any = np.zeros(model.nv) if tau is None else tau
    return _drive_forces(model, time, q, v, applied, f_ext, stabilization=stabilization)


@kernel
def _drive_forces(
    model: Model, time: Any, q: Any, v: Any, tau: Any, f_ext: Any = None, *, stabilization: float | None
) -> Any:
    """Inverse dynamics of the mechanism without its laws, moving as it does with them."""
    now = model.at_time(time[0])
    a = forward_dynamics.reference(now, q, v, tau, f_ext, stabilization=stabilization)
    Q, V, A = list(now.positions(q)), list(now.velocities(q, v)), list(now.accelerations(q, v, a))
    driven = {i: joint.type for i, joint in enumerate(model.joints) if isinstance(joint.type, Driven)}
    for i, kind in driven.items():
        Q[i], V[i], A[i] = (Vector(part) for part in kind.law(time[0]))
    free = now.replace(joints=tuple(_without_law(joint, time[0]) for joint in model.joints))
    force = rnea.inverse_dynamics(free, Q, V, A, all_wrenches(free, Q, V, f_ext))
    if now.loops:
        lam = loop_forces.reference(now, q, v, tau, f_ext, stabilization=stabilization)
        for loop in now.loops:
            at = loop_constraints.closure(free, Q, loop)
            for i, K in loop_constraints.loop_jacobian(free, Q, loop, at.X, at.T).items():
                force[i] = force[i] - K.T @ lam[: len(at.T)]
            lam = lam[len(at.T) :]
    return {model.joints[i].name: force[i] for i in driven}


def _without_law(joint: TreeJoint, t: Any) -> TreeJoint:
    """A driven joint with its freedoms back; any other as it is at the time."""
    if not isinstance(joint.type, Driven):
        return dataclasses.replace(joint, type=joint.type.at_time(t))
    plain: dict[str, Any] = dict.fromkeys(("damping", "friction", "rotor_inertia", "stiffness", "rest"), ())
    return dataclasses.replace(joint, type=joint.type.joint.at_time(t), limits=Limits(), **plain)
