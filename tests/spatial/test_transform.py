"""Plücker transforms without 6x6 matrices (RBDA 2.8, A.4)."""

import math

import numpy as np
import pytest

from knuckle.scalar import ONE, ZERO, Dual, cos, sin
from knuckle.spatial import IDENTITY, Force, Matrix, Motion, Transform, Vector, rotation
from knuckle.spatial.three import (
    IDENTITY3,
    add,
    cross,
    dot,
    matmul,
    matvec,
    neg,
    skew,
    sub,
    tmatvec,
    transpose,
    unskew,
)

from .test_vectors import crm
from .zoo import KINDS, Kind, dense

o3 = ((ZERO,) * 3,) * 3


def blocks(a, b, c, d) -> Matrix:
    """[a b; c d]."""
    return Matrix([*((*x, *y) for x, y in zip(a, b, strict=True)), *((*x, *y) for x, y in zip(c, d, strict=True))])


def minus(A):
    return tuple(neg(row) for row in A)


def test_b19_matrices(kind: Kind):
    """RBDA 2.24, 2.25 and their inverses."""
    X = kind.transform()
    E, r = X.E, X.r
    kind.same(X.matrix, blocks(E, o3, minus(matmul(E, skew(r))), E))
    kind.same(X.force_matrix, blocks(E, minus(matmul(E, skew(r))), o3, E))
    Et, back = transpose(E), X.inverse()
    kind.same(back.matrix, blocks(Et, o3, matmul(skew(r), Et), Et))
    kind.same(back.force_matrix, blocks(Et, matmul(skew(r), Et), o3, Et))
    kind.same(back.force_matrix, X.matrix.T)
    kind.same(X.matrix @ back.matrix, Matrix.identity(6))


def test_b19_homogeneous(kind: Kind):
    """The 4x4 matrix holds the axes and the origin of B in A: the inverse of [E −Er; 0 1]."""
    X, p = kind.transform(), kind.vec3()
    E, r = X.E, X.r
    T = Matrix([*((*row, x) for row, x in zip(E, neg(matvec(E, r)), strict=True)), (ZERO, ZERO, ZERO, ONE)])
    kind.same(X.homogeneous @ T, Matrix.identity(4))
    kind.same((T @ Vector((*p, ONE))).items[:3], X.point(p))
    kind.same(X.inv.point(X.point(p)), p)


def test_b19_compact_is_dense(kind: Kind):
    """Every rule of table A.4 that moves a vector, against the 6x6 matrices."""
    X, m, f = kind.transform(), kind.motion(), kind.force()
    kind.same((X @ m).components, (X.matrix @ Vector(m.components)).items)
    kind.same((X @ f).components, (X.force_matrix @ Vector(f.components)).items)
    kind.same(X.inv @ (X @ m), m)
    kind.same(X.inv @ (X @ f), f)
    kind.same(X.T @ f, X.inv @ f)
    kind.same((X.T @ f).components, (X.matrix.T @ Vector(f.components)).items)
    kind.same(X.inverse() @ m, X.inv @ m)


def test_b19_composition(kind: Kind):
    X, Y, m, f = kind.transform(), kind.transform(), kind.motion(), kind.force()
    kind.same((X @ Y).matrix, X.matrix @ Y.matrix)
    kind.same((X @ Y) @ m, X @ (Y @ m))
    kind.same((X @ Y) @ f, X @ (Y @ f))
    kind.same(X.inv @ Y, X.inverse() @ Y)
    kind.same((X @ Y).inverse(), Y.inverse() @ X.inverse())
    kind.same(X.inverse().inverse(), X)


def test_b19_rotations_move_motions_and_forces_alike(kind: Kind):
    X = Transform.rotation(kind.rotation())
    kind.same(X.matrix, X.force_matrix)


def test_b20_elementary_rotations():
    """RBDA table 2.2: the frame turns, so coordinates turn back."""
    c, s = math.cos(0.3), math.sin(0.3)
    assert rotation.rx(0.3) == ((1, 0, 0), (0, c, s), (0, -s, c))
    assert rotation.ry(0.3) == ((c, 0, -s), (0, 1, 0), (s, 0, c))
    assert rotation.rz(0.3) == ((c, s, 0), (-s, c, 0), (0, 0, 1))
    assert rotation.rz(ZERO) == IDENTITY3


def test_b20_turn_then_shift(kind: Kind):
    """ᴮX_A = rot(E) xlt(r)."""
    X = kind.transform()
    shift = Transform(r=X.r)
    kind.same(shift.matrix, blocks(IDENTITY3, o3, minus(skew(X.r)), IDENTITY3))
    kind.same(Transform.rotation(X.E) @ shift, X)


