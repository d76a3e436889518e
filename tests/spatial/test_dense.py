"""Small dense vectors and matrices: the joint-space side of the algebra."""

from typing import Any

import numpy as np
import pytest

from knuckle.engine.trace import record
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector

from .zoo import KINDS, Kind, dense


def positive(kind: Kind, n: int) -> Matrix:
    """A symmetric positive definite matrix with a condition number of some tens."""
    A = kind.matrix(n, n)
    return A @ A.T + Matrix.diagonal(2 * kind.positive() for _ in range(n))


def test_vectors(kind: Kind):
    a, b, s = kind.vector(3), kind.vector(3), kind.positive()
    kind.same(a + b, Vector(x + y for x, y in zip(a, b, strict=True)))
    kind.same(a - b, a + -b)
    kind.same(a * b, Vector(x * y for x, y in zip(a, b, strict=True)))
    kind.same(s * a, a * s)
    kind.same((a / s) * s, a)
    kind.same(a @ b, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
    assert isinstance(a[1:], Vector)
    kind.same(a[1:].items, a.items[1:])


def test_matrices(kind: Kind):
    A, B, C, x = kind.matrix(2, 3), kind.matrix(2, 3), kind.matrix(3, 2), kind.vector(3)
    kind.same(A + B - B, A)
    kind.same(-A, A * -1)
    kind.same(3 * A, A * 3)
    kind.same((A @ C).T, C.T @ A.T)
    kind.same(A @ x, Vector(Vector(row) @ x for row in A.rows))
    kind.same(A @ Matrix.identity(3), A)
    kind.same(A.column(1), Vector([A[0][1], A[1][1]]))
    block = A.block(slice(0, 2), slice(1, 3))
    assert (block.nrows, block.ncols) == (2, 2)
    kind.same(block.column(0), A.column(1))
    kind.same(Matrix.columns((A.column(j) for j in range(3)), 2), A)


@pytest.mark.parametrize("n", range(1, 6))
def test_factor_solve_invert(kind: Kind, n: int):
    A, b = positive(kind, n), kind.vector(n)
    L, D = A.ldl()
    loosened = kind.loosened(100)
    loosened.same(L @ Matrix.diagonal(D) @ L.T, A)
    loosened.same(A @ A.solve(b), b)
    loosened.same(A @ A.inverse(), Matrix.identity(n))
    assert all(L[i][i] is ONE for i in range(n))
    assert all(L[i][j] is ZERO for i in range(n) for j in range(i + 1, n))


def test_an_inverse_remembers_its_factors(kind: Kind):
    """A⁻¹ b by substitution is A⁻¹ b by its entries; and an inverse of a symmetric matrix is symmetric, exactly."""
    A, b = positive(kind, 4), kind.vector(4)
    inverse = A.inverse()
    entries = Matrix(inverse.rows)
    assert all(entries[i][j] is entries[j][i] for i in range(4) for j in range(i))
    kind.loosened(100).same(inverse @ b, entries @ b)
    kind.loosened(100).same(A @ (inverse @ b), b)


def test_an_inverse_divides_once_per_row():
    def text(a: Any, b: Any) -> Any:
        return Matrix([[a[6 * min(i, j) + max(i, j)] for j in range(6)] for i in range(6)]).inverse() @ b

    count = record(text, {"a": (36,), "b": (6,)}, lambda r: (list(r), (6,))).count()
    assert count.div == 6
    assert (count.mul, count.add) == (50 + 36, 35 + 30)


def test_structure_costs_nothing():
    """Zeros of a block-diagonal matrix stay structural through factor, solution and inverse."""
    A = Matrix([(2.0, 1.0, ZERO), (1.0, 3.0, ZERO), (ZERO, ZERO, 4.0)])
    L, D = A.ldl()
    assert L[2][0] is L[2][1] is ZERO
    assert A.inverse()[2][0] is ZERO
    assert A.solve(Vector([1.0, 2.0, ZERO]))[2] is ZERO
    assert len(D) == 3
    assert Matrix([[2.0]]).inverse() == Matrix([[0.5]])


def test_solution_of_lanes_is_one_by_one():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(5, 3, 3))
    A = A @ A.transpose(0, 2, 1) + np.eye(3)
    b = rng.normal(size=(5, 3))
    lanes = Matrix([[A[:, i, j] for j in range(3)] for i in range(3)])
    found = np.array(lanes.solve(Vector(b[:, i] for i in range(3))).items).T
    np.testing.assert_allclose(found, np.linalg.solve(A, b[..., None])[..., 0], atol=1e-13)


