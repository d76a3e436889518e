"""Small dense vectors and matrices over scalars of any kind: the joint-space side of the algebra."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, overload

import numpy as np

from knuckle.scalar.elementary import less, select, sqrt
from knuckle.scalar.inside_kernel import is_of_one_state
from knuckle.scalar.structural import ONE, ZERO, MadeOfScalars

from .array_like import ArrayLike

MANY = 256
"""Entries of a matrix from which on code may have a loop for its products, instead of every operation."""


def composed(x: Any) -> Any:
    """A vector or matrix of an array of constants, in the text of a kernel; anything else as it is."""
    if not isinstance(x, np.ndarray) or x.ndim not in (1, 2) or not is_of_one_state():
        return x  # pyright: ignore[reportUnknownVariableType]
    return Vector(x.tolist()) if x.ndim == 1 else Matrix(x.tolist(), x.shape[1])


class Vector(ArrayLike):
    """A column of scalars, immutable: `+`, `-`, `*`, `/` by a scalar or entry by entry, `@` for the inner product.

    In the text of a kernel it goes with arrays of NumPy's and with NumPy's functions as such an array would.
    """

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items = tuple(items)

    @classmethod
    def zero(cls, n: int) -> Vector:
        return cls((ZERO,) * n)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.items),)

    @overload
    def __getitem__(self, k: int) -> Any: ...
    @overload
    def __getitem__(self, k: slice) -> Vector: ...
    @overload
    def __getitem__(self, k: Any) -> Any: ...
    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return Vector(self.items[k])
        if k is None or k is ... or isinstance(k, (tuple, list, ArrayLike, np.ndarray)):
            return super().__getitem__(k)
        return self.items[k]

    def __repr__(self) -> str:
        return f"Vector({list(self.items)})"

    def __eq__(self, other: object) -> Any:
        if is_of_one_state() and not _is_alien(other):
            return _same(self, other)
        return isinstance(other, Vector) and self.items == other.items

    def __ne__(self, other: object) -> Any:
        return self._operated(np.not_equal, other) if is_of_one_state() and not _is_alien(other) else not self == other

    def __hash__(self) -> int:
        return hash(self.items)

    def __add__(self, other: Any) -> Any:
        pairs = self._beside(other)
        return super().__add__(other) if pairs is None else Vector([a + b for a, b in pairs])

    def __sub__(self, other: Any) -> Any:
        pairs = self._beside(other)
        return super().__sub__(other) if pairs is None else Vector([a - b for a, b in pairs])

    def __neg__(self) -> Vector:
        return Vector([-a for a in self.items])

    def __mul__(self, other: Any) -> Any:
        pairs = self._beside(other)
        return self._scaled(other) if pairs is None else Vector([a * b for a, b in pairs])

    def __rmul__(self, other: Any) -> Any:
        return self._scaled(other, reflected=True)

    def _scaled(self, other: Any, reflected: bool = False) -> Any:
        if isinstance(other, (MadeOfScalars, np.ndarray, list, tuple)) and (
            is_of_one_state() or isinstance(other, MadeOfScalars)
        ):
            return self._operated(np.multiply, other, reflected)
        return Vector([a * other for a in self.items])

    def __truediv__(self, other: Any) -> Any:
        pairs = self._beside(other)
        return super().__truediv__(other) if pairs is None else Vector([a / b for a, b in pairs])

    def __matmul__(self, other: Any) -> Any:
        other = composed(other)
        if not isinstance(other, Vector):
            if not is_of_one_state():
                raise self._does_not_go(np.matmul, other)
            return other.T @ self if isinstance(other, Matrix) else super().__matmul__(other)
        if len(other) != len(self):
            raise ValueError(f"vectors of lengths {len(self)} and {len(other)} do not fit")
        return sum((a * b for a, b in zip(self.items, other.items, strict=True)), ZERO)

    def _beside(self, other: Any) -> Iterator[tuple[Any, Any]] | None:
        """Pairs with another vector of the same length; None for anything else, which may fit in a kernel's text."""
        if type(other) is not Vector:
            return None
        if len(other.items) != len(self.items):
            if is_of_one_state():
                return None
            raise ValueError(f"vectors of lengths {len(self)} and {len(other)} do not fit")
        return zip(self.items, other.items, strict=True)


