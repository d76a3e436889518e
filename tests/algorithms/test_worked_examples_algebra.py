"""Worked examples of RBDA chapters 2 and 3 with their known answers; test names carry the inventory's rows."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import knuckle as kn
from knuckle import joints
from knuckle.algorithms.kinematics import body_motions
from knuckle.model import Body, Frame, Model, TreeJoint
from knuckle.spatial import (
    Force,
    Inertia,
    Matrix,
    Motion,
    Subspace,
    Transform,
    Vector,
)
from knuckle.spatial.three import add, cross, dot, scale, sub
from knuckle.testing.compare import array, close, vanishes
from knuckle.testing.mechanisms import general_chain, random_inertia, random_state, random_tree
from knuckle.testing.oracles import maximal_coordinates

EPS = np.finfo(float).eps
o3 = (0, 0, 0)


def fractions(rng, n):
    return tuple(Fraction(int(x), int(y)) for x, y in zip(rng.integers(-9, 10, n), rng.integers(1, 10, n), strict=True))


# chapter 2


@pytest.mark.parametrize("seed", range(5))
def test_f01_velocity_field_is_independent_of_the_origin(seed):
    rng = np.random.default_rng(seed)
    w, v, O, P, Q = (fractions(rng, 3) for _ in range(5))
    moved = Transform.translation(sub(Q, O)) @ Motion(w, v)

    def field(v, origin, point):
        return add(v.linear, cross(v.angular, sub(point, origin)))

    assert field(Motion(w, v), O, P) == field(moved, Q, P)
    assert moved.linear == field(Motion(w, v), O, Q)
    n, f = fractions(rng, 3), fractions(rng, 3)
    at_Q = Transform.translation(sub(Q, O)) @ Force(n, f)
    assert at_Q.angular == add(n, cross(f, sub(Q, O)))
    assert add(at_Q.angular, cross(f, sub(P, Q))) == add(n, cross(f, sub(P, O)))
    other = Motion(fractions(rng, 3), fractions(rng, 3))
    together = field(Motion(w, v) + other, O, P)
    assert together == add(field(Motion(w, v), O, P), field(other, O, P))


def test_f01_basis_shifted_along_x():
    """Example 2.2: the basis at P = (r, 0, 0) in terms of that at O, and one velocity in both."""
    r = Fraction(3, 7)
    X = Transform.translation((r, 0, 0))
    d_Ox, d_Oy, d_Oz, d_x, d_y, d_z = Motion.basis()
    at_P = [X.inv @ d for d in Motion.basis()]
    assert at_P == [d_Ox, d_Oy + r * d_z, d_Oz - r * d_y, d_x, d_y, d_z]
    w, (vx, vy, vz) = (Fraction(1), Fraction(-2), Fraction(5, 3)), (Fraction(2, 5), Fraction(7), Fraction(-1))
    v = Motion(w, (vx, vy, vz))
    v_P = (X @ v).components
    assert v_P == (*w, vx, vy + w[2] * r, vz - w[1] * r)
    assert sum((d * x for d, x in zip(at_P, v_P, strict=True)), Motion.zero()) == v


def test_f02_steady_spin_has_no_spatial_acceleration():
    """Figure 2.6: spatial acceleration zero, while a point at r from the axis accelerates with ω × (ω × r)."""
    axis, on_axis = np.array([2.0, -1.0, 2.0]) / 3, (0.3, -0.2, 0.5)
    point = (0.7, 0.1, -0.4)
    joint = TreeJoint("hinge", joints.Revolute(tuple(axis)), -1, Transform.translation(on_axis))
    body = Body("top", Inertia.of(1.0, (0.1, 0.2, 0.3), np.diag([1.0, 2.0, 2.5])))
    model = Model((body,), (joint,), (Frame("point", 0, Transform.translation(point)),))
    q, speed = [0.9], 3.0
    assert not kn.acceleration(model, q, [speed], [0.0], "point", "world").any()
    r = kn.pose(model, q, "point")[:3, 3] - on_axis
    w = speed * axis
    seen = kn.acceleration(model, q, [speed], [0.0], "point", "aligned", classical=True)
    close(seen[3:], np.cross(w, np.cross(w, r)))
    assert not seen[:3].any()


@pytest.mark.parametrize("seed", range(5))
def test_f03_newton_and_euler_at_the_centre_of_mass(seed):
    """Example 2.6: f = m c̈ and n_C = I_C ω̇ + ω × I_C ω, exactly."""
    rng = np.random.default_rng(seed)
    m = abs(fractions(rng, 1)[0]) + 1
    a, b, c, d, e, f = fractions(rng, 6)
    I_C = ((a, b, c), (b, d, e), (c, e, f))
    I = Inertia.of(m, o3, I_C)
    w, v, dw, classical = (fractions(rng, 3) for _ in range(4))
    force = I @ Motion(dw, sub(classical, cross(w, v))) + Motion(w, v).cross(I @ Motion(w, v))

    def moment(x):
        return tuple(dot(row, x) for row in I_C)

    assert force.linear == scale(m, classical)
    assert force.angular == add(moment(dw), cross(w, moment(w)))


@pytest.mark.parametrize("seed", range(4))
def test_f04_chain_velocities_and_accelerations_three_ways(seed):
    """Examples 2.3 and 2.5: recursive, sum and Jacobian formulae, all in base coordinates."""
    model = random_tree(seed, 6, types=["revolute", "prismatic", "helical"], resistance=False)
    model = model.replace(joints=tuple(TreeJoint(j.name, j.type, i - 1, j.X_tree) for i, j in enumerate(model.joints)))
    state = random_state(model, seed)
    Q, V, A = model.positions(state.q), model.velocities(state.q, state.v), model.velocities(state.q, state.a)
    X0 = body_motions.positions(model, Q)
    s = [X0[i].inv @ joint.subspace(Q[i])[0] for i, _, joint in model.outward()]
    sv = [x * rate[0] for x, rate in zip(s, V, strict=True)]
    velocities, accelerations = body_motions.velocities(model, Q, V), body_motions.accelerations(model, Q, V, A)
    v, a = Motion.zero(), Motion.zero()
    for i in range(model.nb):
        v = v + sv[i]
        a = a + s[i] * A[i][0] + v.cross(sv[i])
        total = sum(sv[: i + 1], Motion.zero())
        products = (sv[k].cross(sv[j]) for j in range(i + 1) for k in range(j))
        double = sum((s[j] * A[j][0] for j in range(i + 1)), Motion.zero()) + sum(products, Motion.zero())
        J = kn.jacobian(model, state.q, model.body_names[i], "world")
        J_dot = kn.jacobian_rate(model, state.q, state.v, model.body_names[i], "world")
        for way in (total, X0[i].inv @ velocities[i]):
            close(array(way), array(v))
        close(J @ state.v, array(v))
        for way in (array(double), array(X0[i].inv @ accelerations[i]), J @ state.a + J_dot @ state.v):
            close(way, array(a), 10)


def test_f04_tree_velocities_by_the_body_jacobian():
    """Eq. 4.5-4.6 on a branched tree, and H = Σ JᵀIJ."""
    model = random_tree(11, 7, resistance=False, types=["revolute", "cylindrical", "spherical", "planar"])
    state = random_state(model, 11)
    V = body_motions.velocities(model, model.positions(state.q), model.velocities(state.q, state.v))
    H = np.diag(np.concatenate([array(rotor) for rotor in model.rotor]))
    for i, name in enumerate(model.body_names):
        J = kn.jacobian(model, state.q, name)
        outside = [k for j in range(model.nb) if j not in model.ancestors(i) for k in _columns(model, j)]
        assert not J[:, outside].any()
        close(J @ state.v, array(V[i]))
        H += J.T @ array(model.I[i].matrix) @ J
    close(kn.mass_matrix(model, state.q), H, 10)


def _columns(model, j):
    return range(model.v_slices[j].start, model.v_slices[j].stop)


# chapter 3


@pytest.mark.parametrize("joint", [joints.Revolute("z"), joints.Cylindrical("y"), joints.YawPitchRoll()])
def test_f05_force_decomposition_does_not_depend_on_the_basis(joint):
    """Example 3.1 and eq. 3.28: T_a = IS and T_c = S⊥ make up F⁶, for any basis of S."""
    rng = np.random.default_rng(5)
    q = Vector(rng.uniform(-1, 1, joint.nq).tolist())
    I = random_inertia(rng)
    S, T = joint.subspace(q), joint.constraints(q)
    basis = np.hstack([array((I @ S).matrix), array(T.matrix)])
    assert basis.shape == (6, 6)
    assert np.linalg.matrix_rank(basis) == 6
    f = Force.of(rng.standard_normal(6).tolist())
    A = Matrix((rng.standard_normal((joint.nv, joint.nv)) + 3 * np.eye(joint.nv)).tolist())
    parts = [_decompose(I, S_, f) for S_ in (S, S @ A)]
    for f_a, f_c in parts:
        close(array(f_a + f_c), array(f))
        vanishes(array(S.T @ f_c), array(S.matrix), array(f_c))
        at_rest = S @ ((S.T @ (I @ S)).inverse() @ (S.T @ f))
        close(array(I.inverse @ f_a), array(at_rest), np.linalg.cond(array(I.matrix)))
    close(array(parts[0][0]), array(parts[1][0]), np.linalg.cond(array(A)))


def _decompose(I, S, f):
    """(f_a, f_c) of eq. 3.28."""
    IS = I @ S
    f_a = IS @ ((S.T @ IS).inverse() @ (S.T @ f))
    return f_a, f - f_a


@dataclass(frozen=True)
class GearDriven(joints.Revolute):
    """A hinge that a pinion drives at the point (−r, 0, 0) of a gear wheel."""

    radius: float = 1.0

    def __init__(self, radius):
        super().__init__("z")
        object.__setattr__(self, "radius", radius)

    def actuation(self, q):
        return Subspace(Force, [gear_force(self.radius, -1 / self.radius)])


def gear_force(r, f):
    """A force f along y at (−r, 0, 0)."""
    return Transform.translation((-r, 0, 0)).inv @ Force(o3, (0, f, 0))


def test_f06_gear_driven_hinge():
    """Example 3.2: T_a depends on the gear's radius, the motion does not, the load on the bearings does."""
    r, f = Fraction(2, 5), Fraction(7)
    assert gear_force(r, f).components == (0, 0, -r * f, 0, f, 0)
    S = joints.Revolute("z").subspace(Vector([0.3]))
    T_a = gear_force(r, f) * (1 / gear_force(r, f).dot(S[0]))
    assert T_a.components == (0, 0, 1, 0, -1 / r, 0)
    assert (S.T @ Subspace(Force, [T_a])).rows == ((1,),)

    body, tau = random_inertia(np.random.default_rng(6)), 2.5
    q, v, forces = [0.4], [1.7], [tau]
    found = []
    for radius in (0.1, 0.4, 3.0):
        model = Model((Body("wheel", body),), (TreeJoint("hinge", GearDriven(radius), -1),))
        solution = maximal_coordinates.forward_dynamics(model, q, v, forces)
        close(solution.a, kn.forward_dynamics(model, q, v, forces))
        to_base = array(model.joints[0].type.transform(Vector(q)).matrix).T
        bearings = np.linalg.solve(to_base, solution.joints[0]) - tau * array(gear_force(radius, -1 / radius))
        found.append((radius, solution.a, bearings))
    (r0, a0, bearings0), *others = found
    for radius, a, bearings in others:
        close(a, a0)
        close(bearings - bearings0, [0, 0, 0, 0, tau / radius - tau / r0, 0])


