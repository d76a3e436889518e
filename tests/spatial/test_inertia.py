"""Rigid-body, articulated and inverse inertia (RBDA 2.13-2.15, 7.1, A.3-A.4)."""

import numpy as np
import pytest

from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import ArticulatedInertia, Force, Inertia, Matrix, Motion, Subspace, Sym3, Transform
from knuckle.spatial.inertia import UNIT_MASS
from knuckle.spatial.three import add, cross, dot, matadd, matmul, matscale, neg, scale, skew, transpose

from .test_transform import blocks, moving, rate
from .test_vectors import crf, crm, vector
from .zoo import KINDS, Kind, dense

EXACT = ["float", "complex", "mpmath", "fraction", "sympy"]
ONE3 = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


# B-26 to B-28


def test_b26_momentum(kind: Kind):
    """h_O = (I_C ω + OC × m v_C, m v_C), a force vector."""
    I, v = kind.inertia(), kind.motion()
    c, m = I.com, I.mass
    v_C = add(v.linear, cross(v.angular, c))
    kind.same(I @ v, Force(add(I.I_com.apply(v.angular), cross(c, scale(m, v_C))), scale(m, v_C)))


def test_b26_kinetic_energy(kind: Kind):
    """½ v·Iv = ½ ω·I_C ω + ½ m v_C·v_C, whatever the frame."""
    I, v, X = kind.inertia(), kind.motion(), kind.transform()
    v_C = add(v.linear, cross(v.angular, I.com))
    spin, travel = dot(v.angular, I.I_com.apply(v.angular)), I.mass * dot(v_C, v_C)
    kind.same(I.kinetic_energy(v), (spin + travel) / 2)
    kind.same(I.kinetic_energy(v), (I @ v).dot(v) / 2)
    kind.same((X @ I).kinetic_energy(X @ v), I.kinetic_energy(v))


def test_b27_matrix(kind: Kind):
    """RBDA 2.63, and I_C = diag(I_C, m 1) about the centre of mass."""
    m, c, J = kind.positive(), kind.vec3(), kind.spread()
    I = Inertia.of(m, c, J.matrix)
    cx = skew(c)
    top = matadd(J.matrix, matscale(m, matmul(cx, transpose(cx))))
    kind.same(I.matrix, blocks(top, matscale(m, cx), matscale(m, transpose(cx)), matscale(m, ONE3)))
    o3 = ((0,) * 3,) * 3
    kind.same((Transform(r=c) @ I).matrix, blocks(J.matrix, o3, o3, matscale(m, ONE3)))
    kind.same(I.matrix, I.matrix.T)


def test_b27_definite(floats: Kind):
    assert np.linalg.eigvalsh(dense(floats.inertia().matrix)).min() > 0
    assert np.linalg.eigvalsh(dense(floats.articulated().matrix)).min() > 0


def test_b27_parts_add_up(kind: Kind):
    """The inertia of two bodies is the sum; of points, Σ m (OC × …): additive from six dyads and from mass points."""
    I, J, v = kind.inertia(), kind.inertia(), kind.motion()
    kind.same((I + J).matrix, I.matrix + J.matrix)
    kind.same((I + J) @ v, I @ v + J @ v)
    kind.same((I + J) - J, I)
    kind.same((I * 3).matrix, I.matrix * 3)
    kind.same((-I).matrix, -I.matrix)
    points = [(kind.positive(), kind.vec3()) for _ in range(4)]
    cloud = Inertia.zero()
    for m, p in points:
        cloud = cloud + Inertia.of(m, p, ((0,) * 3,) * 3)
    force = Force.zero()
    for m, p in points:
        f = scale(m, add(v.linear, cross(v.angular, p)))
        force = force + Force(cross(p, f), f)
    kind.same(cloud @ v, force)
    assert (UNIT_MASS @ v).linear == v.linear or kind.name in ("lanes", "float32")


def test_b27_sum_of_six_dyads(floats: Kind):
    """I = Σ g g·: six forces that the inertia is made of (RBDA 2.65), here by a Cholesky factor."""
    I = floats.inertia()
    L = np.linalg.cholesky(dense(I.matrix))
    g = [Force.of(L[:, k]) for k in range(6)]
    floats.same(ArticulatedInertia.dyadic(g, g).matrix, I.matrix)


