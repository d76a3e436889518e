"""How RedMax steps its scenes, by public functions of this library: what the energies of `scenes` are made with."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.constraints import JointPosition
from knuckle.integrators import Integrator
from knuckle.integrators.base import IntegratorName
from knuckle.model import Model
from knuckle.spatial import Vector

from .scenes import Scene

Array: TypeAlias = NDArray[Any]
PULL = 5.0
"""γ in G q̇⁺ = −ġ − γ g: errors of constraints decay within 1/γ."""
REPARAMETRIZED = 1.5 * np.pi
"""RedMax's rotation vectors pass on to another chart when they are longer than this; ours are at half a turn."""


def energy(model: Model, q: Array, v: Array) -> float:
    """T + V."""
    return float(kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q))


def integrated(scene: Scene, integrator: IntegratorName | Integrator, *, rollout: bool = True, finer: int = 1) -> float:
    """H at the end of a scene without constraints or forces from outside, by an integrator of the library."""
    model, q, v = scene.model, *_start(scene)
    count, step = finer * round(scene.duration / scene.step), scene.step / finer
    if rollout:
        run: Any = kn.rollout(model, q, v, None, step, steps=count, save_every=count, integrator=integrator)
    else:
        run = kn.simulate(model, q, v, scene.duration, dt=step, save_every=count, integrator=integrator)
    return energy(model, run.q[-1], run.v[-1]) - float(kn.potential_energy(model, q))


def euler_steps(scene: Scene) -> float:
    """H at the end of a scene after linearly implicit Euler steps as RedMax makes them (notes 2.73)."""
    has_charts = any(joint.type.has_charts for joint in scene.model.joints)
    moved = scene.constraints or scene.law or scene.torque or scene.pull or has_charts
    if not moved:
        return integrated(scene, "implicit")
    model, h, (q, v) = scene.model, scene.step, _start(scene)
    before = float(kn.potential_energy(model, q))
    for k in range(round(scene.duration / h)):
        v = _velocity(scene, k * h, q, v)
        q, v = _in_charts(model, kn.integrate(model, q, h * v), v)
    return energy(model, q, v) - before


def _start(scene: Scene) -> tuple[Array, Array]:
    return np.array(scene.q, float), np.array(scene.v or (0.0,) * scene.model.nv, float)


def _velocity(scene: Scene, t: float, q: Array, v: Array) -> Array:
    """q̇⁺; constraints and forces are those of the end of the step, at the position of its beginning."""
    model, h, none = scene.model, scene.step, np.zeros(scene.model.nv)
    if scene.law is not None:
        at, rate = scene.law(t + h)
        return _held(model, q, v, 0, rate - PULL * (q[0] - at), h)
    if scene.torque is not None:
        return v + h * kn.forward_dynamics(model, q, v, scene.torque(t + h))
    if scene.pull is not None:
        tip = kn.pose(model, q, "tip")[:3, :3].T @ np.array(scene.pull)
        tau = kn.jacobian(model, q, "tip").T @ np.concatenate([np.zeros(3), tip])
        A = kn.mass_matrix(model, q) + h * kn.elements.damping(model, q, v)
        return v + np.linalg.solve(A, h * (tau - kn.bias_force(model, q, v)))
    if any(isinstance(constraint, JointPosition) for constraint in scene.constraints):
        return _stopped(scene, q, v)
    if scene.constraints:
        return kn.constraints.step_velocity(model, q, v, none, scene.constraints, step=h, stabilization=1 / PULL).v
    return v + h * kn.forward_dynamics(model, q, v, none)


def _held(model: Model, q: Array, v: Array, joint: int, speed: float, h: float) -> Array:
    """q̇⁺ with the velocity of one joint given: the constraint takes what force it takes (notes 2.102)."""
    a = np.zeros(model.nv)
    a[joint] = (speed - v[joint]) / h
    name = model.joint_names[joint]
    return v + h * kn.hybrid_dynamics(model, q, v, np.zeros(model.nv), a, prescribed=[name])[0]


def _stopped(scene: Scene, q: Array, v: Array) -> Array:
    """q̇⁺ with stops, which act on a joint that is beyond them: it does not go further, and back by γ of its excess."""
    model, h = scene.model, scene.step
    free = v + h * kn.forward_dynamics(model, q, v, np.zeros(model.nv))
    for stop in scene.constraints:
        assert isinstance(stop, JointPosition)
        side, joint = (1.0 if stop.bound == ">=" else -1.0), model.joint_index(stop.joint)
        beyond = q[joint] - stop.value
        if side * beyond <= 0 and side * (free[joint] + PULL * beyond) < 0:
            return _held(model, q, v, joint, -PULL * beyond, h)
    return free


def _in_charts(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """The same state, with rotation vectors that are too long turned back."""
    q, v = q.copy(), v.copy()
    for joint, qs, vs in zip(model.joints, model.q_slices, model.v_slices, strict=True):
        if joint.type.nq == 3 and joint.type.has_charts and np.linalg.norm(q[qs]) > REPARAMETRIZED:
            back = joint.type.normalized(Vector(q[qs].tolist()), Vector(v[vs].tolist()))
            q[qs], v[vs] = ([float(x) for x in part] for part in back)
    return q, v
