"""Subspaces by a basis, and what constraints make of them (RBDA 3.1-3.6)."""

import numpy as np
import pytest

from knuckle.scalar import ONE, ZERO, Dual, cos, derivative, sin, sqrt
from knuckle.spatial import ArticulatedInertia, Force, Matrix, Motion, PlanarForce, PlanarMotion, Subspace, Vector

from .zoo import KINDS, Kind, dense


def motions(kind: Kind, n: int) -> Subspace:
    return Subspace(Motion, [kind.motion() for _ in range(n)])


def forces(kind: Kind, n: int) -> Subspace:
    return Subspace(Force, [kind.force() for _ in range(n)])


# the algebra of bases


def test_products_are_those_of_the_matrices(kind: Kind):
    S, T, A, x = motions(kind, 3), forces(kind, 2), kind.matrix(3, 2), kind.vector(3)
    m, f, X, v = kind.motion(), kind.force(), kind.transform(), kind.motion()
    kind.same((S @ x).components, (S.matrix @ x).items)
    kind.same((S @ A).matrix, S.matrix @ A)
    kind.same(S.T @ f, S.matrix.T @ Vector(f.components))
    kind.same(T.T @ m, T.matrix.T @ Vector(m.components))
    kind.same(S.T @ T, S.matrix.T @ T.matrix)
    kind.same(T.T @ S, T.matrix.T @ S.matrix)
    kind.same((X @ S).matrix, X.matrix @ S.matrix)
    kind.same((X @ T).matrix, X.force_matrix @ T.matrix)
    kind.same((X.inv @ (X @ S)).matrix, S.matrix)
    kind.same((X.T @ T).matrix, X.matrix.T @ T.matrix)
    for k in range(3):
        kind.same(v.cross(S)[k], v.cross(S[k]))
    for k in range(2):
        kind.same(v.cross(T)[k], v.cross(T[k]))


def test_linear_combinations(kind: Kind):
    S, R, s = motions(kind, 2), motions(kind, 2), kind.positive()
    kind.same((S + R).matrix, S.matrix + R.matrix)
    kind.same((S - R).matrix, S.matrix - R.matrix)
    kind.same((-S).matrix, -S.matrix)
    for scaled in (s * S, S * s):
        kind.same(scaled.matrix, S.matrix * s)
    kind.same(((S / s) * s).matrix, S.matrix)
    joined = S.join(R)
    assert len(joined) == 4
    kind.same([joined[3]], [R[1]])
    assert next(iter(joined)) is S[0]


def test_wrong_sizes_are_refused(floats: Kind):
    S = motions(floats, 3)
    with pytest.raises(ValueError, match="3 columns need 3 coordinates, not 2"):
        S @ Vector([1.0, 2.0])
    with pytest.raises(ValueError, match="3 columns need a matrix of 3 rows, not 2"):
        S @ Matrix([[1.0], [2.0]])
    with pytest.raises(ValueError, match="subspaces of 3 and 2 columns"):
        S + motions(floats, 2)


def test_equality_and_hash(floats: Kind):
    S = motions(floats, 2)
    assert Subspace(Motion, S.columns) == S
    assert hash(Subspace(Motion, S.columns)) == hash(S)
    assert Subspace(Motion) != Subspace(Force)
    assert "Motion" in repr(S)


# B-06: nothing at all


@pytest.mark.parametrize(("vector", "dimension"), [(Motion, 6), (Force, 6), (PlanarMotion, 3), (PlanarForce, 3)])
def test_b06_empty(vector, dimension: int, floats: Kind):
    """6x0 matrices: of a joint without freedom, and of one without constraint."""
    S = Subspace(vector)
    assert len(S) == 0
    assert (S.matrix.nrows, S.matrix.ncols) == (dimension, 0)
    assert S @ Vector() == vector.zero()
    assert S @ Matrix((), 3) == Subspace.zero(vector, 3)
    assert S.T @ S.vector.dual().zero() == Vector()
    assert S.matrix @ S.matrix.T == Matrix.zero(dimension, dimension)
    assert S.matrix.T @ S.matrix == Matrix((), 0)
    assert S + S == S - S == -S == 2.0 * S == S / 2.0 == S
    pair = S.T @ Subspace(S.vector.dual(), [S.vector.dual().zero()] * 2)
    assert (pair.nrows, pair.ncols) == (0, 2)


