"""Subspaces by a basis: the columns of S, T, U … (RBDA 3.1, 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from knuckle.scalar import MadeOfScalars
from knuckle.scalar.arrays.dense import Matrix, Vector


class Subspace(MadeOfScalars):
    """An ordered basis of motions or of forces. `vector` is their type, needed when there are none (a 6x0 matrix)."""

    __slots__ = ("columns", "vector")

    def __init__(self, vector: Any, columns: Iterable[Any] = ()) -> None:
        self.vector = vector
        self.columns = tuple(columns)
        for column in self.columns:
            if not isinstance(column, vector):
                raise TypeError(f"a subspace of {vector.__name__} has no column of type {type(column).__name__}")

    @classmethod
    def zero(cls, vector: Any, n: int) -> Subspace:
        return cls(vector, (vector.zero() for _ in range(n)))

    @property
    def is_motion(self) -> bool:
        return getattr(self.vector, "is_motion", False)

    @property
    def is_force(self) -> bool:
        return getattr(self.vector, "is_force", False)

    @property
    def dimension(self) -> int:
        """Of the space it is part of: six, or three in the plane."""
        return self.vector.dimension

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

    def _map(self, f: Any) -> Subspace:
        return Subspace(self.vector, map(f, self.columns))

    def _with(self, other: Subspace) -> Iterator[tuple[Any, Any]]:
        _match(self.vector, other, "goes")
        if len(other) != len(self):
            raise ValueError(f"subspaces of {len(self)} and {len(other)} columns do not fit")
        return zip(self.columns, other.columns, strict=True)

    def __add__(self, other: Subspace) -> Subspace:
        return Subspace(self.vector, (a + b for a, b in self._with(other)))

    def __sub__(self, other: Subspace) -> Subspace:
        return Subspace(self.vector, (a - b for a, b in self._with(other)))

    def __neg__(self) -> Subspace:
        return self._map(lambda column: -column)

    def __mul__(self, s: Any) -> Subspace:
        if isinstance(s, MadeOfScalars):
            raise TypeError(f"a subspace times {type(s).__name__} has no meaning")
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
            if other.nrows != len(self):
                raise ValueError(f"{len(self)} columns need a matrix of {len(self)} rows, not {other.nrows}")
            return Subspace(self.vector, (self @ other.column(j) for j in range(other.ncols)))
        return NotImplemented

    def join(self, other: Subspace) -> Subspace:
        """Both bases side by side."""
        _match(self.vector, other, "joins")
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
        return Subspace(type(other), (column.cross(other) for column in self.columns))

    def crossed_by(self, v: Any) -> Subspace:
        return self._map(v.cross)

    def mapped_by(self, inertia: Any) -> Subspace:
        return Subspace(dual(self.vector), (inertia @ column for column in self.columns))

    def dyadic(self, A: Matrix) -> Any:
        """U A Uᵀ for forces U and a symmetric matrix A: a symmetric map from motions to forces."""
        return self.vector.articulated().dyadic((self @ A).columns, self.columns)

    @property
    def matrix(self) -> Matrix:
        """The dense matrix with these columns."""
        return Matrix.columns((column.components for column in self.columns), self.dimension)


class SubspaceTranspose(MadeOfScalars):
    """Sᵀ: pairs every column with what it is applied to."""

    __slots__ = ("S",)

    def __init__(self, S: Subspace) -> None:
        self.S = S

    def __matmul__(self, other: Any) -> Any:
        wanted = dual(self.S.vector)
        if isinstance(other, Subspace):
            _match(wanted, other, "pairs")
            return Matrix(([a.dot(b) for b in other.columns] for a in self.S.columns), len(other))
        if not isinstance(other, wanted):
            raise TypeError(f"{self.S.vector.__name__} pairs with {wanted.__name__}, not with {type(other).__name__}")
        return Vector(column.dot(other) for column in self.S.columns)


def dual(vector: Any) -> Any:
    """The type that pairs with `vector`."""
    return vector.dual()


def _match(vector: Any, other: Any, verb: str) -> None:
    """That `other` is a subspace of `vector`."""
    if not isinstance(other, Subspace) or other.vector is not vector:
        found = f"one of {other.vector.__name__}" if isinstance(other, Subspace) else type(other).__name__
        raise TypeError(f"a subspace of {vector.__name__} {verb} here, not {found}")
