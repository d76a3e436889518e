"""Scenes of contact_cases.py by MuJoCo: with its defaults, and tuned for contact.

Restitution is no number there: contacts are springs and dampers. Where a case has one, these are chosen so that a body
alone would leave with it (RBDA 11.74): with the default's stiffness, and with the stiffest that a step follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from contact_cases import Case, Motion
from contact_residuals import Push, Pushes

IMPEDANCE = 0.9999


def damping_ratio(e: float) -> float:
    """ζ of a spring and damper that gives e back: bisection on e = exp(−ζ/s (π − atan2(2ζs, 1 − 2ζ²)))."""
    low, high = 0.0, 0.999999
    for _ in range(100):
        zeta = (low + high) / 2
        s = math.sqrt(1 - zeta**2)
        given = math.exp(-zeta / s * (math.pi - math.atan2(2 * zeta * s, 1 - 2 * zeta**2)))
        low, high = (zeta, high) if given > e else (low, zeta)
    return (low + high) / 2 if e > 0 else 1.0


def made(case: Case, is_tuned: bool) -> Any:
    """The model, with its surfaces."""
    mj: Any = mujoco
    model = mj.MjModel.from_xml_string(case.mjcf)
    model.opt.gravity[:] = case.gravity
    model.opt.timestep = case.dt
    if is_tuned:
        model.opt.cone = mj.mjtCone.mjCONE_ELLIPTIC
        model.opt.impratio, model.opt.noslip_iterations = 100.0, 10
        model.opt.iterations, model.opt.tolerance = 200, 1e-14
        model.geom_solref[:] = (5 * case.dt, 1.0)
        model.geom_solimp[:] = (0.99, 0.99, 1e-3, 0.5, 2.0)
    if case.law is not None:
        model.geom_solref[:] = -case.law[0] / case.masses[0], -case.law[1] / case.masses[0]
        model.geom_solimp[:] = (IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0)
    elif case.restitution:
        frequency = 0.5 / case.dt if is_tuned else 1 / (0.95 * 0.02)
        zeta = 0.0 if case.restitution == 1 else damping_ratio(case.restitution)
        model.geom_solref[:] = -(frequency**2), -2 * zeta * frequency
    return model


def run(case: Case, *, is_tuned: bool) -> Motion:
    mj: Any = mujoco
    model = made(case, is_tuned)
    data = mj.MjData(model)
    mj.mj_forward(model, data)
    _begin(mj, model, data, case)
    bodies = range(1, model.nbody)
    if any(case.push):
        data.xfrc_applied[1] = [*case.push[3:], *case.push[:3]]
    rows = [_state(mj, model, data, bodies)]
    steps = round(case.duration / case.dt)
    for _ in range(steps):
        mj.mj_step(model, data)
        rows.append(_state(mj, model, data, bodies))
    mj.mj_forward(model, data)
    force, carried = np.zeros(6), 0.0
    for k in range(data.ncon):
        mj.mj_contactForce(model, data, k, force)
        carried += float(force[0])
    x, E, v, w = (np.array(part) for part in zip(*rows, strict=True))
    return Motion(case.dt * np.arange(steps + 1), x, E, v, w, carried=carried)


def _begin(mj: Any, model: Any, data: Any, case: Case) -> None:
    """Velocities of free bodies, linear in the world's axes and angular in the body's; rates of other joints."""
    velocities, rates = iter(case.velocities), iter(case.rates)
    for j in range(model.njnt):
        at = model.jnt_dofadr[j]
        if model.jnt_type[j] == mj.mjtJoint.mjJNT_FREE:
            given = np.array(next(velocities, (0.0,) * 6), float)
            E = data.xmat[model.jnt_bodyid[j]].reshape(3, 3)
            data.qvel[at : at + 6] = [*given[3:], *(E.T @ given[:3])]
        else:
            data.qvel[at] = next(rates, 0.0)


def _state(mj: Any, model: Any, data: Any, bodies: range) -> tuple[Any, ...]:
    mj.mj_kinematics(model, data)
    mj.mj_comPos(model, data)
    mj.mj_comVel(model, data)
    twist, twists = np.zeros(6), list[Any]()
    for k in bodies:
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_BODY, k, twist, 0)
        twists.append(twist.copy())
    both = np.array(twists)
    return data.xpos[1:].copy(), data.xmat[1:].reshape(-1, 3, 3).copy(), both[:, 3:], both[:, :3]


def pushes(case: Case, *, is_tuned: bool) -> Iterator[Pushes]:
    """The contacts of each step."""
    mj: Any = mujoco
    model = made(case, is_tuned)
    data, dt, force = mj.MjData(model), case.dt, np.zeros(6)
    mj.mj_forward(model, data)
    _begin(mj, model, data, case)
    bodies = range(1, model.nbody)
    for _ in range(round(case.duration / dt)):
        mj.mj_kinematics(model, data)
        x = data.xpos[1:].copy()
        mj.mj_step(model, data)
        found: list[Push] = []
        for k in range(data.ncon):
            contact = data.contact[k]
            mj.mj_contactForce(model, data, k, force)
            axes = contact.frame.reshape(3, 3)
            first, second = (int(model.geom_bodyid[g]) - 1 for g in contact.geom)
            found.append(
                Push(second, first, contact.pos.copy(), axes[0].copy(), dt * force[:3] @ axes, float(contact.dist))
            )
        _, _, v, w = _state(mj, model, data, bodies)
        yield Pushes(found, x, v, w)