@pytest.mark.parametrize("make", ["inertia", "articulated"])
def test_b05_b27_moves_as_a_congruence(kind: Kind, make: str):
    """X* I X⁻¹ and Xᵀ I X without 6x6 products (RBDA table A.4)."""
    I, X, m = getattr(kind, make)(), kind.transform(), kind.motion()
    kind.same((X @ I).matrix, X.force_matrix @ I.matrix @ X.inverse().matrix)
    kind.same((X.inv @ I).matrix, X.matrix.T @ I.matrix @ X.matrix)
    kind.same(X.T @ I @ X, X.inv @ I)
    kind.same(X.inv @ (X @ I), I)
    kind.same((X @ I) @ (X @ m), X @ (I @ m))
    kind.same(X.T @ I @ m, X.inv @ (I @ m))
    assert type(X @ I) is type(I)


def test_congruence_needs_one_transform(floats: Kind):
    X, Y, I = floats.transform(), floats.transform(), floats.inertia()
    with pytest.raises(ValueError, match="same transform"):
        X.T @ I @ Y


@pytest.mark.parametrize("make", ["inertia", "articulated"])
def test_compact_is_dense(kind: Kind, make: str):
    I, m = getattr(kind, make)(), kind.motion()
    kind.same((I @ m).components, (I.matrix @ vector(m)).items)
    S = Subspace(Motion, [kind.motion(), kind.motion()])
    F = I @ S
    assert isinstance(F, Subspace)
    assert F.vector is Force
    kind.same(F.matrix, I.matrix @ S.matrix)


@pytest.mark.parametrize("name", EXACT)
def test_b27_rate(name: str):
    """İ = v ×* I − I v × for a body that moves with v (RBDA 2.64), against the exact derivative of X* I X⁻¹."""
    kind = KINDS[name].at(11)
    I, X, v = kind.inertia(), kind.transform(), kind.motion()
    kind.same(I.rate(v).matrix, crf(v) @ I.matrix - I.matrix @ crm(v))
    # the body is fixed in B, which moves with −v seen from A: its inertia in A coordinates
    there = moving(X, v).inv @ I
    here, velocity = X.inv @ I, X.inv @ v
    kind.same(Matrix([map(rate, row) for row in there.matrix.rows]), here.rate(velocity).matrix)


@pytest.mark.parametrize("name", EXACT)
def test_b28_equation_of_motion(name: str):
    """f = I a + v ×* I v is the rate of the momentum (RBDA 2.68)."""
    kind = KINDS[name].at(12)
    I, v, a = kind.inertia(), kind.motion(), kind.motion()
    f = I @ a + v.cross(I @ v)
    kind.same(f, I @ a + I.rate(v) @ v)
    kind.same((I.rate(v) @ v), v.cross(I @ v))
    V = Motion(tuple(map(Dual, v.angular, a.angular)), tuple(map(Dual, v.linear, a.linear)))
    X = moving(Transform(), v)
    # momentum in stationary coordinates that coincide with the body's now
    h = X.inv @ (I @ (X @ V))
    kind.same(Force(tuple(map(rate, h.angular)), tuple(map(rate, h.linear))), f)


# B-29: inverse inertia


def test_b29_matrix(kind: Kind):
    """RBDA 2.73."""
    I = kind.inertia()
    Phi, c = I.inverse, skew(I.com)
    J = Phi.I_inverse.matrix
    corner = matadd(matscale(Phi.inverse_mass, ONE3), matmul(c, matmul(J, transpose(c))))
    kind.same(Phi.matrix, blocks(J, matmul(J, transpose(c)), matmul(c, J), corner))
    kind.same(Phi.matrix @ I.matrix, Matrix.identity(6))


def test_b29_undoes_the_inertia(kind: Kind):
    I, v, f, X = kind.inertia(), kind.motion(), kind.force(), kind.transform()
    kind.same(I.inverse @ (I @ v), v)
    kind.same(I @ (I.inverse @ f), f)
    kind.same((I.inverse @ f).components, (I.inverse.matrix @ vector(f)).items)
    T = Subspace(Force, [f, kind.force()])
    moved = I.inverse @ T
    assert moved.vector is Motion
    kind.same(moved.matrix, I.inverse.matrix @ T.matrix)
    kind.same((X @ I).inverse.matrix, (X @ I.inverse).matrix)


def test_b05_b29_moves_as_a_congruence(kind: Kind):
    """Φ maps forces to motions: X Φ Xᵀ (RBDA table 2.5)."""
    Phi, X = kind.inertia().inverse, kind.transform()
    kind.same((X @ Phi).matrix, X.matrix @ Phi.matrix @ X.matrix.T)
    back = X.inverse()
    kind.same((X.inv @ Phi).matrix, back.matrix @ Phi.matrix @ back.matrix.T)


