"""Gains of a controller as numbers, where each is one of a velocity variable on its own force, as those of PD are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.function import kernel
from knuckle.functions import integrate, velocity_to_qdot
from knuckle.functions.derivatives.dual_jacobians import along, derivative_of
from knuckle.model import Model
from knuckle.spatial import Vector

from .system import Force

Array = NDArray[Any]

SAME = 1e-9
"""The part of slopes by which those of one variable on another's force may differ from none."""


class Gains(NamedTuple):
    """D = −∂τ/∂v and K = −∂τ/∂q, one number for each velocity variable."""

    D: Array
    K: Array


class ControllerGains:
    """The slopes of one force that is a text, compiled once."""

    def __init__(self, force: Force, nv: int) -> None:
        self.force, self._nv = force, nv

        @kernel
        def slopes(model: Model, t: Any, q: Any, v: Any, direction: Any) -> Any:
            """−dτ along a direction of v, and along one of q."""
            way = velocity_to_qdot.reference(model, q, direction)
            D = derivative_of(-force(model, t[0], q, along(v, direction)))
            return Vector((*D, *derivative_of(-force(model, t[0], along(q, way), v))))

        self._slopes = slopes
        self._some = np.random.default_rng(0).uniform(0.5, 1.5, nv)

    def at(self, model: Model, t: float, q: Array, v: Array) -> Gains | None:
        """The gains in a state; None where variables act on each other's forces.

        Where they do not, slopes along all variables together are those of each, and along other directions multiples
        of these.
        """
        time, n = np.array([t]), self._nv
        all_of_them, others = (np.asarray(self._slopes(model, time, q, v, x)) for x in (np.ones(n), self._some))
        size = float(np.abs(all_of_them).max(initial=0.0))
        if np.abs(others - all_of_them * np.tile(self._some, 2)).max(initial=0.0) > SAME * size:
            return None
        return Gains(all_of_them[:n], all_of_them[n:])


def act_across(force: Force, model: Model, q: Array, v: Array) -> bool:
    """Whether variables act on each other's forces in a state, or near it: whether slopes are not one for each."""
    gains = ControllerGains(force, model.nv)
    near = integrate(model, q, np.random.default_rng(1).uniform(-0.1, 0.1, model.nv))
    return any(gains.at(model, 0.0, x, v) is None for x in (np.asarray(q, float), np.asarray(near, float)))
