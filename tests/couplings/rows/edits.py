"""Models made from models."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.model import Model, edit, solid_box
from knuckle.model.coupling import described

from ..cases import Case
from .base import Pair, Rows, same

ROWS = Rows()
row = ROWS.row


@row("audit")
def audit(c: Case) -> Iterator[Pair]:
    notes = [note.text for note in kn.audit(c.model).findings]
    names = c.model.joint_names
    yield sum(any(described(x, names) in note for note in notes) for x in c.model.couplings), len(c.follow)


@row("model.reroot")
def reroot(c: Case) -> Iterator[Pair]:
    model, states = kn.model.reroot(c.model, c.model.body_names[-1])
    q, v = ([float(x) for x in part] for part in states(c.q.tolist(), c.v.tolist()))
    a = [float(x) for x in states.accelerations(c.q.tolist(), c.v.tolist(), c.a.tolist())]
    yield kn.kinetic_energy(model, q, v), kn.kinetic_energy(c.tree, c.Q, c.V)
    if not c.model.loops:
        tau = kn.inverse_dynamics(model, q, v, a)
        alike = [model.v_slices[model.joint_index(j.name)] for j in c.model.joints[1:]]
        wanted = c.G.T @ kn.inverse_dynamics(c.tree, c.Q, c.V, c.A)
        yield np.concatenate([tau[s] for s in alike]), _moved_root(c, wanted)


def _moved_root(c: Case, tau: Any) -> Any:
    """Forces of the other joints once the hull's six are left to another body: τ − Jᵀ f_hull (RBDA 9.3)."""
    J = kn.jacobian(c.tree, c.Q, c.tree.body_names[-1]) @ c.G
    f = np.linalg.solve(J[:, :6].T, tau[:6])
    return (tau - J.T @ f)[6:]


@row("edit.lock")
def lock(c: Case) -> Iterator[Pair]:
    s = c.model.v_slices[c.model.joint_index(c.lockable)].start
    locked = edit.lock(c.model, {c.lockable: float(c.q[s + c.quaternion])})
    held = c.v.copy()
    held[s] = 0.0
    there = c.at(c.q, held)
    q, v, a = np.delete(c.q, s + c.quaternion), np.delete(held, s), np.delete(c.a, s)
    yield kn.kinetic_energy(locked, q, v), kn.kinetic_energy(c.tree, c.Q, there.V)
    if not c.model.loops:
        c.a[s], kept = 0.0, c.a[s]
        A = there.A
        c.a[s] = kept
        wanted = there.G.T @ kn.inverse_dynamics(_rigid(c.tree, c.lockable), c.Q, there.V, A)
        yield kn.inverse_dynamics(locked, q, v, a), np.delete(wanted, s)


def _rigid(tree: Model, joint: str) -> Model:
    """The tree without what a joint that does not move no longer feels; nothing else depends on it."""
    return edit.with_joint(tree, joint, friction=0.0)


@row("edit.permute")
def permute(c: Case) -> Iterator[Pair]:
    order = sorted(range(c.model.nb), key=lambda i: (len(c.model.ancestors(i)), -i))
    model = edit.permute(c.model, [c.model.body_names[i] for i in order])
    q, v = (np.zeros(n) for n in (model.nq, model.nv))
    for i, name in enumerate(c.model.joint_names):
        k = model.joint_index(name)
        q[model.q_slices[k]], v[model.v_slices[k]] = c.q[c.model.q_slices[i]], c.v[c.model.v_slices[i]]
    yield from same(c, model, q, v)


@row("edit.attach")
def attach(c: Case) -> Iterator[Pair]:
    tool = solid_box(0.3, (0.1, 0.1, 0.1), at=(0.1, 0, 0.05))
    model, tree = (edit.attach(m, c.frame, tool) for m in (c.model, c.tree))
    yield kn.kinetic_energy(model, c.q, c.v), kn.kinetic_energy(tree, c.Q, c.V)
    if not c.model.loops:
        yield kn.inverse_dynamics(model, c.q, c.v, c.a), c.G.T @ kn.inverse_dynamics(tree, c.Q, c.V, c.A)


@row("edit.merge")
def merge(c: Case) -> Iterator[Pair]:
    model = edit.merge(c.model, kn.robots.load("double_pendulum"), c.frame, prefix="other_")
    yield from same(c, _without(model), *(np.concatenate([x, np.zeros(2)]) for x in (c.q, c.v)))


def _without(model: Model) -> Model:
    """The merged model with nothing in what was put on it, whose joints keep still."""
    zero = model.algebra.Inertia.zero()
    bodies = (dataclasses.replace(b, inertia=zero) if b.name.startswith("other_") else b for b in model.bodies)
    return model.replace(bodies=tuple(bodies))


@row("edit.rename")
def rename(c: Case) -> Iterator[Pair]:
    model = edit.rename(c.model, bodies=lambda name: f"b_{name}", joints=lambda name: f"j_{name}")
    yield from same(c, model, c.q, c.v)


@row("edit.with_joint")
def with_joint(c: Case) -> Iterator[Pair]:
    name = c.model.joint_names[-1]
    model, tree = (edit.with_joint(m, name, damping=0.7, rotor_inertia=0.3) for m in (c.model, c.tree))
    yield kn.kinetic_energy(model, c.q, c.v), kn.kinetic_energy(tree, c.Q, c.V)
    yield kn.joint_passive_force(model, c.q, c.v), c.G.T @ kn.joint_passive_force(tree, c.Q, c.V)


@row("edit.submodel")
def submodel(c: Case) -> Iterator[Pair]:
    """From the first body on: everything but its joint."""
    first = c.model.body_names[c.model.children(-1)[0]]
    part = edit.submodel(c.model, first, moving=True)
    inside = [
        i for i in range(c.model.nb) if part.name in c.model.body_names and c.model.body_names[i] in part.body_names
    ]
    q = np.concatenate([c.q[c.model.q_slices[i]] for i in inside if i not in c.model.coupled])
    kept = [k for k, x in enumerate(c.model.couplings) if {x.joint, *x.sources} <= set(inside)]
    yield len(part.couplings), len(kept)
    if len(kept) == len(c.follow):
        yield kn.body_poses(part, q), kn.body_poses(c.tree, c.Q)[inside]
