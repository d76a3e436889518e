"""What a parameter of a study ranges over: from numbers between 0 and 1 to values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.extras import need

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Range:
    """Values between two bounds, each as likely as any other: numbers, or arrays of independent numbers."""

    low: Array
    high: Array

    @property
    def shape(self) -> Shape:
        """Of one value."""
        return self.low.shape

    def at(self, u: Array) -> Array:
        """Values for u (n, *shape) between 0 and 1."""
        return self.low + u * (self.high - self.low)

    def facts(self) -> dict[str, Any]:
        """What it is, for a manifest."""
        return {"uniform": [self.low.tolist(), self.high.tolist()]}


@dataclass(frozen=True, eq=False)
class Bell:
    """Values of a normal distribution."""

    mean: Array
    deviation: Array

    @property
    def shape(self) -> Shape:
        """Of one value."""
        return self.mean.shape

    def at(self, u: Array) -> Array:
        """Values for u (n, *shape) between 0 and 1."""
        return self.mean + self.deviation * need("scipy.special", "normal distributions need", "cluster").ndtri(u)

    def facts(self) -> dict[str, Any]:
        """What it is, for a manifest."""
        return {"normal": [self.mean.tolist(), self.deviation.tolist()]}


@dataclass(frozen=True, eq=False)
class Options:
    """Some things of any kind, such as controllers, each as likely as any other. A sample holds the number of one."""

    things: tuple[Any, ...]
    shape: Shape = ()

    def at(self, u: Array) -> Array:
        """Numbers of things for u (n,) between 0 and 1."""
        return np.minimum((u * len(self.things)).astype(np.int64), len(self.things) - 1)

    def facts(self) -> dict[str, Any]:
        """What it is, for a manifest."""
        from .function_identity import identity

        return {"options": [identity(thing) for thing in self.things]}


Axis: TypeAlias = Range | Bell | Options


def uniform(low: ArrayLike, high: ArrayLike, shape: int | Shape | None = None) -> Range:
    """Values between two bounds: numbers, or arrays of independent numbers of a shape, such as a state.

    Example:
        kn.cluster.sobol({"q0": kn.cluster.uniform(-1, 1, 7), "mass": kn.cluster.uniform(0, 2)}, 1024)
    """
    a, b = _together("low", low, "high", high, shape)
    if not (a <= b).all():
        raise ValueError(f"low must not be above high: low={low}, high={high}")
    return Range(a, b)


def normal(mean: ArrayLike, deviation: ArrayLike, shape: int | Shape | None = None) -> Bell:
    """Values of a normal distribution: its mean, its standard deviation, and the shape of one value."""
    a, b = _together("mean", mean, "deviation", deviation, shape)
    if not (b >= 0).all():
        raise ValueError(f"deviation must not be negative: it is {deviation}")
    return Bell(a, b)


def options(things: Sequence[Any]) -> Options:
    """Some things of any kind to choose from, such as controllers, integrators or models."""
    if not len(things):
        raise ValueError("options needs at least one thing to choose from")
    return Options(tuple(things))


def axis_of(name: str, value: Any) -> Axis:
    """What a parameter ranges over, as it was written: itself, or a pair of bounds."""
    if isinstance(value, (Range, Bell, Options)):
        return value
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return uniform(*value)
    raise TypeError(
        f"{name}={value!r} is no range: give a pair (low, high), or kn.cluster.uniform, normal or options of something"
    )


def _together(a_name: str, a: ArrayLike, b_name: str, b: ArrayLike, shape: int | Shape | None) -> tuple[Array, Array]:
    own = () if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    x, y = np.asarray(a, float), np.asarray(b, float)
    try:
        whole = np.broadcast_shapes(x.shape, y.shape, own)
    except ValueError:
        raise ValueError(f"{a_name} {x.shape}, {b_name} {y.shape} and shape {own} do not go together") from None
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError(f"{a_name} and {b_name} must be finite: they are {a} and {b}")
    return np.broadcast_to(x, whole).copy(), np.broadcast_to(y, whole).copy()
