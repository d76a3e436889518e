"""The motion of closed loops by the null space of K, in extended precision: what every method is compared with.

K, k, H and C come from the same text over extended scalars; the rank is that of how the mechanism was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from knuckle.functions import bias_force, mass_matrix
from knuckle.functions.loops.loop_terms import bias as loop_bias
from knuckle.functions.loops.loop_terms import constraint_sizes
from knuckle.functions.loops.loop_terms import jacobian as loop_jacobian
from knuckle.testing.loops.random_loops import ClosedMechanism

Array: TypeAlias = NDArray[Any]
Extended = np.longdouble


class ScaledMechanism:
    """One of the mechanisms side by side: variables x = √diag(H) v, rows scaled to the size of their terms."""

    def __init__(self, H: Array, K: Array, sizes: Array, freedoms: int) -> None:
        self.unit = np.sqrt(np.diagonal(H))
        self.scale = np.sqrt(np.square(sizes / self.unit).sum(1))
        self.H, self.K = H / np.outer(self.unit, self.unit), K / self.unit / self.scale[:, None]
        self.rank = len(H) - freedoms
        self._factor()

    def _factor(self) -> None:
        """Kᵀ P = Q R by Householder's reflections with pivots."""
        R, n = self.K.T.copy(), len(self.H)
        Q, order = np.eye(n, dtype=Extended), np.arange(len(self.K))
        for j in range(self.rank):
            pivot = j + int(np.argmax(np.square(R[j:, j:]).sum(0)))
            R[:, [j, pivot]], order[[j, pivot]] = R[:, [pivot, j]], order[[pivot, j]]
            x = R[j:, j].copy()
            x[0] += np.copysign(np.sqrt(x @ x), x[0])
            x = x / np.sqrt(x @ x)
            R[j:] -= 2 * np.outer(x, x @ R[j:])
            Q[:, j:] -= 2 * np.outer(Q[:, j:] @ x, x)
        self.Q, self.R, self.order, self.Z = Q, R[: self.rank, : self.rank], order, Q[:, self.rank :]
        self.rest = float(np.abs(R[self.rank :, self.rank :]).max(initial=0.0))
        values = np.linalg.svd(self.K.astype(float), compute_uv=False) if self.rank else np.ones(1)
        self.condition = float(values[0] / values[max(self.rank, 1) - 1])

    def velocity(self, v: Array) -> Array:
        Z = self.Z
        return (Z @ _solve(Z.T @ self.H @ Z, Z.T @ (self.H @ (self.unit * v)))) / self.unit

    def acceleration(self, k: Array, force: Array) -> Array:
        k, c = k / self.scale, np.zeros(self.rank, Extended)
        for i in range(self.rank):
            c[i] = (k[self.order[i]] - self.R[:i, i] @ c[:i]) / self.R[i, i]
        Z, first = self.Z, self.Q[:, : self.rank] @ c
        return (first + Z @ _solve(Z.T @ self.H @ Z, Z.T @ (force / self.unit - self.H @ first))) / self.unit

    def size(self, v: Array) -> Any:
        """The root of twice the kinetic energy."""
        x = self.unit * v
        return np.sqrt(np.abs(x @ self.H @ x))


@dataclass(frozen=True)
class NullSpace:
    """Mechanisms at their closed position."""

    made: ClosedMechanism

    def _values(self, text: Callable[..., Any], *arrays: Any) -> Array:
        found = text(self.made.model, *([Extended(x) for x in array] for array in (self.made.q, *arrays)))
        return np.array([list(row) for row in found.rows] if hasattr(found, "rows") else list(found), Extended)

    @cached_property
    def _blocks(self) -> list[tuple[slice, Array, ScaledMechanism]]:
        """The variables and the rows of each mechanism, and itself."""
        H, K = self._values(mass_matrix.reference), self._values(loop_jacobian.reference)
        sizes, found = self._values(constraint_sizes.reference)[:, :-1], list[tuple[slice, Array, ScaledMechanism]]()
        for of, freedoms in self.made.blocks:
            rows = np.flatnonzero(sizes[:, of].max(axis=1) > 0)
            found.append((of, rows, ScaledMechanism(H[of, of], K[rows, of], sizes[rows, of], freedoms)))
        return found

    @property
    def rest(self) -> float:
        """The largest entry that the rank leaves of K: rounding, if the rank is right."""
        return max(block.rest for _, _, block in self._blocks)

    @property
    def condition(self) -> float:
        """Of the constraints: the largest singular value of K over the last that counts; that of the worst."""
        return max(block.condition for _, _, block in self._blocks)

    def velocity(self, v: Array) -> Array:
        """The velocity on the constraint manifold that is nearest to v in the sense of the kinetic energy."""
        return np.concatenate([block.velocity(v[of]) for of, _, block in self._blocks])

    def acceleration(self, v: Array, tau: Array) -> Array:
        """a = a₀ + Z z with K a₀ = k and ZᵀHZ z = Zᵀ(τ − C − H a₀)."""
        k, force = self._values(loop_bias.reference, v), tau - self._values(bias_force.reference, v)
        return np.concatenate([block.acceleration(k[rows], force[of]) for of, rows, block in self._blocks])

    def error(self, found: Array, right: Array, beside: Array) -> float:
        """The difference, as a part of what is right and of what is beside it, in the sense of the kinetic energy.

        It is that of the mechanism in which it is largest.
        """
        if not np.isfinite(np.asarray(found, float)).all():
            return np.inf
        return max(
            float(block.size(found[of] - right[of]) / (block.size(right[of]) + block.size(beside[of])))
            for of, _, block in self._blocks
        )

    def state(self, rng: Generator) -> tuple[Array, Array]:
        """A random velocity that keeps the loops closed, and random forces, of the size that suits each variable."""
        v = self.velocity(rng.normal(size=self.made.model.nv))
        unit = np.concatenate([block.unit for _, _, block in self._blocks])
        return v.astype(float), (rng.normal(size=len(v)) * np.square(unit)).astype(float)


def _solve(A: Array, b: Array) -> Array:
    """A⁻¹ b for a positive definite A, in extended precision: L D Lᵀ."""
    n = len(A)
    L, D = np.eye(n, dtype=Extended), np.zeros(n, Extended)
    for j in range(n):
        D[j] = A[j, j] - (np.square(L[j, :j]) * D[:j]).sum()
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - (L[i, :j] * L[j, :j] * D[:j]).sum()) / D[j]
    x = np.array(b, Extended)
    for i in range(n):
        x[i] -= L[i, :i] @ x[:i]
    x /= D
    for i in reversed(range(n)):
        x[i] -= L[i + 1 :, i] @ x[i + 1 :]
    return x
