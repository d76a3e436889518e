"""Constraints to put on a mechanism, as `kn.constraints`: on its variables and on its frames (notes 2.8, 2.9).

Each says what is to be zero (`bound="="`), or not negative (`">="`), or not positive (`"<="`). All are frozen data.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from knuckle.algorithms import relations
from knuckle.joints import Prescribed
from knuckle.model import Model
from knuckle.model.reduction import rows
from knuckle.scalar import ONE, ZERO, Dual, constant, less, parts, select, sqrt
from knuckle.spatial import SPATIAL, Matrix, Transform, Vector
from knuckle.spatial.three import dot, matmul, sub, transpose, unskew

from .configuration import configuration_rate
from .constraint import ACCELERATION, VELOCITY, Constraint, State, Terms
from .scalars import inside_a_kernel

Point3 = tuple[float, float, float]
ORIGIN: Point3 = (0.0, 0.0, 0.0)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
HERE = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))

__all__ = [
    "Constraint",
    "Custom",
    "CustomVelocity",
    "Distance",
    "JointAcceleration",
    "JointPosition",
    "JointVelocity",
    "Plane",
    "Point",
    "Pose",
    "Relation",
    "joint_limits",
]


class _OnFrames(Constraint):
    """A condition on where `frame` is in the frame `other`; the base's if none is named."""

    frame: str
    other: str | None

    @abstractmethod
    def condition(self, X: Transform) -> Iterable[Any]:
        """What is bounded, from the transform X of the other frame's coordinates to this one's."""

    def bodies(self, model: Model) -> tuple[int, int] | None:
        return model.frame(self.frame).body, model.frame(self.other or model.base.name).body

    def unsigned(self, state: State) -> Terms:
        model = state.model
        if model.algebra is not SPATIAL:
            raise ValueError(f"{type(self).__name__} is a constraint in space, and the model is a planar one")
        frame, other = model.frame(self.frame), model.frame(self.other or model.base.name)
        found = relations.relation(state.bodies, frame, other, self.condition)
        forces = (frame.body, found.on), (other.body, found.against)
        return Terms(found.error, found.rate, found.bias, forces, None)


@dataclass(frozen=True)
class Point(_OnFrames):
    """A point of one frame stays at a point of another, in the directions `along`, given in the other's axes.

    With all three directions it is a ball joint; with the two across its axis it closes a planar loop (notes 2.90).
    """

    frame: str
    other: str | None = None
    at: Point3 = ORIGIN
    on: Point3 = ORIGIN
    along: tuple[Point3, ...] = AXES

    def __post_init__(self) -> None:
        self._triples("at", "on")
        object.__setattr__(self, "along", tuple(_unit("along", axis) for axis in self.along))

    def condition(self, X: Transform) -> Iterable[Any]:
        d = sub(X.inv.point(_exact(self.at)), _exact(self.on))
        return [dot(_exact(axis), d) for axis in self.along]


@dataclass(frozen=True)
class Plane(_OnFrames):
    """How far a point of a frame is above a plane of another: `normal` · x − `offset`, in metres."""

    frame: str
    normal: Point3 = (0.0, 0.0, 1.0)
    offset: float = 0.0
    other: str | None = None
    at: Point3 = ORIGIN

    def __post_init__(self) -> None:
        self._triples("at")
        object.__setattr__(self, "normal", _unit("normal", self.normal))

    def condition(self, X: Transform) -> Iterable[Any]:
        return [dot(_exact(self.normal), X.inv.point(_exact(self.at))) - self.offset]


@dataclass(frozen=True)
class Distance(_OnFrames):
    """The distance between points of two frames, less a length: a rod, or with `"<="` a rope.

    Where the points meet it has no direction, and no force.
    """

    frame: str
    length: float
    other: str | None = None
    at: Point3 = ORIGIN
    on: Point3 = ORIGIN

    def __post_init__(self) -> None:
        self._triples("at", "on")
        if not self.length > 0:
            raise ValueError(f"length is {self.length}, and must be positive; Point keeps two points together")

    def condition(self, X: Transform) -> Iterable[Any]:
        d = sub(X.inv.point(_exact(self.at)), _exact(self.on))
        squared = dot(d, d)
        apart = less(0, squared)
        return [select(apart, sqrt(select(apart, squared, ONE)), ZERO) - self.length]


