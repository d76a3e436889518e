"""Mechanisms with closed loops as Pinocchio and MuJoCo know them, through time by RK4 in steps of one length."""

from __future__ import annotations

import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import knuckle as kn
from knuckle.formats.adapters import Adapter
from knuckle.formats.mjcf.mjcf_writer import to_mjcf
from knuckle.formats.urdf.urdf_writer import write_urdf
from knuckle.joints import Free, Revolute, Universal
from knuckle.model import Body, TreeJoint, solid_box
from knuckle.testing.loops.moving_linkages import Moving

Array = np.ndarray[Any, Any]


class Motion(NamedTuple):
    """Some states (k, nq), (k, nv) along a motion, and the seconds of processor time that a step took."""

    q: Array
    v: Array
    step: float


def split(made: Moving) -> Moving:
    """With every universal joint as two hinges and a bead of a gram between them: the others have no such joint.

    Free joints begin at the base's own frame, as MuJoCo's do.
    """
    model, q, bodies, joints = made.model, made.q.copy(), list[Body](), list[TreeJoint]()
    number: dict[int, int] = {-1: -1}
    for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
        parent = number[joint.parent]
        if isinstance(joint.type, Universal):
            one, two = joint.type.axes
            bodies.append(Body(f"{body.name} bead", solid_box(1e-3, (0.2, 0.2, 0.2))))
            joints.append(TreeJoint(f"{joint.name} first", Revolute(one), parent, joint.X_tree))
            parent, joint = len(bodies) - 1, TreeJoint(joint.name, Revolute(two), -1)
        if isinstance(joint.type, Free):
            q[model.q_slices[i]][4:] += [float(x) for x in joint.X_tree.r]
            joint = TreeJoint(joint.name, joint.type, joint.parent)
        bodies.append(body)
        joints.append(TreeJoint(joint.name, joint.type, parent, joint.X_tree, stiffness=joint.stiffness))
        number[i] = len(bodies) - 1
    loops = [
        type(loop)(
            loop.name, loop.type, number[loop.predecessor], number[loop.successor], loop.X_predecessor, loop.X_successor
        )
        for loop in model.loops
    ]
    new = kn.Model(tuple(bodies), tuple(joints), loops=tuple(loops), gravity=model.gravity, name=model.name)
    return Moving(new, q, made.v)  # the two angles are those of the universal joint


def pinocchio(made: Moving, dt: float, steps: int, keep: int) -> Motion:
    """`constraintDynamics` with three constraints at each loop joint, its own corrector off: a step is four of them.

    Only the time of those calls is counted. A pin in a plane is a point that coincides; a rank is not asked for.
    """
    pin: Any = import_module("pinocchio")
    theirs, there = _pinocchio_model(pin, made.model)
    data, ties = theirs.createData(), pin.StdVec_RigidConstraintModel()
    tie_data = pin.StdVec_RigidConstraintData()
    for loop in made.model.loops:
        ends = [
            x
            for body, at in ((loop.successor, loop.X_successor), (loop.predecessor, loop.X_predecessor))
            for x in (_joint(made.model, theirs, body), pin.SE3(np.array(at.E, float).T, np.array(at.r, float)))
        ]
        ties.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, theirs, *ends, pin.LOCAL))
        tie_data.append(ties[len(ties) - 1].createData())
    pin.initConstraintDynamics(theirs, data, ties, tie_data)
    settings = pin.ProximalSettings(1e-12, 1e-12, 1e-9, 20)
    stiff = np.concatenate([np.asarray(joint.stiffness, float) for joint in made.model.joints])
    spent = 0.0

    def acceleration(q: Array, v: Array) -> Array:
        nonlocal spent
        tau = np.zeros(theirs.nv)
        if stiff.any():
            ours = there.q_from(q)
            tau = there.tau_to(ours, -stiff * kn.difference(made.model, neutral, ours))
        began = time.process_time()
        a = pin.constraintDynamics(theirs, data, q, v, tau, ties, tie_data, settings).copy()
        spent += time.process_time() - began
        return a

    neutral = kn.neutral(made.model)
    q, v = there.q_to(made.q), there.v_to(made.q, made.v)
    kept = [(q, v)]
    for step in range(1, steps + 1):
        a1 = acceleration(q, v)
        v2 = v + dt / 2 * a1
        a2 = acceleration(pin.integrate(theirs, q, dt / 2 * v), v2)
        v3 = v + dt / 2 * a2
        a3 = acceleration(pin.integrate(theirs, q, dt / 2 * v2), v3)
        v4 = v + dt * a3
        a4 = acceleration(pin.integrate(theirs, q, dt * v3), v4)
        q = pin.integrate(theirs, q, dt / 6 * (v + 2 * v2 + 2 * v3 + v4))
        v = v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        if step % keep == 0:
            kept.append((q, v))
    states = [(there.q_from(q), there.v_from(q, v)) for q, v in kept]
    return Motion(np.array([q for q, _ in states]), np.array([v for _, v in states]), spent / steps)


def _pinocchio_model(pin: Any, model: kn.Model) -> tuple[Any, Adapter]:
    bare = model.replace(joints=tuple(TreeJoint(j.name, j.type, j.parent, j.X_tree) for j in model.joints), loops=())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.urdf"
        write_urdf(bare, path, lossy=True)
        theirs = pin.buildModelFromUrdf(str(path))
    theirs.gravity.linear = np.array(model.gravity)
    return theirs, kn.formats.adapters.pinocchio(bare, theirs)


def _joint(model: kn.Model, theirs: Any, body: int) -> int:
    return 0 if body < 0 else theirs.getJointId(model.joint_names[body])


def mujoco(made: Moving, dt: float, steps: int, keep: int) -> Motion:
    """`mj_step` with its equality constraints as they are by default, soft, and its own RK4."""
    mj: Any = import_module("mujoco")
    theirs = mj.MjModel.from_xml_string(to_mjcf(made.model, lossy=True))
    theirs.opt.timestep, theirs.opt.integrator = dt, mj.mjtIntegrator.mjINT_RK4
    theirs.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONTACT)
    data, there = mj.MjData(theirs), kn.formats.adapters.mujoco(made.model, theirs)
    data.qpos[:], data.qvel[:] = there.q_to(made.q), there.v_to(made.q, made.v)
    kept, spent = [(data.qpos.copy(), data.qvel.copy())], 0.0
    for _ in range(steps // keep):
        began = time.process_time()
        mj.mj_step(theirs, data, keep)
        spent += time.process_time() - began
        kept.append((data.qpos.copy(), data.qvel.copy()))
    states = [(there.q_from(q), there.v_from(q, v)) for q, v in kept]
    return Motion(np.array([q for q, _ in states]), np.array([v for _, v in states]), spent / steps)
