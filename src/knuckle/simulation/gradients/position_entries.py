"""Derivatives by the entries of positions, nq of them, from those along the velocity variables, nv of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.functions.configuration import velocity_to_qdot
from knuckle.model import Model

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class PositionEntries:
    """Positions with q̇ = E(q) v (RBDA 3.6), and how derivatives of a function of them go over to their entries.

    The function of entries is that of the nearest position: it does not change across the positions there are, such as
    along a quaternion itself.

    Attributes:
        model: the mechanism.
        q: positions (..., nq).
        E: (..., nq, nv).
    """

    model: Model
    q: Array
    E: Array

    @classmethod
    def at(cls, model: Model, q: Any) -> PositionEntries:
        """For positions (..., nq)."""
        return cls(model, np.asarray(q), velocity_to_qdot.jacobian(model, q, np.zeros(model.nv), wrt="v")["v"])

    def velocities(self, direction: Any) -> Array:
        """The velocity variables E⁺ δq (..., nv) of a direction of the entries."""
        return (np.linalg.pinv(self.E) @ np.asarray(direction)[..., None])[..., 0]

    def gradient(self, along: Any) -> Array:
        """The gradient by entries, g = E⁺ᵀ g_v, from that along the velocity variables."""
        return (np.swapaxes(np.linalg.pinv(self.E), -1, -2) @ np.asarray(along)[..., None])[..., 0]

    def product(self, along: Array, rate: Array, direction: Any) -> Array:
        """How the gradient by entries changes along a direction δq of them: H δq.

        With w = E⁺ δq it is δ(E⁺ᵀ) g_v + E⁺ᵀ δg_v for the part E w of the direction. Across, along n = δq − E w, it is
        what makes second derivatives symmetric: its k-th velocity variable is n · ∂_k(E⁺ᵀ) g_v.

        Args:
            along: the gradient g_v (..., nv) along the velocity variables.
            rate: how that changes with the velocity variables w.
            direction: δq (..., nq).
        """
        w = self.velocities(direction)
        across = np.asarray(direction) - (self.E @ w[..., None])[..., 0]
        slopes = velocity_to_qdot.jacobian(self.model, self.q[..., None, :], np.eye(self.model.nv), wrt="q")["q"]
        each = self._turned(np.moveaxis(np.swapaxes(slopes, -3, -2), -1, -3), along[..., None, :])  # (..., nv, nq)
        moved = np.einsum("...ki,...k->...i", each, w)
        return moved + self.gradient(rate + (each @ across[..., None])[..., 0])

    def _turned(self, rates: Array, along: Array) -> Array:
        """δ(E⁺ᵀ) g_v for the derivatives δE of E, with E⁺ᵀ = E (EᵀE)⁻¹: one for each velocity variable."""
        E = self.E[..., None, :, :]
        E_T, rates_T = np.swapaxes(E, -1, -2), np.swapaxes(rates, -1, -2)
        M = E_T @ E
        x = np.linalg.solve(M, along[..., None])
        y = np.linalg.solve(M, (rates_T @ E + E_T @ rates) @ x)
        return (rates @ x - E @ y)[..., 0]
