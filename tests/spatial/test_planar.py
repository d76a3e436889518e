"""The planar twins (RBDA 2.16, A.1): each operation against the same operation in space."""

import math

import numpy as np
import pytest
from scipy.linalg import expm, logm

from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import (
    PLANAR,
    SPATIAL,
    ArticulatedInertia,
    Force,
    Inertia,
    Matrix,
    Motion,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Subspace,
    Sym3,
    Transform,
    Vector,
    lie,
    project,
    rotation,
)
from knuckle.spatial.planar.planar_vectors import displacement
from knuckle.spatial.three import IDENTITY3

from .zoo import KINDS, Kind, dense

IN_PLANE = [2, 3, 4]


def embedded(x, kind: Kind):
    """A planar quantity in space; what the plane does not see of an inertia is drawn at random."""
    if isinstance(x, PlanarMotion):
        return Motion((ZERO, ZERO, x.angular), (x.x, x.y, ZERO))
    if isinstance(x, PlanarForce):
        return Force((ZERO, ZERO, x.angular), (x.x, x.y, ZERO))
    if isinstance(x, PlanarTransform):
        return Transform(((x.c, x.s, ZERO), (-x.s, x.c, ZERO), IDENTITY3[2]), (x.x, x.y, ZERO))
    if isinstance(x, PlanarInertia):
        # a body whose mass is off the plane moves in it like one on it
        return Inertia(x.mass, (x.hx, x.hy, kind.scalar()), Sym3(*kind.numbers(5), x.I))
    if isinstance(x, PlanarArticulatedInertia):
        I, H, M = list(kind.numbers(6)), [list(kind.vec3()) for _ in range(3)], list(kind.numbers(6))
        I[5], H[2][0], H[2][1], M[0], M[1], M[2] = x.a, x.b, x.d, x.c, x.e, x.f
        return ArticulatedInertia(Sym3(*I), tuple(map(tuple, H)), Sym3(*M))  # type: ignore[arg-type]
    return Subspace(Motion if x.is_motion else Force, [embedded(column, kind) for column in x.columns])


def seen_in_plane(x) -> Matrix:
    """Rows and columns 3, 4, 5 of a spatial matrix."""
    rows = x.matrix.rows if hasattr(x, "matrix") else x.rows
    return Matrix([[rows[i][j] for j in IN_PLANE] for i in IN_PLANE])


# B-40 to B-43, A-01, A-02: the matrices as printed


def test_b40_coordinates():
    m = Motion.of((1.5, 2.5, 3.5, 4.5, 5.5, 6.5))
    assert project(m) == PlanarMotion(3.5, 4.5, 5.5)
    assert project(Force(m.angular, m.linear)) == PlanarForce(3.5, 4.5, 5.5)
    assert tuple(m.components[i] for i in IN_PLANE) == project(m).components
    assert PlanarMotion(1, 2, 3).linear == (2, 3)


def test_b41_cross_products(kind: Kind):
    v, m, f = kind.planar_motion(), kind.planar_motion(), kind.planar_force()
    w, x, y = v.components
    crm = Matrix([(0, 0, 0), (y, 0, -w), (-x, w, 0)])
    kind.same(v.cross(m).components, (crm @ Vector(m.components)).items)
    kind.same(v.cross(f).components, (-crm.T @ Vector(f.components)).items)
    kind.same(v.cross(m).dot(f), -m.dot(v.cross(f)))


def test_b42_a01_transform(kind: Kind):
    X = kind.planar_transform()
    c, s, x, y = X.c, X.s, X.x, X.y
    kind.same(X.matrix, Matrix([(1, 0, 0), (s * x - c * y, c, s), (c * x + s * y, -s, c)]))
    kind.same(X.force_matrix @ X.matrix.T, Matrix.identity(3))
    kind.same(X.homogeneous, Matrix([(c, -s, x), (s, c, y), (0, 0, 1)]))


def test_b43_a02_inertia(kind: Kind):
    m, (x, y), I_C = kind.positive(), kind.numbers(2), kind.positive()
    I = PlanarInertia.of(m, (x, y), I_C)
    top = I_C + m * (x * x + y * y)
    kind.same(I.matrix, Matrix([(top, -m * y, m * x), (-m * y, m, 0), (m * x, 0, m)]))
    kind.same(I.com, (x, y))
    kind.same(I.I_com, I_C)
    kind.same(I.first_moment, (m * x, m * y))


