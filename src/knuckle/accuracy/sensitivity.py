"""How sensitive a mechanism is by itself: condition of the mass matrix and of loops, and the tables of RBDA 10.2."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle import functions
from knuckle.functions.loops import loop_terms
from knuckle.model import Model
from knuckle.scalar import Dual
from knuckle.scalar.structural import ZERO

Array = NDArray[Any]


@dataclass(frozen=True)
class Sensitivity:
    """By how many per cent the acceleration changes (in the largest entry) with one per cent of a joint's torque, of
    the distance from the joint before it, and of the inertia of the body that it moves (RBDA 10.2)."""

    joint: str
    torque: float
    length: float
    inertia: float


def mass_matrix_conditions(model: Model, q: ArrayLike) -> tuple[Array, Array]:
    """cond(H) of every state, as it is, and with every variable in units that make its diagonal one (RBDA 10.2)."""
    H = np.asarray(functions.mass_matrix(model.without_loops(), q), float)
    root = np.sqrt(np.einsum("...ii->...i", H))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.nan_to_num(H / (root[..., :, None] * root[..., None, :]), nan=0.0, posinf=0.0)
    return np.linalg.cond(H), np.linalg.cond(scaled)


def loop_conditions(model: Model, q: ArrayLike) -> Array:
    """The condition of the independent part of the loops' Jacobian: large near a configuration with more freedom."""
    K = np.asarray(loop_terms.jacobian(model, q), float)
    sizes = np.linalg.svd(K, compute_uv=False)
    real = sizes > sizes[..., :1] * 1e-12
    return sizes[..., 0] / np.where(real, sizes, np.inf).min(axis=-1)


def sensitivities(model: Model, q: Array, v: Array, tau: Array) -> tuple[Sensitivity, ...]:
    """The table of one state, a row for every joint: exact derivatives of forward dynamics, by dual numbers."""
    a = np.asarray(functions.forward_dynamics(model, q, v, tau), float)
    size = float(np.abs(a).max()) or 1.0
    by_torque = functions.forward_dynamics.jacobian(model, q, v, tau, wrt=("tau",))["tau"]
    rows: list[Sensitivity] = []
    first = 0
    followers = {coupling.joint for coupling in model.couplings}
    for k, joint in enumerate(model.joints):
        nv = 0 if k in followers else joint.type.nv
        part = slice(first, first + nv)
        first += nv
        torque = float(np.abs(by_torque[:, part] @ tau[part]).max(initial=0.0)) / size
        longer = dataclasses.replace(joint, X_tree=_longer(joint.X_tree))
        heavier = dataclasses.replace(model.bodies[k], inertia=model.bodies[k].inertia * Dual(1.0, 1.0))
        joints = (*model.joints[:k], longer, *model.joints[k + 1 :])
        bodies = (*model.bodies[:k], heavier, *model.bodies[k + 1 :])
        length = _slope(model.replace(joints=joints), q, v, tau) / size
        inertia = _slope(model.replace(bodies=bodies), q, v, tau) / size
        rows.append(Sensitivity(joint.name, torque, length, inertia))
    return tuple(rows)


def _longer(X: Any) -> Any:
    return dataclasses.replace(X, r=tuple(x if x is ZERO else Dual(float(x), float(x)) for x in X.r))


def _slope(model: Model, q: Array, v: Array, tau: Array) -> float:
    """The largest derivative of an acceleration by the one dual direction of a model."""
    a = functions.forward_dynamics.reference(model, q.tolist(), v.tolist(), tau.tolist())
    return max((abs(float(x.derivative)) for x in a if isinstance(x, Dual)), default=0.0)
