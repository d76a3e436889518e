"""The position that brings a joint nearest to a given transform, for joints without a closed form.

Damped Gauss-Newton from several places, and the best of what they find. Every choice is a `select`, so each lane of an
array takes its own way, and symbols record one text for all.
"""

from __future__ import annotations

from typing import Any

from knuckle.scalar import less, select
from knuckle.spatial import Matrix, Transform, Vector, called, repeated, rotation
from knuckle.spatial.three import matmul, matvec, sub, transpose

from .base import Joint

_STARTS_PER_ANGLE, _MOST_STARTS = 6, 18
_FIRST_STEPS, _LAST_STEPS = 5, 16
_FLOOR = 1e-15


def nearest(joint: Joint, X: Transform, starts: int | None = None) -> Vector:
    """q that minimises φ² + p², for the angle φ and the distance p by which X_J(q) misses X, in radians and metres."""
    if joint.nv == 0:
        return joint.neutral()
    if starts is None:
        starts = 1 + min(_STARTS_PER_ANGLE * sum(unit != "m" for unit in joint.v_units), _MOST_STARTS)

    def descended(q: Vector) -> Any:
        return _Search.begin(joint, X, q).descend(_FIRST_STEPS).parts

    from_place = called(descended, is_general=True)
    first, *others = _places(joint, starts)
    best = _Search(joint, X, *from_place(first))
    for q in others:
        best = best.or_better(_Search(joint, X, *from_place(q)))
    return best.descend(_LAST_STEPS).q


def _places(joint: Joint, count: int) -> list[Vector]:
    """Positions spread evenly over the joint's range, by an additive recurrence; the first is its middle."""
    ratio = 1.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (joint.nv + 1))
    steps = [ratio ** -(j + 1) for j in range(joint.nv)]
    return [joint._spread([(0.5 + k * step) % 1.0 for step in steps]) for k in range(count)]


def _missing(X: Transform, XJ: Transform) -> Vector:
    """(φ, p): the turn and the distance from X_J to X, in successor coordinates."""
    return Vector([*rotation.log(matmul(X.E, transpose(XJ.E))), *matvec(XJ.E, sub(X.r, XJ.r))])


class _Search:
    """One place on the way: the position, what is left of X there (φ, p), its square and the damping."""

    __slots__ = ("X", "cost", "damping", "joint", "left", "q")

    def __init__(self, joint: Joint, X: Transform, q: Vector, left: Vector, cost: Any, damping: Any) -> None:
        self.joint, self.X, self.q, self.left, self.cost, self.damping = joint, X, q, left, cost, damping

    @classmethod
    def begin(cls, joint: Joint, X: Transform, q: Vector) -> _Search:
        left = _missing(X, joint.transform(q))
        cost = left @ left
        return cls(joint, X, Vector(x + 0 * cost for x in q), left, cost, 1 + 0 * cost)

    def step(self) -> _Search:
        """(SᵀS + μ) dq = Sᵀ (φ, p), which is the slope of the cost, with μ of its size: convergence stays quadratic."""
        S = self.joint.subspace(self.q).matrix
        shift = Matrix.diagonal([self.damping * self.cost + _FLOOR] * self.joint.nv)
        dq = (S.T @ S + shift).solve(S.T @ self.left)
        q = self.joint.integrate(self.q, dq)
        left = _missing(self.X, self.joint.transform(q))
        return _Search(self.joint, self.X, q, left, left @ left, self.damping)

    def descend(self, steps: int) -> _Search:
        """Steps that are taken only where they lower the cost."""

        def lower(go: Any, q: Vector, left: Vector, cost: Any, damping: Any) -> Any:
            here = _Search(self.joint, self.X, q, left, cost, damping)
            there = here.step()
            better = less(there.cost, here.cost)
            damping = select(better, here.damping / 8, here.damping * 4)
            return go, *here._choose(better, there, damping).parts

        _, *parts = repeated(lower, (1, *self.parts), steps)
        return _Search(self.joint, self.X, *parts)

    @property
    def parts(self) -> tuple[Vector, Vector, Any, Any]:
        """What changes on the way."""
        return self.q, self.left, self.cost, self.damping

    def or_better(self, other: _Search) -> _Search:
        better = less(other.cost, self.cost)
        return self._choose(better, other, select(better, other.damping, self.damping))

    def _choose(self, better: Any, other: _Search, damping: Any) -> _Search:
        def pick(a: Vector, b: Vector) -> Vector:
            return Vector(select(better, x, y) for x, y in zip(a, b, strict=True))

        left, cost = pick(other.left, self.left), select(better, other.cost, self.cost)
        return _Search(self.joint, self.X, pick(other.q, self.q), left, cost, damping)
