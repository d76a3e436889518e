"""The closed form of the equation of motion (RBDA 5.6), after Lagrange: from the energies and nothing else.

    τ_i = Σ H_ij q̈_j + ΣΣ C_ijk q̇_j q̇_k + g_i

H is read off the kinetic energy, which is quadratic in the velocities; the Christoffel symbols C and the gravity force
g are derivatives of H and of the potential energy, taken by complex steps. Slow, and right for joints with v = q̇.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from knuckle.functions import kinetic_energy, potential_energy, velocity_to_qdot
from knuckle.joints import Joint
from knuckle.model import Model
from knuckle.spatial import Vector

from .serial_chain import Array

STEP = 1e-30


def inertia(model: Model, q: Array) -> Array:
    """H (..., n, n): T = ½ q̇ᵀH q̇, so H_ij = T(e_i + e_j) − T(e_i) − T(e_j)."""
    e = np.eye(model.nv)
    pairs = e[:, None, :] + e[None, :, :]
    single = kinetic_energy(model, q[..., None, :], e)
    return kinetic_energy(model, q[..., None, None, :], pairs) - single[..., :, None] - single[..., None, :]


def christoffel(model: Model, q: ArrayLike) -> Array:
    """C_ijk = ½(∂H_ij/∂q_k + ∂H_ik/∂q_j − ∂H_jk/∂q_i), (n, n, n)."""
    Q = _plain(model, q)
    dH = np.imag(inertia(model, Q + 1j * STEP * np.eye(model.nv))) / STEP
    by_last = np.moveaxis(dH, 0, -1)
    return (by_last + np.swapaxes(by_last, 1, 2) - dH) / 2


def gravity(model: Model, q: ArrayLike) -> Array:
    """g = ∂V/∂q (n,): gravity, and the springs of the joints."""
    Q = _plain(model, q)
    return np.imag(potential_energy(model, Q + 1j * STEP * np.eye(model.nv))) / STEP


def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """τ of the closed form. Damping and friction of the joints have no energy, and are left out."""
    Q, V, A = _plain(model, q), np.asarray(v, dtype=float), np.asarray(a, dtype=float)
    return inertia(model, Q) @ A + christoffel(model, Q) @ V @ V + gravity(model, Q)


def _plain(model: Model, q: ArrayLike) -> Array:
    """q as an array, if every velocity variable is the rate of a position variable and all motion is theirs."""
    Q, e = np.asarray(q, dtype=float), np.eye(model.nv)
    if model.nq != model.nv or not np.array_equal(velocity_to_qdot(model, Q, e), e):
        names = ", ".join(joint.name for joint in model.joints if not _has_plain_rates(joint.type))
        raise ValueError(f"the closed form needs v = q̇, and {names} has other velocity variables")
    if kinetic_energy(model, Q, np.zeros(model.nv)):
        raise ValueError(f"{model.name} moves by itself: the closed form needs an energy that is quadratic in v")
    return Q


def _has_plain_rates(kind: Joint) -> bool:
    unit = [Vector(row) for row in np.eye(kind.nv).tolist()]
    return kind.nq == kind.nv and all(list(kind.rate(kind.neutral(), e)) == list(e) for e in unit)
