"""The motion as an ordinary differential equation, for other people's solvers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.bound import bind
from knuckle.functions.configuration import normalize
from knuckle.integrators.methods.semi_implicit_euler import SemiImplicitEuler
from knuckle.model import Model
from knuckle.warning import warn

from .friction.dry_friction import friction_rows
from .steps.stepper import stepper

Array = NDArray[Any]


class RightHandSide:
    """ẏ = f(t, y) for y = [q, v]: `scipy.integrate.solve_ivp(f, (0, 1), f.join(q0, v0))`.

    `split` takes solutions apart again. Quaternions are four numbers to such a solver, and leave the unit sphere by its
    error. Here they are made unit before use, so that the motion is right all the same, and `split` gives unit ones.
    """

    def __init__(
        self,
        model: Model,
        controller: Callable[..., Any] | ArrayLike | None = None,
        *,
        parameters: Mapping[str, ArrayLike] | None = None,
        external_forces: Callable[..., Any] | ArrayLike | None = None,
        stabilization: float | None = None,
    ) -> None:
        self.model = model
        if friction_rows(model):
            warn(
                f"{model.name} has dry friction, a force that jumps where joints turn back: a solver that does not "
                "know it takes tiny steps there. Use model.without_friction(), or kn.simulate"
            )
        self._system = stepper(
            model, SemiImplicitEuler(), controller, parameters, external_forces, stabilization
        ).system
        self._functions = bind(model)
        self._still = np.zeros(model.nv)

    def __call__(self, t: float, y: Array) -> Array:
        """ẏ, of the shape of y: (n,), or (n, k) for k states at once."""
        y = np.asarray(y, float)
        if y.ndim == 2:
            return np.stack([self(t, column) for column in y.T], axis=-1)
        q, v = self._parts(y)
        q = self._functions.integrate(np.ascontiguousarray(q), self._still)
        v = np.ascontiguousarray(v)
        return np.concatenate([self._functions.velocity_to_qdot(q, v), self._system.acceleration(t, q, v)])

    def join(self, q: ArrayLike, v: ArrayLike) -> Array:
        """y of a state."""
        parts = np.asarray(q, float), np.asarray(v, float)
        for name, part, n in zip("qv", parts, (self.model.nq, self.model.nv), strict=True):
            if part.shape != (n,):
                raise ValueError(f"{name} has shape {part.shape}, and must have shape ({n},)")
        return np.concatenate(parts)

    def split(self, y: ArrayLike) -> tuple[Array, Array]:
        """(q, v) of y (n,), or (k, nq) and (k, nv) of the solver's (n, k); quaternions are made unit."""
        rows = np.asarray(y, float).T
        return normalize(self.model, *self._parts(rows))

    def _parts(self, y: Array) -> tuple[Array, Array]:
        nq, nv = self.model.nq, self.model.nv
        if y.shape[-1] != nq + nv:
            raise ValueError(f"y has {y.shape[-1]} entries, and must have nq + nv = {nq + nv}")
        return y[..., :nq], y[..., nq:]


def ode_right_hand_side(
    model: Model,
    controller: Callable[..., Any] | ArrayLike | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    external_forces: Callable[..., Any] | ArrayLike | None = None,
    stabilization: float | None = None,
) -> RightHandSide:
    """The motion in the form that SciPy's solvers want: a function f(t, y) of y = [q, v] that gives ẏ = [q̇, v̇].

    Args:
        model: the mechanism.
        controller: as for `simulate`: a function or kernel of (model, t, q, v, …), a constant τ, or None.
        parameters: what controller and external forces ask for, by name.
        external_forces: a wrench on each body, in the same way.
        stabilization: the time in seconds in which errors of closed loops decay; None lets them grow.

    Returns:
        f, with `f.join(q, v)` for y and `f.split(y)` for q and v, of one state or of a whole solution.
    """
    return RightHandSide(
        model, controller, parameters=parameters, external_forces=external_forces, stabilization=stabilization
    )