def test_b06_empty_through_the_algebra(floats: Kind):
    X, v, I = floats.transform(), floats.motion(), floats.inertia()
    S, T = Subspace(Motion), Subspace(Force)
    assert X @ S == X.inv @ S == v.cross(S) == S
    assert X @ T == X.T @ T == v.cross(T) == T
    assert I @ S == T
    assert I.inverse @ T == S
    assert ArticulatedInertia.of(I) @ S == T
    assert T.dyadic(Matrix((), 0)) == ArticulatedInertia.zero()
    assert (S.T @ (I @ S)).inverse() == Matrix((), 0)
    assert Matrix.zero(6, 0).complement() == Matrix.identity(6)
    full = dense(Subspace(Motion, Motion.basis()).matrix.complement())
    assert full.shape == (6, 0)


# B-30, B-31: complements in the dual sense


@pytest.mark.parametrize("n", range(1, 7))
def test_b30_complement(floats: Kind, n: int):
    """dim S + dim S⊥ = 6; TᵀS = 0; (S⊥)⊥ = S."""
    S = dense(motions(floats, n).matrix)
    T = dense(Matrix(S.tolist(), n).complement())
    assert T.shape == (6, 6 - n)
    np.testing.assert_allclose(T.T @ S, 0, atol=1e-14 * max(1.0, np.abs(S).max()))
    np.testing.assert_allclose(T.T @ T, np.eye(6 - n), atol=1e-14)
    if n < 6:
        back = dense(Matrix(T.tolist(), 6 - n).complement())
        assert np.linalg.matrix_rank(np.hstack([back, S]), tol=1e-10) == n


@pytest.mark.parametrize("name", ["complex", "lanes", "float32", "mpmath", "dual"])
def test_b30_complement_over_other_scalars(name: str):
    """TᵀS = 0 for every kind that has a square root."""
    kind = KINDS[name].at(1)
    S = motions(kind, 2).matrix
    kind.nothing(S.complement().T @ S)


def test_b30_complement_of_structural_columns():
    e = Motion.basis()
    T = dense(Subspace(Motion, [e[2], e[5]]).matrix.complement())
    np.testing.assert_allclose(np.abs(T[[2, 5]]), 0, atol=1e-15)
    assert np.linalg.matrix_rank(T) == 4


def test_b30_sum_and_product_tests(floats: Kind):
    """S₁ ⊕ S₂⊥ fills the space if and only if S₁ᵀS₂ is invertible: S₁ motions, S₂ forces."""
    S1, S2 = motions(floats, 2), forces(floats, 2)
    complement = dense(S2.matrix.complement())  # motions that S2 does no work on
    assert np.linalg.matrix_rank(np.hstack([dense(S1.matrix), complement])) == 6
    assert abs(np.linalg.det(dense(S1.T @ S2))) > 1e-6
    degenerate = Subspace(Motion, [S1[0], Motion.of(complement[:, 0])])
    assert np.linalg.matrix_rank(np.hstack([dense(degenerate.matrix), complement]), tol=1e-10) == 5
    assert abs(np.linalg.det(dense(degenerate.T @ S2))) < 1e-12


def test_b31_active_and_constraint_forces(kind: Kind):
    """f = f_a + f_c with f_a in I S and f_c in S⊥ (RBDA 3.28), the same for every basis of S."""
    I, S, f, A = kind.inertia(), motions(kind, 2), kind.force(), kind.matrix(2, 2)

    def active(S):
        return I @ (S @ ((S.T @ (I @ S)).inverse() @ (S.T @ f)))

    f_a = active(S)
    loosened = kind.loosened(1000)  # SᵀIS and A: some tens each
    loosened.nothing(S.T @ (f - f_a))
    loosened.same(active(S @ (A + Matrix.identity(2) * 3)), f_a)


# B-32 to B-34: joints and constraints