# B-44: planar = spatial embedding, operation by operation


def test_b44_vectors(kind: Kind):
    v, m, f, s = kind.planar_motion(), kind.planar_motion(), kind.planar_force(), kind.positive()
    V, M, F = (embedded(x, kind) for x in (v, m, f))
    kind.same(project(V + M), v + m)
    kind.same(project(V - M), v - m)
    kind.same(project(-V), -v)
    kind.same(project(V * s), s * v)
    kind.same(project(V / s), v / s)
    kind.same(V.dot(F), v.dot(f))
    kind.same(F.dot(V), f.dot(v))
    kind.same(project(V.cross(M)), v.cross(m))
    kind.same(project(V.cross(F)), v.cross(f))


def test_b44_transforms(kind: Kind):
    X, Y, m, f, p = (
        kind.planar_transform(),
        kind.planar_transform(),
        kind.planar_motion(),
        kind.planar_force(),
        kind.numbers(2),
    )
    XX, YY, M, F = (embedded(x, kind) for x in (X, Y, m, f))
    kind.same(project(XX), X)
    kind.same(project(XX @ M), X @ m)
    kind.same(project(XX @ F), X @ f)
    kind.same(project(XX.inv @ M), X.inv @ m)
    kind.same(project(XX.inv @ F), X.inv @ f)
    kind.same(project(XX.T @ F), X.T @ f)
    kind.same(project(XX @ YY), X @ Y)
    kind.same(project(XX.inv @ YY), X.inv @ Y)
    kind.same(project(XX.inverse()), X.inverse())
    kind.same(seen_in_plane(XX), X.matrix)
    kind.same(seen_in_plane(XX.force_matrix), X.force_matrix)
    kind.same(XX.point((*p, ZERO))[:2], X.point(p))
    kind.same(XX.inv.point((*p, ZERO))[:2], X.inv.point(p))


def test_b44_inertia(kind: Kind):
    I, J, X, m = kind.planar_inertia(), kind.planar_inertia(), kind.planar_transform(), kind.planar_motion()
    II, JJ, XX, M = (embedded(x, kind) for x in (I, J, X, m))
    kind.same(project(II), I)
    kind.same(project(II @ M), I @ m)
    kind.same(project(II + JJ), I + J)
    kind.same(project(II - JJ), I - J)
    kind.same(project(II * 3), 3 * I)
    kind.same(project(-II), -I)
    kind.same(project(XX @ II), X @ I)
    kind.same(project(XX.inv @ II), X.inv @ I)
    kind.same(project(XX.T @ II @ XX), X.T @ I @ X)
    kind.same(II.kinetic_energy(M), I.kinetic_energy(m))
    kind.same(seen_in_plane(II), I.matrix)


def test_b44_rate_of_inertia(kind: Kind):
    I, v, m = kind.planar_inertia(), kind.planar_motion(), kind.planar_motion()
    II, V, M = (embedded(x, kind) for x in (I, v, m))
    kind.same(seen_in_plane(II.rate(V)), I.rate(v).matrix)
    kind.same(project(II.rate(V) @ M), I.rate(v) @ m)


def test_b44_inverse_inertia(kind: Kind):
    """A free body in the plane; in space it must not leave it, so its mass is on the plane."""
    I, f, X = kind.planar_inertia(), kind.planar_force(), kind.planar_transform()
    flat = Inertia(I.mass, (I.hx, I.hy, ZERO), _on_plane(I, kind))
    kind.same(project(flat.inverse @ embedded(f, kind)), I.inverse @ f)
    kind.same(I.inverse.matrix @ I.matrix, Matrix.identity(3))
    kind.same((X @ I).inverse.matrix, (X @ I.inverse).matrix)
    kind.same((X.inv @ I).inverse.matrix, (X.inv @ I.inverse).matrix)
    T = Subspace(PlanarForce, [f, kind.planar_force()])
    kind.same((I.inverse @ T).matrix, I.inverse.matrix @ T.matrix)


