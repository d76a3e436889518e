"""The steps of the live simulation: a mechanism pulled by a spring, held in posture, stopped at its limits, on a floor.

Linearly implicit Euler. Whatever acts like a spring k with a damper c is taken at the end of the step,

    f' = k (d − h ḋ) − c ḋ − (h c + h² k) d̈,

and the last term is an inertia more: h c + h² k, a point mass on the pulled body, rotor inertia at a joint. So the
articulated-body algorithm solves the implicit equation as it is, and no stiffness that a hand may set is too stiff.
Contacts are solved as in `kn.simulate`, for that heavier mechanism.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from knuckle.engine.calls.function import kernel
from knuckle.functions import difference, forward_dynamics, integrate, pose, velocity
from knuckle.functions.configuration import has_charts, in_charts
from knuckle.integrators.methods.contact_steps import ContactSteps, with_contacts
from knuckle.integrators.system import held_model, with_rotors
from knuckle.model import Model
from knuckle.scalar import ZERO, constant, less, maximum, minimum, select
from knuckle.simulation.friction.dry_friction import friction_limits, friction_rows, modes_of, settled
from knuckle.spatial import SPATIAL, Inertia, Matrix, PlanarInertia, Vector
from knuckle.spatial.three import Sym3, cross, cross_cross, scale


@kernel
def live_step(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    q_ref: Any,
    kp: Any,
    kd: Any,
    stop: Any,
    gravity: Any,
    point: Any,
    target: Any,
    stiffness: Any,
    damping: Any,
    dt: Any,
    *,
    body: str | None,
) -> tuple[Any, Any]:
    """(q, v) a step later.

    Args:
        model: the mechanism.
        q, v: its state.
        tau: joint forces.
        q_ref: the posture that springs `kp` and dampers `kd` (nv) hold.
        kp, kd: their stiffness and damping at each velocity variable.
        stop: stiffness (nv) of the stops at the joints' limits.
        gravity: how much of the model's gravity there is.
        point: where the spring is fastened, in body coordinates (3,).
        target: where its other end is, in base coordinates (3,).
        stiffness, damping: of the spring.
        dt: the step h.
        body: the name of the pulled body; None if none is.
    """
    heavy = model.replace(gravity=tuple(gravity * constant(g) for g in model.gravity))
    k, c, force = joint_springs(model, q, v, kp, kd, stop, dt, q_ref)
    heavier, f_ext = heavy, None
    if body is not None:
        mass = dt * damping + dt * dt * stiffness
        f = spring_force(model, q, v, body, point, target, stiffness, damping, dt)
        weight = Vector(-mass * g for g in in_body(model, q, body, heavy.gravity))
        heavier = with_point_mass(heavy, body, mass, point)
        f_ext = wrench_at(model, body, point, f + weight)
    heavier = with_rotors(heavier, dt * c + dt * dt * k)
    modes = modes_of(model, v)
    a = acceleration(heavier, q, v, tau + force, f_ext, modes)
    v_new = v + dt * a
    q_new: Any = integrate(model, q, dt * v_new)
    if friction_rows(model):
        q_new, v_new, _ = settled(heavier, ZERO, q, v, modes, q_new, v_new, dt)
    return in_charts(model, q_new, v_new) if has_charts(model) else (q_new, v_new)


@kernel
def live_contact_step(
    model: Model,
    q: Any,
    v: Any,
    impulses: Any,
    tau: Any,
    q_ref: Any,
    kp: Any,
    kd: Any,
    stop: Any,
    gravity: Any,
    f_ext: Any,
    dt: Any,
    *,
    steps: ContactSteps,
) -> tuple[Any, Any, Any]:
    """(q, v, impulses) a step later under wrenches `f_ext`, where contacts are solved by `steps`.

    What pulls is a wrench here, so that one piece of code, which takes seconds to make, serves every body.
    """
    heavy = model.replace(gravity=tuple(gravity * constant(g) for g in model.gravity))
    k, c, force = joint_springs(model, q, v, kp, kd, stop, dt, q_ref)
    heavier = with_rotors(heavy, dt * c + dt * dt * k)
    smooth = held_model(heavier, [ZERO] * model.nv)  # dry friction at joints is found with the contacts
    a = forward_dynamics.reference(smooth, q, v, tau + force, f_ext, stabilization=loop_time(model))
    q_new, v_new, found, _, _ = with_contacts(
        heavier, q, v, a, impulses, dt,
        joint_limits=steps.joint_limits, rounds=steps.rounds, tolerance=steps.tolerance, pairs=steps.pairs,
    )  # fmt: skip
    if has_charts(model):
        q_new, v_new = in_charts(model, q_new, v_new)
    return q_new, v_new, found


def acceleration(model: Model, q: Any, v: Any, tau: Any, f_ext: Any, modes: Any) -> Any:
    """v̇ while joints with dry friction slide, or stick, as their modes say."""
    holding = Vector(1 - s * s if i in friction_rows(model) else ZERO for i, s in enumerate(modes))
    tau = tau - friction_limits(model, q) * modes
    return forward_dynamics.reference(held_model(model, holding), q, v, tau, f_ext, stabilization=loop_time(model))


def loop_time(model: Model) -> float | None:
    """The time in which errors of closed loops decay, where there are any."""
    return LOOPS_CLOSE_IN if model.loops else None


def spring_force(
    model: Model, q: Any, v: Any, body: str, point: Any, target: Any, stiffness: Any, damping: Any, dt: Any
) -> Vector:
    """k (x − p − h ṗ) − c ṗ in body coordinates: what pulls the body's point p towards x; h = 0 gives the plain law."""
    reach = in_body(model, q, body, [x - o for x, o in zip(target, origin(model, q, body), strict=True)])
    w, u = twist(model, q, v, body)
    rate = Vector(a + b for a, b in zip(u, cross(w, tuple(point)), strict=True))  # type: ignore[arg-type]
    return stiffness * (reach - Vector(point) - dt * rate) - damping * rate


