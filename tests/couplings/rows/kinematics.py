"""Kinematics, energy and momentum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn

from ..cases import Case
from .base import Pair, Rows, rate_along

ROWS = Rows()
row, simple = ROWS.row, ROWS.simple

simple("pose", lambda c: kn.pose(c.model, c.q, c.frame), lambda c: kn.pose(c.tree, c.Q, c.frame))
simple("body_poses", lambda c: kn.body_poses(c.model, c.q), lambda c: kn.body_poses(c.tree, c.Q))
simple("velocity", lambda c: kn.velocity(c.model, c.q, c.v, c.frame), lambda c: kn.velocity(c.tree, c.Q, c.V, c.frame))
simple(
    "acceleration",
    lambda c: kn.acceleration(c.model, c.q, c.v, c.a, c.frame, "world", classical=True),
    lambda c: kn.acceleration(c.tree, c.Q, c.V, c.A, c.frame, "world", classical=True),
)
simple("jacobian", lambda c: kn.jacobian(c.model, c.q, c.frame), lambda c: kn.jacobian(c.tree, c.Q, c.frame) @ c.G)


@row("jacobian_rate")
def jacobian_rate(c: Case) -> Iterator[Pair]:
    for words in ("body", "world", "aligned"):
        found = kn.jacobian_rate(c.model, c.q, c.v, c.frame, words)
        J, rate = kn.jacobian(c.tree, c.Q, c.frame, words), kn.jacobian_rate(c.tree, c.Q, c.V, c.frame, words)
        yield found, rate @ c.G + J @ c.G_rate
        yield found, rate_along(lambda q, words=words: kn.jacobian.reference(c.model, q, c.frame, words), c)


simple(
    "jacobian_products.product",
    lambda c: kn.jacobian_products.product(c.model, c.q, c.tau, c.frame, "aligned"),
    lambda c: kn.jacobian(c.tree, c.Q, c.frame, "aligned") @ c.G @ c.tau,
)
simple(
    "jacobian_products.transpose_product",
    lambda c: kn.jacobian_products.transpose_product(c.model, c.q, c.f_ext[0], c.frame),
    lambda c: c.G.T @ kn.jacobian(c.tree, c.Q, c.frame).T @ c.f_ext[0],
)


def _rate_on_tree(c: Case, frame: str, words: Any = "body") -> NDArray[Any]:
    J, rate = kn.jacobian(c.tree, c.Q, frame, words), kn.jacobian_rate(c.tree, c.Q, c.V, frame, words)
    return rate @ c.G + J @ c.G_rate


simple(
    "jacobian_products.rate_product",
    lambda c: kn.jacobian_products.rate_product(c.model, c.q, c.v, c.tau, c.frame, "world"),
    lambda c: _rate_on_tree(c, c.frame, "world") @ c.tau,
)
simple(
    "jacobian_products.body_jacobian",
    lambda c: kn.jacobian_products.body_jacobian(c.model, c.q),
    lambda c: np.concatenate([kn.jacobian(c.tree, c.Q, body) @ c.G for body in c.tree.body_names]),
)
simple(
    "jacobian_products.body_jacobian_rate",
    lambda c: kn.jacobian_products.body_jacobian_rate(c.model, c.q, c.v),
    lambda c: np.concatenate([_rate_on_tree(c, body) for body in c.tree.body_names]),
)
simple(
    "jacobian_products.body_product",
    lambda c: kn.jacobian_products.body_product(c.model, c.q, c.tau),
    lambda c: np.stack([kn.jacobian(c.tree, c.Q, body) @ c.G @ c.tau for body in c.tree.body_names]),
)
simple(
    "jacobian_products.body_rate_product",
    lambda c: kn.jacobian_products.body_rate_product(c.model, c.q, c.v, c.tau),
    lambda c: np.stack([_rate_on_tree(c, body) @ c.tau for body in c.tree.body_names]),
)
simple(
    "jacobian_products.body_transpose_product",
    lambda c: kn.jacobian_products.body_transpose_product(c.model, c.q, c.f_ext),
    lambda c: sum(
        c.G.T @ kn.jacobian(c.tree, c.Q, body).T @ f for body, f in zip(c.tree.body_names, c.f_ext, strict=True)
    ),
)


def _recoiling(c: Case) -> NDArray[Any]:
    """With no momentum the hull moves as A₀ v₀ + A q̇ = 0 says."""
    J, A = kn.jacobian(c.tree, c.Q, c.frame) @ c.G, kn.centroidal_matrix(c.tree, c.Q) @ c.G
    return J[:, 6:] - J[:, :6] @ np.linalg.solve(A[:, :6], A[:, 6:])


simple("floating_jacobian", lambda c: kn.floating_jacobian(c.model, c.q, c.frame), _recoiling)
simple(
    "external_force",
    lambda c: kn.external_force(c.model, c.q, c.frame, c.f_ext[0]),
    lambda c: kn.external_force(c.tree, c.Q, c.frame, c.f_ext[0]),
)
simple("kinetic_energy", lambda c: kn.kinetic_energy(c.model, c.q, c.v), lambda c: kn.kinetic_energy(c.tree, c.Q, c.V))
simple("potential_energy", lambda c: kn.potential_energy(c.model, c.q), lambda c: kn.potential_energy(c.tree, c.Q))
simple("total_mass", lambda c: kn.total_mass(c.model), lambda c: kn.total_mass(c.tree))
simple("center_of_mass", lambda c: kn.center_of_mass(c.model, c.q), lambda c: kn.center_of_mass(c.tree, c.Q))
simple("momentum", lambda c: kn.momentum(c.model, c.q, c.v), lambda c: kn.momentum(c.tree, c.Q, c.V))
simple(
    "centroidal_momentum",
    lambda c: kn.centroidal_momentum(c.model, c.q, c.v),
    lambda c: kn.centroidal_momentum(c.tree, c.Q, c.V),
)
simple(
    "centroidal_matrix", lambda c: kn.centroidal_matrix(c.model, c.q), lambda c: kn.centroidal_matrix(c.tree, c.Q) @ c.G
)
simple(
    "centroidal_bias",
    lambda c: kn.centroidal_bias(c.model, c.q, c.v),
    lambda c: kn.centroidal_bias(c.tree, c.Q, c.V) + kn.centroidal_matrix(c.tree, c.Q) @ c.g,
)
