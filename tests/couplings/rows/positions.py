"""Positions and the manifold they lie on."""

from __future__ import annotations

from collections.abc import Iterator

import knuckle as kn

from ..cases import Case
from .base import Pair, Rows

ROWS = Rows()
row, simple = ROWS.row, ROWS.simple

simple("neutral", lambda c: kn.neutral(c.model), lambda c: kn.neutral(c.tree)[c.lead_q])
simple("integrate", lambda c: kn.integrate(c.model, c.q, c.v), lambda c: kn.integrate(c.tree, c.Q, c.V)[c.lead_q])
simple(
    "difference",
    lambda c: kn.difference(c.model, c.q, kn.integrate(c.model, c.q, 0.1 * c.v)),
    lambda c: kn.difference(c.tree, c.Q, c.to_tree(kn.integrate(c.tree, c.Q, 0.1 * c.V)[c.lead_q]))[c.lead],
)
simple(
    "velocity_to_qdot",
    lambda c: kn.velocity_to_qdot(c.model, c.q, c.v),
    lambda c: kn.velocity_to_qdot(c.tree, c.Q, c.V)[c.lead_q],
)
simple(
    "difference_rate",
    lambda c: kn.difference_rate(c.model, 0.1 * c.v, c.v),
    lambda c: kn.difference_rate(c.tree, 0.1 * c.V, c.V)[c.lead],
)
simple("couplings.tree_positions", lambda c: kn.couplings.tree_positions(c.model, c.q), lambda c: c.Q)
simple("couplings.matrix", lambda c: kn.couplings.matrix(c.model, c.q), lambda c: c.G)
simple("couplings.bias", lambda c: kn.couplings.bias(c.model, c.q, c.v), lambda c: c.g)


@row("random_configuration")
def random_configuration(c: Case) -> Iterator[Pair]:
    q = kn.random_configuration(c.model, 7)
    yield kn.couplings.tree_positions(c.model, q), c.to_tree(q)


@row("normalize")
def normalize(c: Case) -> Iterator[Pair]:
    q, v = kn.normalize(c.model, c.q, c.v)
    Q, V = kn.normalize(c.tree, c.Q, c.V)
    yield q, Q[c.lead_q]
    yield v, V[c.lead]