@dataclass(frozen=True)
class Pose(_OnFrames):
    """A frame stays where it is in another: `pose` (4, 4) is what `kn.pose` gives. Three turns, then three lengths.

    Turns are measured by their sines: a frame that is half a turn away is not seen to be.
    """

    frame: str
    pose: tuple[tuple[float, ...], ...] = HERE
    other: str | None = None

    def __post_init__(self) -> None:
        pose = tuple(tuple(float(x) for x in row) for row in self.pose)
        if [len(row) for row in pose] != [4, 4, 4, 4]:
            raise ValueError(f"pose has rows of {[len(row) for row in pose]} numbers, and must have shape (4, 4)")
        if self.bound != "=":
            raise ValueError(f'a pose is kept, bound="=": its entries have no order for {self.bound!r}')
        object.__setattr__(self, "pose", pose)

    def condition(self, X: Transform) -> Iterable[Any]:
        wanted = Transform.of([[row[j] for row in self.pose[:3]] for j in range(3)], [row[3] for row in self.pose[:3]])
        return [*unskew(transpose(matmul(X.E, transpose(wanted.E)))), *sub(X.r, wanted.r)]


@dataclass(frozen=True)
class Relation(_OnFrames):
    """Any smooth function of where a frame is in another: it takes a `Transform` X and gives one number or several.

    X goes from the other frame's coordinates to this one's: X.r is the origin in the other frame, X.E turns axes.
    """

    frame: str
    function: Callable[[Transform], Any]
    other: str | None = None

    def condition(self, X: Transform) -> Iterable[Any]:
        return _several(self.function(X))


class _OnVariables(Constraint):
    """A constraint on the variables of joints."""

    def unsigned(self, state: State) -> Terms:
        error, rate, bias, G = self.reduced(state)
        return Terms(error, rate, bias, (), G)

    @abstractmethod
    def reduced(self, state: State) -> tuple[Vector, Vector, Vector, Matrix]:
        """φ, φ̇, φ̈ without acceleration, and G_r (notes 2.96)."""


def _joint(model: Model, name: str, what: str) -> int:
    """The number of a joint of one freedom."""
    j = model.joint_index(name)
    kind = model.joints[j].kind
    if (kind.nq, kind.nv) != (1, 1):
        raise ValueError(f"joint {name!r} has {kind.nv} freedoms, and {what} is for joints of one; see Custom")
    return j


def _row(state: State, j: int) -> list[Any]:
    """The row of G (RBDA 8.42) for the variable of a joint, which may follow others."""
    entries = rows(state.model, state.q)[j][0]
    return [entries.get(k, ZERO) for k in range(state.model.nv)]


@dataclass(frozen=True)
class JointPosition(_OnVariables):
    """The position of a joint of one freedom, less a value: a stop, with `">="` and `"<="`."""

    joint: str
    value: float = 0.0

    def reduced(self, state: State) -> tuple[Vector, Vector, Vector, Matrix]:
        j = _joint(state.model, self.joint, "JointPosition")
        return state.Q[j] - Vector([self.value]), state.V[j], state.g[j], Matrix([_row(state, j)], state.model.nv)


