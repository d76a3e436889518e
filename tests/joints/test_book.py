"""The book's worked joints with their known answers, and its printed slips: they fail, and ours hold."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np
import pytest

from knuckle.joints import (
    Composite,
    ConstantSubspace,
    Cylindrical,
    Euler,
    ExponentialSpherical,
    Free,
    Helical,
    Joint,
    Planar,
    PlanarLocal,
    Prismatic,
    RackAndPinion,
    Revolute,
    Spherical,
    Translational,
    Universal,
    YawPitchRoll,
)
from knuckle.spatial import Matrix, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, matmul, skew, tmatvec

from .zoo import RollingSphere, close, columns, matrix, numbers, slope, state, stepped


def discrepancy(joint: Joint, q: Vector, v: Vector) -> float:
    """By how much Ẋ_J + v_J × X_J is not zero."""
    X = joint.transform(stepped(q, joint.rate(q, v)))
    vJ = joint.motion(q, v).v
    return float(np.max(np.abs(slope(columns(X)) + numbers([vJ.cross(c) for c in columns(joint.transform(q))]))))


E = np.eye(6)
TABLE_4_1 = {
    "revolute": (Revolute(), [E[2]], [0, 1, 3, 4, 5]),
    "prismatic": (Prismatic(), [E[5]], [0, 1, 2, 3, 4]),
    "cylindrical": (Cylindrical(), [E[2], E[5]], [0, 1, 3, 4]),
    "planar": (PlanarLocal(), [E[2], E[3], E[4]], [0, 1, 5]),
    "planar, predecessor": (Planar(), [E[2], E[3], E[4]], [0, 1, 5]),
    "spherical": (Spherical(), [E[0], E[1], E[2]], [3, 4, 5]),
    "free": (Free(), list(E), []),
}


@pytest.mark.parametrize("row", TABLE_4_1.values(), ids=TABLE_4_1.keys())
def test_subspaces_of_table_4_1(row: tuple[Joint, list[np.ndarray], list[int]]):
    joint, S, T = row
    q, _ = state(joint, 0)
    assert matrix(joint.subspace(q)).T.tolist() == np.array(S).tolist()
    assert matrix(joint.constraints(q)).T.tolist() == E[T].tolist()


def test_helical_row_of_table_4_1():
    joint, q = Helical("z", 0.3), Vector([0.7])
    assert matrix(joint.subspace(q)).T.tolist() == [[0, 0, 1, 0, 0, 0.3]]
    assert matrix(joint.constraints(q)).T.tolist() == [*E[[0, 1, 3, 4]].tolist(), [0, 0, -0.3, 0, 0, 1]]
    close(joint.transform(q).r, [0, 0, 0.21])


def test_planar_row_of_table_4_1():
    """r = (c q₂ − s q₃, s q₂ + c q₃, 0)."""
    q1, q2, q3 = 0.7, 0.3, -0.4
    X = PlanarLocal().transform(Vector([q1, q2, q3]))
    close(X.E, rotation.rz(q1))
    close(X.r, [cos(q1) * q2 - sin(q1) * q3, sin(q1) * q2 + cos(q1) * q3, 0.0])


@pytest.mark.parametrize("make", [Spherical, Free])
@pytest.mark.parametrize(("axis", "turn"), list(enumerate([rotation.rx, rotation.ry, rotation.rz])))
def test_euler_parameters_of_single_axis_turns(make: type[Joint], axis: int, turn: Any):
    """(cos θ/2, sin θ/2 e) is a turn by θ about e: eq. 4.12 gives rx, ry and rz (F-18)."""
    for angle in (0.0, 0.4, -2.0, 3.1):
        p = [cos(angle / 2), 0.0, 0.0, 0.0]
        p[axis + 1] = sin(angle / 2)
        rest = [0.0] * (make().nq - 4)
        close(make().transform(Vector([*p, *rest])).E, turn(angle), 1e-15)


def test_euler_parameter_rates_of_equation_4_13():
    (p0, p1, p2, p3), omega = state(Spherical(), 2)
    Q = np.array([[-p1, -p2, -p3], [p0, -p3, p2], [p3, p0, -p1], [-p2, p1, p0]]) / 2
    rates = Spherical().rate(Vector([p0, p1, p2, p3]), omega)
    close(rates, Q @ numbers(omega), 1e-15)
    close([Vector([p0, p1, p2, p3]) @ rates], [0.0], 1e-15)


def test_yaw_pitch_roll_closed_forms():
    """Eqs. 4.7, 4.8 and 4.9 (F-19)."""
    q, v = Vector([0.5, -0.7, 1.1]), Vector([0.3, -1.2, 0.8])
    (s1, s2, s3), (c1, c2, c3), (v1, v2, v3) = map(sin, q), map(cos, q), v
    X, S, _, c = YawPitchRoll().motion(q, v)
    E47 = [
        [c1 * c2, s1 * c2, -s2],
        [c1 * s2 * s3 - s1 * c3, s1 * s2 * s3 + c1 * c3, c2 * s3],
        [c1 * s2 * c3 + s1 * s3, s1 * s2 * c3 - c1 * s3, c2 * c3],
    ]
    close(X.E, np.array(E47), 1e-15)
    close(matrix(S)[:3], np.array([[-s2, 0, 1], [c2 * s3, c3, 0], [c2 * c3, -s3, 0]]), 1e-15)
    c49 = [
        -c2 * v1 * v2,
        -s2 * s3 * v1 * v2 + c2 * c3 * v1 * v3 - s3 * v2 * v3,
        -s2 * c3 * v1 * v2 - c2 * s3 * v1 * v3 - c3 * v2 * v3,
    ]
    close(c, [*c49, 0, 0, 0], 1e-15)


def test_rack_and_pinion_of_example_4_6():
    """Row C-09 (F-08): S, c_J and T in closed form, ᵖv_J, and the revolute joint at radius zero."""
    r, q, v = 0.4, 0.7, 1.3
    c, s = cos(q), sin(q)
    joint = RackAndPinion(r)
    X, S, vJ, cJ = joint.motion(Vector([q]), Vector([v]))
    close(X.E, rotation.rz(q), 0.0)
    close(X.r, [r * q, 0, 0], 0.0)
    close(S, [0, 0, 1, r * c, -r * s, 0], 1e-15)
    close(cJ, np.array([0, 0, 0, -r * s, -r * c, 0]) * v * v, 1e-15)
    close(X.inv @ vJ, np.array([0, 0, 1, r, -r * q, 0]) * v, 1e-15)
    T = matrix(joint.constraints(Vector([q]))).T
    close(T, np.array([E[0], E[1], E[5], [0, 0, -r * c, 1, 0, 0], [0, 0, r * s, 0, 1, 0]]), 1e-15)
    close(RackAndPinion(0.0).motion(Vector([q]), Vector([v])), Revolute().motion(Vector([q]), Vector([v])), 0.0)


def test_sphere_on_a_plane_has_three_velocity_and_five_position_freedoms():
    """F-20: S has rank three, but with the brackets of its columns the sphere gets to five dimensions of places."""
    ball, sliding = RollingSphere(), Composite((Prismatic("x"), Prismatic("y"), Spherical()))
    q = Vector([*state(Spherical(), 1)[0], 0.3, -0.2])
    S = ball.subspace(q)
    units = [Vector(row) for row in Matrix.identity(3).rows]
    rates = [ball.subspace_rate(q, e) for e in units]
    brackets = [rates[i][j] - rates[j][i] + S[i].cross(S[j]) for i in range(3) for j in range(i)]
    velocity_freedoms = np.linalg.matrix_rank(matrix(S))
    position_freedoms = np.linalg.matrix_rank(np.array([numbers(s) for s in (*S, *brackets)]))
    assert (velocity_freedoms, position_freedoms) == (3, 5)
    assert (ball.nv, sliding.nv) == (3, 5)
    assert discrepancy(ball, q, Vector([0.3, -0.8, 1.1])) < 1e-13


def test_sphere_does_not_slip():
    """The velocity of the touching point is zero, and the constraint forces are those of that point."""
    ball, v = RollingSphere(0.5), Vector([0.3, -0.8, 1.1])
    q = Vector([*state(Spherical(), 1)[0], 0.3, -0.2])
    X = ball.transform(q)
    at_centre = X.inv @ ball.motion(q, v).v
    omega, origin = np.array(at_centre.angular), np.array(at_centre.linear)
    touching = np.array([q[4], q[5], -0.5])
    close(origin + np.cross(omega, touching), np.zeros(3), 1e-15)


@dataclass(frozen=True)
class AsPrinted(ConstantSubspace):
    """A joint of ours with the rates that the book prints for its constant S."""

    joint: Joint
    printed: str

    @property
    def q_units(self) -> tuple[str, ...]:
        return self.joint.q_units

    @property
    def v_units(self) -> tuple[str, ...]:
        return self.joint.v_units

    def transform(self, q: Vector) -> Transform:
        return self.joint.transform(q)

    def subspace(self, q: Vector) -> Subspace:
        return self.joint.subspace(q)

    def rate(self, q: Vector, v: Vector) -> Vector:
        if self.printed == "q̇ = α":
            return v
        c, s = cos(q[0]), sin(q[0])
        return Matrix([[1, 0, 0], [-q[2], c, -s], [q[1], s, c]]) @ v


@pytest.mark.parametrize(
    ("joint", "printed"), [(PlanarLocal(), "q̇ = α"), (Planar(), "q̇ = α"), (Planar(), "example 4.5")]
)
def test_printed_rates_of_the_planar_joint_do_not_fit_its_subspace(joint: Joint, printed: str):
    """Rows C-15 and C-15b: with constant S, q̇ is neither α nor what example 4.5 says."""
    q, v = Vector([0.7, 0.3, -0.4]), Vector([1.1, 0.5, -0.2])
    assert discrepancy(AsPrinted(joint, printed), q, v) > 0.1
    assert discrepancy(joint, q, v) < 1e-14


def test_planar_velocity_in_printed_variables():
    """Row C-15: v_J = (0, 0, q̇₁, q̇₂ − q̇₁q₃, q̇₃ + q̇₁q₂, 0)."""
    q, v = Vector([0.7, 0.3, -0.4]), Vector([1.1, 0.5, -0.2])
    r1, r2, r3 = PlanarLocal().rate(q, v)
    close(PlanarLocal().motion(q, v).v, [0, 0, r1, r2 - r1 * q[2], r3 + r1 * q[1], 0], 1e-15)


@dataclass(frozen=True)
class FreeInSuccessor(ConstantSubspace):
    """The 6-DoF row of table 4.1: r = E⁻¹(q₅, q₆, q₇), with the rates as text or as `right` says."""

    right: bool
    _q = Free._q
    _v = Free._v

    def transform(self, q: Vector) -> Transform:
        E = rotation.from_quaternion(q.items[:4])
        return Transform(E, tmatvec(E, q.items[4:]))

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, Motion.basis())

    def rate(self, q: Vector, v: Vector) -> Vector:
        omega, p, linear = numbers(v[:3]), numbers(q[4:]), numbers(v[3:])
        moved = linear - np.cross(omega, p) if self.right else linear
        return Vector([*rotation.quaternion_rate(q.items[:4], v.items[:3]), *moved.tolist()])


def test_six_dof_row_needs_rates_that_the_text_leaves_open(seed: int):
    """Row C-16: q̇₅..₇ = α₄..₆ is wrong for the printed r; α₄..₆ − ω × q₅..₇ is right, and so is our Eᵀα₄..₆."""
    q, v = state(Free(), seed)
    assert discrepancy(FreeInSuccessor(False), q, v) > 1e-2
    assert discrepancy(FreeInSuccessor(True), q, v) < 1e-13
    assert discrepancy(Free(), q, v) < 1e-13


def test_printed_rotation_of_a_long_quaternion_is_none():
    """Row C-17: eq. 4.12 with p₀² + p₁² − ½ on the diagonal is a rotation for unit p only; ours for any p."""
    p = np.array([0.9, -0.4, 0.5, 0.3])
    p0, p1, p2, p3 = p
    printed = 2 * np.array([
        [p0**2 + p1**2 - 0.5, p1 * p2 + p0 * p3, p1 * p3 - p0 * p2],
        [p1 * p2 - p0 * p3, p0**2 + p2**2 - 0.5, p2 * p3 + p0 * p1],
        [p1 * p3 + p0 * p2, p2 * p3 - p0 * p1, p0**2 + p3**2 - 0.5],
    ])  # fmt: skip
    gram = printed @ printed.T
    assert np.abs(gram - np.eye(3) * np.trace(gram) / 3).max() > 0.1
    ours = numbers(Spherical().transform(Vector(p.tolist())).E).reshape(3, 3)
    np.testing.assert_allclose(ours @ ours.T, np.eye(3), atol=1e-15)
    unit = numbers(Spherical().transform(Vector((p / np.linalg.norm(p)).tolist())).E).reshape(3, 3)
    np.testing.assert_allclose(ours, unit, atol=1e-15)


def test_neutral_rotation_is_one_and_no_vector():
    """Row C-17: zero rotation is (1, 0, 0, 0), not zeros."""
    close(Spherical().neutral(), [1, 0, 0, 0], 0.0)
    close(Free().neutral(), [1, 0, 0, 0, 0, 0, 0], 0.0)


def test_xzx_euler_angles_of_the_notes():
    """Eqs. 2.31 and 2.35 of the notes: R = Eᵀ of the sequence x, z, x, and the rate of S."""
    q, v = Vector([0.5, -0.7, 1.1]), Vector([0.3, -1.2, 0.8])
    (s1, s2, s3), (c1, c2, c3), (_, v2, v3) = map(sin, q), map(cos, q), v
    R = [
        [c2, -s2 * c3, s2 * s3],
        [c1 * s2, c1 * c2 * c3 - s1 * s3, -s1 * c3 - c1 * c2 * s3],
        [s1 * s2, c1 * s3 + s1 * c2 * c3, c1 * c3 - s1 * c2 * s3],
    ]
    close(numbers(Euler("xzx").transform(q).E).reshape(3, 3).T, np.array(R), 1e-15)
    rate = matrix(Euler("xzx").subspace_rate(q, v))[:3]
    printed = [
        [-s2 * v2, 0, 0],
        [s3 * s2 * v3 - c3 * c2 * v2, c3 * v3, 0],
        [c2 * s3 * v2 + s2 * c3 * v3, -s3 * v3, 0],
    ]
    close(rate, np.array(printed), 1e-15)


def test_universal_joint_of_the_notes():
    """Eqs. 2.37, 2.39 and 2.40: S = [(c₂, 0, s₂), (0, 1, 0)] and its rate."""
    q, v = Vector([0.5, -0.7]), Vector([0.3, -1.2])
    (s1, s2), (c1, c2) = map(sin, q), map(cos, q)
    R = [[c2, 0, s2], [s1 * s2, c1, -s1 * c2], [-c1 * s2, s1, c1 * c2]]
    joint = Universal("xy")
    close(numbers(joint.transform(q).E).reshape(3, 3).T, np.array(R), 1e-15)
    close(matrix(joint.subspace(q))[:3], np.array([[c2, 0], [0, 1], [s2, 0]]), 1e-15)
    close(matrix(joint.subspace_rate(q, v))[:3], np.array([[-s2, 0], [0, 0], [c2, 0]]) * v[1], 1e-15)


def test_exponential_joint_of_the_notes():
    """Eq. 2.43, with its division by |q|², and the unbracketing of 2.44, against the series that pass through zero."""
    joint, q = ExponentialSpherical(), Vector([0.5, -0.7, 1.1])
    R = numbers(joint.transform(q).E).reshape(3, 3).T
    Q = np.array(skew(q.items), dtype=float)
    S = []
    for i, e in enumerate(np.eye(3)):
        inner = Q @ (np.eye(3) - R) @ e
        dR = (q[i] * Q + np.array(skew(tuple(inner.tolist())), dtype=float)) / (q @ q) @ R
        W = R.T @ dR
        S.append([W[2, 1], W[0, 2], W[1, 0]])
    close(matrix(joint.subspace(q))[:3], np.array(S).T, 1e-14)
    close(joint.subspace(Vector([0.0] * 3)), [*Motion.basis()[:3]], 0.0)


def test_free_joint_of_the_notes_is_a_composite():
    """Eqs. 2.48-2.50: a ball, then a translation in the turned frame."""
    joint = Composite((ExponentialSpherical(), Translational()))
    q, v = state(joint, 1)
    S1, dS1 = (
        matrix(f)[:3]
        for f in (ExponentialSpherical().subspace(q[:3]), ExponentialSpherical().subspace_rate(q[:3], v[:3]))
    )
    p, dp = (np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]]) for a, b, c in (q[3:], v[3:]))
    zero, one = np.zeros((3, 3)), np.eye(3)
    close(matrix(joint.subspace(q)), np.block([[S1, zero], [-p @ S1, one]]), 1e-15)
    close(matrix(joint.subspace_rate(q, v)), np.block([[dS1, zero], [-dp @ S1 - p @ dS1, zero]]), 1e-14)


def test_rotations_of_the_book_are_coordinate_transforms():
    """Products read from right to left as successive turns of the frame: E = rx ry rz is yaw first."""
    q = Vector([0.2, 0.3, 0.4])
    close(YawPitchRoll().transform(q).E, matmul(rotation.rx(0.4), matmul(rotation.ry(0.3), rotation.rz(0.2))), 0.0)
    assert YawPitchRoll().transform(q).r == ZERO3
