"""What the joints of a mechanism put into a linearly implicit step that has other unknowns besides (notes 2.73)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.elements.element_terms import joint_forces
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import code_of
from knuckle.functions import bias_force, joint_passive_force, mass_matrix
from knuckle.functions.derivatives.dual_jacobians import slopes_of
from knuckle.integrators.system import Force, System
from knuckle.model import Model
from knuckle.spatial import Matrix, Vector

Array: TypeAlias = NDArray[Any]

LEAST = 0.1
"""The part of its inertia that a direction feels at least."""


@dataclass(frozen=True)
class ResistingText:
    """H, H + h D + h² K and −h (C + h K v) in a row, D and K being those of joints, elements and forces that are texts.

    The force τ, and forces on bodies, are added by whoever knows them.
    """

    force: Force | None

    def __call__(self, model: Model, t: Any, q: Any, v: Any, f_ext: Any, dt: Any) -> Vector:
        now = model.at_time(t) if model.depends_on_time else model

        def resisting(q: Any, v: Any) -> Any:
            own = joint_passive_force(now, q, v)
            own = own - joint_forces(now, q, v) if now.elements else own
            return own if self.force is None else own - self.force(now, t, q, v)

        D, K = (Matrix.columns([*columns], now.nv) for columns in slopes_of(resisting, now, q, v))
        H: Any = mass_matrix.reference(now, q)
        A = H + dt * D + dt * dt * K
        rest = -dt * (bias_force.reference(now, q, v, f_ext) + dt * (K @ v))
        return Vector([*(x for row in H.rows for x in row), *(x for row in A.rows for x in row), *rest])


class ResistingTerms:
    """Those of a system, compiled."""

    def __init__(self, system: System, model: Model) -> None:
        self._system, self._model = system, model
        text = ResistingText(system.force if system.is_text else None)
        specialization = Specialization("resisting terms", text, model, numbers=("t", "dt"), is_users=True)
        shapes: dict[str, tuple[int, ...]] = {
            "t": (), "q": (model.nq,), "v": (model.nv,), "f_ext": (model.nb, 6), "dt": ()
        }  # fmt: skip
        self._code = code_of(specialization, shapes) if model.nv else None

    def __call__(self, t: float, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
        """(H + h D + h² K, h (τ − C − h K v)) in a state, the first made symmetric and positive, where it is not."""
        n = self._model.nv
        if self._code is None:
            return np.zeros((0, 0)), np.zeros(0)
        tau, *f_ext = self._system.forces(t, q, v)
        wrenches = np.asarray(f_ext[0], float) if f_ext else np.zeros((self._model.nb, 6))
        numbers = self._code(np.array([t]), q, v, wrenches, np.array([dt]))
        H, A = (part.reshape(n, n) for part in (numbers[: n * n], numbers[n * n : 2 * n * n]))
        return positive(H, A), numbers[2 * n * n :] + dt * np.asarray(tau, float)


def positive(H: Array, A: Array) -> Array:
    """The symmetric part of A, where no direction feels less than `LEAST` of the inertia H that it has.

    Slopes of forces may be neither symmetric nor positive; a step with others is of the same order.
    """
    even = (A + A.T) / 2
    L = np.linalg.cholesky(H)
    inner = np.linalg.solve(L, np.linalg.solve(L, even).T)
    if not np.isfinite(inner).all():
        return even
    values, axes = np.linalg.eigh((inner + inner.T) / 2)
    if values[0] >= LEAST:
        return even
    half = L @ axes
    return (half * np.maximum(values, LEAST)) @ half.T
