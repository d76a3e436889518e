"""Forces that only push: λ ≥ 0, B y + d ≥ 0 and λ·(B y + d) = 0 with y = Bᵀλ, by three ways (RBDA 11.42-11.44).

B (m, n) has a row for each contact, M = B Bᵀ. Contacts may say the same: λ is then not unique, y and B y + d are. All
ways end with a basic solution, in which the rows of the contacts that push are independent by a test of their rank.
Rows that contradict each other have none, and the result is None.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Way = Literal["lcp", "force", "acceleration"]

DEPENDENT = 1e-9
"""A row is dependent on others if less than this part of it is left beside them."""
SLIGHT = 1e-12
"""What counts as zero, as a part of the sizes that it is the sum of."""


def pushes(B: Array, d: Array, way: Way = "lcp") -> Array | None:
    """λ (m,) of contacts that push, those of dependent rows being zero; None if the rows contradict each other."""
    size = np.linalg.norm(B, axis=1)
    moves = size > 0
    if np.any(d[~moves] < -SLIGHT * np.max(np.abs(d), initial=0.0)):
        return None
    unit, rate = B[moves] / size[moves, None], d[moves] / size[moves]
    found = _WAYS[way](unit, rate)
    if found is None:
        return None
    lam = np.zeros(len(d))
    lam[moves] = _exact(unit, rate, basic(unit, found)) / size[moves]
    return lam


def basis(B: Array, first: Array, then: Array) -> NDArray[np.bool_]:
    """Of rows of length one, those of `first` and as many of `then` as are independent of them and of each other."""
    chosen = [int(k) for k in np.flatnonzero(first)]
    for k in np.flatnonzero(then & ~first):
        if _beside(B[chosen], B[k])[0] > DEPENDENT:
            chosen.append(int(k))
    mask = np.zeros(len(B), bool)
    mask[chosen] = True
    return mask


def basic(B: Array, lam: Array) -> Array:
    """λ ≥ 0 with the same Bᵀλ in which the rows of the entries that are not zero are independent."""
    lam = np.where(lam > SLIGHT * np.max(lam, initial=0.0), lam, 0.0)
    chosen: list[int] = []
    for k in np.flatnonzero(lam):
        left, weights = _beside(B[chosen], B[k])
        while left <= DEPENDENT:  # b_k = Σ w b: the force of k goes to the others, or that of others to k
            ratios = [lam[j] / -w if w < 0 else np.inf for j, w in zip(chosen, weights, strict=True)]
            most = min(ratios, default=np.inf)
            if most >= lam[k]:
                lam[chosen] += lam[k] * weights
                lam[k] = 0.0
                break
            out = chosen[int(np.argmin(ratios))]
            lam[chosen] += most * weights
            lam[k] -= most
            lam[out] = 0.0
            chosen.remove(out)
            left, weights = _beside(B[chosen], B[k])
        if lam[k] > 0:
            chosen.append(int(k))
    return np.maximum(lam, 0.0)


def _beside(rows: Array, b: Array) -> tuple[float, Array]:
    """How much of b is left beside some independent rows, and the weights with which these make the rest of it."""
    if not len(rows):
        return float(np.linalg.norm(b)), np.zeros(0)
    weights: Array = np.linalg.lstsq(rows.T, b)[0]
    return float(np.linalg.norm(b - rows.T @ weights)), weights


def _exact(B: Array, d: Array, lam: Array) -> Array:
    """λ again from the rows that push, B Bᵀλ = −d there, if none then pulls."""
    chosen = lam > 0
    if not chosen.any():
        return lam
    R = np.linalg.qr(B[chosen].T).R
    better = np.zeros_like(lam)
    better[chosen] = np.linalg.solve(R, -np.linalg.solve(R.T, d[chosen]))
    return better if better.min() >= 0 else lam


def lemke(B: Array, d: Array) -> Array | None:
    """The linear complementarity problem w = M λ + d, by Lemke's method with a lexicographic ratio test (11.42)."""
    n = len(d)
    if not np.any(d < 0):
        return np.zeros(n)
    M = B @ B.T
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), d[:, None], np.eye(n)])  # w, λ, z₀, right side, order of ties
    variables, z0 = list(range(n)), 2 * n
    entering = z0
    row = int(np.argmin(d))
    for _ in range(50 * (n + 1)):
        _pivot(T, row, entering)
        left, variables[row] = variables[row], entering
        values = np.zeros(2 * n + 1)
        values[variables] = T[:, 2 * n + 1]
        if values[z0] <= SLIGHT * np.abs(d).max():
            return np.maximum(values[n : 2 * n], 0.0)
        entering = left + n if left < n else left - n
        column = T[:, entering]
        rising = np.flatnonzero(column > DEPENDENT * max(1.0, np.abs(column).max()))
        if not len(rising):
            return None
        order = T[rising, 2 * n + 1 :] / column[rising, None]
        ties = rising[_least(order)]
        row = next((int(k) for k in ties if variables[k] == z0), int(ties[0]))
    return None


