"""How fast the springs and dampers of a large mechanism are: the largest eigenvalues of H⁻¹K and H⁻¹D, by powers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.stiffness import Stiffness
from knuckle.model import Model

from .placing import place
from .tree_products import factor, product, solve
from .tree_tables import TreeTables

ROUNDS = 60
"""Powers of a matrix: the largest eigenvalue is known to a few per cent then."""


def fastest_rates(model: Model, q: NDArray[np.float64]) -> Stiffness:
    """The rates of a mechanism at rest in a position, as `stiffness` has them, in O(n).

    A(dt) = H + dt D + dt² K, so that K and D are the even and the odd part of A(1).
    """
    tables = TreeTables.of(model)
    m, s, g = tables.tree, tables.state(), tables.factors()
    x, y, z = np.zeros(m.nv), np.zeros(m.nv), np.zeros(m.nv)
    is_matrix = np.zeros(len(s.slopes), bool)
    for at, members, d in zip(m.slopes_at, m.member_size, m.directions, strict=True):
        is_matrix[at + 6 * members * d : at + (6 * members + d) * d] = True
    parts: dict[float, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for dt in (1.0, -1.0, 0.0):
        s.q[:-1], s.v[:], s.dt[0] = q, 0.0, dt
        place(m, s, tables.joints, tables.elements)
        parts[dt] = s.joint.copy(), s.slopes.copy()
    factor(m, s, g, 0)
    s.I[:] = 0.0
    times, solved = product.bind(m, s, x, y), solve.bind(m, s, g, y, z)
    rates: list[float] = []
    for sign in (-1, 1):
        (joint, slopes), (other, others) = parts[1.0], parts[-1.0]
        s.joint[:] = (joint + sign * other) / 2 - (parts[0.0][0] if sign > 0 else 0.0)
        s.slopes[:] = np.where(is_matrix, (slopes + sign * others) / 2, slopes)
        x[:] = np.random.default_rng(0).standard_normal(m.nv)
        rate = 0.0
        for _ in range(ROUNDS):
            size = float(np.linalg.norm(x))
            if not size or not np.isfinite(size):
                break
            x /= size
            times()
            solved()
            rate = float(np.linalg.norm(z))
            x[:] = z
        rates.append(rate)
    return Stiffness(rates[0], float(np.sqrt(rates[1])))
