"""Constraints on the variables of joints (notes 2.8, 2.9). All are frozen data."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from knuckle.functions.configuration import velocity_to_qdot
from knuckle.joints import Prescribed
from knuckle.model import Model
from knuckle.model.reduction import rows
from knuckle.scalar import ZERO, Dual, inside_a_kernel, parts
from knuckle.spatial import Matrix, Vector

from .base import ACCELERATION, VELOCITY, Constraint, ConstraintState, Terms
from .on_frames import several


class _OnVariables(Constraint):
    """A constraint on the variables of joints."""

    def unsigned(self, state: ConstraintState) -> Terms:
        error, rate, bias, G = self.reduced(state)
        return Terms(error, rate, bias, (), G)

    @abstractmethod
    def reduced(self, state: ConstraintState) -> tuple[Vector, Vector, Vector, Matrix]:
        """φ, φ̇, φ̈ without acceleration, and G_r (notes 2.96)."""


def _joint(model: Model, name: str, what: str) -> int:
    """The number of a joint of one freedom."""
    j = model.joint_index(name)
    kind = model.joints[j].type
    if (kind.nq, kind.nv) != (1, 1):
        raise ValueError(f"joint {name!r} has {kind.nv} freedoms, and {what} is for joints of one; see Custom")
    return j


def _row(state: ConstraintState, j: int) -> list[Any]:
    """The row of G (RBDA 8.42) for the variable of a joint, which may follow others."""
    entries = rows(state.model, state.q)[j][0]
    return [entries.get(k, ZERO) for k in range(state.model.nv)]


@dataclass(frozen=True)
class JointPosition(_OnVariables):
    """The position of a joint of one freedom, less a value: a stop, with `">="` and `"<="`."""

    joint: str
    value: float = 0.0

    def reduced(self, state: ConstraintState) -> tuple[Vector, Vector, Vector, Matrix]:
        j = _joint(state.model, self.joint, "JointPosition")
        return state.Q[j] - Vector([self.value]), state.V[j], state.g[j], Matrix([_row(state, j)], state.model.nv)


@dataclass(frozen=True)
class JointVelocity(_OnVariables):
    """Σ c v over joints of one freedom, less a value: a speed limit, a gear that holds from now on."""

    coefficients: tuple[tuple[str, float], ...]
    value: float = 0.0
    level: ClassVar[int] = VELOCITY

    def __post_init__(self) -> None:
        values: Any = self.coefficients
        pairs: dict[str, float] = {values: 1.0} if isinstance(values, str) else dict(values)
        object.__setattr__(self, "coefficients", tuple((str(name), float(c)) for name, c in pairs.items()))

    def reduced(self, state: ConstraintState) -> tuple[Vector, Vector, Vector, Matrix]:
        zero = Vector.zero(1)
        row, rate, bias = Vector.zero(state.model.nv), Vector([-self.value]), zero
        for name, c in self.coefficients:
            j = _joint(state.model, name, "JointVelocity")
            row, rate, bias = row + c * Vector(_row(state, j)), rate + c * state.V[j], bias + c * state.g[j]
        return zero, rate, bias, Matrix([row], state.model.nv)


@dataclass(frozen=True)
class JointAcceleration(_OnVariables):
    """The accelerations of a joint's variables, less values: prescribed motion by a constraint (notes 2.102)."""

    joint: str
    value: tuple[float, ...] = (0.0,)
    level: ClassVar[int] = ACCELERATION

    def __post_init__(self) -> None:
        given: Any = self.value
        values = (given,) if isinstance(given, (int, float)) else given
        object.__setattr__(self, "value", tuple(float(x) for x in values))

    def reduced(self, state: ConstraintState) -> tuple[Vector, Vector, Vector, Matrix]:
        model, j = state.model, state.model.joint_index(self.joint)
        G, zero = rows(model, state.q)[j], Vector.zero(len(state.V[j]))
        if len(self.value) != len(G):
            raise ValueError(
                f"value has {len(self.value)} entries, and joint {self.joint!r} has {len(G)} accelerations"
            )
        dense = ((row.get(k, ZERO) for k in range(model.nv)) for row in G)
        return zero, zero, state.g[j] - Vector(self.value), Matrix(dense, model.nv)


