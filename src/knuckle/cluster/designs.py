"""Designs: which samples a study has. Any part of one can be computed without the rest, wherever it is needed."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .point_sets import CounterPoints, LatinPoints, PointSet, SobolPoints
from .ranges import Axis, Options, axis_of

Array: TypeAlias = NDArray[Any]
Columns: TypeAlias = dict[str, Array]
"""By parameter, the values of some samples: (n, …)."""


class Design(ABC):
    """The samples of a study: so many, with parameters of certain names."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many samples there are."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parameters."""

    @abstractmethod
    def columns(self, index: Array) -> Columns:
        """The values of the samples with these numbers, which follow each other."""

    @property
    def things(self) -> dict[str, tuple[Any, ...]]:
        """For parameters whose values are numbers of things, the things."""
        return {}

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What it is, for a manifest: another design has other facts."""

    def __mul__(self, other: Design) -> Design:
        """Every sample of this one with every one of the other, whose samples follow each other."""
        shared = set(self.names) & set(other.names)
        if shared:
            raise ValueError(f"both designs have a parameter {sorted(shared)[0]!r}: a product needs different names")
        return ProductDesign(self, other)

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, eq=False)
class DrawnDesign(Design):
    """Points of a set in the unit cube, as values of parameters."""

    axes: Mapping[str, Axis]
    points: PointSet

    @property
    def count(self) -> int:
        return self.points.count

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.axes)

    @property
    def things(self) -> dict[str, tuple[Any, ...]]:
        return {name: axis.things for name, axis in self.axes.items() if isinstance(axis, Options)}

    def columns(self, index: Array) -> Columns:
        u, at, found = self.points.at(index), 0, Columns()
        for name, axis in self.axes.items():
            size = prod(axis.shape)
            found[name] = axis.at(u[:, at : at + size].reshape(len(index), *axis.shape))
            at += size
        return found

    def facts(self) -> dict[str, Any]:
        return {**self.points.facts(), "axes": {name: axis.facts() for name, axis in self.axes.items()}}


@dataclass(frozen=True, eq=False)
class GridDesign(Design):
    """Every combination of some values; the last parameter changes first."""

    values: Mapping[str, Array]
    choices: Mapping[str, tuple[Any, ...]]

    @property
    def count(self) -> int:
        return prod(len(x) for x in self.values.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @property
    def things(self) -> dict[str, tuple[Any, ...]]:
        return dict(self.choices)

    def columns(self, index: Array) -> Columns:
        places = np.unravel_index(index, [len(x) for x in self.values.values()])
        return {name: x[place] for (name, x), place in zip(self.values.items(), places, strict=True)}

    def facts(self) -> dict[str, Any]:
        return {"design": "grid", "values": _hashes(self.values), "things": _identities(self.choices)}


@dataclass(frozen=True, eq=False)
class ArrayDesign(Design):
    """Samples that are there already: the rows of arrays."""

    arrays: Mapping[str, Array]
    choices: Mapping[str, tuple[Any, ...]]

    @property
    def count(self) -> int:
        return len(next(iter(self.arrays.values())))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.arrays)

    @property
    def things(self) -> dict[str, tuple[Any, ...]]:
        return dict(self.choices)

    def columns(self, index: Array) -> Columns:
        return {name: np.asarray(x[index]) for name, x in self.arrays.items()}

    def facts(self) -> dict[str, Any]:
        return {"design": "arrays", "arrays": _hashes(self.arrays), "things": _identities(self.choices)}


@dataclass(frozen=True, eq=False)
class ProductDesign(Design):
    """Every sample of one design with every sample of another."""

    outer: Design
    inner: Design

    @property
    def count(self) -> int:
        return self.outer.count * self.inner.count

    @property
    def names(self) -> tuple[str, ...]:
        return self.outer.names + self.inner.names

    @property
    def things(self) -> dict[str, tuple[Any, ...]]:
        return {**self.outer.things, **self.inner.things}

    def columns(self, index: Array) -> Columns:
        outer, inner = np.divmod(index, self.inner.count)
        return {**_scattered(self.outer, outer), **_scattered(self.inner, inner)}

    def facts(self) -> dict[str, Any]:
        return {"design": "product", "outer": self.outer.facts(), "inner": self.inner.facts()}


