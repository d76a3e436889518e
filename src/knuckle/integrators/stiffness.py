"""How stiff a mechanism is: the rates that limit the steps of an explicit integrator."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import mass_matrix
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import elastic_of, muscles_of
from knuckle.spatial import Matrix, Vector

from .system import System

Array = NDArray[Any]
STEP = 1e-6
"""How far differences go, in radians and metres."""


@dataclass(frozen=True)
class Stiffness:
    """The fastest motions of a mechanism by its springs, dampers and gains: λ² + damping λ + frequency² = 0 each.

    An explicit step is stable up to about dt · rate = 2 (semi-implicit Euler, Heun) or 2.7 (RK4). Beyond that the
    implicit ones are for.
    """

    damping: float
    """The largest eigenvalue of H⁻¹D, in 1/s: how fast a damper alone stops something"""
    frequency: float
    """The root of the largest eigenvalue of H⁻¹K, in rad/s: how fast a spring alone swings something"""

    @property
    def rate(self) -> float:
        """The larger of the two, 1/s: no λ is larger by more than the motions' coupling makes it."""
        return max(self.damping, self.frequency)


def stiffness(system: System, t: float, q: Array, v: Array, with_forces: bool = True) -> Stiffness:
    """How stiff a mechanism is in a state: by its joints' springs and dampers, its force elements and,
    `with_forces`, by its controller.

    Loops and what joints rest on make a mechanism less stiff, and are not looked at; springs of stops count where they
    push. H is dense here, and a controller is called 2 nv times: some 50 ms for a hundred freedoms.
    """
    model = spanning_tree(system.model.at_time(t) if system.depends_on_time else system.model)
    D, K = (
        _numbers(model.square(q.tolist(), {(i, i): Matrix.diagonal(Vector(part)) for i, part in enumerate(parts)}))
        for parts in ([joint.damping for joint in model.joints], [joint.stiffness for joint in model.joints])
    )
    if model.elements:
        from knuckle.elements.element_terms import damping
        from knuckle.elements.element_terms import stiffness as stiffness_of

        D, K = D + np.asarray(damping(model, q, v)), K + np.asarray(stiffness_of(model, q, v))
    if with_forces:
        for total, slopes in zip((D, K), _force_slopes(system, t, q, v), strict=True):
            total -= slopes
    if not (D.any() or K.any()):
        return Stiffness(0.0, 0.0)
    return Stiffness(*_largest(np.asarray(mass_matrix(model, q)), D, K))


def fiber_stiffness(model: Model, q: Array) -> float:
    """How fast fibers and elastic tendons of muscles come to rest, in 1/s: at most when one that pulls is let go."""
    lines = elastic_of(model.elements)
    if not lines:
        return 0.0
    from knuckle.elements.muscle_terms import fiber_equilibrium, fiber_rates

    muscles = len(muscles_of(model.elements))
    fibers = np.asarray(fiber_equilibrium(model, q, np.ones(muscles)))
    changed = fibers * np.array([[1 - STEP], [1 + STEP]])
    slopes = [np.diff(fiber_rates(model, q, np.full(muscles, a), changed), axis=0) for a in (0.0, 1.0)]
    return float(np.abs(slopes / (2 * STEP * fibers)).max())


def _force_slopes(system: System, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """∂τ/∂v and ∂τ/∂q of the controller by differences: half the digits are enough."""
    now, here, units = system.at_time(t), STEP * (1 + np.abs(v).max(initial=0.0)), np.eye(len(v))
    tau = np.asarray(system.force(now, t, q, v))
    faster = [np.asarray(system.force(now, t, q, v + here * e)) - tau for e in units]
    further = [np.asarray(system.force(now, t, system.moved(q, STEP * e), v)) - tau for e in units]
    return np.array(faster).reshape(len(v), -1).T / here, np.array(further).reshape(len(v), -1).T / STEP


def _largest(H: Array, D: Array, K: Array) -> tuple[float, float]:
    """The largest |eigenvalue| of H⁻¹D, and the root of that of H⁻¹K; infinite where H is singular."""
    try:
        L = np.linalg.inv(np.linalg.cholesky(H))
    except np.linalg.LinAlgError:
        return inf, inf
    sizes = (np.abs(np.linalg.eigvals(L @ A @ L.T)).max(initial=0.0) if np.isfinite(A).all() else inf for A in (D, K))
    damping, squared = map(float, sizes)
    return damping, sqrt(squared)


def _numbers(A: Matrix) -> Array:
    return np.array([[float(x) for x in row] for row in A.rows]).reshape(A.nrows, A.ncols)