def _on_plane(I: PlanarInertia, kind: Kind) -> Sym3:
    """About the origin, for a flat body: one out-of-plane principal axis, any moments within the plane."""
    return Sym3(I.I + 1, kind.scalar() / 10, I.I + 2, ZERO, ZERO, I.I)


def test_b44_articulated(kind: Kind):
    A, B, I, X, m = (
        kind.planar_articulated(),
        kind.planar_articulated(),
        kind.planar_inertia(),
        kind.planar_transform(),
        kind.planar_motion(),
    )
    AA, BB, II, XX, M = (embedded(x, kind) for x in (A, B, I, X, m))
    kind.same(seen_in_plane(AA), A.matrix)
    kind.same(project(AA @ M), A @ m)
    kind.same(seen_in_plane(AA + BB), (A + B).matrix)
    kind.same(seen_in_plane(AA - BB), (A - B).matrix)
    kind.same(seen_in_plane(AA + II), (A + I).matrix)
    kind.same(seen_in_plane(II + AA), (I + A).matrix)
    kind.same(seen_in_plane(AA - II), (A - I).matrix)
    kind.same(seen_in_plane(II - AA), (I - A).matrix)
    kind.same(seen_in_plane(AA * 3), (3 * A).matrix)
    kind.same(seen_in_plane(-AA), (-A).matrix)
    kind.same(seen_in_plane(XX @ AA), (X @ A).matrix)
    kind.same(seen_in_plane(XX.inv @ AA), (X.inv @ A).matrix)
    kind.same((X.T @ A @ X).matrix, X.matrix.T @ A.matrix @ X.matrix)
    kind.same(PlanarArticulatedInertia.of(I) @ m, I @ m)
    kind.same(PlanarArticulatedInertia.from_columns([A @ e for e in PlanarMotion.basis()]), A)


def test_b44_articulated_solve_and_dyads(kind: Kind):
    A, f = kind.planar_articulated(), kind.planar_force()
    kind.same(A @ A.solve(f), f)
    U, D = Subspace(PlanarForce, [kind.planar_force(), kind.planar_force()]), kind.matrix(2, 2)
    symmetric = D + D.T
    kind.same(U.dyadic(symmetric).matrix, U.matrix @ symmetric @ U.matrix.T)


def test_b44_subspaces(kind: Kind):
    S = Subspace(PlanarMotion, [kind.planar_motion(), kind.planar_motion()])
    T = Subspace(PlanarForce, [kind.planar_force(), kind.planar_force()])
    X, v, I = kind.planar_transform(), kind.planar_motion(), kind.planar_inertia()
    SS, TT, XX, V, II = (embedded(x, kind) for x in (S, T, X, v, I))
    kind.same(project(SS).matrix, S.matrix)
    kind.same(SS.T @ TT, S.T @ T)
    kind.same(project(XX @ SS).matrix, (X @ S).matrix)
    kind.same(project(XX.T @ TT).matrix, (X.T @ T).matrix)
    kind.same(project(V.cross(SS)).matrix, v.cross(S).matrix)
    kind.same(project(V.cross(TT)).matrix, v.cross(T).matrix)
    kind.same(project(II @ SS).matrix, (I @ S).matrix)
    assert (I @ S).vector is PlanarForce


@pytest.mark.parametrize("name", ["float", "fraction", "mpmath"])
def test_rate_of_a_planar_transform(name: str):
    """Ẋ = −v × X in the plane (RBDA 2.45)."""
    kind = KINDS[name].at(3)
    X, v = kind.planar_transform(), kind.planar_motion()
    w, a, b = v.components
    x, y = X.c * a - X.s * b, X.s * a + X.c * b
    moving = PlanarTransform(Dual(X.c, -X.s * w), Dual(X.s, X.c * w), Dual(X.x, x), Dual(X.y, y))
    rates = [[e.derivative if isinstance(e, Dual) else ZERO for e in row] for row in moving.matrix.rows]
    kind.same(Matrix(rates), Matrix.columns(((-v.cross(X @ e)).components for e in PlanarMotion.basis()), 3))


# XtoV


def planar(theta, x, y) -> PlanarTransform:
    return PlanarTransform(math.cos(theta), math.sin(theta), x, y)


