"""Functions of matrices, as CasADi has them, around a function of ours, and their derivatives of the same kind.

A matrix is stored by columns, an array of ours by rows; a Jacobian has a row for each entry of a result and a column
for each entry of an argument, both in the order of the columns of their matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.arguments import Sorted
from knuckle.engine.calls.function import Function
from knuckle.engine.calls.result_parts import leaves, leaves_of, with_values
from knuckle.model import Model

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class MatrixArgument:
    """An argument of a function of matrices; one without a name has no influence."""

    size: tuple[int, int]
    name: str | None = None
    shape: tuple[int, ...] = ()

    def array(self, matrix: Any) -> Any:
        """The argument of our function."""
        return np.asarray(matrix, float).reshape(self.shape)

    def by_columns(self) -> Indices:
        """For each entry of the array, by rows, its place in the matrix by columns."""
        return by_columns(self.size)


@dataclass(frozen=True)
class MatrixResult:
    """A result of a function of matrices: where the entries of one of our arrays are.

    Attributes:
        size: rows and columns of the matrix.
        part: which array of the results of our function.
        places: for each entry that is not always zero, its place in the array.
        entries: its place in the matrix by columns, in ascending order.
    """

    size: tuple[int, int]
    part: int
    places: Indices
    entries: Indices


@dataclass(frozen=True)
class MatrixCall:
    """A function of a model and arrays as one of matrices."""

    function: Function[..., Any]
    model: Model
    call: Sorted
    arguments: tuple[MatrixArgument, ...]
    results: tuple[MatrixResult, ...]

    @staticmethod
    def of(function: Function[..., Any], model: Model, call: Sorted) -> MatrixCall:
        """Every argument and every result as a matrix; vectors and numbers as columns."""
        arguments = tuple(MatrixArgument(size_of(shape), name, shape) for name, (_, shape) in call.arrays.items())
        parts = leaves_of(function.derivatives.layout(model, call))
        results = tuple(_whole(k, part.shape) for k, part in enumerate(parts))
        return MatrixCall(function, model, call, arguments, results)

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments of our function."""
        return tuple(argument.name for argument in self.arguments if argument.name is not None)

    def compute(self, matrices: Sequence[Any]) -> list[NDArray[Any]]:
        """The entries of the results that are not always zero."""
        given = {a.name: a.array(x) for a, x in zip(self.arguments, matrices, strict=True) if a.name is not None}
        values = with_values(self.call, [given[name] for name in self.call.arrays])
        parts = leaves(self.function(self.model, **values), self.function.derivatives.layout(self.model, self.call))
        return [np.ravel(parts[result.part])[result.places] for result in self.results]

    def jacobian(self) -> MatrixCall:
        """The function of the derivatives of every result by every argument; the results are arguments without use."""
        names = self.names
        derivatives = self.function.derivatives
        patterns = derivatives.entry_patterns(self.model, names, self.call)
        sizes = [math.prod(part.shape) for part in leaves_of(derivatives.layout(self.model, self.call))]
        first = np.concatenate([[0], np.cumsum(sizes)])
        results: list[MatrixResult] = []
        for result in self.results:
            row_of = np.full(sizes[result.part], -1)
            row_of[result.places] = result.entries
            for argument in self.arguments:
                size = math.prod(result.size), math.prod(argument.size)
                if argument.name is None:
                    none = np.zeros(0, np.intp)
                    results.append(MatrixResult(size, 0, none, none))
                    continue
                pattern = patterns[argument.name]
                rows, columns = np.array(pattern.rows, np.intp), np.array(pattern.columns, np.intp)
                own = (rows >= first[result.part]) & (rows < first[result.part + 1])
                rows, columns = rows[own] - first[result.part], columns[own]
                own = row_of[rows] >= 0
                rows, columns = rows[own], columns[own]
                entries = argument.by_columns()[columns] * size[0] + row_of[rows]
                order = np.argsort(entries)
                part = names.index(argument.name) * len(sizes) + result.part
                results.append(MatrixResult(size, part, (rows * size[1] + columns)[order], entries[order]))
        unused = tuple(MatrixArgument(result.size) for result in self.results)
        function = derivatives.entries("jacobian", self.model, names, self.call)
        return replace(self, function=function, arguments=(*self.arguments, *unused), results=tuple(results))

    def reverse(self) -> MatrixCall:
        """The function of the derivatives of the sum of all results, each times its weight: weights come last."""
        derivatives, names = self.function.derivatives, self.names
        layout = derivatives.layout(self.model, self.call)
        function = derivatives.entries("vjp", self.model, names, self.call)
        shapes = {n: () if n in self.call.numbers else shape for n, (_, shape) in self.call.arrays.items()}
        call = function.derivatives.call_of(self.model, (), {**shapes, **self.call.options})
        unused = tuple(MatrixArgument(result.size) for result in self.results)
        weights = tuple(
            MatrixArgument(result.size, name, call.arrays[name][1])
            for result, name in zip(self.results, derivatives.weight_names(layout), strict=True)
        )
        results = tuple(
            _whole(names.index(a.name), a.shape) if a.name is not None else _nothing(a.size) for a in self.arguments
        )
        return MatrixCall(function, self.model, call, (*self.arguments, *unused, *weights), results)

    @property
    def is_whole(self) -> bool:
        """Whether every result is one of our arrays, with all its entries: those have weights."""
        parts = leaves_of(self.function.derivatives.layout(self.model, self.call))
        own = [result.part for result in self.results if len(result.places) == math.prod(result.size)]
        return own == list(range(len(parts))) and len(own) == len(self.results)


def size_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """The size of the matrix of an array: one with more than two axes is a column."""
    return (shape[0], shape[1]) if len(shape) == 2 else (math.prod(shape), 1)


def by_columns(size: tuple[int, int]) -> Indices:
    """For each entry by rows, its place by columns."""
    return np.arange(math.prod(size)).reshape(size, order="F").ravel()


def _whole(part: int, shape: tuple[int, ...]) -> MatrixResult:
    size = size_of(shape)
    return MatrixResult(size, part, np.argsort(by_columns(size)), np.arange(math.prod(size)))


def _nothing(size: tuple[int, int]) -> MatrixResult:
    none = np.zeros(0, np.intp)
    return MatrixResult(size, 0, none, none)