@pytest.mark.parametrize("joint", [joints.RackAndPinion(0.3), joints.YawPitchRoll(), joints.Cylindrical("x")])
def test_f07_constrained_body_by_three_methods(joint):
    """Section 3.6: Φ and b, the KKT system and generalised coordinates give one acceleration."""
    rng = np.random.default_rng(7)
    body = random_inertia(rng)
    model = Model((Body("body", body),), (TreeJoint("joint", joint, -1),), gravity=(1.0, -2.0, 3.0))
    q, qd = rng.uniform(-1, 1, joint.nq), rng.standard_normal(joint.nv)
    f = rng.standard_normal(6)
    _, S, v, Sdot_qd = joint.motion(Vector(q.tolist()), Vector(qd.tolist()))
    X = joint.transform(Vector(q.tolist()))
    I, p = array(body.matrix), array(v.cross(body @ v) - body @ (X @ model.g))
    S, T = array(S.matrix), array(joint.constraints(Vector(q.tolist())).matrix)
    drift = array(Sdot_qd)
    # method 1, eq. 3.54-3.55
    H = S.T @ I @ S
    Phi = S @ np.linalg.solve(H, S.T)
    b = drift - Phi @ (I @ drift + p)
    first = Phi @ f + b
    # method 2, eq. 3.60; the body's own coordinates stand still at this instant, and v_s × v_J = v × v = 0
    kkt = np.block([[I, T], [T.T, np.zeros((T.shape[1],) * 2)]])
    second = np.linalg.solve(kkt, np.concatenate([f - p, T.T @ drift]))[:6]
    # method 3, eq. 3.63-3.64
    qdd = np.linalg.solve(H, S.T @ f - S.T @ (I @ drift + p))
    third = S @ qdd + drift
    factor = np.linalg.cond(I) * np.linalg.cond(S)
    close(first, second, factor)
    close(first, third, factor)
    close(kn.forward_dynamics(model, q, qd, np.zeros(joint.nv), [f]), qdd, factor)
    close(Phi, Phi.T)
    eigenvalues = np.linalg.eigvalsh((Phi + Phi.T) / 2)
    assert eigenvalues.min() > -100 * EPS * eigenvalues.max()
    assert np.linalg.matrix_rank(Phi) == joint.nv == np.linalg.matrix_rank(np.hstack([Phi, S]))
    vanishes(Phi @ T, Phi, T)


