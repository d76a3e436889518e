"""A user's text with arrays of numbers: by native code, or state by state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from knuckle.engine.arrays.base import Shape, apart, common_batch, in_one_row
from knuckle.engine.arrays.result_layout import Layout, laid_out
from knuckle.engine.kernels.kernel_registry import DTYPES, Array, kernels, warn_plain
from knuckle.engine.kernels.specialization import Recipe
from knuckle.scalar import inside_a_kernel
from knuckle.spatial import Vector

from .numpy_arrays import numbers


@dataclass(frozen=True)
class UserRecipe(Recipe):
    """A user's text. Numbers travel as vectors of one, results as one vector; `layout` says how they go together."""

    single: tuple[str, ...]
    seen: list[Layout] = field(default_factory=list[Layout], compare=False)

    def _is_ours(self) -> bool:
        """Never: a user's text goes by its operations."""
        return False

    def key(self) -> tuple[Any, ...]:
        return *super().key(), self.single

    def layout(self) -> Layout:
        return self.seen[-1]

    def __call__(self, scalars: Mapping[str, Any]) -> Vector:
        with inside_a_kernel():
            result = super().__call__({name: x[0] if name in self.single else x for name, x in scalars.items()})
        flat, layout = laid_out(result, self.name)
        self.seen[:] = [layout]
        return Vector(flat)


def compute_numbers(recipe: UserRecipe, arrays: Mapping[str, tuple[Any, Shape]], weak: set[str]) -> Any:
    """The results for NumPy arrays. Python's numbers, `weak`, do not decide the precision."""
    given = {name: numbers(name, value, shape) for name, (value, shape) in arrays.items()}
    shapes = {name: shape for name, (_, shape) in arrays.items()}
    batch, asked = common_batch(given, arrays) if given else (), precision(given, weak)
    dtype = np.result_type(asked, np.float64) if recipe.wide else asked
    lanes = {name: array.astype(dtype, copy=False) for name, array in given.items()}
    slot = kernels.slot(recipe, shapes, dtype)
    is_compiled = kernels.policy != "never" and dtype in DTYPES
    native = kernels.filled(slot, recipe, shapes, dtype) if is_compiled else None
    if native is None:
        flat = state_by_state(recipe, lanes, shapes, batch, dtype)
        layout = recipe.layout()
        if slot.refused is not None:
            warn_plain(slot, recipe.name)
    else:
        flat, layout = native(list(lanes.values()), batch), native.layout

    def array(part: Array, shape: Shape) -> Any:
        result: Array = part.reshape(batch + shape).astype(asked, copy=False)
        return result[()]

    return layout.together(flat, array)


def precision(given: Mapping[str, Array], weak: set[str]) -> np.dtype[Any]:
    """float32 only if all arrays are, float64 for integers; Python's numbers go with the others."""
    strong = [np.float64 if x.dtype.kind in "iu" else x.dtype for name, x in given.items() if name not in weak]
    return np.result_type(np.float32, *strong) if strong else np.dtype(np.float64)


def state_by_state(
    recipe: UserRecipe, lanes: Mapping[str, Array], shapes: Mapping[str, Shape], batch: Shape, dtype: np.dtype[Any]
) -> Array:
    """The text itself, state by state: it may look at values."""
    states = math.prod(batch)
    flat = {name: in_one_row(x, batch, shapes[name]) for name, x in lanes.items()}
    if not states:
        anything = {name: apart(np.full(shape, math.nan).tolist(), shape) for name, shape in shapes.items()}
        return np.empty((*batch, len(recipe(anything))), dtype)
    rows = [_state(recipe, {name: x[k] for name, x in flat.items()}, shapes) for k in range(states)]
    return np.array(rows, dtype).reshape(*batch, -1)


def _state(recipe: UserRecipe, state: Mapping[str, Array], shapes: Mapping[str, Shape]) -> list[Any]:
    try:
        return list(recipe({name: apart(x.tolist(), shapes[name]) for name, x in state.items()}))
    except (ArithmeticError, ValueError):  # Python's numbers stop at a division by zero; NumPy's go on with inf and nan
        with np.errstate(all="ignore"):
            return list(recipe({name: apart(list(x), shapes[name]) for name, x in state.items()}))
