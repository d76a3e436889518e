"""Closed loops by the articulated-body algorithm: every loop is closed on the way in, at the body where its ends meet.

The constraint forces λ of a loop act on the two bodies that it joins and on no other. On the way to the base each side
of the loop brings along what the unknown λ will do, as it brings along what the unknown acceleration does (RBDA 7.2):

    f = Iᴬ a + pᴬ − (T + G) λ         the force that a body needs
    Gᵀ a + Y λ + b                    what the joints so far add to K q̈

T are the constraint forces themselves, and G is what articulation takes off them. Where both sides meet, T vanishes,
and the constraints can be solved for λ: they become inertia and bias force of that body. The work grows with the number
of bodies and loops, as long as few loops surround each other. Rows that say nothing new are told by `constraint_rank`,
on vectors y whose products are Y: no condition is squared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Subspace, Vector

from .loop_response import ArticulatedLoops
from .loop_sides import Closed, Key, LoopRows, Passed, Side, beyond, closed, put


def articulated(
    model: Model,
    q: PerJoint,
    loops: Sequence[LoopRows],
    doubt: Any,
    *,
    redundant: bool = False,
    held: frozenset[int] = frozenset(),
) -> ArticulatedLoops:
    """Articulated inertias (RBDA table 7.1), with every loop closed at the body where its sides meet.

    Joints that are held do not give way to any force, as if their inertia had no end.
    """
    X, S, U, D, Ia, passed, solved = {}, {}, {}, {}, {}, {}, {}
    IA: dict[int, Any] = {}
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
        IA[i] = model.algebra.ArticulatedInertia.of(model.I[i])
    sides, closing = _begun(model, loops)
    weights: dict[Key, Any] = {}
    for i, p, _ in model.inward():
        here = sides.pop(i, {})
        if i in closing:
            solved[i], here = closed(i, closing[i], here, loops, weights, doubt, redundant)
            IA[i] = IA[i] + _held(solved[i], model)
        U[i] = IA[i] @ S[i]
        inertia = S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])
        L = _factor(inertia, i, weights, i in held)
        D[i] = Matrix.zero(len(S[i]), len(S[i])) if i in held else inertia.inverse()
        Ia[i] = IA[i] - U[i].dyadic(D[i])
        passed[i] = {}
        for loop, side in here.items():
            y = (side.T + side.G).T @ S[i]
            passed[i][loop] = Passed(y, side.G - U[i] @ (D[i] @ y.T))
            ahead = beyond(side, i, passed[i][loop], L, loops[loop].sizes[i], weights)
            put(sides.setdefault(p, {}), loop, Side(X[i].T @ ahead.T, X[i].T @ ahead.G, ahead.y, ahead.size))
        if p != ROOT:
            IA[p] = IA[p] + X[i].T @ Ia[i] @ X[i]
    if ROOT in closing:
        solved[ROOT], _ = closed(ROOT, closing[ROOT], sides[ROOT], loops, weights, doubt, redundant)
    return ArticulatedLoops(model, loops, X, S, U, D, Ia, passed, solved)


def _begun(model: Model, loops: Sequence[LoopRows]) -> tuple[dict[int, dict[int, Side]], dict[int, tuple[int, ...]]]:
    """The sides of loops at their bodies, and the loops that close at each body."""
    sides: dict[int, dict[int, Side]] = {}
    closing: dict[int, tuple[int, ...]] = {}
    for number, loop in enumerate(loops):
        ours, theirs = model.ancestors(loop.successor), model.ancestors(loop.predecessor)
        meet = next((j for j in ours if j in theirs), ROOT)
        closing[meet] = (*closing.get(meet, ()), number)
        for body, T in ((loop.successor, loop.T_successor), (loop.predecessor, -loop.T_predecessor)):
            if body != meet:
                side = Side(T, Subspace.zero(T.vector, len(T)), {}, Vector.zero(len(T)))
                sides.setdefault(body, {})[number] = side
    return sides, closing


def _factor(inertia: Matrix, i: int, weights: dict[Key, Any], is_held: bool) -> Matrix:
    """L of the inertia L D Lᵀ at a joint; the weights of its variables are 1/D, of one that is held nothing."""
    L, D = inertia.ldl()
    weights.update(((i, k), ZERO if is_held else ONE / d) for k, d in enumerate(D))
    return L


def _held(at: Closed, model: Model) -> Any:
    """Σ G Gᵀ / y·y: the inertia that constraints add to a body."""
    return Subspace(model.algebra.Force, at.G).dyadic(Matrix.diagonal(part.reciprocal for part in at.parts))
