"""Closed loops."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

import knuckle as kn
from knuckle.model import Frame

from ..cases import Case
from .base import Pair, Rows

ROWS = Rows()
row, simple = ROWS.row, ROWS.simple

simple("loops.jacobian", lambda c: kn.loops.jacobian(c.model, c.q), lambda c: c.K @ c.G)
simple(
    "loops.bias",
    lambda c: kn.loops.bias(c.model, c.q, c.v),
    lambda c: kn.loops.bias(c.open, c.Q, c.V) - c.K @ c.g,
)
simple("loops.error", lambda c: kn.loops.error(c.model, c.q), lambda c: kn.loops.error(c.open, c.Q))
simple("loops.gap", lambda c: kn.loops.gap(c.model, c.q), lambda c: kn.loops.gap(c.open, c.Q))
simple(
    "loops.error_rate",
    lambda c: kn.loops.error_rate(c.model, c.q, c.v),
    lambda c: kn.loops.error_rate(c.open, c.Q, c.V),
)
simple(
    "loops.active_jacobian",
    lambda c: kn.loops.active_jacobian(c.model, c.q),
    lambda c: kn.loops.active_jacobian(c.open, c.Q) @ c.G,
)
simple(
    "loops.forces",
    lambda c: (c.K @ c.G).T @ kn.loops.forces(c.model, c.q, c.v, c.tau, c.f_ext),
    lambda c: (c.K @ c.G).T @ c.constrained(c.tau, c.f_ext)[1][len(c.follow) :],
)


@row("loops.independent_variables")
def independent_variables(c: Case) -> Iterator[Pair]:
    yield (
        len(kn.loops.independent_variables(c.model, c.q).independent),
        c.model.nv - np.linalg.matrix_rank(c.K @ c.G, 1e-9),
    )


@row("loops.null_space")
def dependence(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    G = kn.loops.null_space(c.model, c.q, choice=choice)
    yield G @ c.v[list(choice.independent)], c.v


@row("loops.null_space_bias")
def dependence_bias(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    G, g = kn.loops.null_space(c.model, c.q, choice=choice), kn.loops.null_space_bias(c.model, c.q, c.v, choice=choice)
    yield G @ c.a[list(choice.independent)] + g, c.a


@row("loops.degrees_of_freedom")
def mobility(c: Case) -> Iterator[Pair]:
    yield kn.loops.degrees_of_freedom(c.model, c.q).freedoms, c.model.nv - np.linalg.matrix_rank(c.K @ c.G, 1e-9)


@row("loops.close")
def close_loops(c: Case) -> Iterator[Pair]:
    found = kn.loops.close(c.model, kn.integrate(c.model, c.q, 0.01 * c.tau))
    yield kn.loops.error(c.open, c.to_tree(found.q)), np.zeros(len(c.K))
    yield found.closed, True


@row("loops.project")
def project(c: Case) -> Iterator[Pair]:
    q, v = kn.loops.project(c.model, kn.integrate(c.model, c.q, 0.01 * c.tau), c.v)
    there = c.at(q, v)
    yield kn.loops.error(c.open, there.Q), np.zeros(len(c.K))
    yield there.K @ there.V, np.zeros(len(c.K))


@row("loops.solve_dependent")
def loop_closure(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    off = np.array(c.q)
    off[[k + c.quaternion for k in choice.dependent]] += 0.01
    yield kn.loops.solve_dependent(c.model, off, choice=choice), c.q


@row("loops.consistent_velocity")
def followed_velocity(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    off = np.array(c.v)
    off[list(choice.dependent)] += 1.0
    yield kn.loops.consistent_velocity(c.model, c.q, off, choice=choice), c.v


@row("loops.wrenches")
def loop_wrenches(c: Case) -> Iterator[Pair]:
    """Applied to the two bodies of each loop joint as external forces they make the joint superfluous."""
    found = kn.loops.wrenches(c.model, c.q, c.v, c.tau, c.f_ext)
    yield found.shape, (len(c.model.loops), 6)
    total = np.array(c.f_ext)
    for loop, f in zip(c.model.loops, found, strict=True):
        tree = c.tree.replace(frames=(Frame("there", loop.successor, loop.X_successor),))
        total += kn.external_force(tree, c.Q, "there", f, "body")
        T = kn.pose(tree, c.Q, "there")
        n, force = T[:3, :3] @ f[:3], T[:3, :3] @ f[3:]
        about_base = -np.concatenate([n + np.cross(T[:3, 3], force), force])
        total += kn.external_force(tree, c.Q, tree.body_names[loop.predecessor], about_base, "world")
    opened = dataclasses.replace(c, model=c.model.without_loops())
    yield opened.constrained(c.tau, total)[0], c.constrained(c.tau, c.f_ext)[0]


def _actuated(c: Case) -> tuple[list[int], tuple[str, ...]]:
    """Independent variables, and the joints that have them."""
    independent = list(kn.loops.independent_variables(c.model, c.q).independent)
    names = (name for i, name in enumerate(c.model.joint_names) if {*range(*_places(c, i))} & {*independent})
    return independent, tuple(names)


def _places(c: Case, joint: int) -> tuple[int, int]:
    place = c.model.v_slices[joint]
    return place.start, place.stop


@row("loops.actuation")
def actuation(c: Case) -> Iterator[Pair]:
    independent, names = _actuated(c)
    found = kn.loops.actuation(c.model, c.q, names)
    yield (found.freedoms, found.actuators, found.rank), (len(independent),) * 3


@row("loops.actuator_forces")
def actuator_forces(c: Case) -> Iterator[Pair]:
    independent, names = _actuated(c)
    tau = np.zeros(c.model.nv)
    tau[independent] = kn.loops.actuator_forces(c.model, c.q, c.v, c.a, c.f_ext, actuated=names)
    yield c.constrained(tau, c.f_ext)[0], c.A
    for follower, slopes in zip(c.model.couplings, c.G[list(c.follow)], strict=True):
        # an actuator at the joint that follows, in place of one at a joint that it follows
        source = c.model.joint_names[follower.sources[0]]
        if source not in names:
            continue
        other = tuple(c.model.joint_names[follower.joint] if name == source else name for name in names)
        u = kn.loops.actuator_forces(c.model, c.q, c.v, c.a, c.f_ext, actuated=other)
        k = independent.index(c.model.variables(follower.joint)[0])
        tau = np.zeros(c.model.nv)
        tau[[j for i, j in enumerate(independent) if i != k]] = np.delete(u, k)
        yield c.constrained(tau + u[k] * slopes, c.f_ext)[0], c.A
