"""Contact where loops are closed and joints follow others: what these take from the response to impulses.

The constraints K v̇ = k are rows like those of contacts, with impulses of any sign. Made orthogonal in the metric of
H⁻¹ (RBDA 8.37-8.41), they are taken off the rows of contacts, which then act on the constrained mechanism:
tᵀ(H⁻¹ − H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺K H⁻¹)t. What depends on other constraints says nothing, by the same measure as in forward
dynamics (`loops.constraint_rank`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from knuckle.algorithms.dynamics.inertia_inverse import Factors
from knuckle.algorithms.loops import constraint_rank, loop_constraints
from knuckle.algorithms.loops.constraint_rank import ReducedRow
from knuckle.algorithms.types import PerJoint
from knuckle.model import Model, reduction
from knuckle.scalar import ONE, ZERO, absolute
from knuckle.spatial import Vector

from .contact_rows import Roots, UnitImpulse, whitened_row


class Tie(NamedTuple):
    """A constraint: its force at the joints of the tree, and the sizes of the terms of that."""

    row: UnitImpulse
    sizes: Mapping[tuple[int, int], Any]


def ties(model: Model, q: Any, at: PerJoint) -> tuple[list[Tie], Any]:
    """The rows of followers and of loops, and the square of the part of their terms that says nothing."""
    found, openness = list[Tie](), ZERO
    where = {k: (i, m) for i, s in enumerate(model.v_slices) for m, k in enumerate(range(s.start, s.stop))}
    G = reduction.rows(model, q) if model.couplings else ()
    for c in model.couplings:
        entries = {(c.joint, 0): ONE} | {where[k]: -ratio for k, ratio in G[c.joint][0].items()}
        found.append(Tie(UnitImpulse({}, entries), {key: absolute(x) for key, x in entries.items()}))
    for loop in model.loops:
        closure = loop_constraints.closure(model, at, loop)
        K = loop_constraints.loop_jacobian(model, at, loop, closure.X, closure.T)
        sizes, opened = loop_constraints.loop_sizes(model, at, loop, closure, closure.T)
        openness = openness + sum(opened, ZERO)
        for n in range(len(closure.T)):
            entries, terms = (
                {(j, k): x for j, block in blocks.items() for k, x in enumerate(block[n])} for blocks in (K, sizes)
            )
            found.append(Tie(UnitImpulse({}, entries), terms))
    return found, constraint_rank.doubt_of(openness)


def orthogonal_ties(
    model: Model, factors: Factors, roots: Roots, rows: list[Tie], doubt: Any, redundant: bool
) -> list[ReducedRow]:
    """The constraints made orthogonal in the metric of H⁻¹, as whitened rows."""
    Y = [_flat(model, whitened_row(model, factors, roots, tie.row)) for tie in rows]
    sizes = [y @ y + _squared(roots, tie.sizes) for y, tie in zip(Y, rows, strict=True)]
    ones = Vector([ONE] * sum(joint.nv for _, _, joint in model.outward()))
    return constraint_rank.parts(Y, ones, sizes, doubt, redundant)


def _squared(roots: Roots, sizes: Mapping[tuple[int, int], Any]) -> Any:
    scaled = (x * roots.inverse[i][k] for (i, k), x in sizes.items())
    return sum((x * x for x in scaled), ZERO)


def untied(model: Model, parts: list[ReducedRow], y: Mapping[int, Vector]) -> dict[int, Vector]:
    """A whitened row less what constraints take: what is left acts on the constrained mechanism."""
    flat = _flat(model, y)
    for part in parts:
        flat = flat - ((part.q @ flat) * part.reciprocal) * part.q
    found, n = dict[int, Vector](), 0
    for i, _, joint in model.outward():
        found[i] = Vector(flat[n : n + joint.nv])
        n += joint.nv
    return found


def _flat(model: Model, y: Mapping[int, Vector]) -> Vector:
    return Vector(x for i in range(model.nb) for x in y[i])