@dataclass(frozen=True)
class JointVelocity(_OnVariables):
    """Σ c v over joints of one freedom, less a value: a speed limit, a gear that holds from now on."""

    coefficients: tuple[tuple[str, float], ...]
    value: float = 0.0
    level: ClassVar[int] = VELOCITY

    def __post_init__(self) -> None:
        given: Any = self.coefficients
        pairs: dict[str, float] = {given: 1.0} if isinstance(given, str) else dict(given)
        object.__setattr__(self, "coefficients", tuple((str(name), float(c)) for name, c in pairs.items()))

    def reduced(self, state: State) -> tuple[Vector, Vector, Vector, Matrix]:
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

    def reduced(self, state: State) -> tuple[Vector, Vector, Vector, Matrix]:
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

    def reduced(self, state: State) -> tuple[Vector, Vector, Vector, Matrix]:
        model, q = state.model, state.q
        _must_not_depend_on_time(model)
        dq = configuration_rate.reference(model, q, state.v)
        ahead = configuration_rate.reference(model, _dual(q, dq), _dual(state.v, Vector.zero(model.nv)))
        second = Vector(Dual(Dual(*x), Dual(*parts(y))) for x, y in zip(zip(q, dq, strict=True), ahead, strict=True))
        with inside_a_kernel():
            twice = [parts(y) for y in _several(self.function(model, second))]
            columns = [
                [
                    parts(y)[1]
                    for y in _several(self.function(model, _dual(q, configuration_rate.reference(model, q, e))))
                ]
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

    def reduced(self, state: State) -> tuple[Vector, Vector, Vector, Matrix]:
        model, q, v = state.model, state.q, state.v
        _must_not_depend_on_time(model)
        dq, still = configuration_rate.reference(model, q, v), Vector.zero(model.nv)
        with inside_a_kernel():
            along = [parts(y) for y in _several(self.function(model, _dual(q, dq), _dual(v, still)))]
            columns = [
                [parts(y)[1] for y in _several(self.function(model, _dual(q, Vector.zero(model.nq)), _dual(v, e)))]
                for e in map(Vector, Matrix.identity(model.nv).rows)
            ]
        rate, bias = Vector(x for x, _ in along), Vector(x for _, x in along)
        return Vector.zero(len(rate)), rate, bias, Matrix.columns(columns, len(rate))


def joint_limits(model: Model, *, velocity: bool = False) -> tuple[Constraint, ...]:
    """The limits of the joints of one freedom as inequalities: where they may be, and if asked for, how fast."""
    found: list[Constraint] = []
    for joint in model.joints:
        if (joint.kind.nq, joint.kind.nv) != (1, 1):
            continue
        (low,), (high,), (fast,) = joint.limits.lower, joint.limits.upper, joint.limits.velocity
        if math.isfinite(low):
            found.append(JointPosition(joint.name, low, bound=">="))
        if math.isfinite(high):
            found.append(JointPosition(joint.name, high, bound="<="))
        if velocity and math.isfinite(fast):
            found.append(JointVelocity(((joint.name, 1.0),), -fast, bound=">="))
            found.append(JointVelocity(((joint.name, 1.0),), fast, bound="<="))
    return tuple(found)


def _dual(x: Any, dx: Any) -> Vector:
    return Vector(Dual(*pair) for pair in zip(x, dx, strict=True))


def _several(values: Any) -> list[Any]:
    """What a user's function gave, as a list of numbers."""
    if isinstance(values, Matrix):
        return [x for row in values.rows for x in row]
    return list(cast("Iterable[Any]", values)) if isinstance(values, (Vector, tuple, list)) else [values]


def _must_not_depend_on_time(model: Model) -> None:
    moving = [joint.name for joint in model.joints if isinstance(joint.kind, Prescribed)]
    if moving:
        raise ValueError(
            f"a custom constraint sees positions only, and joints {', '.join(moving)} move by laws of time; "
            "constraints on frames see them move"
        )


def _exact(axis: Point3) -> Any:
    """A direction with its zeros and ones known."""
    return tuple(constant(x) for x in axis)


def _unit(name: str, axis: Iterable[float]) -> Point3:
    x, y, z = (float(c) for c in axis)
    size = math.sqrt(x * x + y * y + z * z)
    if not 0 < size < math.inf:
        raise ValueError(f"{name} is {(x, y, z)}, and must be a direction")
    return x / size, y / size, z / size
