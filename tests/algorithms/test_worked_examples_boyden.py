"""Boyden's ball in a pipe (notes of 1997), and the places where those notes need a correction."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import knuckle as kn
from knuckle import joints
from knuckle.algorithms.dynamics import aba, body_assembly, rnea
from knuckle.model.build.builder import Builder
from knuckle.spatial import ArticulatedInertia, Force, Inertia, Motion, Subspace, Transform, Vector
from knuckle.spatial.three import add, cross, neg, scale, sub
from knuckle.testing.oracles import maximal_coordinates

M_BALL, M_PIPE, L = sp.symbols("m1 m2 l", positive=True)
J_BALL, J_PIPE, J_AXIAL = sp.symbols("j1 j2 j3", positive=True)
BALL_IN_PIPE = Subspace(Motion, [*Motion.basis()[:3], Motion.basis()[5]])
"""The ball spins as it likes and slides along the pipe, which is the z axis."""


def bodies(at=0):
    """(ball, pipe) as free articulated bodies with nothing acting on them; the ball is at (0, 0, `at`)."""
    ball = Transform.translation((0, 0, at)).inv @ Inertia.of(M_BALL, (0, 0, 0), (sp.eye(3) * J_BALL).tolist())
    pipe = Inertia.of(M_PIPE, (0, 0, 0), sp.diag(J_PIPE, J_PIPE, J_AXIAL).tolist())
    return tuple(body_assembly.Inertial(ArticulatedInertia.of(I), Force.zero()) for I in (ball, pipe))


def symbolic(I):
    return sp.simplify(sp.Matrix([[sp.sympify(x) for x in row] for row in I.matrix.rows]))


def joined(handle, other, S):
    return symbolic(body_assembly.join(handle, other, S, Motion.zero(), Vector.zero(len(S))).I)


def test_articulated_inertia_of_the_pipe():
    """A force along the pipe moves the pipe alone: its apparent mass is (m1+m2, m1+m2, m2), not the printed m1."""
    ball, pipe = bodies()
    found = joined(pipe, ball, BALL_IN_PIPE)
    both = M_BALL + M_PIPE
    assert found == sp.diag(J_PIPE, J_PIPE, J_AXIAL, both, both, M_PIPE)
    printed = sp.diag(both, both, M_BALL)
    assert found[3:, 3:] != printed


def test_articulated_inertia_of_the_ball_is_the_printed_one():
    """The printed matrix is what a force on the ball meets: the two masses are swapped."""
    ball, pipe = bodies()
    found = joined(ball, pipe, -BALL_IN_PIPE)
    both = M_BALL + M_PIPE
    assert found[3:, 3:] == sp.diag(both, both, M_BALL)


def test_ball_away_from_the_middle():
    """With the ball at l it adds m1 l² to the moments across the pipe and couples them to the forces across."""
    ball, pipe = bodies(at=L)
    spinning = [Transform.translation((0, 0, L)).inv @ m for m in BALL_IN_PIPE]
    found = joined(pipe, ball, Subspace(Motion, spinning))
    expected = sp.diag(J_PIPE + M_BALL * L**2, J_PIPE + M_BALL * L**2, J_AXIAL, 0, 0, 0)
    expected[3:, 3:] = sp.diag(M_BALL + M_PIPE, M_BALL + M_PIPE, M_PIPE)
    expected[0, 4] = expected[4, 0] = -M_BALL * L
    expected[1, 3] = expected[3, 1] = M_BALL * L
    assert found == expected


@pytest.mark.parametrize("axis", range(3))
def test_push_on_the_pipe(axis):
    """The same by experiment: a free pipe with a ball in it, pushed along each axis, by three kinds of dynamics."""
    m1, m2 = 0.4, 1.5
    b = Builder(gravity=(0, 0, 0))
    b.body("pipe", joint=joints.Free(), mass=m2, inertia=(0.3, 0.3, 0.02))
    slide = joints.Composite((joints.Prismatic("z"), joints.Spherical()))
    b.body("ball", on="pipe", joint=slide, mass=m1, inertia=(0.01, 0.01, 0.01))
    model = b.build()
    f = np.zeros((2, 6))
    f[0, 3 + axis] = 6.0
    q, still = kn.neutral(model), np.zeros(model.nv)
    expected = 6.0 / (m2 if axis == 2 else m1 + m2)
    for a in (
        kn.forward_dynamics(model, q, still, still, f),
        kn.forward_dynamics(model, q, still, still, f, method="divide"),
        maximal_coordinates.forward_dynamics(model, q, still, still, f).a,
    ):
        assert a[3 + axis] == pytest.approx(expected, rel=1e-13)
    I = kn.operational_space_inertia(model, q, "pipe")
    assert I[3 + axis, 3 + axis] == pytest.approx(6.0 / expected, rel=1e-13)
    ball = kn.acceleration(model, q, still, a, "ball", "aligned")[3 + axis]
    assert ball == pytest.approx(0.0 if axis == 2 else expected, rel=1e-13, abs=1e-13)


# the notes' formulas


def test_velocity_of_a_point():
    """v_P = v_O + ω × P. The notes print v_O + P × ω, and the same sign for the shift of origin of a vector."""
    w, v, P = ((Fraction(x) for x in t) for t in ((1, -2, 3), (4, 0, -5), (2, 7, 1)))
    w, v, P = tuple(w), tuple(v), tuple(P)
    at_P = (Transform.translation(P) @ Motion(w, v)).linear
    assert at_P == add(v, cross(w, P))
    assert at_P != add(v, cross(P, w))


@pytest.mark.slow
def test_transform_is_right_where_its_derivation_is_not():
    """The printed matrix [E 0; E r×ᵀ E] has the sign that the shift rule before it lacks; its inverse is right too."""
    angle = sp.pi / 5
    E = sp.Matrix([[sp.cos(angle), sp.sin(angle), 0], [-sp.sin(angle), sp.cos(angle), 0], [0, 0, 1]])
    r = sp.Matrix([2, -1, 3])
    skew = sp.Matrix([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    o = sp.zeros(3, 3)
    printed = sp.BlockMatrix([[E, o], [E * skew.T, E]]).as_explicit()
    inverse = sp.BlockMatrix([[E.T, o], [skew * E.T, E.T]]).as_explicit()
    X = Transform.of(E.tolist(), list(r))
    assert symbolic(X) == sp.simplify(printed)
    assert symbolic(X.inverse()) == sp.simplify(inverse)


def test_momentum_uses_the_right_sign_again():
    """m(v_O − P × ω) in the derivation of the inertia contradicts the printed v_P and agrees with ours."""
    m, P, w, v = Fraction(3), (1, 2, -1), (2, 0, 5), (1, 1, 4)
    P, w, v = (tuple(map(Fraction, x)) for x in (P, w, v))
    I = Inertia.of(m, P, ((1, 0, 0), (0, 2, 0), (0, 0, 3)))
    linear = (I @ Motion(w, v)).linear
    assert linear == scale(m, sub(v, cross(P, w)))
    assert linear == scale(m, add(v, cross(neg(P), w)))


def test_a_planet_on_a_circle_accelerates_unless_it_keeps_its_face_to_the_sun():
    """Zero spatial acceleration needs one screw motion all the time: a planet that does not turn has v̇ ≠ 0."""
    b = Builder(gravity=(0, 0, 0))
    b.body("arm", joint=joints.Revolute("z"), mass=1, inertia=(1, 1, 1))
    b.body("planet", on="arm", joint=joints.Revolute("z"), at=(2.0, 0, 0), mass=1, inertia=(1, 1, 1))
    model = b.build()
    still = np.zeros(2)
    locked = kn.acceleration(model, [0.3, 0.1], [1.5, 0.0], still, "planet", "world")
    turning_back = kn.acceleration(model, [0.3, 0.1], [1.5, -1.5], still, "planet", "world")
    np.testing.assert_array_equal(locked, np.zeros(6))
    towards = -(1.5**2) * 2.0 * np.array([np.cos(0.3), np.sin(0.3), 0.0])
    np.testing.assert_allclose(turning_back, [0, 0, 0, *towards], atol=1e-15)
    assert kn.velocity(model, [0.3, 0.1], [1.5, -1.5], "planet")[2] == 0.0


def test_final_algorithm():
    """The notes' recursion, p̂ with its own ũ and b̃, is ABA: I^A c + h b (Q − hᵀc − Sᵀp) = Ia c + U D⁻¹ u."""
    b = Builder()
    for i in range(4):
        on, at = (f"l{i - 1}", dict(xyz=(0.5, 0.1 * i, 0), rpy=(0.3, i, 0.2))) if i else (None, None)
        axis = ("z", "x", "y", (1, 1, 1))[i]
        b.body(f"l{i}", on=on, at=at, joint=joints.Revolute(axis), mass=1 + i, com=(0.2, 0, 0.1), inertia=(1, 2, 2.5))
    model = b.build()
    rng = np.random.default_rng(4)
    q, v, tau = (model.positions(Vector(rng.standard_normal(4).tolist())) for _ in range(3))
    f_ext = {i: Force.of(rng.standard_normal(6).tolist()) for i in range(4)}
    X, S, V, c, I, p = {}, {}, {-1: model.zero_motion}, {}, {}, {}
    for i, parent, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[parent] + vJ
        c[i] = V[i].cross(vJ) + cJ
        I[i], p[i] = ArticulatedInertia.of(model.I[i]), V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    h, bt, u, a, A = {}, {}, {}, {}, {-1: -model.g}
    for i, parent, _ in model.inward():
        h[i] = I[i] @ S[i]
        bt[i] = (S[i].T @ h[i]).inverse()
        u[i] = tau[i] - h[i].T @ c[i] - S[i].T @ p[i]
        if parent != -1:
            I[parent] = I[parent] + X[i].T @ (I[i] - h[i].dyadic(bt[i])) @ X[i]
            p[parent] = p[parent] + X[i].T @ (p[i] + I[i] @ c[i] + h[i] @ (bt[i] @ u[i]))
    for i, parent, _ in model.outward():
        a[i] = bt[i] @ (u[i] - h[i].T @ (X[i] @ A[parent]))
        A[i] = X[i] @ A[parent] + c[i] + S[i] @ a[i]
    H = kn.mass_matrix(model, [float(x[0]) for x in q])
    tolerance = dict(rtol=100 * np.finfo(float).eps * np.linalg.cond(H))
    ours = aba.forward_dynamics(model, q, v, tau, f_ext)
    np.testing.assert_allclose([a[i][0] for i in range(4)], [ours[i][0] for i in range(4)], **tolerance)
    back = rnea.inverse_dynamics(model, q, v, a, f_ext)
    np.testing.assert_allclose([back[i][0] for i in range(4)], [x[0] for x in tau], **tolerance)
