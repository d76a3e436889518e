"""Conjugate gradients with bounds: min ½ λᵀDλ − cᵀλ, some λ not negative, by products with D only (notes 2.123)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops.constraint_rank import RANK

Array: TypeAlias = NDArray[Any]

PRECISION = 1e-11
"""What is left of the gradient, as a part of the first one."""
FLAT = RANK * RANK
"""A direction that D feels less than this part of what it feels at most is one that it does not feel."""
SOFT = 1e-8
"""How much rows that contradict each other yield, as a part of the most that D feels."""
GROWN = 1e10
"""Multipliers this much larger than c and D ask for are on their way to infinity."""


@dataclass(frozen=True)
class Descent:
    """Where it ended: λ, whether the gradient vanished there, and whether there is no bottom."""

    multipliers: Array
    converged: bool
    bottomless: bool
    products: int


def bounded_gradients(product: Callable[[Array], Array], c: Array, bounded: NDArray[np.bool_]) -> Descent:
    """Proportioning with reduced gradient projections (Dostál): conjugate gradients on the face of free multipliers.

    A face is left by a step along the gradient that is projected onto the bounds, and entered where the bounds are what
    the gradient pulls against most. A direction that D does not feel and c does has no bottom: constraints that
    contradict each other (Farkas). Then the rows are made a little soft, and the multipliers are those of that.
    """
    norm = _norm(product, len(c))
    found = _descend(product, c, bounded, norm)
    if found.converged:
        return found
    soft = _descend(lambda x: product(x) + SOFT * norm * x, c, bounded, norm)
    lam = soft.multipliers
    unfelt = float(lam @ product(lam)) <= 10 * SOFT * norm * float(lam @ lam) and float(c @ lam) > 0
    return Descent(lam, False, found.bottomless or unfelt, found.products + soft.products)


def _descend(product: Callable[[Array], Array], c: Array, bounded: NDArray[np.bool_], norm: float) -> Descent:
    used, size = 0, _length(c)
    lam: Array = np.zeros(len(c))
    g: Array = -c
    p, before = _part(~bounded, g), lam
    for _ in range(50 * (len(c) + 10)):
        if norm * _length(lam) > GROWN * size:
            return Descent(before, False, True, used)
        before, on_face = lam, ~bounded | (lam > 0)
        face, chopped = _part(on_face, g), _part(~on_face, np.minimum(g, 0.0))
        if _length(face + chopped) <= PRECISION * size + 1e-15 * norm * _length(lam):
            return Descent(lam, True, False, used)
        leaves = _length(chopped) > _length(face)
        d = chopped if leaves else p if p @ g > 0 else face
        Dd, used = product(d), used + 1
        curved, reach = float(d @ Dd), math.inf if leaves else _reach(lam, d, bounded)
        flat = curved <= FLAT * norm * float(d @ d)
        if flat and not math.isfinite(reach):
            return Descent(lam, False, True, used)
        along = math.inf if flat else float(g @ d) / curved
        if along <= reach:
            lam, g = _less(lam, along, d), _less(g, along, Dd)
            face = _part(~bounded | (lam > 0), g)
            p = face if leaves else _less(face, float(face @ Dd) / curved, d)
        else:
            face = _part(on_face, _less(g, reach, Dd))
            lam = _less(_less(lam, reach, d), 1.9 / norm, face)
            lam, used = np.where(bounded, np.maximum(lam, 0.0), lam), used + 1
            g = _less(product(lam), 1.0, c)
            p = _part(~bounded | (lam > 0), g)
    return Descent(lam, False, False, used)


def _length(x: Array) -> float:
    return float(np.linalg.norm(x))


def _part(which: NDArray[np.bool_], x: Array) -> Array:
    """The entries that are meant, and zero for the others."""
    return np.where(which, x, 0.0)


def _less(x: Array, h: float, d: Array) -> Array:
    """x − h d."""
    return x - h * d


def _reach(lam: Array, p: Array, bounded: NDArray[np.bool_]) -> float:
    """How far one can go along −p before a bound."""
    toward = bounded & (p > 0)
    return float(np.min(lam[toward] / p[toward], initial=np.inf))


def _norm(D: Callable[[Array], Array], m: int, rounds: int = 8) -> float:
    """The largest eigenvalue of D, a little more than that, by powers of it."""
    x, size = np.ones(m) + 0.1 * np.cos(np.arange(m)), 0.0
    for _ in range(rounds):
        length = float(np.linalg.norm(x))
        if not length:
            return 0.0
        y = D(x / length)
        size, x = float(np.linalg.norm(y)), y
    return 1.2 * size
