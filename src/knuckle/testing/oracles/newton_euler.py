"""Inverse dynamics in 3-D vectors: the recursive equations of Luh, Walker and Paul (RBDA table 5.2).

An implementation that shares nothing with the spatial algebra: angular and linear quantities apart, and the classical
acceleration of each frame's origin in place of the spatial one. The printed table knows revolute joints only; the
prismatic branches are those of the original.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy import cross
from numpy.typing import ArrayLike

from knuckle.model import Model

from .serial_chain import Array, links


@dataclass
class NewtonEuler:
    """Every quantity of the table, link by link, in the link's coordinates."""

    w: list[Array] = field(default_factory=list)
    """Angular velocity ω."""
    v: list[Array] = field(default_factory=list)
    """Velocity of the frame's origin. Nothing else needs it."""
    dw: list[Array] = field(default_factory=list)
    """Angular acceleration ω̇."""
    dv: list[Array] = field(default_factory=list)
    """Acceleration v̇ of the frame's origin, less gravity."""
    F: list[Array] = field(default_factory=list)
    """Net force on the link."""
    N: list[Array] = field(default_factory=list)
    """Net moment on the link about its centre of mass."""
    f: list[Array] = field(default_factory=list)
    """Force through the link's joint."""
    n: list[Array] = field(default_factory=list)
    """Moment through the link's joint, about the frame's origin."""
    tau: Array = field(default_factory=lambda: np.zeros(0))
    """Joint forces."""


def newton_euler(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> NewtonEuler:
    """Joint forces for the acceleration `a` of a serial chain of revolute and prismatic joints, and how they arise.

    Damping, friction and springs of the joints are left out.
    """
    chain, out = links(model), NewtonEuler()
    Q, V, A = (np.asarray(x, dtype=float) for x in (q, v, a))
    E, r = zip(*(link.placed(x) for link, x in zip(chain, Q, strict=True)), strict=True) if chain else ((), ())
    w = vo = dw = np.zeros(3)
    dv = -np.array(model.gravity)
    for i, link in enumerate(chain):
        z = link.axis
        dv = E[i] @ (dv + cross(dw, r[i]) + cross(w, cross(w, r[i])))
        vo = E[i] @ (vo + cross(w, r[i]))
        w, dw = E[i] @ w, E[i] @ dw
        if link.revolute:
            dw = dw + z * A[i] + cross(w, z * V[i])
            w = w + z * V[i]
        else:
            dv = dv + z * A[i] + 2 * cross(w, z * V[i])
            vo = vo + z * V[i]
        for quantity, value in ((out.w, w), (out.v, vo), (out.dw, dw), (out.dv, dv)):
            quantity.append(value)
        out.F.append(link.mass * (dv + cross(dw, link.com) + cross(w, cross(w, link.com))))
        out.N.append(link.I_com @ dw + cross(w, link.I_com @ w))
    f, n = [np.zeros(3) for _ in range(len(chain) + 1)], [np.zeros(3) for _ in range(len(chain) + 1)]
    tau = np.zeros(len(chain))
    for i in reversed(range(len(chain))):
        f[i], n[i] = out.F[i], out.N[i] + cross(chain[i].com, out.F[i])
        if i + 1 < len(chain):
            outer = E[i + 1].T @ f[i + 1]
            f[i] = f[i] + outer
            n[i] = n[i] + E[i + 1].T @ n[i + 1] + cross(r[i + 1], outer)
        tau[i] = chain[i].axis @ (n[i] if chain[i].revolute else f[i])
    out.f, out.n, out.tau = f[:-1], n[:-1], tau
    return out