def _pivot(T: Array, row: int, column: int) -> None:
    T[row] /= T[row, column]
    others = np.arange(len(T)) != row
    T[others] -= np.outer(T[others, column], T[row])


def _least(order: Array) -> Array:
    """The rows that come first in lexicographic order, but for rounding."""
    best = np.arange(len(order))
    for column in range(order.shape[1]):
        values = order[best, column]
        best = best[values <= values.min() + SLIGHT * max(1.0, np.abs(values).max())]
        if len(best) == 1:
            break
    return best


def least_forces(B: Array, d: Array) -> Array | None:
    """The quadratic program in λ: the least ½λᵀMλ + λ·d with λ ≥ 0, from one independent set to the next (11.43)."""
    n = len(d)
    lam, chosen = np.zeros(n), list[int]()
    M = B @ B.T
    for _ in range(100 * (n + 1)):
        w = M @ lam + d
        wrong = w < -SLIGHT * (np.abs(d).max(initial=0.0) + np.abs(M) @ np.abs(lam))
        wrong[chosen] = False
        if not wrong.any():
            return lam
        j = int(np.argmin(np.where(wrong, w, np.inf)))
        while True:
            left, across = _beside(B[chosen], B[j])
            step = np.inf if left <= DEPENDENT else -(M[j] @ lam + d[j]) / left**2
            ratios = [lam[k] / x if x > 0 else np.inf for k, x in zip(chosen, across, strict=True)]
            most = min([step, *ratios])
            if most == np.inf:
                return None
            lam[chosen] -= most * across
            lam[j] += most
            if most == step:
                chosen.append(j)
                break
            out = chosen[int(np.argmin(ratios))]
            lam[out] = 0.0
            chosen.remove(out)
    return None


def least_acceleration(B: Array, d: Array) -> Array | None:
    """The quadratic program in y, Gauss's principle: the least ½|y|² with B y + d ≥ 0 (11.44).

    The dual method of Goldfarb and Idnani: from y = 0, the row that is missed most becomes active; M is never formed.
    """
    n = len(d)
    lam, y, chosen = np.zeros(n), np.zeros(B.shape[1]), list[int]()
    for _ in range(100 * (n + 1)):
        missing = B @ y + d
        wrong = missing < -SLIGHT * (np.abs(d).max(initial=0.0) + np.abs(B) @ np.abs(y))
        wrong[chosen] = False
        if not wrong.any():
            return lam
        j = int(np.argmin(np.where(wrong, missing, np.inf)))
        while True:
            left, weights = _beside(B[chosen], B[j])
            z = B[j] - B[chosen].T @ weights
            whole = np.inf if left <= DEPENDENT else -(B[j] @ y + d[j]) / (z @ B[j])
            ratios = [lam[k] / w if w > 0 else np.inf for k, w in zip(chosen, weights, strict=True)]
            step = min([whole, *ratios])
            if step == np.inf:
                return None
            lam[chosen] -= step * weights
            lam[j] += step
            y = y + (step * z if left > DEPENDENT else 0.0)
            if step == whole:
                chosen.append(j)
                break
            out = chosen[int(np.argmin(ratios))]
            lam[out] = 0.0
            chosen.remove(out)
    return None


_WAYS = {"lcp": lemke, "force": least_forces, "acceleration": least_acceleration}