class Matrix(ArrayLike):
    """A dense matrix of scalars, immutable, by rows; 0 rows or columns are allowed (RBDA 3.3)."""

    __slots__ = ("_factors", "ncols", "rows")

    def __init__(self, rows: Iterable[Iterable[Any]], ncols: int | None = None) -> None:
        self._factors: tuple[Matrix, Vector] | None = None  # of an inverse: L and 1/D of what it is the inverse of
        self.rows = tuple(tuple(row) for row in rows)
        self.ncols = len(self.rows[0]) if self.rows else (ncols or 0)
        for row in self.rows:
            if len(row) != self.ncols:
                raise ValueError(f"rows of {self.ncols} and {len(row)} entries make no matrix")

    @classmethod
    def identity(cls, n: int) -> Matrix:
        return cls(((ONE if i == j else ZERO for j in range(n)) for i in range(n)), n)

    @classmethod
    def zero(cls, m: int, n: int) -> Matrix:
        return cls(((ZERO,) * n for _ in range(m)), n)

    @classmethod
    def diagonal(cls, d: Iterable[Any]) -> Matrix:
        d = tuple(d)
        return cls(((x if i == j else ZERO for j in range(len(d))) for i, x in enumerate(d)), len(d))

    @classmethod
    def columns(cls, columns: Iterable[Iterable[Any]], nrows: int) -> Matrix:
        columns = [tuple(c) for c in columns]
        return cls((tuple(c[i] for c in columns) for i in range(nrows)), len(columns))

    @property
    def nrows(self) -> int:
        return len(self.rows)

    @property
    def T(self) -> Matrix:
        return Matrix(((row[j] for row in self.rows) for j in range(self.ncols)), self.nrows)

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.rows), self.ncols

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Vector]:
        return map(Vector, self.rows)

    @overload
    def __getitem__(self, k: int) -> Vector: ...
    @overload
    def __getitem__(self, k: Any) -> Any: ...
    def __getitem__(self, k: Any) -> Any:
        return Vector(self.rows[k]) if isinstance(k, int) else super().__getitem__(k)

    def column(self, j: int) -> Vector:
        return Vector(row[j] for row in self.rows)

    def block(self, rows: slice, columns: slice) -> Matrix:
        return Matrix((row[columns] for row in self.rows[rows]), len(range(*columns.indices(self.ncols))))

    def __repr__(self) -> str:
        return f"Matrix({[list(row) for row in self.rows]})"

    def __eq__(self, other: object) -> Any:
        if is_of_one_state() and not _is_alien(other):
            return _same(self, other)
        return isinstance(other, Matrix) and self.rows == other.rows and self.ncols == other.ncols

    def __ne__(self, other: object) -> Any:
        return self._operated(np.not_equal, other) if is_of_one_state() and not _is_alien(other) else not self == other

    def __hash__(self) -> int:
        return hash(self.rows)

    def __add__(self, other: Any) -> Any:
        rows = self._beside(other)
        if rows is None:
            return super().__add__(other)
        return Matrix(([a + b for a, b in zip(r, s, strict=True)] for r, s in rows), self.ncols)

    def __sub__(self, other: Any) -> Any:
        rows = self._beside(other)
        if rows is None:
            return super().__sub__(other)
        return Matrix(([a - b for a, b in zip(r, s, strict=True)] for r, s in rows), self.ncols)

    def __neg__(self) -> Matrix:
        return Matrix(([-a for a in r] for r in self.rows), self.ncols)

    def __mul__(self, s: Any) -> Any:
        if isinstance(s, (MadeOfScalars, np.ndarray, list, tuple)) and (
            is_of_one_state() or isinstance(s, MadeOfScalars)
        ):
            return self._operated(np.multiply, s)
        return Matrix(([a * s for a in r] for r in self.rows), self.ncols)

    __rmul__ = __mul__

    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...
    @overload
    def __matmul__(self, other: Vector) -> Vector: ...
    def __matmul__(self, other: Any) -> Any:
        other = composed(other)
        if isinstance(other, Vector):
            if self._factors is not None and len(other) == self.ncols:
                return _substituted(*self._factors, other)
            if self.nrows * self.ncols >= MANY and is_of_one_state() and len(other) == self.ncols:
                from .large_products import product

                found = product(self.rows, other.items)
                if found is not None:
                    return Vector(found)
            return Vector(Vector(row) @ other for row in self.rows)
        if isinstance(other, Matrix):
            if self.ncols != other.nrows:
                raise ValueError(f"{self.nrows}x{self.ncols} @ {other.nrows}x{other.ncols} does not fit")
            columns = [other.column(j) for j in range(other.ncols)]
            return Matrix(([Vector(row) @ c for c in columns] for row in self.rows), other.ncols)
        return super().__matmul__(other) if is_of_one_state() else NotImplemented

    def _beside(self, other: Any) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]] | None:
        """Pairs of rows with another matrix of the same shape; None for anything else, which may fit in a kernel."""
        if type(other) is not Matrix:
            return None
        if other.shape != self.shape:
            if is_of_one_state():
                return None
            raise ValueError(f"{self.nrows}x{self.ncols} and {other.nrows}x{other.ncols} do not fit")
        return zip(self.rows, other.rows, strict=True)

    def ldl(self) -> tuple[Matrix, Vector]:
        """L unit lower and D with L D Lᵀ = self, for a symmetric matrix that needs no pivoting."""
        L, D, _ = self._factored()
        return L, D

    def _factored(self) -> tuple[Matrix, Vector, Vector]:
        """L, D and 1/D with L D Lᵀ = self: one division per row."""
        n = self.nrows
        if n != self.ncols:
            raise ValueError(f"a symmetric matrix is square, not {n}x{self.ncols}")
        L: list[list[Any]] = [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
        LD: list[list[Any]] = [[ZERO] * n for _ in range(n)]
        D: list[Any] = []
        inverse: list[Any] = []
        for j in range(n):
            D.append(self.rows[j][j] - sum((L[j][k] * LD[j][k] for k in range(j)), ZERO))
            inverse.append(1 / D[j])
            for i in range(j + 1, n):
                LD[i][j] = self.rows[i][j] - sum((LD[i][k] * L[j][k] for k in range(j)), ZERO)
                L[i][j] = LD[i][j] * inverse[j]
        return Matrix(L, n), Vector(D), Vector(inverse)

    def solve(self, b: Vector) -> Vector:
        """x with self x = b, for a symmetric positive definite matrix."""
        if len(b) != self.nrows:
            raise ValueError(f"a right-hand side of {len(b)} entries does not fit {self.nrows} equations")
        L, _, inverse = self._factored()
        return _substituted(L, inverse, b)

    def inverse(self) -> Matrix:
        """The inverse of a symmetric positive definite matrix; 1/d for a single entry.

        It remembers the factors: `A.inverse() @ b` is `A.solve(b)`, and needs no entry of the inverse.
        """
        n = self.nrows
        L, _, inverse = self._factored()
        X: list[list[Any]] = [[ZERO] * n for _ in range(n)]
        for j in range(n):
            column = _substituted(L, inverse, Vector(ONE if i == j else ZERO for i in range(n)), first=j)
            for i in range(j, n):
                X[i][j] = X[j][i] = column[i]
        result = Matrix(X, n)
        result._factors = (L, inverse) if n > 1 else None
        return result

    def complement(self) -> Matrix:
        """A basis of the left null space, nrows x (nrows − ncols): columns t with tᵀ self = 0.

        The last columns of the orthogonal factor of a Householder factorisation, which branches on no value but
        the sign that avoids cancellation; entries around zero are kept to one side, so that their rounding does not
        change the basis. The columns of `self` must be independent.
        """
        m, n = self.nrows, self.ncols
        columns = [list(self.column(j)) for j in range(n)]
        basis = [[ONE if i == j else ZERO for i in range(m)] for j in range(n, m)]
        reflectors: list[tuple[list[Any], Any]] = []
        for j in range(n):
            x = [ZERO] * j + columns[j][j:]
            norm = sqrt(sum((a * a for a in x), ZERO))
            x[j] = x[j] + select(less(x[j], -0.7 * norm), -norm, norm)
            beta = 2 / sum((a * a for a in x), ZERO)
            reflectors.append((x, beta))
            for c in columns[j:]:
                _reflect(x, beta, c)
        for x, beta in reversed(reflectors):
            for c in basis:
                _reflect(x, beta, c)
        return Matrix.columns(basis, m)


def _is_alien(x: object) -> bool:
    """Whether `x` is plainly no array and no number, so that nothing here is equal to it."""
    return x is None or isinstance(x, (str, bytes, type, dict))


class _EqualEntries(Vector):
    """Whether entries of two vectors are equal. Taken for one condition it is that all are, as dataclasses need it."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return all(self.items)


class _EqualRows(Matrix):
    """The same for matrices."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return all(x for row in self.rows for x in row)


def _same(a: Vector | Matrix, b: Any) -> Any:
    """Whether entries are equal, in the text of a kernel; False where the shapes do not fit."""
    try:
        found = ArrayLike._operated(a, np.equal, b)
    except ValueError:
        return False
    if isinstance(found, Vector):
        return _EqualEntries(found.items)
    return _EqualRows(found.rows, found.ncols) if isinstance(found, Matrix) else found


def _reflect(x: list[Any], beta: Any, c: list[Any]) -> None:
    s = beta * sum((a * b for a, b in zip(x, c, strict=True)), ZERO)
    c[:] = [b - s * a for a, b in zip(x, c, strict=True)]


def _substituted(lower: Matrix, inverse: Vector, b: Vector, first: int = 0) -> Vector:
    """x with L D Lᵀ x = b, from 1/D; entries from `first` on, where those of b before it are zero."""
    n, x, L = len(b), list(b), lower.rows
    for i in range(first + 1, n):
        x[i] = x[i] - sum((L[i][j] * x[j] for j in range(first, i)), ZERO)
    x = [x[i] * inverse[i] for i in range(n)]
    for i in reversed(range(first, n)):
        x[i] = x[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), ZERO)
    return Vector(x)
