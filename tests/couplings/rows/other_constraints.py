"""Other constraints: a frame that keeps its height."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn

from ..cases import Case
from .base import Pair, Rows

ROWS = Rows()
row = ROWS.row


def _level(c: Case) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any]]:
    """The constraint, its row on the tree, and the rate that it asks for."""
    height = kn.pose(c.tree, c.Q, c.frame)[2, 3]
    J = kn.jacobian(c.tree, c.Q, c.frame, "aligned")[5:]
    falling = kn.acceleration(c.tree, c.Q, c.V, np.zeros(c.tree.nv), c.frame, "aligned", classical=True)[5:]
    return (kn.constraints.PlaneDistance(c.frame, offset=height),), J, -falling


@row("constraints.acceleration")
def constrained_acceleration(c: Case) -> Iterator[Pair]:
    constraints, J, k = _level(c)
    found = kn.constraints.acceleration(c.model, c.q, c.v, c.tau, c.f_ext, constraints=constraints)
    yield found, c.constrained(c.tau, c.f_ext, (J, k))[0][c.lead]


@row("constraints.dynamics")
def constrained_dynamics(c: Case) -> Iterator[Pair]:
    constraints, J, k = _level(c)
    for method in ("dense", "dual"):
        found = kn.constraints.dynamics(c.model, c.q, c.v, c.tau, constraints, c.f_ext, method=method)
        yield found.a, c.constrained(c.tau, c.f_ext, (J, k))[0][c.lead]


@row("constraints.step_velocity")
def constrained_velocity(c: Case) -> Iterator[Pair]:
    """v⁺ with H v⁺ = H v + h(τ − C) + Jᵀλ and J v⁺ = 0, loops included, in the independent variables."""
    constraints, J, _ = _level(c)
    h, rows = 1e-3, np.vstack([J, c.K]) @ c.G
    C = c.G.T @ (kn.bias_force(c.tree, c.Q, c.V) + kn.mass_matrix(c.tree, c.Q) @ c.g)
    system = np.block([[c.H, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    given = np.concatenate([c.H @ c.v + h * (c.tau - C), np.zeros(len(rows))])
    found = kn.constraints.step_velocity(c.model, c.q, c.v, c.tau, constraints, step=h)
    yield found.v, np.linalg.lstsq(system, given, rcond=1e-13)[0][: c.model.nv]
