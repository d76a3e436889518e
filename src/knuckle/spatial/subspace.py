"""Subspaces by a basis: the columns of S, T, U … (RBDA 3.1, 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .dense import Matrix, Vector


class Subspace:
    """An ordered basis of motions or of forces. `vector` is their type, needed when there are none (a 6x0 matrix)."""

    __slots__ = ("columns", "vector")
    __array_ufunc__ = None

    def __init__(self, vector: Any, columns: Iterable[Any] = ()) -> None:
        self.vector = vector
        self.columns = tuple(columns)

    @classmethod
    def zero(cls, vector: Any, n: int) -> Subspace:
        return cls(vector, (vector.zero() for _ in range(n)))

    @property
    def is_motion(self) -> bool:
        return getattr(self.vector, "is_motion", False)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns)

    def __getitem__(self, k: int) -> Any:
        return self.columns[k]

    def __repr__(self) -> str:
        return f"Subspace({self.vector.__name__}, {list(self.columns)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subspace) and (self.vector, self.columns) == (other.vector, other.columns)

    def __hash__(self) -> int:
        return hash((self.vector, self.columns))

    def _map(self, f: Any, vector: Any = None) -> Subspace:
        return Subspace(vector or self.vector, map(f, self.columns))

    def __add__(self, other: Subspace) -> Subspace:
        return Subspace(self.vector, (a + b for a, b in zip(self.columns, other.columns, strict=True)))

    def __sub__(self, other: Subspace) -> Subspace:
        return Subspace(self.vector, (a - b for a, b in zip(self.columns, other.columns, strict=True)))

    def __neg__(self) -> Subspace:
        return self._map(lambda column: -column)

    def __mul__(self, s: Any) -> Subspace:
        return self._map(lambda column: column * s)

    __rmul__ = __mul__

    def __truediv__(self, s: Any) -> Subspace:
        return self._map(lambda column: column / s)

    def __matmul__(self, other: Any) -> Any:
        """S x, a vector, for coordinates x; S A, another basis, for a matrix A."""
        if isinstance(other, Vector):
            if len(other) != len(self):
                raise ValueError(f"{len(self)} columns need {len(self)} coordinates, not {len(other)}")
            return sum((column * x for column, x in zip(self.columns, other, strict=True)), self.vector.zero())
        if isinstance(other, Matrix):
            return Subspace(self.vector, (self @ other.column(j) for j in range(other.ncols)))
        return NotImplemented

    def join(self, other: Subspace) -> Subspace:
        """Both bases side by side."""
        return Subspace(self.vector, (*self.columns, *other.columns))

    @property
    def T(self) -> SubspaceTranspose:
        return SubspaceTranspose(self)

    def carried(self, X: Any) -> Subspace:
        return self._map(lambda column: X @ column)

    def brought_back(self, X: Any) -> Subspace:
        return self._map(lambda column: X.inv @ column)

    def cross(self, other: Any) -> Subspace:
        """u × other for every column u."""
        columns = [column.cross(other) for column in self.columns]
        return Subspace(type(columns[0]) if columns else type(other), columns)

    def crossed_by(self, v: Any) -> Subspace:
        return self._map(v.cross)

    def mapped_by(self, inertia: Any) -> Subspace:
        columns = [inertia @ column for column in self.columns]
        return Subspace(type(columns[0]) if columns else dual(self.vector), columns)

    def dyadic(self, A: Matrix) -> Any:
        """U A Uᵀ for forces U and a symmetric matrix A: a symmetric map from motions to forces."""
        return self.vector.articulated().dyadic((self @ A).columns, self.columns)

    @property
    def matrix(self) -> Matrix:
        """The matrix with these columns, for people."""
        return Matrix.columns((column.components for column in self.columns), len(self.vector.zero().components))


class SubspaceTranspose:
    """Sᵀ: pairs every column with what it is applied to."""

    __slots__ = ("S",)

    def __init__(self, S: Subspace) -> None:
        self.S = S

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Subspace):
            return Matrix(([a.dot(b) for b in other.columns] for a in self.S.columns), len(other))
        return Vector(column.dot(other) for column in self.S.columns)


def dual(vector: Any) -> Any:
    """The type that pairs with `vector`."""
    return vector.dual()
