"""The compiled text of two kinds of shapes, over their numbers and places."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.contact.detection import Detector
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Model, Plane, Sphere
from knuckle.model.build.builder import Builder
from knuckle.model.parts import Shape
from knuckle.spatial import Matrix, Transform

BY_NUMBERS: dict[str, Any] = {x.__name__: x for x in (Sphere, Capsule, Box, Cylinder, Ellipsoid, Plane)}
"""Shapes that are a few numbers; one code serves all of a kind."""
NO_MECHANISM: Model = Builder("shapes").build()
"""What these texts are compiled for: no mechanism has a part in them."""
NUMBERS, PLACEMENT = 3, 12
"""Numbers of a shape at most, and of its placement: the rows of E, and r."""


def numbers_of(shape: Shape) -> NDArray[np.float64]:
    """The numbers of a shape, and zeros; none are needed of meshes and terrain, which are part of their code."""
    numbers = np.zeros(NUMBERS)
    if type(shape).__name__ in BY_NUMBERS:
        flat = np.hstack(astuple(shape))
        numbers[: len(flat)] = flat
    return numbers


@dataclass(frozen=True)
class PairText:
    """Gap, point and normal of each place of two shapes, of kinds by name, or of shapes themselves."""

    first: Any
    second: Any

    def __call__(self, model: Model, a: Any, X: Any, b: Any, Y: Any) -> Matrix:
        one, other = _shape(self.first, a), _shape(self.second, b)
        places = Detector().places(one, _placed(X), other, _placed(Y))
        return Matrix([[place.gap, *place.point, *place.normal] for place in places], 7)


def _shape(kind: Any, numbers: Any) -> Any:
    """A shape by its kind and numbers."""
    match kind:
        case "Sphere":
            return Sphere(numbers[0])
        case "Capsule" | "Cylinder":
            return BY_NUMBERS[kind](numbers[0], numbers[1])
        case "Plane":
            return Plane((numbers[0], numbers[1]))
        case "Box" | "Ellipsoid":
            return BY_NUMBERS[kind](tuple(numbers))
        case _:
            return kind


def _placed(X: Any) -> Transform:
    return Transform((tuple(X[0:3]), tuple(X[3:6]), tuple(X[6:9])), tuple(X[9:12]))


def kinds_of(first: Shape, second: Shape) -> PairText:
    """The text of two shapes."""
    one, other = (type(x).__name__ if type(x).__name__ in BY_NUMBERS else x for x in (first, second))
    return PairText(one, other)


def pair_code(text: PairText) -> Code:
    """Its code, which is the same for all mechanisms."""
    shapes = {"a": (NUMBERS,), "X": (PLACEMENT,), "b": (NUMBERS,), "Y": (PLACEMENT,)}
    return code_of(Specialization("places of shapes", text, NO_MECHANISM, is_users=True), shapes)