@dataclass(frozen=True)
class Custom(_OnVariables):
    """Any smooth function (model, q) of the position, written as for a kernel: one number or several.

    Its derivatives are exact. Joints that move by a law of time are not seen to move, and refused.
    """

    function: Callable[[Model, Any], Any]

    def reduced(self, state: ConstraintState) -> tuple[Vector, Vector, Vector, Matrix]:
        model, q = state.model, state.q
        _must_not_depend_on_time(model)
        dq = velocity_to_qdot.reference(model, q, state.v)
        ahead = velocity_to_qdot.reference(model, _dual(q, dq), _dual(state.v, Vector.zero(model.nv)))
        second = Vector(Dual(Dual(*x), Dual(*parts(y))) for x, y in zip(zip(q, dq, strict=True), ahead, strict=True))
        with inside_a_kernel(one_state=False):
            twice = [parts(y) for y in several(self.function(model, second))]
            columns = [
                [parts(y)[1] for y in several(self.function(model, _dual(q, velocity_to_qdot.reference(model, q, e))))]
                for e in map(Vector, Matrix.identity(model.nv).rows)
            ]
        now = [(*parts(value), parts(rate)[1]) for value, rate in twice]
        error, rate, bias = (Vector(x[k] for x in now) for k in range(3))
        return error, rate, bias, Matrix.columns(columns, len(now))


@dataclass(frozen=True)
class CustomVelocity(_OnVariables):
    """Any smooth function (model, q, v) that is affine in the velocity: rolling, a skate, a speed along a path."""

    function: Callable[[Model, Any, Any], Any]
    level: ClassVar[int] = VELOCITY

    def reduced(self, state: ConstraintState) -> tuple[Vector, Vector, Vector, Matrix]:
        model, q, v = state.model, state.q, state.v
        _must_not_depend_on_time(model)
        dq, still = velocity_to_qdot.reference(model, q, v), Vector.zero(model.nv)
        with inside_a_kernel(one_state=False):
            along = [parts(y) for y in several(self.function(model, _dual(q, dq), _dual(v, still)))]
            columns = [
                [parts(y)[1] for y in several(self.function(model, _dual(q, Vector.zero(model.nq)), _dual(v, e)))]
                for e in map(Vector, Matrix.identity(model.nv).rows)
            ]
        rate, bias = Vector(x for x, _ in along), Vector(x for _, x in along)
        return Vector.zero(len(rate)), rate, bias, Matrix.columns(columns, len(rate))


def joint_limits(model: Model, *, velocity: bool = False) -> tuple[Constraint, ...]:
    """The limits of the joints of one freedom as inequalities: where they may be, and if asked for, how fast."""
    limits: list[Constraint] = []
    for joint in model.joints:
        if (joint.type.nq, joint.type.nv) != (1, 1):
            continue
        (low,), (high,), (fast,) = joint.limits.lower, joint.limits.upper, joint.limits.velocity
        if math.isfinite(low):
            limits.append(JointPosition(joint.name, low, bound=">="))
        if math.isfinite(high):
            limits.append(JointPosition(joint.name, high, bound="<="))
        if velocity and math.isfinite(fast):
            limits.append(JointVelocity(((joint.name, 1.0),), -fast, bound=">="))
            limits.append(JointVelocity(((joint.name, 1.0),), fast, bound="<="))
    return tuple(limits)


def _dual(x: Any, dx: Any) -> Vector:
    return Vector(Dual(*pair) for pair in zip(x, dx, strict=True))


def _must_not_depend_on_time(model: Model) -> None:
    moving = [joint.name for joint in model.joints if isinstance(joint.type, Prescribed)]
    if moving:
        raise ValueError(
            f"a custom constraint sees positions only, and joints {', '.join(moving)} move by laws of time; "
            "constraints on frames see them move"
        )
