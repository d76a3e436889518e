"""Positions that close the loops (RBDA 8.10-8.11): from a guess, or the nearest one on the constraint manifold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.functions.configuration import integrate, neutral, random_configuration
from knuckle.functions.dynamics import mass_matrix
from knuckle.model import Model
from knuckle.public_names import public_in

from .dense_constraints import DenseConstraints, spanning_tree
from .loop_terms import error as loop_error
from .loop_terms import error_rate as loop_error_rate
from .loop_terms import gap as loop_gap
from .loop_terms import jacobian as loop_jacobian
from .loop_terms import judged_constraints

Array = NDArray[Any]


@public_in("loops")
@dataclass(frozen=True)
class Assembly:
    """What came of closing the loops: the position `q`, whether they are closed there, and what each loop misses."""

    q: Array
    closed: bool
    gaps: Mapping[str, float]
    attempts: int

    def __str__(self) -> str:
        worst = max(self.gaps, key=lambda name: self.gaps[name], default=None)
        if self.closed:
            return f"closed, after {self.attempts} attempt{'s' * (self.attempts != 1)}"
        return f"not closed in {self.attempts} attempts: loop {worst} misses by {self.gaps[worst or '']:.2g} (m, rad)"


@public_in("loops")
def close(
    model: Model,
    q: ArrayLike | None = None,
    *,
    keep: Iterable[str] = (),
    attempts: int = 20,
    tolerance: float = 1e-10,
    rng: np.random.Generator | int | None = 0,
) -> Assembly:
    """A position that closes the loops, near `q` if there is one.

    Args:
        model: the mechanism.
        q: where to look first (nq,); the neutral position if not given. Further attempts begin around it, then
            anywhere.
        keep: names of joints that stay where `q` has them.
        attempts: how often to begin anew before giving up.
        tolerance: what counts as closed, in metres and radians.
        rng: where the other beginnings come from.

    Returns:
        An `Assembly`: its `closed` says whether it worked, and `str` of it why not.
    """
    start = neutral(model) if q is None else one_position(model, q)
    free = np.ones(model.nv, bool)
    for name in keep:
        free[list(model.variables(model.joint_index(name)))] = False
    generator = np.random.default_rng(rng)
    best, size, tried = start, math.inf, 0
    for tried in range(1, max(attempts, 1) + 1):
        candidate = _descend(model, _beginning(model, start, free, tried, generator), free)
        found_size = float(np.abs(loop_gap(model, candidate)).max(initial=0.0))
        if found_size < size:
            best, size = candidate, found_size
        if size <= tolerance:
            break
    misses = np.linalg.norm(np.reshape(loop_gap(model, best), (-1, 6)), axis=-1)
    gaps = {loop.name: float(misses[k]) for k, loop in enumerate(model.loops)}
    return Assembly(best, size <= tolerance, gaps, tried)


def one_position(model: Model, q: ArrayLike) -> Array:
    """`q` as one position (nq,) of finite numbers, or an error that says what it is instead."""
    at = np.asarray(q, float)
    if at.shape != (model.nq,):
        raise ValueError(f"q has shape {at.shape}, and must have shape ({model.nq},)")
    if not np.isfinite(at).all():
        raise ValueError(f"q has an entry that is not finite: {at}")
    return at


def _beginning(model: Model, start: Array, free: NDArray[np.bool_], attempt: int, rng: np.random.Generator) -> Array:
    """The guess itself, places ever further from it, then places anywhere the joints go."""
    if attempt == 1:
        return start
    if attempt % 2 == 0 or not free.all():
        return integrate(model, start, free * rng.normal(scale=min(0.1 * attempt, 2.0), size=model.nv))
    return random_configuration(model, rng)


def _descend(model: Model, q: Array, free: NDArray[np.bool_], steps: int = 200) -> Array:
    """Levenberg-Marquardt on δ, on the manifold: damping of the size of the error, so that it ends as Newton's."""
    delta, damping = loop_error(model, q), 1.0
    for _ in range(steps):
        cost = float(delta @ delta)
        if not cost > 1e-30:
            break
        K = loop_jacobian(model, q) * free
        if not np.isfinite(K).all():
            break
        there = integrate(model, q, free * _damped(K, -delta, math.sqrt(damping * min(cost, 1.0))))
        left = loop_error(model, there)
        if left @ left < cost:
            q, delta, damping = there, left, max(damping / 5, 1e-12)
        elif damping > 1e12:
            break
        else:
            damping *= 4
    return q


def _damped(K: Array, error: Array, damping: float) -> Array:
    """The least |K x − e|² + |d x|², and of those the least x: from [K; d] itself, of which K may have any rank."""
    n = K.shape[1]
    return np.linalg.lstsq(np.vstack([K, damping * np.eye(n)]), np.concatenate([error, np.zeros(n)]), rcond=None)[0]


@public_in("loops")
def project(
    model: Model, q: ArrayLike, v: ArrayLike | None = None, *, tolerance: float = 1e-12, steps: int = 20
) -> tuple[Array, Array]:
    """The state (q, v) on the constraint manifold that is nearest, in the sense of the kinetic energy.

    Newton steps dq = −H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺ δ until the loops are closed, then v − H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺ (K v).

    Raises:
        ValueError: the loops do not close from here.
    """
    at = one_position(model, q)
    rate = np.zeros(model.nv) if v is None else np.asarray(v, float)
    for _ in range(steps):
        delta = loop_error(model, at)
        if np.abs(delta).max(initial=0.0) <= tolerance:
            break
        at = integrate(model, at, -_correction(model, at, delta))
    missing = float(np.abs(loop_error(model, at)).max(initial=0.0))
    if not missing <= max(tolerance, 1e-9):
        raise ValueError(f"the loops do not close from this position: {missing:.2g} is left; see kn.loops.close")
    return at, rate - _correction(model, at, loop_error_rate(model, at, rate))


def _correction(model: Model, q: Array, error: Array) -> Array:
    """H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺ error."""
    if not model.loops:
        return np.zeros(model.nv)
    return DenseConstraints(mass_matrix(spanning_tree(model), q), judged_constraints(model, q)).response(error)