def test_a03_displacement_as_printed(kind: Kind):
    X = kind.planar_transform()
    (_, _, _), (X21, X22, X23), (X31, _, _) = X.matrix.rows
    kind.same(displacement(X, simple=True).components, (X23, X31, -X21))
    accurate = (X23, (X31 + X22 * X31 + X23 * X21) / 2, (-X21 - X22 * X21 + X23 * X31) / 2)
    kind.same(displacement(X).components, accurate)


def test_a03_displacement_is_invariant(kind: Kind):
    """d = X d, whatever the angle; the simple version is not."""
    X = kind.planar_transform()
    kind.same(X @ displacement(X), displacement(X))


@pytest.mark.parametrize("theta", [1e-6, 0.3, -1.2, 1.5])
def test_a03_displacement_and_the_exact_one(theta: float):
    """The exact displacement, Exp(−u×) = X, is u = d asin(s)/s."""
    X = planar(theta, 0.4, -0.7)
    d = np.array(displacement(X).components)
    exact = logm(dense(X.matrix)).real
    u = -np.array([exact[2, 1], -exact[2, 0], exact[1, 0]])
    np.testing.assert_allclose(d * math.asin(math.sin(theta)) / math.sin(theta), u, rtol=1e-9, atol=1e-15)
    w, x, y = u
    np.testing.assert_allclose(expm(-np.array([[0, 0, 0], [y, 0, -w], [-x, w, 0]])), dense(X.matrix), atol=1e-12)


@pytest.mark.parametrize("simple", [True, False])
def test_a03_both_versions_agree_to_first_order(simple: bool):
    """X = 1 − d× + O(d²)."""
    for size in (1e-3, 1e-5):
        w, x, y = displacement(planar(0.7 * size, 0.4 * size, -0.9 * size), simple=simple).components
        first_order = np.eye(3) - np.array([[0, 0, 0], [y, 0, -w], [-x, w, 0]])
        found = dense(planar(0.7 * size, 0.4 * size, -0.9 * size).matrix)
        assert np.abs(found - first_order).max() < size**2


def test_a03_is_the_plane_of_the_spatial_one(kind: Kind):
    X = kind.planar_transform()
    kind.same(project(lie.displacement(embedded(X, kind))), displacement(X))


# the rest


def test_elementary_motions():
    turn = PlanarTransform.rotation((math.cos(0.4), math.sin(0.4)))
    KINDS["float"].same(project(Transform.rotation(rotation.rz(0.4))), turn)
    KINDS["float"].same(turn @ PlanarTransform.translation((1, 2)), planar(0.4, 1.0, 2.0))
    assert PlanarTransform.identity() == PlanarTransform() == project(Transform())
    cosine, sine = turn.E
    assert (cosine, sine) == (math.cos(0.4), math.sin(0.4))


def test_numbers_in_and_out():
    m = PlanarMotion.of((0, 1.0, 2.5))
    assert m.angular is ZERO
    assert m.x is ONE
    with pytest.raises(ValueError, match="unpack"):
        PlanarMotion.of((1, 2))
    assert PlanarInertia.of(1, (0, 0.5), 2.0).hx is ZERO
    assert PlanarInertia.zero().matrix == Matrix.zero(3, 3)
    assert PlanarArticulatedInertia.zero().matrix == Matrix.zero(3, 3)
    assert PlanarMotion.zero().cross(PlanarForce.zero()) == PlanarForce.zero()
    for i, d in enumerate(PlanarMotion.basis()):
        for j, e in enumerate(PlanarForce.basis()):
            assert d.dot(e) is (ONE if i == j else ZERO)


@pytest.mark.parametrize("algebra", [SPATIAL, PLANAR])
def test_an_algebra_names_its_types(algebra):
    import pickle

    n = algebra.dimension
    for vector in (algebra.Motion, algebra.Force):
        assert len(vector.zero().components) == vector.dimension == len(vector.basis()) == n
    X = algebra.Transform.identity()
    assert X @ algebra.Motion.zero() == algebra.Motion.zero()
    assert X @ algebra.Inertia.zero() == algebra.Inertia.zero()
    assert algebra.Force.articulated() is algebra.ArticulatedInertia
    assert pickle.loads(pickle.dumps(algebra)) is algebra
