"""Dynamics and identification."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.joints import Driven, Polynomial
from knuckle.model import edit

from ..cases import Case
from .base import STEP, Pair, Rows, bare, rate_along

ROWS = Rows()
row, simple = ROWS.row, ROWS.simple


@row("inverse_dynamics")
def inverse_dynamics(c: Case) -> Iterator[Pair]:
    tau = kn.inverse_dynamics(c.model, c.q, c.v, c.a, c.f_ext)
    yield c.constrained(tau, c.f_ext)[0], c.A
    if not c.model.loops:
        yield tau, c.G.T @ kn.inverse_dynamics(c.tree, c.Q, c.V, c.A, c.f_ext)


@row("forward_dynamics")
def forward_dynamics(c: Case) -> Iterator[Pair]:
    wanted = c.constrained(c.tau, c.f_ext)[0][c.lead]
    methods = ("aba", "crba", "kkt") if c.model.loops else ("aba", "crba", "divide")
    for method in methods:
        yield kn.forward_dynamics(c.model, c.q, c.v, c.tau, c.f_ext, method=method), wanted


@row("derivatives.inverse_dynamics")
def inverse_derivatives(c: Case) -> Iterator[Pair]:
    slopes = kn.derivatives.inverse_dynamics(c.model, c.q, c.v, c.a, c.f_ext)
    yield from by_complex_steps(kn.inverse_dynamics, slopes, c, c.a)


@row("derivatives.forward_dynamics")
def forward_derivatives(c: Case) -> Iterator[Pair]:
    slopes = kn.derivatives.forward_dynamics(c.model, c.q, c.v, c.tau, c.f_ext)
    yield from by_complex_steps(kn.forward_dynamics, slopes, c, c.tau)


def by_complex_steps(function: Any, slopes: Any, c: Case, x: Any) -> Iterator[Pair]:
    """Derivatives in q, v and a third argument beside complex steps along the velocity variables."""
    units = STEP * np.eye(c.model.nv)
    moved = [
        [(c.q + 1j * kn.velocity_to_qdot(c.model, c.q, e), c.v, x) for e in units],
        [(c.q, c.v + 1j * e, x) for e in units],
        [(c.q, c.v, x + 1j * e) for e in units],
    ]
    for slope, states in zip(slopes, moved, strict=True):
        yield slope, np.array([function(c.model, *s, c.f_ext).imag / STEP for s in states]).T


@row("coriolis_matrix")
def coriolis_matrix(c: Case) -> Iterator[Pair]:
    C = kn.coriolis_matrix(c.model, c.q, c.v)
    still = c.tree.with_gravity((0, 0, 0)).without_friction()
    still = still.replace(joints=tuple(dataclasses.replace(j, stiffness=()) for j in still.joints))
    yield C @ c.v, c.G.T @ kn.inverse_dynamics(still, c.Q, c.V, c.g)
    skew = rate_along(lambda q: kn.mass_matrix.reference(c.model, q), c) - 2 * C
    yield skew, -skew.T


simple(
    "coriolis_force",
    lambda c: kn.coriolis_force(c.model, c.q, c.v),
    lambda c: c.G.T @ (kn.coriolis_force(c.tree, c.Q, c.V) + kn.mass_matrix(c.tree, c.Q) @ c.g),
)
simple(
    "bias_force",
    lambda c: kn.bias_force(c.model, c.q, c.v, c.f_ext),
    lambda c: c.G.T @ (kn.bias_force(c.tree, c.Q, c.V, c.f_ext) + kn.mass_matrix(c.tree, c.Q) @ c.g),
)
simple("gravity_force", lambda c: kn.gravity_force(c.model, c.q), lambda c: c.G.T @ kn.gravity_force(c.tree, c.Q))
simple(
    "joint_passive_force",
    lambda c: kn.joint_passive_force(c.model, c.q, c.v),
    lambda c: c.G.T @ kn.joint_passive_force(c.tree, c.Q, c.V),
)
simple("mass_matrix", lambda c: kn.mass_matrix(c.model, c.q), lambda c: c.H)
simple("mass_matrix_inverse", lambda c: kn.mass_matrix_inverse(c.model, c.q), lambda c: np.linalg.inv(c.H))
simple(
    "mass_matrix_inverse_product",
    lambda c: kn.mass_matrix_inverse_product(c.model, c.q, c.tau),
    lambda c: np.linalg.solve(c.H, c.tau),
)
simple(
    "couplings.forces",
    lambda c: kn.couplings.forces(c.model, c.q, c.v, c.constrained(c.tau)[0][c.lead]),
    lambda c: c.constrained(c.tau)[1][: len(c.follow)],
)


@row("hybrid_dynamics")
def hybrid_dynamics(c: Case) -> Iterator[Pair]:
    """One joint's acceleration is given, and the forces of all others."""
    k = c.model.v_slices[c.model.joint_index(c.lockable)].start
    for method in ("aba", "crba"):
        a, tau = kn.hybrid_dynamics(c.model, c.q, c.v, c.tau, c.a, c.f_ext, prescribed=[c.lockable], method=method)
        yield (a[k], *np.delete(tau, k)), (c.a[k], *np.delete(c.tau, k))
        yield c.constrained(tau, c.f_ext)[0], c.G @ a + c.g


