"""Matrices of constraints in numbers, told from rounding as `constraint_rank` tells them, for any batch of states.

A row is scaled to the size of the terms that it is made of. What the rows say is in the singular values that are more
than the part of that which rounding, and loops that are a little open, leave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops.independent_variables import Choice

Array: TypeAlias = NDArray[Any]
Measure: TypeAlias = Callable[[], "tuple[Array, Array]"]
"""The sizes of the terms (..., m, n), and the part of them that says nothing (...), when somebody asks."""

ORTHOGONAL = 1e-13
"""Singular values of what is orthogonal but for scales, or zero: those are zero that are less than this part."""


class Judged:
    """K (..., m, n), with what tells its rows from rounding."""

    def __init__(self, K: Array, measure: Measure) -> None:
        self.K, self._measure = K, measure

    @cached_property
    def _measured(self) -> tuple[Array, Array]:
        return self._measure()

    @property
    def size(self) -> Array:
        """The sizes of the terms of each entry (..., m, n)."""
        return self._measured[0]

    @property
    def doubt(self) -> Array:
        """The part of them that says nothing (...)."""
        return self._measured[1]

    def of(self, columns: Any) -> Judged:
        """The same for some of the variables."""
        return Judged(self.K[..., columns], lambda: (self.size[..., columns], self.doubt))

    def at(self, states: Any, batch: tuple[int, ...]) -> Judged:
        """The same for some states of a batch, counted through its axes."""

        def chosen(x: Array, own: int) -> Array:
            ends = x.shape[x.ndim - own :]
            return np.broadcast_to(x, (*batch, *ends)).reshape(-1, *ends)[states]

        return Judged(chosen(self.K, 2), lambda: (chosen(self.size, 2), chosen(self.doubt, 0)))

    @property
    def scale(self) -> Array:
        """The sizes of the rows (..., m)."""
        return np.linalg.norm(self.size, axis=-1)

    def through(self, B: Array) -> tuple[Array, Array]:
        """The rows of B = K A for some A, and their sizes: as much more than B as those of K are more than K."""
        size = np.linalg.norm(self.K, axis=-1)
        says = size > 0
        rows = np.where(says[..., None], B, 0.0)
        return rows, np.linalg.norm(rows, axis=-1) * self.scale / np.where(says, size, 1.0)

    @cached_property
    def factor(self) -> Factor:
        """K itself, each variable being measured in its own unit."""
        return Factor(self.K, self.scale, self.doubt)


class Factor:
    """Rows B (..., m, n) of the sizes `scale` (..., m): B = diag(scale) U diag(s) Vᵀ, with the s that say something.

    Nothing is squared. A state that is not finite has results that are not, and harms no other.
    """

    def __init__(self, B: Array, scale: Array, doubt: Array) -> None:
        self.scale = np.where(scale > 0, scale, 1.0)
        finite: Array = np.asarray(np.isfinite(B).all((-2, -1)) & np.isfinite(self.scale).all(-1))
        scaled = np.where(finite[..., None, None], B / self.scale[..., None], 0.0)
        self.U, s, self.Vt = _svd(scaled)
        self.kept = s > np.asarray(doubt)[..., None]
        inverse = np.where(self.kept, 1 / np.where(self.kept, s, 1.0), 0.0)
        self.inverse = np.where(finite[..., None], inverse, np.nan)

    @property
    def rank(self) -> Array:
        """How many rows are independent (...)."""
        return self.kept.sum(-1)

    @cached_property
    def basis(self) -> Array:
        """Orthonormal rows (..., min(m, n), n) that span those of B, the others being zero."""
        return np.where(self.kept[..., None], self.Vt, 0.0)

    def nearest(self, c: Array) -> Array:
        """The c nearest to the one given for which B y = c has a solution."""
        return _times(self._range, _times(_transposed(self._range), c))

    @cached_property
    def _range(self) -> Array:
        """Orthonormal columns that span those of B, the others being zero."""
        span = self.scale[..., None] * np.where(self.kept[..., None, :], self.U, 0.0)
        W, s, _ = _svd(np.nan_to_num(span))
        return np.where((s > ORTHOGONAL * s.max(-1, keepdims=True, initial=0.0))[..., None, :], W, 0.0)

    def least(self, c: Array) -> Array:
        """The least y (..., n) with B y = c."""
        return _times(_transposed(self.Vt), self.inverse * _times(_transposed(self.U), c / self.scale))

    def multipliers(self, y: Array) -> Array:
        """The least λ (..., m) with Bᵀλ = y, for y in the range of Bᵀ."""
        mu = _times(self.U, self.inverse * _times(self.Vt, y)) / self.scale
        return self.nearest(mu)

    def freed(self, x: Array) -> Array:
        """x (..., n) less its part in the range of Bᵀ."""
        return x - _times(_transposed(self.basis), _times(self.basis, x))


def _svd(A: Array) -> tuple[Array, Array, Array]:
    """U (..., m, k), s (..., k) and Vᵀ (..., k, n), in any order, of each part of A that has nothing to do with others.

    What is side by side may differ in size by any power of ten: of the rounding of one, nothing comes into another.
    """
    *batch, m, n = A.shape
    flat, k = A.reshape(math.prod(batch), m, n), min(m, n)
    U, s, Vt = np.zeros((len(flat), m, k)), np.zeros((len(flat), k)), np.zeros((len(flat), k, n))
    alike: dict[bytes, list[int]] = {}
    for state, pattern in enumerate(flat != 0):
        alike.setdefault(pattern.tobytes(), []).append(state)
    for states in alike.values():
        start, which = 0, np.array(states)
        for rows, columns in _apart(flat[states[0]] != 0):
            values = np.arange(start, start + min(len(rows), len(columns)))
            found = np.linalg.svd(flat[np.ix_(which, rows, columns)], full_matrices=False)
            U[np.ix_(which, rows, values)], s[np.ix_(which, values)] = found[0], found[1]
            Vt[np.ix_(which, values, columns)] = found[2]
            start += len(values)
    return U.reshape(*batch, m, k), s.reshape(*batch, k), Vt.reshape(*batch, k, n)


def _apart(pattern: NDArray[np.bool_]) -> list[tuple[Array, Array]]:
    """The rows and columns of the parts of a matrix that share neither, by where it is not zero."""
    most = int(pattern.shape[1])
    label: Array = np.arange(most)
    while True:
        of_row: Array = np.where(pattern, label, most).min(axis=1, initial=most)
        least: Array = np.minimum(label, np.where(pattern, of_row[:, None], most).min(axis=0, initial=most))
        if (least == label).all():
            return [(np.flatnonzero(of_row == x), np.flatnonzero(label == x)) for x in np.unique(of_row[of_row < most])]
        label = least


def choice_of(rows: Judged, independent: Iterable[int] = ()) -> Choice:
    """Which constraints determine which variables, by elimination with complete pivoting, for one state (RBDA 8.8).

    Rows are compared after scaling each to the size of its terms. `independent` variables are eliminated last, and stay
    independent if the others can follow them.
    """
    scale = rows.scale
    left = rows.K / np.where(scale > 0, scale, 1.0)[:, None]
    last = list(independent)
    constraints, dependent = list[int](), list[int]()
    for columns in ([j for j in range(left.shape[1]) if j not in last], last):
        for _ in range(min(len(left), len(columns))):
            i, at = divmod(int(np.argmax(np.abs(left[:, columns]))), len(columns))
            j = columns[at]
            if not abs(left[i, j]) > rows.doubt:
                break
            constraints.append(i)
            dependent.append(j)
            left = left - np.outer(left[:, j] / left[i, j], left[i])
            left[i], left[:, j] = 0.0, 0.0
    return Choice(tuple(constraints), tuple(dependent), tuple(k for k in range(left.shape[1]) if k not in dependent))


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def _transposed(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)
