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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ONE, ZERO, less, select
from knuckle.spatial import Matrix, Subspace, Vector

from .constraint_rank import Part, parts
from .orthogonal_constraints import nearest, of_rows

Key = tuple[int, int]
"""A joint and one of its variables; or, below −1, a body at which loops were closed, and a number."""


class LoopRows(NamedTuple):
    """The constraints of a loop: forces on its two bodies, in their coordinates, and the sizes of terms by joint."""

    successor: int
    predecessor: int
    T_successor: Subspace
    T_predecessor: Subspace
    sizes: dict[int, Matrix]
    is_alone: bool
    """Whether it shares no joint with another loop."""


class Side(NamedTuple):
    """One side of a loop, as far as some body, or both where they meet."""

    T: Subspace
    G: Subspace
    y: dict[Key, Vector]
    """For each variable passed, an entry of every row: Y is their product in the metric of the weights."""
    size: Vector
    """The squares of the terms of y, in the same metric."""


class Passed(NamedTuple):
    """A loop at a joint that it passes: (T + G)ᵀS, and G beyond the joint."""

    y: Matrix
    G: Subspace


class Closed(NamedTuple):
    """Loops closed at a body: their rows made independent, G of these, and their ratios in rows of loops that go on."""

    loops: tuple[int, ...]
    parts: list[Part]
    G: list[Any]
    ratios: dict[int, list[list[Any]]]


