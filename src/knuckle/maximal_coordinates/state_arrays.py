"""States of mechanisms of many bodies in maximal coordinates: the joints of one type by one piece of code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.function import kernel
from knuckle.functions.frame_jacobian_products import body_product
from knuckle.functions.kinematics import body_poses
from knuckle.joints import Driven, Free, Prescribed
from knuckle.model import Model
from knuckle.spatial import Motion, Vector

from .joint_groups import FramePlaces, JointGroup, transform_of

Array: TypeAlias = NDArray[Any]
FREE = Free()
FEW = 12
"""Up to so many bodies the text of a whole mechanism compiles within a second."""


def goes_by_groups(model: Model, freed: tuple[int, ...], *arrays: Any) -> bool:
    """Whether a state is numbers, and its mechanism so large that its joints are better taken by groups."""
    are_numbers = all(isinstance(x, (list, tuple, np.ndarray)) and np.asarray(x).dtype.kind in "fi" for x in arrays)
    is_plain = not model.couplings and not any(isinstance(j.type, (Driven, Prescribed)) for j in model.joints)
    return are_numbers and is_plain and model.nb > FEW and len(freed) == model.nb


def maximal_arrays(model: Model, q: Array, v: Array, kept: tuple[int, ...] = ()) -> tuple[Array, Array]:
    """(q, v) with all bodies free: their places, and J v; then the variables of joints that keep theirs."""
    poses, V = np.asarray(body_poses(model, q)), np.asarray(body_product(model, q, v))
    E, r = poses[..., :3, :3].swapaxes(-1, -2), poses[..., :3, 3]
    flat = np.concatenate([E.reshape(*E.shape[:-2], 9), r], axis=-1)
    free = next(JointGroup.each([FREE], [0]))
    places = np.asarray(_located(free.alone, flat))
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    whole = list[Array]()
    for part, n, own, slices in ((places, 7, q, model.q_slices), (V, 6, v, model.v_slices)):
        parts = part.reshape(*part.shape[:-2], n * model.nb), own[..., _columns(slices, kept)]
        whole.append(np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in parts], axis=-1))
    return whole[0], whole[1]


def reduced_arrays(model: Model, q: Array, v: Array, kept: tuple[int, ...] = ()) -> tuple[Array, Array]:
    """(q, v) of the joints from those of free bodies, and of those that joints keep."""
    free = next(JointGroup.each([FREE], [0]))
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q, v = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
    (Q, own_q), (V, own_v) = (np.split(x, [n * model.nb], axis=1) for x, n in ((q, 7), (v, 6)))
    Q, V = Q.reshape(-1, model.nb, 7), V.reshape(-1, model.nb, 6)
    placed = np.asarray(_numbers(free.alone, Q))
    base = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    placed = np.concatenate([placed, np.broadcast_to(base, (len(Q), 1, 12))], axis=1)
    V = np.concatenate([V, np.zeros((len(V), 1, 6))], axis=1)
    at, rate = np.zeros((len(Q), model.nq)), np.zeros((len(Q), model.nv))
    parents, X_tree = np.array(model.parents, int), FramePlaces.of(model.X_tree)
    for group in JointGroup.each([joint.type for joint in model.joints], range(model.nb)):
        i, n = group.members, len(group.members)
        every = np.tile(np.arange(n), len(Q))
        before = X_tree[i][every].after(FramePlaces.flat(placed[:, parents[i]].reshape(-1, 12)))
        X = FramePlaces.flat(placed[:, i].reshape(-1, 12)).from_frames(before)
        carried = X.after(X_tree[i][every]).matrices()
        relative = V[:, i].reshape(-1, 6) - np.einsum("nij,nj->ni", carried, V[:, parents[i]].reshape(-1, 6))
        there, moving = _between(group.alone, X.numbers(), relative)
        for whole, part, slices in ((at, there, model.q_slices), (rate, moving, model.v_slices)):
            columns = _columns(slices, i)
            whole[:, columns] = np.asarray(part).reshape(len(Q), len(columns))
    at[:, _columns(model.q_slices, kept)], rate[:, _columns(model.v_slices, kept)] = own_q, own_v
    return at.reshape(*batch, model.nq), rate.reshape(*batch, model.nv)


def _columns(slices: Sequence[slice], joints: Iterable[int]) -> Array:
    """The places of the variables of some joints."""
    return np.array([k for j in joints for k in range(slices[j].start, slices[j].stop)], int)


@kernel
def _located(model: Model, x: Any) -> Any:
    """Of the free joint."""
    return model.joints[0].type.locate(transform_of(x))


@kernel
def _numbers(model: Model, q: Any) -> Any:
    """E and r of the free joint."""
    X = model.joints[0].type.transform(q)
    return Vector([*(x for row in X.E for x in row), *X.r])


@kernel
def _between(model: Model, x: Any, y: Any) -> Any:
    """Where a joint is whose frames are X apart, and how it moves."""
    joint, X = model.joints[0].type, transform_of(x)
    q = joint.locate(X)
    sigma = joint.motion(q, Vector.zero(joint.nv)).v
    return q, joint.actuation(q).T @ (Motion.of(y) - sigma)