def test_b32_joint_forces_and_velocities(floats: Kind):
    """f_J = T_a τ + T λ: Sᵀf_J = τ, Tᵀv_J = Tᵀσ and power τ·q̇ = f_J·S q̇, with any T_a that T_aᵀS = 1."""
    S = motions(floats, 2)
    T_matrix = S.matrix.complement()
    T = Subspace(Force, (Force.of(T_matrix.column(j)) for j in range(4)))
    Ta_matrix = S.matrix @ (S.matrix.T @ S.matrix).inverse() + T_matrix @ floats.matrix(4, 2)
    T_a = Subspace(Force, (Force.of(Ta_matrix.column(j)) for j in range(2)))
    tau, lam, qd, sigma = floats.vector(2), floats.vector(4), floats.vector(2), floats.motion()
    f_J, v_J = T_a @ tau + T @ lam, S @ qd + sigma
    np.testing.assert_allclose(dense(T_a.T @ S), np.eye(2), atol=1e-13)
    np.testing.assert_allclose((S.T @ f_J).items, tau.items, atol=1e-12)
    np.testing.assert_allclose((T.T @ v_J).items, (T.T @ sigma).items, atol=1e-12)
    assert tau @ qd == pytest.approx(f_J.dot(S @ qd), abs=1e-11)


def test_b33_acceleration_across_a_joint(floats: Kind):
    """a_J = S q̈ + S̊ q̇ + v_s × v_J, whose part along T no q̈ changes: Tᵀa_J = Tᵀ(c_J + v_s × v_J)."""
    S, dS, v_p = motions(floats, 2), motions(floats, 2), floats.motion()
    qd, qdd = floats.vector(2), floats.vector(2)
    v_J = S @ qd
    c_J, v_s = dS @ qd, v_p + v_J
    a_J = S @ qdd + c_J + v_s.cross(v_J)
    T_matrix = S.matrix.complement()
    T = Subspace(Force, (Force.of(T_matrix.column(j)) for j in range(4)))
    np.testing.assert_allclose((T.T @ a_J).items, (T.T @ (c_J + v_s.cross(v_J))).items, atol=1e-12)
    floats.same(v_s.cross(v_J), v_p.cross(v_J))  # since v_J × v_J = 0


@pytest.mark.parametrize("y", [(0.3, -0.7), (1.9, 0.4)])
def test_b34_explicit_and_implicit_constraints(y: tuple[float, float]):
    """φ∘γ = 0 ⇒ K G = 0 and K g = k (RBDA 3.11-3.16), for a point on a torus; derivatives by nested duals."""

    def gamma(a, b):
        return (2 + cos(b)) * cos(a), (2 + cos(b)) * sin(a), sin(b)

    def phi(x, y, z):
        rho = sqrt(x * x + y * y) - 2
        return rho * rho + z * z - 1

    yd = (0.8, -1.1)
    columns = [[derivative(lambda s, j=j, k=k: gamma(*(s if m == j else y[m] for m in range(2)))[k], y[j])[1]
                for k in range(3)] for j in range(2)]  # fmt: skip
    G = np.array(columns, dtype=float).T
    q = gamma(*y)
    K = np.array(
        [derivative(lambda s, j=j: phi(*(s if m == j else q[m] for m in range(3))), q[j])[1] for j in range(3)]
    )
    np.testing.assert_allclose(K @ G, 0, atol=1e-14)

    along = [Dual(Dual(a, b), Dual(b, 0.0)) for a, b in zip(y, yd, strict=True)]
    path = gamma(*along)
    qd = np.array([x.value.derivative for x in path])
    g = np.array([x.derivative.derivative for x in path])  # Ġ ẏ: q̈ with ÿ = 0
    np.testing.assert_allclose(qd, G @ yd, atol=1e-14)
    straight = [Dual(Dual(a, b), Dual(b, 0.0)) for a, b in zip(q, qd, strict=True)]
    k = -phi(*straight).derivative.derivative  # −K̇ q̇
    assert K @ g == pytest.approx(k, abs=1e-13)
    tau_c = K * 1.7  # a constraint force does no work on any admissible velocity
    np.testing.assert_allclose(G.T @ tau_c, 0, atol=1e-13)
    assert tau_c @ qd == pytest.approx(0, abs=1e-13)
    H = np.diag([1.0, 2.0, 3.0])
    assert 0.5 * np.array(yd) @ (G.T @ H @ G) @ np.array(yd) == pytest.approx(0.5 * qd @ H @ qd)


def test_coordinate_subspaces_are_structural():
    S = Subspace(Motion, Motion.basis()[:2])
    assert S.matrix.rows[0] == (ONE, ZERO)
    assert S.T @ Subspace(Force, Force.basis()[:2]) == Matrix.identity(2)
    assert len({id(x) for row in S.matrix.rows for x in row}) == 2
