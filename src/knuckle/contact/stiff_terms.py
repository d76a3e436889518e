"""A step without contact whose springs and dampers are those at its end (notes 2.73), on numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.elements.element_terms import joint_forces
from knuckle.engine.calls.function import kernel
from knuckle.functions import bias_force, joint_passive_force, mass_matrix
from knuckle.functions.derivatives.dual_jacobians import slopes_of
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.spatial import Matrix

Array: TypeAlias = NDArray[Any]


def stiff_terms(model: Model, q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """(H + h D + h² K, h (τ − C − h K v)) of a tree, D and K being symmetric parts of those of joints and elements."""
    D, K = np.asarray(_slopes(model, q, v)).reshape(2, model.nv, model.nv)
    D, K = (D + D.T) / 2, (K + K.T) / 2
    A = np.asarray(mass_matrix(model, q)) + dt * D + dt * dt * K
    return A, dt * (tau - np.asarray(bias_force(model, q, v)) - dt * (K @ v))


@kernel
def _slopes(model: Model, q: Any, v: Any) -> Any:
    """D = −∂τ/∂v and K = −∂τ/∂q of joints and elements, one below the other."""

    def resisting(q: Any, v: Any) -> Any:
        passive = joint_passive_force.reference(model, q, v)
        return passive - joint_forces.reference(model, q, v) if model.elements else passive

    D, K = (Matrix.columns([*columns], model.nv) for columns in slopes_of(resisting, model, as_vector(q), as_vector(v)))
    return Matrix([*D.rows, *K.rows], model.nv)
