"""The mechanism that a model of doubles stands for, in many digits.

Masses, lengths and moments are taken as exact. Nine doubles are a rotation only to within rounding, and three a unit
axis: the rotation and the axis next to them are meant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from knuckle.model import Frame, LoopJoint, Model, TreeJoint
from knuckle.scalar import sqrt
from knuckle.spatial import SPATIAL, Transform
from knuckle.spatial.three import IDENTITY3, Mat3, dot, matmul, matscale, matsub, transpose

from .many_digits import digits_of
from .two_doubles import two_doubles_of

ROUNDS = 3
"""Newton's steps to a rotation: 1e-16, 1e-32, 1e-64."""


def exact(model: Model) -> Model:
    """The model in many digits, with rotations that are rotations and axes of length one."""
    lifted = model.with_scalars(digits_of)
    if model.algebra is not SPATIAL:
        return lifted
    return lifted.replace(
        joints=tuple(_joint(joint) for joint in lifted.joints),
        frames=tuple(_frame(frame) for frame in lifted.frames),
        loops=tuple(_loop(loop) for loop in lifted.loops),
    )


def in_two_doubles(model: Model) -> Model:
    """A model of many digits in numbers of two doubles, with what follows from its numbers rounded once."""
    lifted = model.with_scalars(two_doubles_of)
    return lifted.replace(joints=tuple(_with_axis(joint, _two_doubles_axis) for joint in lifted.joints))


def nearest_rotation(E: Mat3) -> Mat3:
    """The rotation next to a matrix that is one but for rounding: E ← ½ E (3 − EᵀE)."""
    for _ in range(ROUNDS):
        E = matscale(digits_of(0.5), matmul(E, matsub(matscale(3, IDENTITY3), matmul(transpose(E), E))))
    return E


def unit_axis(axis: Any) -> Any:
    """The axis with length one in many digits; a coordinate axis as it is."""
    if sum(1 for x in axis if x) == 1:
        return axis
    exact_axis = tuple(digits_of(float(x)) if x else x for x in axis)
    length = sqrt(dot(exact_axis, exact_axis))  # type: ignore[arg-type]
    return tuple(x / length if x else x for x in exact_axis)


def _transform(X: Transform) -> Transform:
    plain = all(isinstance(x, int) or not hasattr(x, "lanes") for row in X.E for x in row)
    return X if plain else Transform(nearest_rotation(X.E), X.r)


def _joint(joint: TreeJoint) -> TreeJoint:
    return dataclasses.replace(_with_axis(joint, unit_axis), X_tree=_transform(joint.X_tree))


def _with_axis(joint: TreeJoint, change: Callable[[Any], Any]) -> TreeJoint:
    """The joint with its axis changed, also to numbers that a joint does not take from users."""
    kind: Any = joint.type
    axis = getattr(kind, "axis", None)
    if axis is None:
        return joint
    kind = dataclasses.replace(kind)
    object.__setattr__(kind, "axis", change(axis))
    return dataclasses.replace(joint, type=kind)


def _two_doubles_axis(axis: Any) -> Any:
    return tuple(two_doubles_of(x) if hasattr(x, "lanes") else x for x in axis)


def _frame(frame: Frame) -> Frame:
    return dataclasses.replace(frame, X=_transform(frame.X))


def _loop(loop: LoopJoint) -> LoopJoint:
    changes = {
        f.name: _transform(_digits(getattr(loop, f.name)))
        for f in dataclasses.fields(loop)
        if isinstance(getattr(loop, f.name), Transform)
    }
    return dataclasses.replace(loop, **changes)


def _digits(X: Transform) -> Transform:
    """A transform of doubles in many digits; zeros and ones stay what they are."""

    def number(x: Any) -> Any:
        return digits_of(x) if isinstance(x, float) else x

    return Transform(tuple(tuple(map(number, row)) for row in X.E), tuple(map(number, X.r)))  # type: ignore[arg-type]
