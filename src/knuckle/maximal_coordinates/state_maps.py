"""States of a mechanism in maximal coordinates from those in its own, and back; and what joint forces become."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.kinematics import body_motions
from knuckle.engine.calls.function import kernel
from knuckle.errors import ModelError, near
from knuckle.functions.per_joint import as_vector
from knuckle.joints import Free
from knuckle.model import ROOT, Model
from knuckle.public_names import public
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Vector

from .kept_joints import dropped_from, kept_joints
from .state_arrays import goes_by_groups, maximal_arrays, reduced_arrays

Array: TypeAlias = NDArray[Any]
FREE = Free()
WOUND = 1e-6
"""How far, in radians, a sprung joint may be from the position that its place tells."""


@public
def maximal_state(
    model: Model, q: ArrayLike, v: ArrayLike, *, bodies: Iterable[str] | None = None, drop: Iterable[str] = ()
) -> tuple[Array, Array]:
    """(q, v) of `kn.maximal(model, bodies, drop=drop)` for a state (..., nq) and (..., nv) of the model.

    Free bodies are where the joints put them, and their velocities are exact: J v. Variables that joints keep come
    last. A joint with a spring that is wound up by more than half a turn, and keeps none, is an error: free bodies do
    not know of it.
    """
    freed = freed_bodies(model, bodies)
    kept = kept_joints(model, freed, dropped_from(drop))
    _must_have(q, model.nq, v, model.nv, "")
    if goes_by_groups(model, freed, q, v):
        found: Any = maximal_arrays(model, np.asarray(q, float), np.asarray(v, float), kept)
    else:
        found = _maximal(model, q, v, freed=freed, kept=kept)
    if isinstance(found[0], np.ndarray) and found[0].dtype.kind == "f":
        _must_not_be_wound(model, np.asarray(q, float), found, freed, kept, drop)
    return found


@public
def reduced_state(
    model: Model, q: ArrayLike, v: ArrayLike, *, bodies: Iterable[str] | None = None, drop: Iterable[str] = ()
) -> tuple[Array, Array]:
    """(q, v) of the model for a state of `kn.maximal(model, bodies, drop=drop)`: (..., n) of each.

    Each joint stands where it comes nearest to its bodies, and moves with what it allows of their velocities: exactly
    so where the bodies keep their joints. Angles come back within half a turn, unless joints keep their variables.
    """
    freed = freed_bodies(model, bodies)
    kept = kept_joints(model, freed, dropped_from(drop))
    _must_have(q, maximal_nq(model, freed, kept), v, maximal_nv(model, freed, kept), " in these coordinates")
    if goes_by_groups(model, freed, q, v):
        return reduced_arrays(model, np.asarray(q, float), np.asarray(v, float), kept)
    return _reduced(model, q, v, freed=freed, kept=kept)


@public
def maximal_forces(
    model: Model, q: ArrayLike, tau: ArrayLike, *, bodies: Iterable[str] | None = None, drop: Iterable[str] = ()
) -> Array:
    """The joint forces (..., n) in `kn.maximal(model, bodies, drop=drop)` that `tau` (..., nv) at the joints are.

    Each acts on the two bodies of its joint, as the wrenches T_a τ and −T_a τ, or on the variable that its joint
    keeps; `q` is the position in the model.
    """
    freed = freed_bodies(model, bodies)
    return _forces(model, q, tau, freed=freed, kept=kept_joints(model, freed, dropped_from(drop)))


def _must_have(q: Any, nq: int, v: Any, nv: int, where: str) -> None:
    """An error unless a state has so many numbers."""
    for name, value, n in (("q", q, nq), ("v", v, nv)):
        if isinstance(value, (list, tuple, np.ndarray)) and np.shape(value)[-1:] != (n,):
            raise ValueError(f"{name} has shape {np.shape(value)}, and must have shape (..., {n}){where}")


def freed_bodies(model: Model, names: Iterable[str] | None) -> tuple[int, ...]:
    """The numbers of the bodies to make free, in order; an error where a coupling needs the joint of one."""
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"maximal coordinates are those of a knuckle.Model, not of {type(model).__name__}")
    freed = _numbers_of(model, names)
    for coupling in model.couplings:
        for i in (coupling.joint, *coupling.sources):
            if i in freed:
                raise ModelError(
                    "is part of a coupling, and loop joints have no variables to couple: leave its body out of "
                    "`bodies`, or take model.without_couplings()",
                    element=model.joints[i].name,
                )
    return freed


def _numbers_of(model: Model, names: Iterable[str] | None) -> tuple[int, ...]:
    if names is None:
        return tuple(range(model.nb))
    if isinstance(names, str):
        raise TypeError(f"bodies is a list of names, not {names!r}")
    known = {name: i for i, name in enumerate(model.body_names)}
    chosen: set[int] = set()
    for name in names:
        if name not in known:
            raise KeyError(f"bodies: no body is called {name!r}{near(name, known)}")
        chosen.add(known[name])
    return tuple(sorted(chosen))


def maximal_nq(model: Model, freed: tuple[int, ...], kept: tuple[int, ...] = ()) -> int:
    """How many position variables there are with some bodies free, and some of their joints keeping theirs."""
    return model.nq + sum(FREE.nq - model.joints[i].type.nq * (i not in kept) for i in freed)


def maximal_nv(model: Model, freed: tuple[int, ...], kept: tuple[int, ...] = ()) -> int:
    """How many velocity variables there are with some bodies free, and some of their joints keeping theirs."""
    return model.nv + sum(FREE.nv - model.joints[i].type.nv * (i not in kept) for i in freed)


@kernel
def _maximal(model: Model, q: Any, v: Any, *, freed: tuple[int, ...], kept: tuple[int, ...]) -> Any:
    Q, V = model.positions(q), model.velocities(q, v)
    X0, V0 = body_motions.positions(model, Q), body_motions.velocities(model, Q, V)
    positions, velocities = list[Any](), list[Any]()
    for i in range(model.nb):
        if i in freed:
            positions += FREE.locate(X0[i])
            velocities += V0[i].components
        elif i not in model.coupled:
            positions += Q[i]
            velocities += V[i]
    for i in kept:
        positions += Q[i]
        velocities += V[i]
    return Vector(positions), Vector(velocities)


@kernel
def _reduced(model: Model, x: Any, y: Any, *, freed: tuple[int, ...], kept: tuple[int, ...]) -> Any:
    (q, own_q), (v, own_v) = (_apart(model, as_vector(z), freed, kept, n) for z, n in ((x, "nq"), (y, "nv")))
    known = {i: model.joints[i].type.neutral() if i in freed else q[i] for i in q}
    still = {i: Vector.zero(model.joints[i].type.nv) if i in freed else v[i] for i in v}
    Q = model.positions(_together(known))
    V = model.velocities(_together(known), _together(still))
    X0, V0 = {ROOT: model.algebra.Transform.identity()}, {ROOT: model.zero_motion}
    for i, p, joint in model.outward():
        XP, VP = model.X_tree[i] @ X0[p], model.X_tree[i] @ V0[p]
        if i in freed:
            X0[i], V0[i] = FREE.transform(q[i]), model.algebra.Motion.of(v[i])
            X = X0[i] @ XP.inverse()
            if i in kept:
                q[i], v[i] = own_q[i], own_v[i]
                continue
            q[i] = joint.locate(X)
            sigma = joint.motion(q[i], Vector.zero(joint.nv)).v
            v[i] = joint.actuation(q[i]).T @ (V0[i] - X @ VP - sigma)
        else:
            XJ, _, vJ, _ = joint.motion(Q[i], V[i])
            X0[i], V0[i] = XJ @ XP, XJ @ VP + vJ
    return _together(q), _together(v)


@kernel
def _forces(model: Model, q: Any, tau: Any, *, freed: tuple[int, ...], kept: tuple[int, ...]) -> Any:
    Q, T = model.positions(q), as_vector(tau)
    F = {i: model.zero_force for i in range(ROOT, model.nb)}
    for i, p, joint in model.outward():
        if i in freed and i not in kept:
            f = joint.actuation(Q[i]) @ T[model.v_slices[i]]
            F[i] = F[i] + f
            F[p] = F[p] - (joint.transform(Q[i]) @ model.X_tree[i]).T @ f
    felt: dict[int, Vector] = {}
    for i, p, joint in model.inward():
        felt[i] = Vector.zero(joint.nv) if i in freed else joint.subspace(Q[i]).T @ F[i]
        if i not in freed:
            F[p] = F[p] + (joint.transform(Q[i]) @ model.X_tree[i]).T @ F[i]
    at_joints = T + model.forces(q, felt)
    parts = (F[i].components if i in freed else at_joints[model.v_slices[i]] for i in range(model.nb))
    own = (T[model.v_slices[i]] for i in kept)
    return Vector(x for part in (*parts, *own) for x in part)


def _apart(
    model: Model, x: Vector, freed: tuple[int, ...], kept: tuple[int, ...], size: str
) -> tuple[dict[int, Vector], dict[int, Vector]]:
    """The variables of each body's joint, where some bodies are free, and those that joints of free bodies keep."""
    parts, own, at = dict[int, Vector](), dict[int, Vector](), 0
    for i, joint in enumerate(model.joints):
        if i not in model.coupled:
            n = getattr(FREE if i in freed else joint.type, size)
            parts[i], at = x[at : at + n], at + n
    for i in kept:
        n = getattr(model.joints[i].type, size)
        own[i], at = x[at : at + n], at + n
    return parts, own


def _together(parts: dict[int, Vector]) -> Vector:
    return Vector(x for i in sorted(parts) for x in parts[i])


def _must_not_be_wound(
    model: Model, q: Array, found: Any, freed: tuple[int, ...], kept: tuple[int, ...], drop: Iterable[str]
) -> None:
    sprung = [i for i in freed if i not in kept and any(constant(k) is not ZERO for k in model.joints[i].stiffness)]
    if not sprung:
        return
    back = reduced_state(model, *found, bodies=[model.body_names[i] for i in freed], drop=drop)[0]
    for i in sprung:
        joint = model.joints[i]
        if joint.type.nq != joint.type.nv:
            continue
        off = np.nan_to_num(np.abs(back - q)[..., model.q_slices[i]]).max(initial=0.0)
        if off > WOUND:
            raise ValueError(
                f"q: joint {joint.name!r} has a spring and stands {off:.3g} rad from where its bodies show it; free "
                "bodies do not know by how many turns a spring is wound"
            )
