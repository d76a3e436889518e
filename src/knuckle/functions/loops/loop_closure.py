"""Public functions of loop closure, q = γ(y) (RBDA 8.11): written by the user, or found by Newton's method."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.loops.closure_functions import ClosureLaw, Gamma, following
from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.engine.calls.function import Array, function
from knuckle.errors import ModelError
from knuckle.functions.configuration import integrate, neutral
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.model.coupling import Coupling
from knuckle.public_names import public_in
from knuckle.spatial import Vector

from .loop_terms import error as loop_error
from .loop_terms import error_rate as loop_error_rate
from .loop_terms import gap as loop_gap
from .loop_terms import jacobian as loop_jacobian

CLOSED = 1e-9
"""What counts as closed, in metres and radians."""
NEARBY = 0.01
"""How far away a written function is tried too, in metres and radians."""


@public_in("loops")
@function(q="q", loops=True)
def solve_dependent(model: Model, q: ArrayLike, *, choice: Choice, steps: int = 6) -> Array:
    """γ(y) (..., nq): the position with the independent variables of `q`, near it, whose others close the loops.

    Args:
        model: the mechanism.
        q: the independent variables, and a guess of the others (..., nq).
        choice: which variables are independent: `independent_variables`.
        steps: Newton steps; each squares the error. Where they do not converge, `kn.loops.error` shows it.
    """
    at = as_vector(q)
    for _ in range(steps):
        K, error = loop_jacobian.reference(model, at), loop_error.reference(model, at)
        at = integrate.reference(model, at, following(K, error, choice))
    return at


@public_in("loops")
@function(q="q", v="v", loops=True)
def consistent_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, choice: Choice) -> Array:
    """G ẏ (..., nv): the velocity with the independent variables of `v` whose others keep the loops closed."""
    K, rate = loop_jacobian.reference(model, q), loop_error_rate.reference(model, q, v)
    return as_vector(v) + following(K, rate, choice)


@public_in("loops")
def with_closure_function(model: Model, gamma: Gamma, joints: Iterable[str], at: ArrayLike | None = None) -> Model:
    """The mechanism with its loops closed by a function of yours, q = γ(y) (RBDA 8.56-8.60).

        def gamma(y1):
            d = sqrt(l1 * l1 + l2 * l2 - 2 * l1 * l2 * cos(y1))
            return {"q2": arctan2(l2 * sin(y1), l2 * cos(y1) - l1), "q3": d}

        arm = kn.loops.with_closure_function(model, gamma, ["q1"])

    The result has no loop joints: the joints that γ names follow, and its variables are the independent ones only.
    Every function of the library takes it, G = ∂γ/∂y and g = Ġ ẏ being exact derivatives; a simulation of it has no
    loop error and needs no stabilisation.

    Args:
        model: a mechanism with loops.
        gamma: γ(y₁, y₂, …) → positions by joint name, written with the functions of `knuckle.scalar`.
        joints: the names of the joints that are y₁, y₂, …, each of one freedom. Joints that are neither here nor in the
            result of γ stay as they are.
        at: y at which to check that γ closes the loops; the neutral position if not given.

    Raises:
        ModelError: γ names a joint that does not exist or has several freedoms, or leaves a loop open.
    """
    names = tuple(joints)
    sources = tuple(model.joint_index(name) for name in names)
    start = neutral(model)
    y = np.array([start[model.q_slices[s]][0] for s in sources] if at is None else at, float)
    if y.shape != (len(names),):
        raise ValueError(
            f"at has shape {y.shape}, and must have shape ({len(names)},): a position of {', '.join(names)}"
        )
    followers = gamma(*y.tolist())
    if not isinstance(followers, dict) or not followers:
        raise TypeError(f"gamma returns a {type(followers).__name__}, and must return the positions of joints by name")
    follow = tuple(Coupling(model.joint_index(name), sources, ClosureLaw(gamma, name)) for name in followers)
    coupled = model.replace(loops=(), couplings=(*model.couplings, *follow))
    rng = np.random.default_rng(0)
    for away in (0.0, NEARBY, -NEARBY):
        _must_close(model, coupled, sources, y + away * rng.uniform(0.5, 1.0, len(y)))
    return coupled


def _must_close(model: Model, coupled: Model, sources: tuple[int, ...], y: NDArray[Any]) -> None:
    position = neutral(coupled)
    for s, value in zip(sources, y, strict=True):
        position[coupled.q_slices[s]] = value
    gaps = np.abs(loop_gap(model, np.array([float(x) for x in _independent(model, coupled, position)]))).max(axis=-1)
    worst = int(np.argmax(gaps))
    if not gaps[worst] <= CLOSED:
        where = ", ".join(f"{coupled.joint_names[s]} = {value:.6g}" for s, value in zip(sources, y, strict=True))
        raise ModelError(
            f"gamma leaves it open by {gaps[worst]:.3g} (m, rad) at {where}; give at= where it is meant to hold",
            element=model.loops[worst].name,
        )


def _independent(model: Model, coupled: Model, position: NDArray[Any]) -> Vector:
    """The independent variables of the first mechanism for a position of the second."""
    parts = coupled.positions(position.tolist())
    return Vector(x for i in range(model.nb) if i not in model.coupled for x in parts[i])