def test_f07_constrained_system_by_three_equations():
    """Eqs. 3.17, 3.18, 3.19 and 3.21 on a chain of three joints with q3 = sin q1 + q2², also with a redundant row.

    Eq. 3.19 needs −H⁻¹ where +H⁻¹ is printed: as printed it gives the right ÿ and −τ_c.
    """
    rng = np.random.default_rng(17)
    model = general_chain(3, 17)
    y, yd, tau = rng.uniform(-1, 1, 2), rng.standard_normal(2), rng.standard_normal(3)
    q = np.array([*y, math.sin(y[0]) + y[1] ** 2])
    G = np.array([[1.0, 0.0], [0.0, 1.0], [math.cos(y[0]), 2 * y[1]]])
    g = np.array([0.0, 0.0, -math.sin(y[0]) * yd[0] ** 2 + 2 * yd[1] ** 2])
    K, k = np.array([[-math.cos(y[0]), -2 * y[1], 1.0]]), np.array([g[2]])
    qd = G @ yd
    vanishes(K @ G, K, G)
    close(K @ g, k)
    H, C = kn.mass_matrix(model, q), kn.bias_force(model, q, qd)
    factor = np.linalg.cond(H)
    by_K = {}
    for rows in (1, 2):
        Kr, kr = np.vstack([K, 3 * K])[:rows], np.array([k[0], 3 * k[0]])[:rows]
        kkt = np.block([[H, Kr.T], [Kr, np.zeros((rows, rows))]])
        assert np.linalg.matrix_rank(kkt) == 3 + 1
        x = np.linalg.lstsq(kkt, np.concatenate([tau - C, kr]), rcond=1e-12)[0]
        by_K[rows] = x[:3], Kr.T @ -x[3:]
    one, o = np.eye(3), np.zeros
    big = np.block([[H, -one, o((3, 2))], [-one, o((3, 3)), G], [o((2, 3)), G.T, o((2, 2))]])
    x = np.linalg.solve(big, np.concatenate([tau - C, -g, o(2)]))
    Hi = np.linalg.inv(H)
    dual, printed = (
        np.linalg.solve(np.block([[sign * Hi, G], [G.T, o((2, 2))]]), np.concatenate([Hi @ (tau - C) - g, o(2)]))
        for sign in (-1, 1)
    )
    close(printed, dual * [-1, -1, -1, 1, 1], factor)
    ydd = np.linalg.solve(G.T @ H @ G, G.T @ tau - G.T @ (C + H @ g))
    qdd = G @ ydd + g
    for other in (by_K[1][0], by_K[2][0], x[:3], G @ dual[3:] + g):
        close(other, qdd, factor)
    for constraint_force in (by_K[1][1], by_K[2][1], x[3:6], dual[:3]):
        close(constraint_force, H @ qdd + C - tau, factor)
        assert abs(constraint_force @ qd) < 100 * EPS * factor * np.abs(constraint_force) @ np.abs(qd)


def test_f07_explicit_constraint_is_what_a_coupling_does():
    """Eq. 3.21 with q3 = ρ q1 + c is the library's mimic joint."""
    model = general_chain(3, 18)
    rng = np.random.default_rng(18)
    ratio, offset = -1.7, 0.4
    coupled = model.replace(couplings=(kn.model.mimic(2, 0, ratio, offset),))
    y, yd, u = rng.uniform(-1, 1, 2), rng.standard_normal(2), rng.standard_normal(2)
    G = np.array([[1.0, 0.0], [0.0, 1.0], [ratio, 0.0]])
    q, qd = G @ y + [0, 0, offset], G @ yd
    H, C = kn.mass_matrix(model, q), kn.bias_force(model, q, qd)
    ydd = np.linalg.solve(G.T @ H @ G, u - G.T @ C)
    close(kn.forward_dynamics(coupled, y, yd, u), ydd, np.linalg.cond(H))
    close(kn.mass_matrix(coupled, y), G.T @ H @ G)