def test_b29_bias_acceleration(kind: Kind):
    """a = Φ f + b with b = −Φ v ×* I v gives back f = I a + v ×* I v."""
    I, v, f = kind.inertia(), kind.motion(), kind.force()
    a = I.inverse @ f - I.inverse @ v.cross(I @ v)
    kind.same(I @ a + v.cross(I @ v), f)


def test_b29_constrained(floats: Kind):
    """Φ of a body that S allows to move: rank, range and null space (RBDA 3.45-3.55)."""
    I = floats.inertia()
    S = Subspace(Motion, [floats.motion(), floats.motion()])
    Phi = dense(S.matrix @ (S.T @ (I @ S)).inverse() @ S.matrix.T)
    assert np.linalg.matrix_rank(Phi) == 2
    T = dense(S.matrix.complement())
    np.testing.assert_allclose(Phi @ T, 0, atol=1e-12)
    np.testing.assert_allclose(Phi @ dense(I.matrix) @ dense(S.matrix), dense(S.matrix), atol=1e-12)


# numbers in and out


def test_mass_centre_and_spread_come_back(kind: Kind):
    m, c, J = kind.positive(), kind.vec3(), kind.spread()
    I = Inertia.of(m, c, J.matrix)
    kind.same(I.com, c)
    kind.same(I.I_com.matrix, J.matrix)
    kind.same(I.first_moment, scale(m, c))
    kind.same(Inertia.of(I.mass, I.com, I.I_com.matrix), I)


def test_parallel_axes(kind: Kind):
    """Steiner: moved off its centre of mass by r, a body's inertia grows by m (r·r 1 − r rᵀ)."""
    m, J, r = kind.positive(), kind.spread(), kind.vec3()
    I = Transform(r=neg(r)) @ Inertia.of(m, (ZERO,) * 3, J.matrix)
    kind.same(I.com, r)
    x, y, z = r
    grown = Sym3(y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y).times(m)
    kind.same(I.I.matrix, J.plus(grown).matrix)


def test_plain_zeros_and_ones_become_structural():
    I = Inertia.of(1.0, (0, 0.0, 0.5), np.diag([1.0, 2.0, 3.0]))
    assert I.mass is ONE
    assert I.h[0] is I.h[1] is ZERO
    assert I.I.xy is I.I.xz is I.I.yz is ZERO
    assert Inertia.zero().matrix == Matrix.zero(6, 6)
    assert (Inertia.zero() + I).mass is ONE


def test_a_body_without_mass_has_no_centre():
    with pytest.raises(ZeroDivisionError):
        _ = Inertia.zero().com
    with pytest.raises(ZeroDivisionError):
        _ = Inertia.of(0.0, (0.1, 0.2, 0.3), ONE3).inverse


# articulated inertia


def test_articulated_of_a_rigid_body(kind: Kind):
    I, A, m = kind.inertia(), kind.articulated(), kind.motion()
    kind.same(ArticulatedInertia.of(I) @ m, I @ m)
    kind.same((A + I).matrix, A.matrix + I.matrix)
    kind.same((I + A).matrix, A.matrix + I.matrix)
    kind.same((A - I).matrix, A.matrix - I.matrix)
    kind.same((I - A).matrix, I.matrix - A.matrix)
    kind.same((A - A).matrix, Matrix.zero(6, 6))
    kind.same((A * 3).matrix, A.matrix * 3)
    kind.same((-A).matrix, -A.matrix)
    kind.same(ArticulatedInertia.zero() + A, A)


def test_articulated_from_columns_and_dyads(kind: Kind):
    A = kind.articulated()
    kind.same(ArticulatedInertia.from_columns([A @ e for e in Motion.basis()]), A)
    U, D = Subspace(Force, [kind.force(), kind.force()]), kind.matrix(2, 2)
    symmetric = D + D.T
    kind.same(U.dyadic(symmetric).matrix, U.matrix @ symmetric @ U.matrix.T)
    kind.same(Subspace(Force).dyadic(Matrix((), 0)), ArticulatedInertia.zero())


def test_articulated_solve(kind: Kind):
    """I⁻¹f; the condition number of the inertia, some 10³ here, is what the residual may grow by, and Iᴬ undoes it."""
    A, f = kind.articulated(), kind.force()
    kind.same(A @ A.solve(f), f)