@dataclass(frozen=True)
class ArticulatedLoops:
    """A mechanism in some position, its loops closed: `articulated` makes it, `response` says how it accelerates."""

    model: Model
    loops: Sequence[LoopRows]
    X: dict[int, Any]
    S: dict[int, Subspace]
    U: dict[int, Subspace]
    D: dict[int, Matrix]
    Ia: dict[int, Any]
    passed: dict[int, dict[int, Passed]]
    closed: dict[int, Closed]

    def response(
        self, k: Sequence[Vector], tau: PerJoint, p: PerBody, c: PerBody, a_root: Any
    ) -> tuple[dict[int, Vector], list[Vector]]:
        """(q̈, λ) with H q̈ = τ − C + Kᵀλ and K q̈ = k, for bias forces p, accelerations c and that of the base."""
        X, S, U, D = self.X, self.S, self.U, self.D
        pA, A, u, a = dict(p), {ROOT: a_root}, dict[int, Vector](), dict[int, Vector]()
        b: dict[int, dict[int, Vector]] = {}
        rest: dict[int, list[Any]] = {}
        for i, parent, _ in self.model.inward():
            if i in self.closed:
                rest[i] = self._rest(self.closed[i], k, b[i])
                pA[i] = pA[i] - self._push(self.closed[i], rest[i])
            u[i] = tau[i] - S[i].T @ pA[i]
            for loop, (y, G) in self.passed[i].items():
                so_far = b.get(i, {}).get(loop, Vector.zero(y.nrows)) + y @ (D[i] @ u[i]) + G.T @ c[i]
                others = b.setdefault(parent, {})
                others[loop] = others[loop] + so_far if loop in others else so_far
            if parent != ROOT:
                pA[parent] = pA[parent] + X[i].T @ (pA[i] + self.Ia[i] @ c[i] + U[i] @ (D[i] @ u[i]))
        lam: dict[int, Vector] = {}
        if ROOT in self.closed:
            lam |= self._forces(self.closed[ROOT], self._rest(self.closed[ROOT], k, b[ROOT]), a_root, lam)
        for i, parent, _ in self.model.outward():
            ap = X[i] @ A[parent] + c[i]
            force = sum((y.T @ lam[loop] for loop, (y, _) in self.passed[i].items()), u[i])
            a[i] = D[i] @ (force - U[i].T @ ap)
            A[i] = ap + S[i] @ a[i]
            if i in self.closed:
                lam |= self._forces(self.closed[i], rest[i], A[i], lam)
        return a, [lam[loop] for loop in range(len(self.loops))]

    def _rest(self, closed: Closed, k: Sequence[Vector], b: dict[int, Vector]) -> list[Any]:
        """k − b of the independent rows of loops that close; b of those that go on is put in order."""
        rows = Vector(x for loop in closed.loops for x in k[loop] - b[loop])
        if len(closed.loops) == 1 and self.loops[closed.loops[0]].is_alone:
            rows = nearest(closed.parts, rows, range(len(rows)))
        rest: list[Any] = []
        for part in closed.parts:
            rest.append(rows[part.row] - sum((r * x for r, x in zip(part.ratios, rest, strict=True)), ZERO))
        for loop, ratios in closed.ratios.items():
            b[loop] = b.get(loop, Vector.zero(len(ratios))) + Vector(Vector(row) @ Vector(rest) for row in ratios)
        return rest

    def _push(self, closed: Closed, rest: list[Any]) -> Any:
        """The force of the constraints on a body that does not accelerate."""
        pushes = (g * (part.reciprocal * x) for part, g, x in zip(closed.parts, closed.G, rest, strict=True))
        return sum(pushes, self.model.no_force)

    def _forces(self, closed: Closed, rest: list[Any], a: Any, lam: dict[int, Vector]) -> dict[int, Vector]:
        """λ of the loops that close at a body with the acceleration a, from that of the loops around it."""
        along: list[Any] = []
        for p, (part, g, x) in enumerate(zip(closed.parts, closed.G, rest, strict=True)):
            others = (row[p] * lam[loop][r] for loop, rows in closed.ratios.items() for r, row in enumerate(rows))
            along.append(part.reciprocal * (x - g.dot(a)) - sum(others, ZERO))
        ends = [0, *accumulate(len(self.loops[loop].T_successor) for loop in closed.loops)]
        whole = of_rows(closed.parts, along, ends[-1])
        return {loop: whole[ends[n] : ends[n + 1]] for n, loop in enumerate(closed.loops)}


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
    X, S, U, D, Ia, passed, closed = {}, {}, {}, {}, {}, {}, {}
    IA: dict[int, Any] = {}
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
        IA[i] = model.algebra.ArticulatedInertia.of(model.I[i])
    sides, closing = _begun(model, loops)
    weights: dict[Key, Any] = {}
    for i, p, _ in model.inward():
        here = sides.pop(i, {})
        if i in closing:
            closed[i], here = _closed(i, closing[i], here, loops, weights, doubt, redundant)
            IA[i] = IA[i] + _held(closed[i], model)
        U[i] = IA[i] @ S[i]
        inertia = S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])
        L = _factor(inertia, i, weights, i in held)
        D[i] = Matrix.zero(len(S[i]), len(S[i])) if i in held else inertia.inverse()
        Ia[i] = IA[i] - U[i].dyadic(D[i])
        passed[i] = {}
        for loop, side in here.items():
            y = (side.T + side.G).T @ S[i]
            passed[i][loop] = Passed(y, side.G - U[i] @ (D[i] @ y.T))
            beyond = _beyond(side, i, passed[i][loop], L, loops[loop].sizes[i], weights)
            _put(sides.setdefault(p, {}), loop, Side(X[i].T @ beyond.T, X[i].T @ beyond.G, beyond.y, beyond.size))
        if p != ROOT:
            IA[p] = IA[p] + X[i].T @ Ia[i] @ X[i]
    if ROOT in closing:
        closed[ROOT], _ = _closed(ROOT, closing[ROOT], sides[ROOT], loops, weights, doubt, redundant)
    return ArticulatedLoops(model, loops, X, S, U, D, Ia, passed, closed)


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


def _put(sides: dict[int, Side], loop: int, side: Side) -> None:
    """A side at a body, where the other one may be already."""
    if loop in sides:
        other = sides[loop]
        side = Side(side.T, side.G + other.G, side.y | other.y, side.size + other.size)
    sides[loop] = side


def _factor(inertia: Matrix, i: int, weights: dict[Key, Any], is_held: bool) -> Matrix:
    """L of the inertia L D Lᵀ at a joint; the weights of its variables are 1/D, of one that is held nothing."""
    L, D = inertia.ldl()
    weights.update(((i, k), ZERO if is_held else ONE / d) for k, d in enumerate(D))
    return L


