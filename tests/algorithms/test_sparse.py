"""Branch-induced sparsity: factorisations, products, solves and costs (RBDA 6.3-6.5, inventory rows E-01 to E-14)."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import knuckle as kn
from knuckle.algorithms.dynamics import branch_sparsity
from knuckle.model.connectivity import expand_parents
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector
from knuckle.testing.compare import array, close
from knuckle.testing.mechanisms import random_state, random_tree

TREES = {
    "none": (),
    "single": (-1,),
    "chain": (-1, 0, 1, 2, 3, 4),
    "star": (-1, -1, -1, -1),
    "binary": (-1, 0, 0, 1, 1, 2, 2),
    "expanded": (-1, 0, 1, 2, 0, 3, 3, 4),
    "forest": (-1, -1, 0, 1, 0, 2, 1, 6),
}
each_tree = pytest.mark.parametrize("parents", TREES.values(), ids=TREES)


class Untouchable:
    """A number that fails the test when anything is computed with it."""

    def _fail(self, *_):
        raise AssertionError("an entry outside the pattern, or above the diagonal, was read")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _fail


def pattern(parents):
    """Where row k has entries: k and its ancestors."""
    n = len(parents)
    inside = np.zeros((n, n), dtype=bool)
    for k in range(n):
        i = k
        while i >= 0:
            inside[k, i] = True
            i = parents[i]
    return inside


def factor(parents, seed=0):
    """A random lower triangular L with the pattern of the tree and a positive diagonal."""
    rng = np.random.default_rng(seed)
    n = len(parents)
    L = np.where(pattern(parents), rng.uniform(-1, 1, (n, n)), 0.0)
    return L + np.diag(2 - np.diag(L) + rng.uniform(0, 1, n))


def matrix(A):
    return Matrix(np.asarray(A).tolist(), len(A))


@each_tree
def test_ltl_recovers_the_factor(parents):
    L = factor(parents)
    close(array(branch_sparsity.ltl(matrix(L.T @ L), parents)), L, 10)


@each_tree
def test_ltdl_recovers_the_factors(parents):
    L = factor(parents)
    D = np.diag(L) ** 2
    unit, found = branch_sparsity.ltdl(matrix(L.T @ L), parents)
    close(array(unit), L / np.diag(L)[:, None], 10)
    close(array(found), D, 10)
    assert all(unit[k][k] == 1 for k in range(len(parents)))


@each_tree
def test_ltl_is_cholesky_of_the_reversed_matrix(parents):
    """Row E-04: L is the transpose of numpy's factor of the reversed H, reversed back."""
    H = factor(parents, 4)
    H = H.T @ H
    reversed_factor = np.linalg.cholesky(H[::-1, ::-1]) if len(H) else H
    close(array(branch_sparsity.ltl(matrix(H), parents)), reversed_factor[::-1, ::-1].T, 10)


@each_tree
def test_no_fill_in(parents):
    """What is zero by the tree stays a structural zero in the factors."""
    L = factor(parents)
    H = matrix(L.T @ L)
    inside = pattern(parents)
    for found in (branch_sparsity.ltl(H, parents), branch_sparsity.ltdl(H, parents)[0]):
        assert all((x is ZERO) != inside[i, j] for i, row in enumerate(found.rows) for j, x in enumerate(row))


@each_tree
@pytest.mark.parametrize("filling", [float("nan"), Untouchable()], ids=["nan", "untouchable"])
def test_other_entries_are_never_read(parents, filling):
    """Row E-03: entries outside the pattern and above the diagonal may hold anything."""
    n = len(parents)
    L = factor(parents, 2)
    H, inside = L.T @ L, pattern(parents)
    spoilt = Matrix([[float(H[i, j]) if inside[i, j] else filling for j in range(n)] for i in range(n)], n)
    spoilt_L = Matrix([[float(L[i, j]) if inside[i, j] else filling for j in range(n)] for i in range(n)], n)
    x = Vector(np.random.default_rng(3).standard_normal(n).tolist())
    clean, clean_L = matrix(H), matrix(L)
    assert branch_sparsity.ltl(spoilt, parents) == branch_sparsity.ltl(clean, parents)
    assert branch_sparsity.ltdl(spoilt, parents) == branch_sparsity.ltdl(clean, parents)
    for product in (
        branch_sparsity.multiply,
        branch_sparsity.multiply_transposed,
        branch_sparsity.solve_lower,
        branch_sparsity.solve_transposed,
    ):
        assert product(spoilt_L, parents, x) == product(clean_L, parents, x)
    for product in (branch_sparsity.multiply_symmetric, branch_sparsity.solve):
        assert product(spoilt, parents, x) == product(clean, parents, x)


