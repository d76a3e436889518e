"""Constraints on where frames are in others (notes 2.89-2.93)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from knuckle.algorithms.kinematics import frame_relations
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO, constant, less, select, sqrt
from knuckle.spatial import SPATIAL, Matrix, Transform, Vector
from knuckle.spatial.three import dot, matmul, sub, transpose, unskew

from .base import Constraint, ConstraintState, Terms

Point3 = tuple[float, float, float]
ORIGIN: Point3 = (0.0, 0.0, 0.0)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
HERE = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))


class _OnFrames(Constraint):
    """A condition on where `frame` is in the frame `other`; the base's if none is named."""

    frame: str
    other: str | None

    @abstractmethod
    def condition(self, X: Transform) -> Iterable[Any]:
        """What is bounded, from the transform X of the other frame's coordinates to this one's."""

    def bodies(self, model: Model) -> tuple[int, int] | None:
        return model.frame(self.frame).body, model.frame(self.other or model.base.name).body

    def unsigned(self, state: ConstraintState) -> Terms:
        model = state.model
        if model.algebra is not SPATIAL:
            raise ValueError(f"{type(self).__name__} is a constraint in space, and the model is a planar one")
        frame, other = model.frame(self.frame), model.frame(self.other or model.base.name)
        relation = frame_relations.relation(state.bodies, frame, other, self.condition)
        forces = (frame.body, relation.on), (other.body, relation.against)
        return Terms(relation.error, relation.rate, relation.bias, forces, None)


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
class PlaneDistance(_OnFrames):
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
        target = Transform.of([[row[j] for row in self.pose[:3]] for j in range(3)], [row[3] for row in self.pose[:3]])
        return [*unskew(transpose(matmul(X.E, transpose(target.E)))), *sub(X.r, target.r)]


@dataclass(frozen=True)
class Relation(_OnFrames):
    """Any smooth function of where a frame is in another: it takes a `Transform` X and gives one number or several.

    X goes from the other frame's coordinates to this one's: X.r is the origin in the other frame, X.E turns axes.
    """

    frame: str
    function: Callable[[Transform], Any]
    other: str | None = None

    def condition(self, X: Transform) -> Iterable[Any]:
        return several(self.function(X))


def several(values: Any) -> list[Any]:
    """What a user's function gave, as a list of numbers."""
    if isinstance(values, Matrix):
        return [x for row in values.rows for x in row]
    return list(cast("Iterable[Any]", values)) if isinstance(values, (Vector, tuple, list)) else [values]


def _exact(axis: Point3) -> Any:
    """A direction with its zeros and ones known."""
    return tuple(constant(x) for x in axis)


def _unit(name: str, axis: Iterable[float]) -> Point3:
    x, y, z = (float(c) for c in axis)
    size = math.sqrt(x * x + y * y + z * z)
    if not 0 < size < math.inf:
        raise ValueError(f"{name} is {(x, y, z)}, and must be a direction")
    return x / size, y / size, z / size