def _beyond(side: Side, i: int, at: Passed, L: Matrix, terms: Matrix, weights: dict[Key, Any]) -> Side:
    """A side beyond joint i: one more entry L⁻¹(T + G)ᵀS for each variable."""
    columns, size = [at.y.column(k) for k in range(at.y.ncols)], side.size
    for k in range(len(columns)):
        for j in range(k):
            columns[k] = columns[k] - L[k][j] * columns[j]
        s = terms.column(k)
        size = size + (columns[k] * columns[k] + s * s) * weights[i, k]
    return Side(side.T, at.G, side.y | {(i, k): column for k, column in enumerate(columns)}, size)


def _closed(
    i: int,
    closing: tuple[int, ...],
    here: dict[int, Side],
    loops: Sequence[LoopRows],
    weights: dict[Key, Any],
    doubt: Any,
    redundant: bool,
) -> tuple[Closed, dict[int, Side]]:
    """The loops that close at body i solved for their λ, and the others less what these say."""
    keys = list(dict.fromkeys(key for loop in closing for key in here[loop].y))
    rows = [_row(here[loop], r, keys) for loop in closing for r in range(len(here[loop].G))]
    sizes = [x for loop in closing for x in here[loop].size]
    G = [g for loop in closing for g in here[loop].G]
    found = parts(rows, Vector(weights[key] for key in keys), sizes, doubt, redundant)
    own: list[Any] = []
    for part in found:
        own.append(sum((-(g * ratio) for ratio, g in zip(part.ratios, own, strict=True)), G[part.row]))
    made = Closed(closing, found, own, {})
    going: dict[int, Side] = {}
    for loop, side in here.items():
        if loop not in closing:
            going[loop], made.ratios[loop] = _without(side, made, keys)
    return made, _shortened(i, going, weights)


def _row(side: Side, r: int, keys: Iterable[Key]) -> Vector:
    return Vector(side.y[key][r] if key in side.y else ZERO for key in keys)


def _without(side: Side, closed: Closed, keys: list[Key]) -> tuple[Side, list[list[Any]]]:
    """A side less what closed rows say, and the ratios of these, by rows."""
    every = list(dict.fromkeys((*keys, *side.y)))
    G, size, left, ratios = list(side.G), list(side.size), list[Vector](), list[list[Any]]()
    for r in range(len(G)):
        q, row = _row(side, r, every), list[Any]()
        for part, g in zip(closed.parts, closed.G, strict=True):
            ratio = (part.weighted @ q[: len(keys)]) * part.reciprocal
            q = Vector([*(q[: len(keys)] - ratio * part.q), *q[len(keys) :]])
            size[r] = size[r] + ratio * ratio * part.size
            G[r] = G[r] - g * ratio
            row.append(ratio)
        left.append(q)
        ratios.append(row)
    y = {key: Vector(q[n] for q in left) for n, key in enumerate(every)}
    return Side(side.T, Subspace(side.G.vector, G), y, Vector(size)), ratios


def _shortened(i: int, sides: dict[int, Side], weights: dict[Key, Any]) -> dict[int, Side]:
    """The same sides with no more entries than there are rows: their products stay what they are."""
    keys = list(dict.fromkeys(key for side in sides.values() for key in side.y))
    if len(keys) <= sum(len(side.G) for side in sides.values()):
        return sides
    metric = Vector(weights[key] for key in keys)
    basis: list[tuple[Vector, Vector, Any]] = []
    shorter: dict[int, Side] = {}
    for loop, side in sides.items():
        entries: list[list[Any]] = []
        for r in range(len(side.G)):
            q, row = _row(side, r, keys), list[Any]()
            for other, weighted, reciprocal in basis:
                row.append((weighted @ q) * reciprocal)
                q = q - row[-1] * other
            weighted = q * metric
            left = weighted @ q
            positive = less(0, left)
            weights[-2 - i, len(basis)] = left
            basis.append((q, weighted, select(positive, ONE / select(positive, left, ONE), ZERO)))
            entries.append([*row, ONE])
        y = {(-2 - i, n): Vector(row[n] if n < len(row) else ZERO for row in entries) for n in range(len(basis))}
        shorter[loop] = side._replace(y=y)
    return shorter


def _held(closed: Closed, model: Model) -> Any:
    """Σ G Gᵀ / y·y: the inertia that constraints add to a body."""
    return Subspace(type(model.no_force), closed.G).dyadic(Matrix.diagonal(part.reciprocal for part in closed.parts))