@each_tree
def test_five_products(parents):
    """Table 6.5 against dense arithmetic."""
    L = factor(parents, 5)
    H, x = L.T @ L, np.random.default_rng(5).standard_normal(len(parents))
    v = Vector(x.tolist())
    worst = np.linalg.cond(L) if len(parents) else 1.0
    close(array(branch_sparsity.multiply(matrix(L), parents, v)), L @ x, 10)
    close(array(branch_sparsity.multiply_transposed(matrix(L), parents, v)), L.T @ x, 10)
    close(array(branch_sparsity.multiply_symmetric(matrix(H), parents, v)), H @ x, 10)
    close(array(branch_sparsity.solve_lower(matrix(L), parents, v)), np.linalg.solve(L, x), worst)
    close(array(branch_sparsity.solve_transposed(matrix(L), parents, v)), np.linalg.solve(L.T, x), worst)
    close(array(branch_sparsity.solve(matrix(H), parents, v)), np.linalg.solve(H, x), worst**2)


@each_tree
def test_solve_order(parents):
    """Row E-08: H = LᵀL is solved by L⁻ᵀ first, then L⁻¹."""
    L = factor(parents, 6)
    b = Vector(np.random.default_rng(6).standard_normal(len(parents)).tolist())
    found = branch_sparsity.ltl(matrix(L.T @ L), parents)
    x = branch_sparsity.solve_lower(found, parents, branch_sparsity.solve_transposed(found, parents, b))
    worst = np.linalg.cond(L) ** 2 if len(parents) else 1.0
    close(array(x), array(branch_sparsity.solve(matrix(L.T @ L), parents, b)), worst)


@pytest.mark.parametrize("seed", range(8))
def test_inertia_matrices_have_the_pattern(seed):
    """CRBA's H of random trees: zero outside the pattern of λ', and factorised by it."""
    model = random_tree(seed, resistance=False)
    q = random_state(model, seed).q
    H = kn.mass_matrix(model, q)
    parents = expand_parents(model.parents, [joint.type.nv for joint in model.joints])
    inside = pattern(parents)
    assert not H[~(inside | inside.T)].any()
    L = array(branch_sparsity.ltl(matrix(H), parents))
    close(L.T @ L, H, 10)
    unit, D = branch_sparsity.ltdl(matrix(H), parents)
    close(array(unit).T @ np.diag(array(D)) @ array(unit), H, 10)
    assert branch_sparsity.cost(parents).nonzeros == (inside | inside.T).sum()


# the expanded parent array


def printed_expansion(parents, sizes):
    """The algorithm of table 6.4 as it stands, in the book's numbering from 1."""
    expanded = list(range(sum(sizes)))
    ends = np.cumsum([0, *sizes]).tolist()
    for i, p in enumerate(parents, start=1):
        expanded[ends[i - 1]] = ends[p]
    return tuple(expanded)


def test_expansion_of_the_books_example():
    found = expand_parents((-1, 0, 0, 1, 1, 2), (1, 3, 1, 1, 1, 1))
    assert found == (-1, 0, 1, 2, 0, 3, 3, 4)
    assert tuple(p + 1 for p in found) == printed_expansion((0, 1, 1, 2, 2, 3), (1, 3, 1, 1, 1, 1))


def test_e12_printed_expansion_fails_for_a_joint_without_freedom():
    """λ = (0,0,1,3), n = (1,1,0,1): the printed algorithm gives (0,0,2), right is (0,0,1)."""
    assert printed_expansion((0, 0, 1, 3), (1, 1, 0, 1)) == (0, 0, 2)
    assert expand_parents((-1, -1, 0, 2), (1, 1, 0, 1)) == (-1, -1, 0)
    with pytest.raises(IndexError):
        printed_expansion((0, 1), (1, 0))
    assert expand_parents((-1, 0), (1, 0)) == (-1,)
    assert expand_parents((-1, 0, 1), (0, 0, 2)) == (-1, 0)
    assert expand_parents((), ()) == ()