def test_a04_frames_move_by_the_axis():
    """A.1: after rotx(θ) frame B is A turned by +θ about x; products read right to left as moves of the frame."""
    along_y = Motion((ZERO, ONE, ZERO), (ZERO,) * 3)
    seen = Transform.rotation(rotation.rx(math.pi / 2)) @ along_y
    np.testing.assert_allclose([float(x) for x in seen.angular], (0, 0, -1), atol=1e-16)
    X = Transform.rotation(rotation.rz(math.pi / 2)) @ Transform.translation((1, 2, 3))
    assert X.r == (1, 2, 3)
    np.testing.assert_allclose([float(x) for x in X.point((1, 3, 3))], (1, 0, 0), atol=1e-15)


def test_b21_rotations_keep_lengths_and_handedness(kind: Kind):
    X = kind.transform()
    E = X.E
    kind.same(matmul(E, transpose(E)), IDENTITY3)
    kind.same(dot(E[0], cross(E[1], E[2])), 1)


def test_b21_determinant(floats: Kind):
    X = floats.transform()
    assert np.linalg.det(dense(X.matrix)) == pytest.approx(1, abs=1e-14)
    assert np.linalg.det(dense(X.force_matrix)) == pytest.approx(1, abs=1e-14)


def test_identity_costs_nothing(kind: Kind):
    m, f, X = kind.motion(), kind.force(), kind.transform()
    assert (IDENTITY @ m).components == m.components or kind.name in ("lanes", "float32")
    for moved, given in ((IDENTITY @ m, m), (IDENTITY.inv @ m, m), (IDENTITY @ f, f), (IDENTITY.T @ f, f)):
        assert all(a is b for a, b in zip(moved.components, given.components, strict=True))
    assert all(a is b for a, b in zip((IDENTITY @ X).r, X.r, strict=True))
    assert Transform.identity() == IDENTITY == Transform()


def test_from_numbers():
    made = Transform.of(np.eye(3), np.array([0.0, 1.0, 2.0]))
    assert made == Transform(IDENTITY3, (ZERO, ONE, 2.0))
    assert made.E[0][1] is ZERO
    assert made.E[0][0] is made.r[1] is ONE
    assert Transform.translation([0, 1, 2]) == made
    assert hash(made) == hash(Transform.translation((0, 1, 2)))


# motion of frames, by exact derivatives


def moving(X: Transform, v: Motion) -> Transform:
    """The transform and, as its dual part, its rate when B moves with v (B coordinates): Ẋ = −v × X."""
    E, r = X.E, X.r
    w = skew(v.angular)
    dE = minus(matmul(w, E))
    dr = matvec(transpose(E), v.linear)
    return Transform(tuple(tuple(map(Dual, a, b)) for a, b in zip(E, dE, strict=True)), tuple(map(Dual, r, dr)))


def rate(x):
    return x.derivative if isinstance(x, Dual) else ZERO


@pytest.mark.parametrize("name", ["float", "fraction", "mpmath", "complex"])
def test_b23_rate_of_a_transform(name: str):
    """d/dt ᴮX_A = −v × X for a frame B that moves with v relative to A (RBDA 2.45): all 36 entries."""
    kind = KINDS[name].at(7)
    X, v = kind.transform(), kind.motion()
    dX = moving(X, v).matrix
    kind.same([rate(x) for row in dX.rows for x in row], [x for row in (-(crm(v) @ X.matrix)).rows for x in row])


@pytest.mark.parametrize("name", ["float", "fraction", "mpmath", "complex"])
def test_b22_rates_in_moving_coordinates(name: str):
    """ṁ = m̊ + v × m and ḟ = f̊ + v ×* f (RBDA 2.36-2.44), m̊ being the rate of the coordinates in the moving frame."""
    kind = KINDS[name].at(8)
    X, v = kind.transform(), kind.motion()
    for make in (kind.motion, kind.force):
        m, dm = make(), make()
        moving_m = type(m)(*(tuple(map(Dual, a, b)) for a, b in ((m.angular, dm.angular), (m.linear, dm.linear))))
        ring = type(m).of(map(rate, (moving(X, v) @ moving_m).components))
        kind.same(X @ dm, ring + v.cross(X @ m))


