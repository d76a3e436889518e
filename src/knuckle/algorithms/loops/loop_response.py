"""How a mechanism accelerates whose loops are closed on the way to the base (`articulated_loops`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Subspace, Vector

from .loop_sides import Closed, LoopRows, Passed
from .orthogonal_constraints import nearest, of_rows


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
        return sum(pushes, self.model.zero_force)

    def _forces(self, closed: Closed, rest: list[Any], a: Any, lam: dict[int, Vector]) -> dict[int, Vector]:
        """λ of the loops that close at a body with the acceleration a, from that of the loops around it."""
        along: list[Any] = []
        for p, (part, g, x) in enumerate(zip(closed.parts, closed.G, rest, strict=True)):
            others = (row[p] * lam[loop][r] for loop, rows in closed.ratios.items() for r, row in enumerate(rows))
            along.append(part.reciprocal * (x - g.dot(a)) - sum(others, ZERO))
        counts = [len(self.loops[loop].T_successor) for loop in closed.loops]
        whole = of_rows(closed.parts, along, sum(counts))
        return {loop: whole[sum(counts[:n]) : sum(counts[: n + 1])] for n, loop in enumerate(closed.loops)}