@pytest.mark.parametrize("seed", range(20))
def test_expansion_of_random_trees(seed):
    """A joint's first variable hangs on the last variable of its nearest ancestor that has any."""
    rng = np.random.default_rng(seed)
    nb = int(rng.integers(1, 12))
    parents = [int(rng.integers(-1, i)) for i in range(nb)]
    sizes = rng.integers(0, 4, nb).tolist()
    found = expand_parents(parents, sizes)
    variables = [(i, k) for i in range(nb) for k in range(sizes[i])]
    for (i, k), parent in zip(variables, found, strict=True):
        if k:
            assert variables[parent] == (i, k - 1)
            continue
        ancestor = parents[i]
        while ancestor >= 0 and not sizes[ancestor]:
            ancestor = parents[ancestor]
        assert parent == (-1 if ancestor < 0 else variables.index((ancestor, sizes[ancestor] - 1)))
    if all(sizes):
        assert tuple(p + 1 for p in found) == printed_expansion([p + 1 for p in parents], sizes)


# costs


@each_tree
def test_costs(parents):
    """Eqs. 6.26-6.29: counts by depths, nonzeros by the pattern, bounds by the depth of the tree."""
    (D1, D2, nonzeros, density), inside = branch_sparsity.cost(parents), pattern(parents)
    depths = inside.sum(axis=1).tolist()
    n, d = len(parents), max(depths, default=1)
    assert inside.sum() - n == D1
    assert sum(depth * (depth - 1) // 2 for depth in depths) == D2
    assert (inside | inside.T).sum() == n + 2 * D1 == nonzeros
    assert n * (d - 1) >= D1
    assert n * d * (d - 1) / 2 >= D2
    assert (nonzeros / n**2 if n else 0.0) == density


# scalars


@each_tree
def test_ltdl_is_exact_over_fractions(parents):
    rng = np.random.default_rng(7)
    n, inside = len(parents), pattern(parents)
    unit = [
        [Fraction(1) if i == j else Fraction(int(rng.integers(-5, 6)), 7) * int(inside[i, j]) for j in range(n)]
        for i in range(n)
    ]
    D = [Fraction(int(x), 3) for x in rng.integers(1, 9, n)]
    H = Matrix(
        [[sum((unit[k][i] * D[k] * unit[k][j] for k in range(n)), Fraction(0)) for j in range(n)] for i in range(n)], n
    )
    L, found = branch_sparsity.ltdl(H, parents)
    assert [[x + 0 for x in row] for row in L.rows] == unit
    assert list(found) == D
    b = Vector(Fraction(int(x), 4) for x in rng.integers(-9, 9, n))
    x = branch_sparsity.solve(H, parents, b)
    assert branch_sparsity.multiply_symmetric(H, parents, x) == b


def test_ltl_of_fractions_has_no_root():
    with pytest.raises(TypeError, match="fraction"):
        branch_sparsity.ltl(Matrix([[Fraction(2)]]), (-1,))


@pytest.mark.slow
def test_factorisations_over_symbols():
    a, b, c, d, e = sp.symbols("a b c d e", positive=True)
    H = Matrix([[a, b, c], [b, d, 0], [c, 0, e]])
    parents = (-1, 0, 0)
    dense = sp.Matrix([[a, b, c], [b, d, 0], [c, 0, e]])
    L, D = branch_sparsity.ltdl(H, parents)
    symbolic = sp.Matrix([[sp.sympify(x) for x in row] for row in L.rows])
    assert sp.simplify(symbolic.T * sp.diag(*D) * symbolic - dense).is_zero_matrix
    assert list(D) == [a - b * b / d - c * c / e, d, e]
    L = sp.Matrix([[sp.sympify(x) for x in row] for row in branch_sparsity.ltl(H, parents).rows])
    assert sp.simplify(L.T * L - dense).is_zero_matrix
    x = branch_sparsity.solve(H, parents, Vector([1, 0, 0]))
    assert sp.simplify(sp.Matrix(list(x)) - dense.LUsolve(sp.Matrix([1, 0, 0]))).is_zero_matrix


def test_factorisation_over_lanes():
    """A batch of matrices in one pass."""
    parents = TREES["binary"]
    n = len(parents)
    H = np.stack([factor(parents, k).T @ factor(parents, k) for k in range(5)])
    b = np.random.default_rng(8).standard_normal((5, n))
    lanes = Matrix([[H[:, i, j] for j in range(n)] for i in range(n)])
    x = np.stack(list(branch_sparsity.solve(lanes, parents, Vector(b[:, k] for k in range(n)))), axis=1)
    close(x, np.linalg.solve(H, b[..., None])[..., 0], max(np.linalg.cond(A) for A in H))