@pytest.mark.parametrize("name", ["float", "fraction", "mpmath", "complex"])
def test_b24_leibniz(name: str):
    """RBDA table 2.4: products of vectors differentiate like products."""
    kind = KINDS[name].at(9)

    def dual(a, b):
        return type(a)(tuple(map(Dual, a.angular, b.angular)), tuple(map(Dual, a.linear, b.linear)))

    u, du, v, dv, f, df = kind.motion(), kind.motion(), kind.motion(), kind.motion(), kind.force(), kind.force()
    U, V, F, s = dual(u, du), dual(v, dv), dual(f, df), Dual(kind.scalar(), kind.scalar())
    kind.same(rate(U.dot(F)), du.dot(f) + u.dot(df))
    kind.same(Motion.of(map(rate, U.cross(V).components)), du.cross(v) + u.cross(dv))
    kind.same(Force.of(map(rate, U.cross(F).components)), du.cross(f) + u.cross(df))
    kind.same(Motion.of(map(rate, (s * U).components)), s.derivative * u + s.value * du)


def in_time(turn, place, t: float) -> tuple[Motion, Motion, tuple, tuple, tuple]:
    """v and a at the base's origin, and r, ṙ, r̈, of a body with axes exp(turn(t)) at place(t): exact derivatives."""
    now = Dual(Dual(t, 1.0), Dual(1.0, 0.0))  # value: (x, ẋ); derivative: (ẋ, ẍ)
    E_now, r_now = rotation.exp(turn(now)), place(now)
    E, dE = (tuple(tuple(map(part, row)) for row in E_now) for part in (_value, _slope))
    r, r_dot = (tuple(map(part, r_now)) for part in (_value, _slope))
    w = unskew(matmul(transpose(dE), E))
    v_O = add(r_dot, cross(w, neg(r)))
    v, a = (Motion(tuple(map(part, w)), tuple(map(part, v_O))) for part in (_value, _slope))
    return v, a, tuple(map(_value, r)), tuple(map(_value, r_dot)), tuple(map(_slope, r_dot))


def _value(x):
    return x.value if isinstance(x, Dual) else x


def _slope(x):
    return x.derivative if isinstance(x, Dual) else 0.0


def test_b25_spatial_and_classical_acceleration():
    """a = (ω̇, r̈ − ω × ṙ) and a = a' + (0, ṙ) × v (RBDA 2.48-2.50), for a motion given in time."""
    v, a, r, r_dot, r_ddot = in_time(
        lambda t: (sin(t), 0.5 * t * t, cos(2 * t)), lambda t: (t * t, sin(3 * t), t - cos(t)), 0.4
    )
    to_body = Transform(r=r)  # to coordinates at the body's origin, with the base's axes
    v_body, a_body = to_body @ v, to_body @ a
    np.testing.assert_allclose(v_body.linear, r_dot, atol=1e-14)
    np.testing.assert_allclose(a_body.linear, sub(r_ddot, cross(v.angular, r_dot)), atol=1e-14)
    classical = Motion(a.angular, r_ddot)
    there = classical + Motion((0.0, 0.0, 0.0), r_dot).cross(v_body)
    np.testing.assert_allclose(a_body.components, there.components, atol=1e-14)


def test_b25_relative_acceleration_is_a_difference(kind: Kind):
    """v_rel = v₂ − v₁ ⇒ a_rel = a₂ − a₁, no Coriolis term: the derivative of a difference."""
    v1, v2, a1, a2 = (kind.motion() for _ in range(4))
    pair = [
        Motion(tuple(map(Dual, v.angular, a.angular)), tuple(map(Dual, v.linear, a.linear)))
        for v, a in ((v1, a1), (v2, a2))
    ]
    relative = pair[1] - pair[0]
    kind.same(Motion(tuple(map(rate, relative.angular)), tuple(map(rate, relative.linear))), a2 - a1)


def test_b25_steady_rotation_has_no_spatial_acceleration():
    """A body that turns steadily about a fixed line: its velocity is constant though its points accelerate."""
    P, arm = (0.5, -0.25, 1.0), (2.5, 1.25, -1.0)

    def place(t):
        return add(P, tmatvec(rotation.rz(2 * t), arm))

    v, a, r, _, r_ddot = in_time(lambda t: (ZERO, ZERO, 2 * t), place, 0.7)
    np.testing.assert_allclose(a.components, 0, atol=1e-14)
    w = v.angular
    np.testing.assert_allclose(r_ddot, cross(w, cross(w, sub(r, P))), atol=1e-14)
    assert np.linalg.norm(r_ddot) == pytest.approx(4 * np.hypot(2.5, 1.25))
