"""Sequences and NumPy arrays of objects: mpmath and SymPy numbers, fractions, duals …"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from knuckle.scalar import kind_of

from .base import Arrays, Container, Text, apart, common_batch, must_end_in


class Objects(Container):
    """Arrays of scalars of any kind, with any batch axes, computed one state after the other."""

    def compute(self, text: Text, arrays: Arrays) -> Any:
        values = {name: entries(name, value) for name, (value, _) in arrays.items()}
        for name, array in values.items():
            must_end_in(name, array.shape, arrays[name][1])
        batch = common_batch(values, arrays)
        full = {name: np.broadcast_to(array, batch + arrays[name][1]) for name, array in values.items()}
        results = [
            text({name: apart(array[index].tolist(), arrays[name][1]) for name, array in full.items()})
            for index in np.ndindex(batch)
        ]
        _, layout = results[0] if results else text(_anything(arrays))
        filled = np.empty((len(results), layout.size), dtype=object)
        for k, (scalars, _) in enumerate(results):
            filled[k] = scalars
        return layout.together(filled, lambda part, shape: part.reshape(batch + shape)[()])


def entries(name: str, value: Any) -> np.ndarray[Any, Any]:
    """`value` as an array of scalars of known kinds, or an error that names the argument."""
    array: np.ndarray[Any, Any] = np.asarray(value, dtype=object)
    scalars: list[Any] = array.ravel().tolist()
    for example in {type(x).__qualname__: x for x in scalars}.values():
        if not _is_number(example):
            held = type(example).__name__
            raise TypeError(f"{name} holds {held} objects, and must hold numbers of a kind knuckle knows")
    return array


def _is_number(x: Any) -> bool:
    try:
        kind_of(x)
    except TypeError:
        return False
    return not isinstance(x, (bool, np.bool_))


def _anything(arrays: Arrays) -> dict[str, Any]:
    """A state of no numbers, to see the shape of a result when there is no state."""
    return {name: apart(np.full(shape, math.nan).tolist(), shape) for name, (_, shape) in arrays.items()}
