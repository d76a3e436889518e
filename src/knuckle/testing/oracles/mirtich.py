"""Forward dynamics of a serial chain after Mirtich (Impulse-based Dynamic Simulation, 1996, chapter 4).

Featherstone's articulated bodies in other clothes: the frame of a link is at its centre of mass along its principal
axes, accelerations are classical, a spatial force has its linear part first, and the spatial transpose swaps the two
halves of a vector, so that one matrix transforms motions and forces. d_i leads from joint i to the origin of frame i,
r_i from the origin of frame i−1 to that of frame i, both in the coordinates of frame i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import cross
from numpy.typing import ArrayLike

from knuckle.model import Model

from .serial_chain import Array, Link, links


@dataclass(frozen=True)
class Placed:
    """A link at a joint position, in the coordinates of its frame at the centre of mass."""

    revolute: bool
    u: Array
    """The joint's axis."""
    d: Array
    """From the joint to the origin."""
    R: Array
    """From frame i−1 to frame i."""
    r: Array
    """From the origin of frame i−1 to the origin."""
    mass: float
    moments: Array
    """The principal moments."""

    @property
    def s(self) -> Array:
        """The spatial joint axis ŝ."""
        if self.revolute:
            return np.concatenate([self.u, cross(self.u, self.d)])
        return np.concatenate([np.zeros(3), self.u])


def principal(I: Array) -> tuple[Array, Array]:
    """(principal moments, coordinate transform to the right-handed principal axes) of a rotational inertia."""
    moments, axes = np.linalg.eigh(I)
    return moments, (axes * np.linalg.det(axes)).T


def place(chain: Sequence[Link], q: Array) -> list[Placed]:
    """Frames at the centres of mass, along the principal axes."""
    placed: list[Placed] = []
    before, c = np.eye(3), np.zeros(3)
    for link, x in zip(chain, q, strict=True):
        E, r = link.placed(x)
        moments, A = principal(link.I_com)
        placed.append(
            Placed(
                link.revolute,
                A @ link.axis,
                A @ link.com,
                A @ E @ before.T,
                A @ (E @ (r - c) + link.com),
                link.mass,
                moments,
            )
        )
        before, c = A, link.com
    return placed


def transform(R: Array, r: Array) -> Array:
    """ᴳX̂_F = [R 0; −r̃R R], r from F to G in the coordinates of G: of motions (ω, v) and of forces (f, τ) alike."""
    return np.block([[R, np.zeros((3, 3))], [-tilde(r) @ R, R]])


def tilde(r: Array) -> Array:
    """The matrix of the cross product."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def spatial_transpose(x: Array) -> Array:
    """x̂': the two halves swapped."""
    return np.concatenate([x[3:], x[:3]])


def coriolis(link: Placed, w: Array, nu: Array) -> Array:
    """ĉ: what link i accelerates beyond ᵢX̂ᵢ₋₁ âᵢ₋₁ + q̈ ŝ, for ω of link i−1 in frame i and ν = q̇ u.

    The 2 of Coriolis is the sum of ω×v_rel and of the ω×v_rel that v̇_rel holds: the slides that give v̇_rel itself a 2
    contradict their own derivation.
    """
    centripetal = cross(w, cross(w, link.r))
    if link.revolute:
        around = cross(nu, link.d)
        return np.concatenate([cross(w, nu), centripetal + 2 * cross(w, around) + cross(nu, around)])
    return np.concatenate([np.zeros(3), centripetal + 2 * cross(w, nu)])


def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
    """The acceleration that the joint forces `tau` give a serial chain of revolute and prismatic joints.

    Damping, friction and springs of the joints are left out.
    """
    Q, V, forces = (np.asarray(x, dtype=float) for x in (q, v, tau))
    chain = place(links(model), Q)
    I, Z, c, X, back = [], [], [], [], []
    w, g = np.zeros(3), np.array(model.gravity)
    for link, rate in zip(chain, V, strict=True):
        w, g, nu = link.R @ w, link.R @ g, rate * link.u
        c.append(coriolis(link, w, nu))
        w = w + nu if link.revolute else w
        M, moments, o = link.mass * np.eye(3), np.diag(link.moments), np.zeros((3, 3))
        I.append(np.block([[o, M], [moments, o]]))
        Z.append(np.concatenate([-link.mass * g, cross(w, moments @ w)]))
        X.append(transform(link.R, link.r))
        back.append(transform(link.R.T, -link.R.T @ link.r))
    for i in reversed(range(1, len(chain))):
        s = chain[i].s
        Is, sI = I[i] @ s, spatial_transpose(s) @ I[i]
        D = sI @ s
        rest = Z[i] + I[i] @ c[i]
        u = forces[i] - spatial_transpose(s) @ rest
        I[i - 1] = I[i - 1] + back[i] @ (I[i] - np.outer(Is, sI) / D) @ X[i]
        Z[i - 1] = Z[i - 1] + back[i] @ (rest + Is * u / D)
    a, qdd = np.zeros(6), np.zeros(len(chain))
    for i, link in enumerate(chain):
        s = spatial_transpose(link.s)
        a = X[i] @ a + c[i]
        qdd[i] = (forces[i] - s @ (I[i] @ a + Z[i])) / (s @ I[i] @ link.s)
        a = a + qdd[i] * link.s
    return qdd