def _scattered(design: Design, index: Array) -> Columns:
    """Samples with any numbers: those between the first and the last where they are few, else runs of them."""
    numbers, place = np.unique(index, return_inverse=True)
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    parts = [design.columns(run) for run in np.split(numbers, cuts)]
    return {name: np.concatenate([part[name] for part in parts])[place] for name in design.names}


def grid(values: Mapping[str, Sequence[Any] | ArrayLike]) -> Design:
    """Every combination of some values of each parameter; the last parameter changes first.

    A value is a number, an array, or a thing of another kind, such as a controller.

    Example:
        kn.cluster.grid({"stiffness": np.linspace(10, 200, 20), "controller": [track, hold]})
    """
    arrays, things = _arrays_and_things(values)
    return GridDesign(arrays, things)


def sobol(ranges: Mapping[str, Any], count: int, seed: int = 0) -> Design:
    """Scrambled points of Sobol's sequence (`scipy.stats.qmc.Sobol`), which fill a space evenly.

    Args:
        ranges: by parameter, a pair of bounds, or `uniform`, `normal` or `options` of something.
        count: how many; powers of two are best balanced. At most 2³⁰.
        seed: other seeds, other points.
    """
    axes, size = _axes(ranges)
    return DrawnDesign(axes, SobolPoints.of(size, _positive("count", count), _positive("seed", seed, 0)))


def latin_hypercube(ranges: Mapping[str, Any], count: int, seed: int = 0) -> Design:
    """A Latin hypercube (`scipy.stats.qmc.LatinHypercube`): each of `count` parts of each range is met once.

    It is drawn as a whole: 8 bytes for each number of each sample, at most 2 GB. The arguments are those of `sobol`.
    """
    axes, size = _axes(ranges)
    return DrawnDesign(axes, LatinPoints.of(size, _positive("count", count), _positive("seed", seed, 0)))


def random(ranges: Mapping[str, Any], count: int, seed: int = 0) -> Design:
    """Independent random samples: sample k has the numbers that Philox counts out for k and the seed.

    Noise that goes on through time is a range of a shape, such as `normal(0, 1, (steps, nv))`. The arguments are those
    of `sobol`.
    """
    axes, size = _axes(ranges)
    return DrawnDesign(axes, CounterPoints(size, _positive("count", count), _positive("seed", seed, 0)))


def samples(arrays: Mapping[str, Sequence[Any] | ArrayLike]) -> Design:
    """Samples that are there already: by parameter, an array or a list with one entry for each of them."""
    columns, things = _arrays_and_things(arrays)
    lengths = {name: len(x) for name, x in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"every parameter needs one entry for each sample; there are {lengths}")
    return ArrayDesign(columns, things)


def _axes(ranges: Mapping[str, Any]) -> tuple[dict[str, Axis], int]:
    if not ranges:
        raise ValueError("ranges is empty: a design needs at least one parameter")
    axes = {name: axis_of(name, value) for name, value in ranges.items()}
    return axes, sum(prod(axis.shape) for axis in axes.values())


def _arrays_and_things(values: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, tuple[Any, ...]]]:
    """Numbers as arrays; of other things their numbers, and the things."""
    if not values:
        raise ValueError("a design needs at least one parameter")
    arrays, things = dict[str, Array](), dict[str, tuple[Any, ...]]()
    for name, value in values.items():
        array = _numbers(value)
        if array is None:
            things[name] = tuple(value)
            array = np.arange(len(things[name]))
        if not array.ndim or not len(array):
            raise ValueError(f"{name} needs a list of values, and is {value!r}")
        arrays[name] = array if array.dtype.kind == "f" or name in things else array.astype(float)
    return arrays, things


def _numbers(value: Any) -> Array | None:
    """An array, if all of it is numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "fiu" else None


def _positive(name: str, value: int, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, and is {value!r}")
    return int(value)


def _hashes(arrays: Mapping[str, Array]) -> dict[str, str]:
    return {
        name: f"{x.dtype.str} {x.shape} {hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16]}"
        for name, x in arrays.items()
    }


def _identities(things: Mapping[str, tuple[Any, ...]]) -> dict[str, list[str]]:
    from .function_identity import identity

    return {name: [identity(one) for one in some] for name, some in things.items()}