def joint_springs(
    model: Model, q: Any, v: Any, kp: Any, kd: Any, stop: Any, dt: Any, q_ref: Any
) -> tuple[Vector, Vector, Vector]:
    """(k, c, force) at each velocity variable: what holds the posture, the stops, and the joints' own springs and
    dampers, whose explicit part `forward_dynamics` has already: here the −h k v and the slopes."""
    k, c = [constant(0.0)] * model.nv, [constant(0.0)] * model.nv
    force = list(-(kp * (difference(model, q_ref, q) + dt * v)) - kd * v)
    for i, joint in enumerate(model.joints):
        rows = range(model.v_slices[i].start, model.v_slices[i].stop) if i not in model.coupled else ()
        for n, row in enumerate(rows):
            k[row], c[row] = k[row] + constant(joint.stiffness[n]), c[row] + constant(joint.damping[n])
            force[row] = force[row] - dt * constant(joint.stiffness[n]) * v[row]
            if joint.type.nq == joint.type.nv:
                x = q[model.q_slices[i].start + n]
                past = minimum(x - joint.limits.lower[n], ZERO) + maximum(x - joint.limits.upper[n], ZERO)
                hard = select(less(ZERO, past * past), stop[row], ZERO)
                soft = hard * STOP_DAMPING
                force[row] = force[row] - hard * (past + dt * v[row]) - soft * v[row]
                k[row], c[row] = k[row] + hard, c[row] + soft
    return Vector(k) + kp, Vector(c) + kd, Vector(force)


STOP_DAMPING = 0.05
"""Damping of a stop over its stiffness, in seconds."""
LOOPS_CLOSE_IN = 0.05
"""The time in which errors of closed loops decay, in seconds (RBDA 8.21-8.23)."""


def with_point_mass(model: Model, body: str, mass: Any, point: Any) -> Model:
    """The model with a mass more at a point of a body."""
    i = model.body_index(body)
    x, y, z = point
    if model.algebra is SPATIAL:
        p = (x, y, z)
        more: Any = Inertia(mass, scale(mass, p), Sym3.zero().minus(cross_cross(p, p).times(mass)))
    else:
        more = PlanarInertia(mass, mass * x, mass * y, mass * (x * x + y * y))
    bodies = list(model.bodies)
    bodies[i] = dataclasses.replace(bodies[i], inertia=bodies[i].inertia + more)
    return model.replace(bodies=tuple(bodies))


def origin(model: Model, q: Any, body: str) -> tuple[Any, Any, Any]:
    """A body's origin in base coordinates."""
    T = pose(model, q, body).rows  # type: ignore[attr-defined]
    return (T[0][3], T[1][3], T[2][3]) if model.algebra is SPATIAL else (T[0][2], T[1][2], ZERO)


def in_body(model: Model, q: Any, body: str, direction: Any) -> Vector:
    """A direction of the base in body coordinates."""
    T = pose(model, q, body).rows  # type: ignore[attr-defined]
    x, y, z = direction
    if model.algebra is SPATIAL:
        return Vector(T[0][j] * x + T[1][j] * y + T[2][j] * z for j in range(3))
    return Vector((T[0][0] * x + T[1][0] * y, T[0][1] * x + T[1][1] * y, ZERO))


def twist(model: Model, q: Any, v: Any, body: str) -> tuple[Any, Any]:
    """(ω, v) of a body in its own coordinates."""
    V = list(velocity(model, q, v, body))
    return (tuple(V[:3]), tuple(V[3:])) if model.algebra is SPATIAL else ((ZERO, ZERO, V[0]), (V[1], V[2], ZERO))


def wrench_at(model: Model, body: str, point: Any, f: Any) -> Matrix:
    """`f_ext` of a force at a body's point, both in its coordinates."""
    n = cross(tuple(point), tuple(f))  # type: ignore[arg-type]
    wrench = (*n, *f) if model.algebra is SPATIAL else (n[2], f[0], f[1])
    rows: list[Any] = [[ZERO] * model.algebra.dimension for _ in range(model.nb)]
    rows[model.body_index(body)] = list(wrench)
    return Matrix(rows)
