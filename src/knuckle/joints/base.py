"""What every joint gives (RBDA 3.5, 4.4): where it is, how it may move, how its coordinates change."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from knuckle.scalar import ZERO, Dual
from knuckle.spatial import Force, Inertia, Matrix, Motion, Subspace, Transform, Vector, lie
from knuckle.spatial.linear.elimination import solve
from knuckle.spatial.three import matmul, matvec, transpose, unskew


class JointMotion(NamedTuple):
    """What the book's jcalc returns: X_J, S, v_J and c_J, in successor coordinates."""

    X: Any
    S: Any
    v: Any
    c: Any


class JointSlopes(NamedTuple):
    """How what a joint gives changes along its variables, in successor coordinates.

    Attributes:
        S: ∂S/∂q, a subspace for each variable.
        v: ∂v_J/∂q.
        a: ∂(S a + c_J)/∂q.
        c: ∂c_J/∂v.
    """

    S: list[Any]
    v: Any
    a: Any
    c: Any


class Joint(ABC):
    """A joint from a predecessor frame to a successor frame. Subclasses are frozen dataclasses.

    A joint has to say its units, `_q` and `_v` (which fix `nq` and `nv`), and its `transform`. Everything else follows
    from that by exact differentiation, and is overridden where a closed form is known. A joint whose velocity variables
    are not the rates of its position variables says also `rate`, `integrate` and `difference`; if its positions are not
    at rest in zero, `neutral` and `random`.
    """

    _q: ClassVar[tuple[str, ...]] = ()
    _v: ClassVar[tuple[str, ...]] = ()
    _symmetrical: ClassVar[bool] = False

    @property
    def q_units(self) -> tuple[str, ...]:
        """The unit of each position variable: "rad", "m" or "1"."""
        return self._q

    @property
    def v_units(self) -> tuple[str, ...]:
        """The unit of each velocity variable, before "/s"."""
        return self._v

    @property
    def nq(self) -> int:
        """Number of position variables."""
        return len(self.q_units)

    @property
    def nv(self) -> int:
        """Number of velocity variables: the joint's freedoms."""
        return len(self.v_units)

    @property
    def symmetrical(self) -> bool:
        """Whether the joint allows the same motions with predecessor and successor exchanged (RBDA 4.1.4)."""
        return self._symmetrical

    @abstractmethod
    def transform(self, q: Vector) -> Transform:
        """X_J: from predecessor to successor coordinates."""

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        """X_J, S, v_J = S v (+ σ) and c_J = S̊ v (+ σ̊) (RBDA 3.32-3.42)."""
        S = self.subspace(q)
        return JointMotion(self.transform(q), S, S @ v, self.subspace_rate(q, v) @ v)

    def subspace(self, q: Vector) -> Subspace:
        """S: the motions the joint allows, one column per velocity variable."""
        units = Matrix.identity(self.nv).rows
        return Subspace(Motion, (_velocity(self.transform(_along(q, self.rate(q, Vector(e))))) for e in units))

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        """S̊: how S changes in successor coordinates while the joint moves with v."""
        S = self.subspace(_along(q, self.rate(q, v)))
        return Subspace(Motion, (Motion.of(map(_derivative, column.components)) for column in S))

    def slopes(self, q: Vector, v: Vector, a: Vector) -> JointSlopes:
        """The derivatives of S, v_J, S a + c_J and c_J; those in q along `rate`, a velocity variable at a time."""
        units = [Vector(e) for e in Matrix.identity(self.nv).rows]
        still_q, still_v = Vector(map(Dual, q)), Vector(map(Dual, v))
        along_q = [self.motion(_along(q, self.rate(q, e)), still_v) for e in units]
        along_v = [self.motion(still_q, _along(v, e)) for e in units]
        S = [Subspace(m.S.vector, map(_slope, m.S)) for m in along_q]
        kind = self.subspace(q).vector
        return JointSlopes(
            S,
            Subspace(kind, (_slope(m.v) for m in along_q)),
            Subspace(kind, (dS @ a + _slope(m.c) for dS, m in zip(S, along_q, strict=True))),
            Subspace(kind, (_slope(m.c) for m in along_v)),
        )

    def rate(self, q: Vector, v: Vector) -> Vector:
        """q̇ for the velocity variables v (RBDA 3.6)."""
        return v

    def velocity(self, q: Vector, rate: Vector) -> Vector | None:
        """v of a change q̇ of the coordinates: `rate` the other way round. None where that is not known.

        What changes nothing but the length of a quaternion moves nothing.
        """
        return rate if type(self).rate is Joint.rate else None

    def neutral(self) -> Vector:
        """The position in which the joint is at rest by convention: zero, or no rotation."""
        return Vector([0.0] * self.nq)

    def random(self, rng: Any) -> Vector:
        """A position drawn from all of the joint's range (angles within ±π, lengths within ±1)."""
        bounds = (math.pi if unit == "rad" else 1.0 for unit in self.q_units)
        return Vector(rng.uniform(-bound, bound) for bound in bounds)

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        """The position after moving with constant velocity variables `dv` for a unit of time."""
        self._needs_plain_rates("integrate")
        return q + dv

    def coasted(
        self, q: Vector, v: Vector, dt: Any, body: Inertia | None = None, turn: Vector | None = None
    ) -> tuple[Vector, Vector]:
        """(q, v) after dt without forces: a body that may go anywhere goes straight ahead, one of no extent if None.

        It turns with v, or with `turn` where that is another velocity. v is in axes of the beginning.
        """
        return self.integrate(q, dt * (v if turn is None else turn)), v

    def coasting(self, v: Vector, dt: Any, body: Inertia | None = None) -> tuple[Vector, Vector]:
        """(v', v̇): the velocity after dt of such a motion, in axes of the beginning, and its rate in axes that turn."""
        return v, Vector.zero(self.nv)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """`dv` with integrate(q0, dv) = q1, the shortest."""
        self._needs_plain_rates("difference")
        return q1 - q0

    def difference_rate(self, u: Vector, v: Vector) -> Vector:
        """u̇ of the displacement u = difference(q0, q) while the joint moves with v: the inverse of dexp.

        It is v where positions are plain coordinates. Otherwise it must not depend on q0, as on a group it does not.
        """
        if type(self).integrate is Joint.integrate:
            return v
        q0 = self.neutral()
        q = self.integrate(q0, u)
        return Vector(map(_derivative, self.difference(q0, _along(q, self.rate(q, v)))))

    def displacement_velocity(self, u: Vector, rate: Vector) -> Vector:
        """v = R⁻¹ u̇ while the displacement u changes by `rate`: `difference_rate` the other way round."""
        return rate if type(self).integrate is Joint.integrate else solve(self._rates(u).T, rate)

    def velocity_force(self, u: Vector, f: Vector) -> Vector:
        """Rᵀf, the force that does with v the work which f does with u̇ = R v (`difference_rate`)."""
        return f if type(self).integrate is Joint.integrate else self._rates(u) @ f

    def displacement_force(self, u: Vector, f: Vector) -> Vector:
        """R⁻ᵀf, the force that does with u̇ the work which f does with v. R must not be far from 1."""
        return f if type(self).integrate is Joint.integrate else solve(self._rates(u), f)

    def _rates(self, u: Vector) -> Matrix:
        """Rᵀ."""
        return Matrix(self.difference_rate(u, Vector(e)) for e in Matrix.identity(self.nv).rows)

    def spring_force(self, rest: Vector, q: Vector, stiffness: Vector) -> Vector:
        """Rᵀ k d for the displacement d = difference(rest, q) with ḋ = R v: the gradient of ½ k d²."""
        d = self.difference(rest, q)
        return self.velocity_force(d, stiffness * d)

    @property
    def has_charts(self) -> bool:
        """Whether the coordinates end somewhere, so that every step has to be followed by `normalized`.

        A joint that gives `normalized` has charts, unless it says otherwise: quaternions need no such call, `integrate`
        keeps them unit. `difference` of a joint with charts takes the short way, across their ends.
        """
        return type(self).normalized is not Joint.normalized

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """The same state with unit quaternions and charts far from their singularities."""
        return q, v

    def alongside(self, q0: Vector, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """The state (q, v) in the chart of q0, from which q is a `difference` away."""
        if not self.has_charts:
            return q, v
        near = self.integrate(q0, self.difference(q0, q))
        return near, self.actuation(near).T @ (self.subspace(q) @ v)

    def constraints(self, q: Vector) -> Subspace:
        """T: the constraint forces, a basis of the forces that do no work on S (RBDA 3.36)."""
        T = self.subspace(q).matrix.complement()
        return Subspace(Force, (Force.of(T.column(j)) for j in range(T.ncols)))

    def actuation(self, q: Vector) -> Subspace:
        """T_a: the active forces, one per velocity variable, with T_aᵀ S = 1 (RBDA 3.35)."""
        S = self.subspace(q).matrix
        T = S @ (S.T @ S).inverse()
        return Subspace(Force, (Force.of(T.column(j)) for j in range(T.ncols)))

    def locate(self, X: Transform) -> Vector:
        """The position that brings X_J nearest to X; exact where the joint can reach X."""
        from .nearest_position import nearest

        return nearest(self, X)

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        """δ and T for a loop joint whose frames are X apart (RBDA 8.25-8.27, table 8.1)."""
        q = self.locate(X)
        T = self.constraints(q)
        return T.T @ lie.displacement(X @ self.transform(q).inverse()), T

    def reversed(self) -> Joint:
        """The same joint seen from the other side: predecessor and successor exchanged (RBDA table 4.2)."""
        from .composed.reversed import Reversed

        return Reversed(self)

    def at_time(self, t: Any) -> Joint:
        """The joint at time t. Only a joint that depends on time changes."""
        return self

    def _spread(self, fractions: Sequence[float]) -> Vector:
        """A place to look from, by one number between 0 and 1 per velocity variable; ½ is the middle of its range."""
        reach = [(2 * f - 1) * math.pi if unit == "rad" else 0.0
                 for f, unit in zip(fractions, self.v_units, strict=True)]  # fmt: skip
        return self.integrate(self.neutral(), Vector(reach))

    def _needs_plain_rates(self, method: str) -> None:
        """q + dv is a position only where v = q̇: refuse to guess for a joint that says otherwise."""
        if self.nq != self.nv or type(self).rate is not Joint.rate:
            name = type(self).__name__
            raise NotImplementedError(f"{name} has velocity variables that are not q̇: {name}.{method} has to be given")


class ConstantSubspace(Joint):
    """A joint whose S does not change in successor coordinates."""

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return Subspace.zero(Motion, self.nv)

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        S = self.subspace(q)
        return JointMotion(self.transform(q), S, S @ v, Motion.zero())

    def slopes(self, q: Vector, v: Vector, a: Vector) -> JointSlopes:
        nothing = Subspace.zero(Motion, self.nv)
        return JointSlopes([nothing] * self.nv, nothing, nothing, nothing)


def _along(q: Vector, direction: Vector) -> Vector:
    return Vector(Dual(x, dx) for x, dx in zip(q, direction, strict=True))


def _derivative(x: Any) -> Any:
    return x.derivative if isinstance(x, Dual) else ZERO


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x


def _slope(x: Any) -> Any:
    """The derivative that a motion of dual numbers carries."""
    return x.of(map(_derivative, x.components))


def _velocity(X: Transform) -> Motion:
    """v with Ẋ = −v × X (RBDA 2.45), for a transform of dual numbers."""
    E, dE = (tuple(tuple(map(part, row)) for row in X.E) for part in (_value, _derivative))
    dr = tuple(map(_derivative, X.r))
    w = matmul(dE, transpose(E))  # type: ignore[arg-type]
    return Motion(tuple(-x for x in unskew(w)), matvec(E, dr))  # type: ignore[arg-type]


def is_plain(kind: Joint) -> bool:
    """Whether v = q̇."""
    return kind.nq == kind.nv and type(kind).rate is Joint.rate
