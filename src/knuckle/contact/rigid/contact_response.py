"""How a mechanism responds to forces at its contacts: M = TᵀH⁻¹T in whitened rows, loops kept closed (RBDA 11.33)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import mass_matrix
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.functions.loops.loop_terms import judged_constraints
from knuckle.model import Model
from knuckle.solvers.numeric_rank import Factor

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class ContactResponse:
    """Rows J (m, nv) at a position, where H = L Lᵀ: B = J L⁻ᵀ, less what loops do not allow.

    A = B Bᵀ is the change of the rows' velocities by unit impulses, and L⁻ᵀBᵀλ the change of v by impulses λ.
    """

    J: Array
    B: Array
    L: Array

    @cached_property
    def A(self) -> Array:
        """J H⁻¹ Jᵀ, with loops closed."""
        return self.B @ self.B.T

    def change(self, impulses: Array) -> Array:
        """The change of v by impulses along the rows: H⁻¹Jᵀλ, with loops closed (11.53)."""
        return np.linalg.solve(self.L.T, self.B.T @ impulses)

    def some(self, rows: Array) -> ContactResponse:
        """The same for some of the rows."""
        return ContactResponse(self.J[rows], self.B[rows], self.L)


def response_at(model: Model, q: Array, J: Array, more: Array | None = None) -> ContactResponse:
    """The response of a mechanism to forces along rows J (m, nv) of its velocity variables, at one position.

    Args:
        model: the mechanism.
        q: its position (nq,).
        J: the rows.
        more: what is added to the diagonal of H: large where a joint is held.
    """
    H = mass_matrix(spanning_tree(model), q)
    L = np.linalg.cholesky(H if more is None else H + np.diag(more))
    B = np.linalg.solve(L, J.T).T
    if not model.loops:
        return ContactResponse(J, B, L)
    judged = judged_constraints(model, q)
    factor = Factor(*judged.through(np.linalg.solve(L, judged.K.T).T), judged.doubt)
    return ContactResponse(J, B - (B @ factor.basis.T) @ factor.basis, L)
