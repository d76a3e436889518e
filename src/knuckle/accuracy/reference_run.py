"""A function in many digits, or in two doubles: the same text, for a batch of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.model import Model

from .many_digits import ManyDigits, digits_of
from .two_doubles import TwoDoubles, two_doubles_of

LANES = 250
"""States at a time: every number that a text meets is kept for all of them."""


def run(function: Any, model: Model, arrays: Sequence[NDArray[Any]], **options: Any) -> NDArray[Any]:
    """The function of rows of states in many digits, as an array of objects: the states first.

    `model` is one of many digits (`exact_model.exact`); `arrays` are of doubles, singles or numbers of many digits.
    """
    states = len(arrays[0])
    parts = [
        _some(function, model, [x[k : k + LANES] for x in arrays], min(LANES, states - k), options)
        for k in range(0, states, LANES)
    ]
    return np.concatenate(parts)


def _some(
    function: Any, model: Model, arrays: list[NDArray[Any]], states: int, options: dict[str, Any]
) -> NDArray[Any]:
    columns = [[_lanes(x[:, k]) for k in range(x.shape[1])] for x in arrays]
    result = function.reference(model, *columns, **options)
    filled = np.empty((states, len(scalars := scalars_of(result))), dtype=object)
    for k, x in enumerate(scalars):
        filled[:, k] = x.lanes if isinstance(x, ManyDigits) else digits_of(x).lanes
    return filled.reshape(states, *shape_of(result))


def run_in_two_doubles(
    function: Any, model: Model, arrays: Sequence[NDArray[Any] | Sequence[TwoDoubles]], **options: Any
) -> NDArray[Any]:
    """The function of rows of states in numbers of two doubles: the two on the first axis, then the states.

    `model` is one of two doubles (`exact_model.in_two_doubles`); an argument is an array of doubles with a row for each
    state, or its columns in two doubles.
    """
    columns = [[two_doubles_of(c) for c in (x.T.copy() if isinstance(x, np.ndarray) else x)] for x in arrays]
    states = len(columns[0][0].high)
    result = function.reference(model, *columns, **options)
    filled = np.empty((2, states, len(scalars := scalars_of(result))))
    for k, x in enumerate(map(two_doubles_of, scalars)):
        filled[0, :, k], filled[1, :, k] = x.high, x.low
    return filled.reshape(2, states, *shape_of(result))


def _lanes(column: NDArray[Any]) -> ManyDigits:
    return ManyDigits(column.copy()) if column.dtype == object else digits_of(column)