@pytest.mark.parametrize(("m", "n"), [(6, 1), (6, 3), (6, 5), (3, 1), (3, 2), (4, 4)])
def test_complement(m: int, n: int):
    A = dense(KINDS["float"].at(m * n).matrix(m, n))
    T = dense(Matrix(A.tolist(), n).complement())
    assert T.shape == (m, m - n)
    np.testing.assert_allclose(T.T @ A, 0, atol=1e-14)
    np.testing.assert_allclose(T.T @ T, np.eye(m - n), atol=1e-14)


@pytest.mark.parametrize(
    "column", [(0, 0, 0, 0, 0, 1), (0, 0, -1, 0, 0, 0), (1e-9, 0, 0, 0, 0, 1), (-1, 0, 0, 0, 0, 0)]
)
def test_complement_of_coordinate_directions(column):
    """The sign that avoids cancellation: no division by a vanishing reflector."""
    A = np.array(column, dtype=float)[:, None]
    T = dense(Matrix(A.tolist(), 1).complement())
    np.testing.assert_allclose(T.T @ A, 0, atol=1e-15)
    np.testing.assert_allclose(T.T @ T, np.eye(5), atol=1e-15)


def test_empty():
    nothing = Matrix((), 0)
    assert (nothing.nrows, nothing.ncols) == (0, 0)
    assert nothing.inverse() == nothing
    assert nothing.solve(Vector()) == Vector()
    wide = Matrix((), 3)
    assert (wide.T.nrows, wide.T.ncols) == (3, 0)
    assert wide.T @ wide == Matrix.zero(3, 3)
    assert (wide.T @ nothing).ncols == 0
    assert wide @ Vector.zero(3) == Vector()
    assert Vector() @ Vector() is ZERO
    assert Matrix.diagonal(()) == Matrix.identity(0) == nothing
    assert Matrix.columns((), 4) == Matrix.zero(4, 0)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda: Vector([1.0]) + Vector([1.0, 2.0]), "lengths 1 and 2"),
        (lambda: Vector([1.0]) @ Vector(), "lengths 1 and 0"),
        (lambda: Matrix([[1.0]]) + Matrix([[1.0, 2.0]]), "1x1 and 1x2 do not fit"),
        (lambda: Matrix([[1.0, 2.0]]) @ Matrix([[1.0, 2.0]]), "1x2 @ 1x2 does not fit"),
        (lambda: Matrix([[1.0, 2.0]]) @ Vector([1.0]), "lengths 2 and 1"),
        (lambda: Matrix([[1.0, 2.0], [3.0]]), "rows of 2 and 1 entries"),
        (lambda: Matrix([[1.0, 2.0]]).ldl(), "square, not 1x2"),
        (lambda: Matrix.identity(2).solve(Vector([1.0])), "1 entries does not fit 2 equations"),
        (lambda: Matrix.identity(2).solve(Vector([1.0, 2.0, 3.0])), "3 entries does not fit 2 equations"),
    ],
)
def test_wrong_sizes(operation, message: str):
    with pytest.raises(ValueError, match=message):
        operation()


def test_equality_hash_and_text():
    A = Matrix([[1.0, 2.0]])
    assert Matrix([[1.0, 2.0]]) == A
    assert hash(Matrix([[1.0, 2.0]])) == hash(A)
    assert Matrix((), 2) != Matrix((), 3)
    assert Matrix([[1.0, 2.0]]) != Vector([1.0, 2.0])
    assert repr(A) == "Matrix([[1.0, 2.0]])"
    assert repr(Vector([1.0])) == "Vector([1.0])"
    assert Vector([1, 0]) == Vector([ONE, ZERO])
