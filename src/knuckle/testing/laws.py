"""Laws of mechanics that every model and state must obey, as functions that return by how much they fail.

Each law gives an error relative to the size of the terms that cancel in it; where the joint-space inertia is inverted,
also relative to its condition number. Rounding leaves some 1e-14; a mistake leaves something near one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle import derivatives as slopes
from knuckle.algorithms.dynamics import crba
from knuckle.algorithms.kinematics import body_motions
from knuckle.functions import (
    acceleration,
    bias_force,
    body_poses,
    center_of_mass,
    centroidal_bias,
    centroidal_matrix,
    centroidal_momentum,
    coriolis_force,
    coriolis_matrix,
    difference,
    external_force,
    forward_dynamics,
    gravity_force,
    integrate,
    inverse_dynamics,
    jacobian,
    jacobian_rate,
    joint_passive_force,
    kinetic_energy,
    mass_matrix,
    mass_matrix_inverse,
    momentum,
    operational_space_inverse_inertia,
    pose,
    potential_energy,
    total_mass,
    velocity,
    velocity_to_qdot,
)
from knuckle.model import ROOT, Model
from knuckle.spatial import Force, Matrix, Vector

from .mechanisms import FullState

Array = NDArray[Any]
Law = Callable[[Model, FullState], float]
STEP = 1e-30
EXPRESSIONS = ("body", "world", "aligned")


def relative(error: Any, *sizes: Any) -> float:
    """The largest entry of `error` over the largest of `sizes`."""
    scale = max([1e-300, *(float(np.max(np.abs(s), initial=0.0)) for s in sizes)])
    return float(np.max(np.abs(np.asarray(error)), initial=0.0)) / scale


def along(f: Callable[[Array], Array], x: Array, dx: Array) -> Array:
    """The derivative of an analytic f at x along dx, exact to rounding, by a complex step."""
    return np.imag(f(x + 1j * STEP * dx)) / STEP


def in_time(f: Callable[[Array, Array], Array], model: Model, s: FullState) -> Array:
    """d/dt f(q, v) while the mechanism moves with v and accelerates with a."""
    qd = velocity_to_qdot(model, s.q, s.v)
    return np.imag(f(s.q + 1j * STEP * qd, s.v + 1j * STEP * s.a)) / STEP


def round_trip(model: Model, s: FullState) -> float:
    """ID(FD(τ)) = τ, by each method of forward dynamics."""
    tau = inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    size = np.abs(mass_matrix(model, s.q)).max(initial=0.0) * np.abs(s.a).max(initial=0.0)
    errors = []
    for method in ("aba", "crba", "divide"):
        a = forward_dynamics(model, s.q, s.v, tau, s.f_ext, method=method)
        back = inverse_dynamics(model, s.q, s.v, a, s.f_ext)
        errors.append(relative(back - tau, tau, size) / condition(model, s))
    return max(errors)


def condition(model: Model, s: FullState) -> float:
    """The condition number of H, of its variables scaled to unit inertia; infinite where one has none."""
    H = mass_matrix(model, s.q)
    if not len(H):
        return 1.0
    if np.diag(H).min() <= 0.0:
        return np.inf
    d = 1 / np.sqrt(np.diag(H))
    return float(np.linalg.cond(d[:, None] * H * d[None, :]))


def equation_of_motion(model: Model, s: FullState) -> float:
    """RNEA(a) = H a + C."""
    H, C = mass_matrix(model, s.q), bias_force(model, s.q, s.v, s.f_ext)
    return relative(inverse_dynamics(model, s.q, s.v, s.a, s.f_ext) - (H @ s.a + C), H @ s.a, C)


def mass_matrix_forms(model: Model, s: FullState) -> float:
    """CRBA = ID_δ columns = composite columns = Σ JᵀIJ plus the rotors, symmetric and positive definite."""
    H = mass_matrix(model, s.q)
    Q = model.positions(Vector(s.q))
    columns = _numbers(model.square(s.q, crba.mass_matrix_by_columns(model, Q)), H.shape)
    composite = {
        (i, j): Matrix.columns((c[i] for c in parts), model.joints[i].type.nv)
        for j in range(model.nb)
        for parts in [[crba.composite_column(model, Q, j, k) for k in range(model.joints[j].type.nv)]]
        for i in range(model.nb)
    }
    brute = np.zeros_like(H)
    for i, body in enumerate(model.bodies):
        J = jacobian(model, s.q, body.name)
        brute += J.T @ _numbers(model.I[i].matrix, (6, 6)) @ J
    rotors = {(i, i): Matrix.diagonal(model.rotor[i]) for i in range(model.nb)}
    brute += _numbers(model.square(s.q, rotors), H.shape)
    definite = 0.0 if not len(H) or np.linalg.eigvalsh(H).min() > 0 else 1.0
    return max(
        relative(H - H.T, H),
        relative(H - columns, H),
        relative(H - _numbers(model.square(s.q, composite), H.shape), H),
        relative(H - brute, H),
        definite,
    )


def _numbers(M: Matrix, shape: tuple[int, ...]) -> Array:
    return np.array([[float(x) for x in row] for row in M.rows]).reshape(shape)


def inverse_of_mass_matrix(model: Model, s: FullState) -> float:
    """H H⁻¹ = 1, and H⁻¹ symmetric. Its entries are known to a relative error that grows with the condition."""
    H, Hi = mass_matrix(model, s.q), mass_matrix_inverse(model, s.q)
    products = np.abs(H) @ np.abs(Hi)
    return max(relative(H @ Hi - np.eye(len(H)), products), relative(Hi - Hi.T, Hi)) / condition(model, s)


def coriolis(model: Model, s: FullState) -> float:
    """Ḣ − 2C skew, and C v the velocity part of the bias force."""
    C = coriolis_matrix(model, s.q, s.v)
    qd = velocity_to_qdot(model, s.q, s.v)
    Hd = along(lambda q: mass_matrix(model, q), s.q, qd)
    bias = bias_force(model, s.q, s.v)
    velocity_part = bias - gravity_force(model, s.q) - joint_passive_force(model, s.q, s.v)
    alone = coriolis_force(model, s.q, s.v)
    size = np.abs(mass_matrix(model, s.q)).max(initial=0.0) * np.abs(s.v).max(initial=0.0)
    return max(
        relative(Hd - C - C.T, C, Hd, size),
        relative(C @ s.v - velocity_part, C, bias, size),
        relative(C @ s.v - alone, C, size),
    )


def derivatives(model: Model, s: FullState) -> float:
    """The derivatives of inverse and forward dynamics give their rates along a motion, and each those of the other."""
    qd, cond, errors = velocity_to_qdot(model, s.q, s.v), condition(model, s), []
    moved = s.q + 1j * STEP * qd, s.v + 1j * STEP * s.a, s.a + 1j * STEP * s.v
    a = forward_dynamics(model, s.q, s.v, s.a, s.f_ext)
    there, back = (
        slopes.inverse_dynamics(model, s.q, s.v, a, s.f_ext),
        slopes.forward_dynamics(model, s.q, s.v, s.a, s.f_ext),
    )
    at = slopes.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    for f, found, size in ((inverse_dynamics, at, 1.0), (forward_dynamics, back, cond)):
        rate, (by_q, by_v, by_x) = np.imag(f(model, *moved, s.f_ext)) / STEP, found
        terms = np.array([by_q @ s.v, by_v @ s.a, by_x @ s.v])
        errors.append(relative(terms.sum(axis=0) - rate, by_q, by_v, by_x, terms) / size)
    for M, A in ((there.q, back.q), (there.v, back.v), (-np.eye(model.nv), back.tau)):
        errors.append(relative(there.a @ A + M, M, np.abs(there.a) @ np.abs(A)) / cond)
    return max(*errors, relative(there.a - there.a.T, there.a), relative(back.tau - back.tau.T, back.tau))


def power(model: Model, s: FullState) -> float:
    """The rate of the energy is the power of the joint and external forces, less what the joints dissipate."""
    rate = in_time(lambda q, v: kinetic_energy(model, q, v) + potential_energy(model, q), model, s)
    tau = inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    resisted = joint_passive_force(model, s.q, s.v) - _springs(model, s)
    outside = sum(f @ velocity(model, s.q, s.v, b) for f, b in zip(s.f_ext, model.body_names, strict=True))
    terms = np.array([tau @ s.v, outside, -resisted @ s.v])
    return relative(rate - terms.sum(), terms, np.abs(tau) @ np.abs(s.v))


def _springs(model: Model, s: FullState) -> Array:
    """The part of the joint resistance that springs store."""
    return joint_passive_force(model, s.q, np.zeros(model.nv))


def momentum_rate(model: Model, s: FullState) -> float:
    """The rate of the total momentum is the sum of gravity, external wrenches and what the base exerts.

    For a tree on a single free first joint: what the base exerts is the force at that joint.
    """
    rate = in_time(lambda q, v: momentum(model, q, v), model, s)
    tau = inverse_dynamics(model, s.q, s.v, s.a, s.f_ext) - joint_passive_force(model, s.q, s.v)
    rotors = np.array(model.joints[0].rotor_inertia)
    X0 = body_motions.positions(model, model.positions(Vector(s.q)))
    root = np.zeros((model.nb, 6))
    root[0] = tau[:6] - rotors * s.a[:6]
    wrench = sum((_to_base(X0[i], f) for i, f in enumerate(s.f_ext + root)), np.zeros(6))
    m, g = total_mass(model), np.array(model.gravity)
    c = center_of_mass(model, s.q)
    weight = np.concatenate([np.cross(c, m * g), m * g])
    return relative(rate - wrench - weight, rate, wrench, weight)


def _to_base(X: Any, f: Array) -> Array:
    return np.array([float(x) for x in (X.T @ Force.of(f)).components])


def base_coordinates(model: Model, s: FullState) -> float:
    """RNEA with everything in base coordinates gives the same forces (RBDA 5.7-5.11)."""
    y, dy, ddy = (Vector(x) for x in (s.q, s.v, s.a))
    Q, V, A = model.positions(y), model.velocities(y, dy), model.accelerations(y, dy, ddy)
    X0 = body_motions.positions(model, Q)
    v, a, f, S, tau = {ROOT: model.zero_motion}, {ROOT: -model.g}, {ROOT: model.zero_force}, {}, {}
    for i, p, joint in model.outward():
        _, SJ, vJ, cJ = joint.motion(Q[i], V[i])
        S[i], vJ, cJ = X0[i].inv @ SJ, X0[i].inv @ vJ, X0[i].inv @ cJ
        v[i] = v[p] + vJ
        a[i] = a[p] + S[i] @ A[i] + cJ + v[i].cross(vJ)
        I = X0[i].inv @ model.I[i]
        f[i] = I @ a[i] + v[i].cross(I @ v[i]) - X0[i].T @ model.algebra.Force.of(s.f_ext[i])
    for i, p, _ in model.inward():
        tau[i] = S[i].T @ f[i] + model.rotor[i] * A[i]
        f[p] = f[p] + f[i]
    expected = np.array([float(x) for x in model.forces(s.q, tau)]) + joint_passive_force(model, s.q, s.v)
    return relative(inverse_dynamics(model, s.q, s.v, s.a, s.f_ext) - expected, expected, s.f_ext)


def gravity_is_a_gradient(model: Model, s: FullState) -> float:
    """The gravity force is the gradient of the potential energy along the velocity variables."""
    g = gravity_force(model, s.q) + _springs(model, s)
    gradient = np.array(
        [along(lambda q: potential_energy(model, q), s.q, velocity_to_qdot(model, s.q, e)) for e in np.eye(model.nv)]
    ).reshape(model.nv)
    return relative(g - gradient, g, total_mass(model) * np.linalg.norm(model.gravity))


def external_forces(model: Model, s: FullState) -> float:
    """A wrench on a frame acts on the joints as −Jᵀf, however it is expressed."""
    frame, f = model.frame_names[-1], s.f_ext[0]
    still = np.zeros(model.nv)
    free = inverse_dynamics(model, s.q, s.v, still)
    errors = []
    for expression in EXPRESSIONS:
        loaded = inverse_dynamics(model, s.q, s.v, still, external_force(model, s.q, frame, f, expression))
        J = jacobian(model, s.q, frame, expression)
        errors.append(relative(free - loaded - J.T @ f, free, J.T @ f, 1.0))
    return max(errors)


def jacobians(model: Model, s: FullState) -> float:
    """Twists are J v, accelerations J a + J̇ v, and J̇ is the derivative of J; in all three expressions."""
    qd, frame, errors = velocity_to_qdot(model, s.q, s.v), model.frame_names[-1], []
    for e in EXPRESSIONS:
        J, Jd = jacobian(model, s.q, frame, e), jacobian_rate(model, s.q, s.v, frame, e)
        V = velocity(model, s.q, s.v, frame, e)
        errors.append(relative(J @ s.v - V, V, J))
        errors.append(relative(along(lambda q, e=e: jacobian(model, q, frame, e), s.q, qd) - Jd, Jd, J))
    A = acceleration(model, s.q, s.v, s.a, frame, "world")
    J, Jd = jacobian(model, s.q, frame, "world"), jacobian_rate(model, s.q, s.v, frame, "world")
    return max(*errors, relative(J @ s.a + Jd @ s.v - A, A, J @ s.a, Jd))


def poses(model: Model, s: FullState) -> float:
    """The derivative of a pose is its twist: Ṫ = [ω× v; 0 0] T in world coordinates; the classical acceleration
    is the second derivative of the origin's position."""
    frame, qd = model.frame_names[-1], velocity_to_qdot(model, s.q, s.v)
    T, Td = pose(model, s.q, frame), along(lambda q: pose(model, q, frame), s.q, qd)
    w, v = np.split(velocity(model, s.q, s.v, frame, "world"), 2)
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = np.cross(np.eye(3), w), v
    linear = in_time(lambda q, u: velocity(model, q, u, frame, "aligned"), model, s)
    classical = acceleration(model, s.q, s.v, s.a, frame, "aligned", classical=True)
    index = model.frame(frame).body
    own = body_poses(model, s.q)[index] @ _numbers(model.frame(frame).X.homogeneous, (4, 4))
    return max(relative(Td - twist @ T, Td, T), relative(linear - classical, classical, linear), relative(own - T, T))


