"""Small dense vectors and matrices over scalars of any kind: the joint-space side of the algebra."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, overload

from knuckle.scalar import ONE, ZERO, MadeOfScalars, is_of_one_state, less, select, sqrt


def _composed(x: Any) -> Any:
    """A scalar, vector or matrix of an array of constants, in the text of a kernel; anything else as it is."""
    axes = getattr(x, "ndim", None)
    if axes is None or not is_of_one_state():
        return x
    if axes > 2:
        raise TypeError(f"an array of {axes} axes is no vector and no matrix")
    if axes == 0:
        return x.item()
    return Vector(x.tolist()) if x.ndim == 1 else Matrix(x.tolist(), x.shape[1])


def _reflected(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation with an array of constants on its left."""

    def of(self: Any, other: Any) -> Any:
        array = _composed(other)
        return NotImplemented if array is other else op(array, self)

    return of


class Vector(MadeOfScalars):
    """A column of scalars, immutable: `+`, `-`, `*`, `/` by a scalar or entry by entry, `@` for the inner product.

    In the text of a kernel arrays of NumPy's are vectors and matrices too.
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

    @overload
    def __getitem__(self, k: int) -> Any: ...
    @overload
    def __getitem__(self, k: slice) -> Vector: ...
    def __getitem__(self, k: int | slice) -> Any:
        return Vector(self.items[k]) if isinstance(k, slice) else self.items[k]

    def __repr__(self) -> str:
        return f"Vector({list(self.items)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    def __add__(self, other: Any) -> Vector:
        return Vector([a + b for a, b in self._with(other)])

    __radd__ = _reflected(operator.add)

    def __sub__(self, other: Any) -> Vector:
        return Vector([a - b for a, b in self._with(other)])

    __rsub__ = _reflected(operator.sub)

    def __neg__(self) -> Vector:
        return Vector([-a for a in self.items])

    def __mul__(self, other: Any) -> Vector:
        other = _composed(other)
        if isinstance(other, Vector):
            return Vector([a * b for a, b in self._with(other)])
        if isinstance(other, MadeOfScalars):
            raise TypeError(f"a Vector times {type(other).__name__} has no meaning")
        return Vector([a * other for a in self.items])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Vector:
        other = _composed(other)
        if isinstance(other, Vector):
            return Vector([a / b for a, b in self._with(other)])
        return Vector([a / other for a in self.items])

    __rtruediv__ = _reflected(operator.truediv)

    def __matmul__(self, other: Any) -> Any:
        return sum((a * b for a, b in self._with(other)), ZERO)

    __rmatmul__ = _reflected(operator.matmul)

    def _with(self, other: Any) -> Iterator[tuple[Any, Any]]:
        if type(other) is not Vector:
            other = _composed(other)
        if not isinstance(other, Vector):
            raise TypeError(f"a Vector goes with a Vector, not with {type(other).__name__}")
        if len(other) != len(self):
            raise ValueError(f"vectors of lengths {len(self)} and {len(other)} do not fit")
        return zip(self.items, other.items, strict=True)


class Matrix(MadeOfScalars):
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

    def __getitem__(self, k: int) -> tuple[Any, ...]:
        return self.rows[k]

    def column(self, j: int) -> Vector:
        return Vector(row[j] for row in self.rows)

    def block(self, rows: slice, columns: slice) -> Matrix:
        return Matrix((row[columns] for row in self.rows[rows]), len(range(*columns.indices(self.ncols))))

    def __repr__(self) -> str:
        return f"Matrix({[list(row) for row in self.rows]})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self.rows == other.rows and self.ncols == other.ncols

    def __hash__(self) -> int:
        return hash(self.rows)

    def __add__(self, other: Any) -> Matrix:
        return Matrix(([a + b for a, b in zip(r, s, strict=True)] for r, s in self._with(other)), self.ncols)

    __radd__ = _reflected(operator.add)

    def __sub__(self, other: Any) -> Matrix:
        return Matrix(([a - b for a, b in zip(r, s, strict=True)] for r, s in self._with(other)), self.ncols)

    __rsub__ = _reflected(operator.sub)

    def __neg__(self) -> Matrix:
        return Matrix(([-a for a in r] for r in self.rows), self.ncols)

    def __mul__(self, s: Any) -> Matrix:
        s = _composed(s)
        if isinstance(s, MadeOfScalars):
            raise TypeError(f"a Matrix times {type(s).__name__} has no meaning; the matrix product is @")
        return Matrix(([a * s for a in r] for r in self.rows), self.ncols)

    __rmul__ = __mul__

    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...
    @overload
    def __matmul__(self, other: Vector) -> Vector: ...
    def __matmul__(self, other: Any) -> Any:
        other = _composed(other)
        if isinstance(other, Vector):
            if self._factors is not None and len(other) == self.ncols:
                return _substituted(*self._factors, other)
            return Vector(Vector(row) @ other for row in self.rows)
        if isinstance(other, Matrix):
            if self.ncols != other.nrows:
                raise ValueError(f"{self.nrows}x{self.ncols} @ {other.nrows}x{other.ncols} does not fit")
            columns = [other.column(j) for j in range(other.ncols)]
            return Matrix(([Vector(row) @ c for c in columns] for row in self.rows), other.ncols)
        return NotImplemented

    __rmatmul__ = _reflected(operator.matmul)

    def _with(self, other: Any) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        other = _composed(other)
        if not isinstance(other, Matrix):
            raise TypeError(f"a Matrix goes with a Matrix, not with {type(other).__name__}")
        if (other.nrows, other.ncols) != (self.nrows, self.ncols):
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
            D.append(self[j][j] - sum((L[j][k] * LD[j][k] for k in range(j)), ZERO))
            inverse.append(1 / D[j])
            for i in range(j + 1, n):
                LD[i][j] = self[i][j] - sum((LD[i][k] * L[j][k] for k in range(j)), ZERO)
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


def _reflect(x: list[Any], beta: Any, c: list[Any]) -> None:
    s = beta * sum((a * b for a, b in zip(x, c, strict=True)), ZERO)
    c[:] = [b - s * a for a, b in zip(x, c, strict=True)]


def _substituted(L: Matrix, inverse: Vector, b: Vector, first: int = 0) -> Vector:
    """x with L D Lᵀ x = b, from 1/D; entries from `first` on, where those of b before it are zero."""
    n, x = len(b), list(b)
    for i in range(first + 1, n):
        x[i] = x[i] - sum((L[i][j] * x[j] for j in range(first, i)), ZERO)
    x = [x[i] * inverse[i] for i in range(n)]
    for i in reversed(range(first, n)):
        x[i] = x[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), ZERO)
    return Vector(x)
