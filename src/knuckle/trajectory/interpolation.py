"""Between the rows of a trajectory: cubic Hermite curves on the manifold of positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import difference, difference_rate, integrate
from knuckle.functions.configuration import alongside, has_charts, in_charts
from knuckle.model import Model

Array = NDArray[Any]


def interpolated(model: Model, times: Array, q: Array, v: Array, at: Array) -> tuple[Array, Array]:
    """(q, v) at the times `at`, rows being given at `times`, which do not decrease.

    Between rows 0 and 1, h apart, the displacement u with q = q₀ ⊕ u is the cubic with u(0) = 0, u(h) = q₁ ⊖ q₀ and the
    rates that belong to v₀ and v₁; v is the velocity along that curve. So q has an error of O(h⁴), v of O(h³), and v is
    the rate of q exactly. At the time of a row the row itself is given, and of two rows of one time the later.
    """
    if len(times) == 1:
        return np.repeat(q, len(at), axis=0), np.repeat(v, len(at), axis=0)
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    h = times[k + 1] - times[k]
    x = np.where(h > 0, (at - times[k]) / np.where(h > 0, h, 1.0), 1.0)[:, None]
    q0, v0, q1, v1 = q[k], v[k], q[k + 1], v[k + 1]
    h = h[:, None]
    is_charted = has_charts(model)
    if is_charted:  # of which v and the displacement are smooth between the rows
        v1 = alongside(model, q0, q1, v1)[1]
    u1 = difference(model, q0, q1)
    rate1 = h * difference_rate(model, u1, v1)
    u = x * x * (3 - 2 * x) * u1 + x * (1 - x) * ((1 - x) * h * v0 - x * rate1)
    rate = 6 * x * (1 - x) * u1 + (1 - x) * (1 - 3 * x) * h * v0 + x * (3 * x - 2) * rate1
    new_q, new_v = integrate(model, q0, u), _velocity(model, u, rate / np.where(h > 0, h, 1.0))
    if is_charted:
        (new_q, new_v), v1 = in_charts(model, new_q, new_v), v[k + 1]
    first, last = (x == 0), (x == 1)
    return np.where(first, q0, np.where(last, q1, new_q)), np.where(first, v0, np.where(last, v1, new_v))


def _velocity(model: Model, u: Array, rate: Array) -> Array:
    """v whose displacement rate at u is `rate`: the rate is linear in v."""
    columns = difference_rate(model, u[:, None, :], np.eye(model.nv))
    return np.linalg.solve(np.swapaxes(columns, -1, -2), rate[..., None])[..., 0]