def momenta(model: Model, s: FullState) -> float:
    """Centroidal matrix, momentum and bias agree with each other and with the momentum about the origin."""
    h = centroidal_momentum(model, s.q, s.v)
    about_origin, c = momentum(model, s.q, s.v), center_of_mass(model, s.q)
    shifted = about_origin - np.concatenate([np.cross(c, about_origin[3:]), np.zeros(3)])
    A, bias = centroidal_matrix(model, s.q), centroidal_bias(model, s.q, s.v)
    rate = in_time(lambda q, v: centroidal_momentum(model, q, v), model, s)
    moving = along(lambda q: center_of_mass(model, q), s.q, velocity_to_qdot(model, s.q, s.v))
    return max(
        relative(h - shifted, about_origin),
        relative(A @ s.v - h, h, A),
        relative(A @ s.a + bias - rate, rate, A @ s.a, bias),
        relative(total_mass(model) * moving - h[3:], h, total_mass(model)),
    )


def operational_space(model: Model, s: FullState) -> float:
    """Φ = J H⁻¹ Jᵀ."""
    frame = model.frame_names[-1]
    J, Hi = jacobian(model, s.q, frame), mass_matrix_inverse(model, s.q)
    Phi = operational_space_inverse_inertia(model, s.q, frame)
    return relative(Phi - J @ Hi @ J.T, Phi, np.abs(J) @ np.abs(Hi) @ np.abs(J.T)) / condition(model, s)


def manifold(model: Model, s: FullState) -> float:
    """integrate and difference undo each other, start with the rate, and keep positions valid."""
    dv = 0.3 * s.v
    q = integrate(model, s.q, dv)
    qd = along(lambda h: integrate(model, s.q + 0 * h[0], h[0] * s.v), np.zeros(1), np.ones(1))
    return max(
        relative(difference(model, s.q, q) - dv, dv, 1.0),
        relative(qd - velocity_to_qdot(model, s.q, s.v), s.v, 1.0),
        relative(integrate(model, s.q, difference(model, s.q, q)) - q, q),
    )


LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (
        round_trip,
        equation_of_motion,
        mass_matrix_forms,
        inverse_of_mass_matrix,
        coriolis,
        power,
        base_coordinates,
        gravity_is_a_gradient,
        external_forces,
        jacobians,
        poses,
        momenta,
        operational_space,
        manifold,
    )
}
"""The laws of every tree whose joints do not depend on time; `momentum_rate` needs a free first joint too, and
`derivatives`, which costs more than all others, is apart."""