@row("drive_forces")
def drive_forces(c: Case) -> Iterator[Pair]:
    """A joint that moves by a law of time needs the force with which the explicit system has that acceleration."""
    name = c.drivable
    k = c.model.v_slices[c.model.joint_index(name)].start
    bare = dataclasses.replace(
        c, model=edit.with_joint(c.model, name, damping=0, friction=0, rotor_inertia=0, stiffness=0)
    )
    kind = c.model.joints[c.model.joint_index(name)].type
    law = Polynomial((c.q[k + c.quaternion], c.v[k], c.a[k] / 2))
    driven = edit.with_joint(bare.model, name, type=Driven(kind, law))
    others = (np.delete(c.q, k + c.quaternion), np.delete(c.v, k), np.delete(c.tau, k))
    found = kn.drive_forces(driven, 0.0, *others)
    zero, one = (bare.constrained(np.insert(others[2], k, x))[0][c.lead][k] for x in (0.0, 1.0))
    yield found[name], [(c.a[k] - zero) / (one - zero)]


def _mobility(c: Case) -> NDArray[Any]:
    """The acceleration of the frame that each unit wrench on it adds, in the explicit system."""
    J, without = kn.jacobian(c.tree, c.Q, c.frame), c.constrained(c.tau)[0]
    forces = (kn.external_force(c.tree, c.Q, c.frame, e, "body") for e in np.eye(6))
    return np.stack([J @ (c.constrained(c.tau, f)[0] - without) for f in forces], axis=-1)


simple(
    "operational_space_inverse_inertia",
    lambda c: kn.operational_space_inverse_inertia(c.model, c.q, c.frame),
    _mobility,
)
simple(
    "operational_space_inertia",
    lambda c: kn.operational_space_inertia(c.model, c.q, c.frame),
    lambda c: np.linalg.inv(_mobility(c)),
)
simple(
    "identification.regressor",
    lambda c: kn.identification.regressor(c.model, c.q, c.v, c.a) @ kn.identification.inertial_parameters(c.model),
    lambda c: c.G.T @ kn.inverse_dynamics(bare(c.tree), c.Q, c.V, c.A),
)
simple(
    "identification.inertial_parameters",
    lambda c: kn.identification.inertial_parameters(c.model),
    lambda c: kn.identification.inertial_parameters(c.tree),
)


@row("identification.base_parameters")
def base_parameters(c: Case) -> Iterator[Pair]:
    found = kn.identification.base_parameters(c.model)
    Y = kn.identification.regressor(c.model, c.q, c.v, c.a)
    yield Y[:, list(found.columns)] @ found.matrix, c.G.T @ kn.identification.regressor(c.tree, c.Q, c.V, c.A)


ALL = ("friction", "limits", "rotor_inertia")


@row("maximal")
def maximal(c: Case) -> Iterator[Pair]:
    yield kn.maximal(c.model, drop=ALL).nv, 6 * c.model.nb


@row("maximal_state")
def maximal_state(c: Case) -> Iterator[Pair]:
    yield from zip(kn.maximal_state(c.model, c.q, c.v), kn.maximal_state(c.tree, c.Q, c.V), strict=True)


@row("reduced_state")
def reduced_state(c: Case) -> Iterator[Pair]:
    kept = [name for i, name in enumerate(c.model.body_names) if not _is_coupled(c, i)]
    there = kn.maximal_state(c.model, c.q, c.v, bodies=kept)
    _, v = kn.reduced_state(c.model, *there, bodies=kept)
    yield v, c.v


def _is_coupled(c: Case, i: int) -> bool:
    return any(i in (coupling.joint, *coupling.sources) for coupling in c.model.couplings)


@row("maximal_forces")
def maximal_forces(c: Case) -> Iterator[Pair]:
    _, V = kn.maximal_state(c.model, c.q, c.v)
    yield kn.maximal_forces(c.model, c.q, c.tau) @ V, c.tau @ c.v


@row("loops.sparse_dynamics")
def sparse_dynamics(c: Case) -> Iterator[Pair]:
    yield kn.loops.sparse_dynamics(c.model, c.q, c.v, c.tau), kn.forward_dynamics(c.model, c.q, c.v, c.tau)
