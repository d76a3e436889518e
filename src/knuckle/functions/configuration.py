"""Public functions of positions on their manifold: neutral, random, integrate, difference (RBDA 3.6, 4.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.function import Array, function, pair_function
from knuckle.joints import Joint
from knuckle.model import Model, TreeJoint
from knuckle.public_names import public
from knuckle.spatial import Vector

from .per_joint import as_vector

JointState: TypeAlias = tuple[Vector, Vector]
"""q and v of a joint."""


def _independent(model: Model) -> Iterator[tuple[TreeJoint, slice, slice]]:
    """The joints with variables of their own, and where these are in q and v."""
    coupled = model.coupled
    for i, (joint, qs, vs) in enumerate(zip(model.joints, model.q_slices, model.v_slices, strict=True)):
        if i not in coupled:
            yield joint, qs, vs


def _gather(model: Model, f: Callable[[Joint, slice, slice], Vector]) -> Vector:
    return Vector(x for joint, qs, vs in _independent(model) for x in f(joint.type, qs, vs))


@public
def neutral(model: Model) -> NDArray[Any]:
    """The position (nq,) in which the model starts.

    That is zeros, and (1, 0, 0, 0) for rotations, unless a joint says otherwise (`TreeJoint.start`), as joints of MJCF
    do: a body on a free joint is where the file has it, a joint with `ref` there. `model.keyframes` has other states.
    """
    return np.array(model.start, dtype=float)


@public
def random_configuration(model: Model, rng: np.random.Generator | int | None = None) -> NDArray[Any]:
    """A random position (nq,): within the limits where a joint has them, else over all rotations, ±π rad and ±1 m."""
    generator = np.random.default_rng(rng)
    values: list[float] = []
    for joint, _, _ in _independent(model):
        drawn = joint.type.random(generator)
        for x, low, high in zip(drawn, joint.limits.lower, joint.limits.upper, strict=True):
            bounded = math.isfinite(low) and math.isfinite(high) and low <= high
            values.append(float(generator.uniform(low, high) if bounded else x))
    return np.array(values)


@public
@function(q="q", dv="v", loops=True)
def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> Array:
    """The position after moving with the constant velocity variables `dv` for a unit of time."""
    Q, V = as_vector(q), as_vector(dv)
    return _gather(model, lambda joint, qs, vs: joint.integrate(Q[qs], V[vs]))


@public
@function(q0="q", q1="q", loops=True)
def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """`dv` (..., nv) with integrate(q0, dv) = q1, the short way round."""
    Q0, Q1 = as_vector(q0), as_vector(q1)
    return _gather(model, lambda joint, qs, vs: joint.difference(Q0[qs], Q1[qs]))


@public
@function(q="q", v="v", loops=True)
def velocity_to_qdot(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """q̇ (..., nq) for the velocity variables v (RBDA 3.6): equal to v only for joints without quaternions."""
    Q, V = as_vector(q), as_vector(v)
    return _gather(model, lambda joint, qs, vs: joint.rate(Q[qs], V[vs]))


@public
@function(u="v", v="v", loops=True)
def difference_rate(model: Model, u: ArrayLike, v: ArrayLike) -> Array:
    """u̇ (..., nv) of the displacement u = difference(q0, q) while q moves with v: equal to v only without quaternions.

    This is the inverse of the exponential's differential. With it any formula for u̇ = f(t, u) serves positions too.
    """
    U, V = as_vector(u), as_vector(v)
    return _gather(model, lambda joint, qs, vs: joint.difference_rate(U[vs], V[vs]))


@public
@pair_function(q="q", v="v", loops=True)
def normalize(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The same state with unit quaternions and every chart far from its singularities: (q, v)."""
    Q, V = as_vector(q), as_vector(v)
    followed = _followed(model)
    return _joined([
        (Q[qs], V[vs]) if joint.name in followed else joint.type.normalized(Q[qs], V[vs])
        for joint, qs, vs in _independent(model)
    ])  # fmt: skip


def has_charts(model: Model) -> bool:
    """Whether the coordinates of some joint end somewhere, so that `in_charts` has something to do."""
    followed = _followed(model)
    return any(joint.type.has_charts and joint.name not in followed for joint, _, _ in _independent(model))


@pair_function(q="q", v="v", loops=True)
def in_charts(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The same state with every chart far from its singularities; quaternions stay as they are."""
    Q, V = as_vector(q), as_vector(v)
    return _with_charts(model, Q, V, lambda joint, qs, vs: joint.normalized(Q[qs], V[vs]))


@pair_function(q0="q", q="q", v="v", loops=True)
def alongside(model: Model, q0: ArrayLike, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The state (q, v) in the charts of q0: what a displacement from q0 and its rates can be taken of."""
    Q0, Q, V = as_vector(q0), as_vector(q), as_vector(v)
    return _with_charts(model, Q, V, lambda joint, qs, vs: joint.alongside(Q0[qs], Q[qs], V[vs]))


def _with_charts(model: Model, q: Vector, v: Vector, f: Callable[[Joint, slice, slice], JointState]) -> JointState:
    """What f makes of the states of joints with charts; the others stay as they are."""
    followed = _followed(model)
    return _joined([
        f(joint.type, qs, vs) if joint.type.has_charts and joint.name not in followed else (q[qs], v[vs])
        for joint, qs, vs in _independent(model)
    ])  # fmt: skip


def _followed(model: Model) -> set[str]:
    """The joints that others follow. Where these are is read off their coordinates, which must not begin anew."""
    return {model.joints[source].name for coupling in model.couplings for source in coupling.sources}


def _joined(parts: list[JointState]) -> JointState:
    return Vector(x for q, _ in parts for x in q), Vector(x for _, v in parts for x in v)
