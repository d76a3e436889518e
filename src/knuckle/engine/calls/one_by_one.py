"""A user's text for one state after the other: arrays in, one flat array out, by the shortest way there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.result_layout import Layout
from knuckle.engine.kernels.captured_values import Surroundings
from knuckle.engine.kernels.kept_kernels import PerModel
from knuckle.engine.kernels.kernel_registry import Array, kernels
from knuckle.engine.kernels.one_state import code_of
from knuckle.engine.native import fast_call

from .user_specialization import UserRecipe, compute_numbers

_DOUBLE = np.dtype(np.float64)
_known: PerModel[OneByOne] = PerModel()
"""What there is in this process, by model object."""


def one_by_one(recipe: UserRecipe, shapes: Mapping[str, Shape]) -> OneByOne:
    """The text of `recipe` for one state after the other, made once for a text, its model and its shapes."""
    key = (*recipe.key(), tuple(shapes.items()), kernels.policy)
    known = _known.get(recipe.model, key)
    if known is None or not known.is_current():
        known = _known.put(recipe.model, key, OneByOne(recipe, shapes))
    return known


class OneByOne:
    """The text of `recipe` as a function of float64 arrays of these shapes, numbers being vectors of one.

    `call` gives the scalars of the result as one array, and `layout` says how they go together. Arguments that are not
    arrays of such shapes take the general way; they may have batch axes, which come first in the result.
    """

    def __init__(self, recipe: UserRecipe, shapes: Mapping[str, Shape]) -> None:
        self.recipe, self.shapes = recipe, {name: shape or (1,) for name, shape in shapes.items()}
        self.call: Callable[..., Array] = self._general
        self._around: Surroundings | None = None
        gate, given = fast_call.gate(), list(self.shapes.values())
        if gate is None or kernels.policy == "never" or not fast_call.can_take(given):
            return
        made = code_of(recipe, self.shapes, _DOUBLE)
        if made is not None:
            way = fast_call.Way(gate, recipe.name, recipe.name, given, _DOUBLE, self._general)
            way.open(made.address, made.shape, made)
            self.call = way.call
            self._around = recipe.surroundings()

    def is_current(self) -> bool:
        """Whether nothing has changed that the code was made of."""
        return self._around is None or self._around.is_same()

    @property
    def layout(self) -> Layout:
        """How the scalars of a result go together; known when there was one."""
        if self.recipe.seen:
            return self.recipe.layout()
        kernel = kernels.slot(self.recipe, self.shapes, _DOUBLE).kernel
        if kernel is None:
            raise RuntimeError(f"nothing was computed of {self.recipe.name} yet")
        return kernel.layout

    def _general(self, *arrays: Any) -> Array:
        """Any arrays, by the kernel for batches or by the text itself."""
        numbers = (np.atleast_1d(np.asarray(x, float)) for x in arrays)
        given = {name: (x, self.shapes[name]) for name, x in zip(self.shapes, numbers, strict=True)}
        result = compute_numbers(self.recipe, given, set())
        parts = cast("tuple[Array, ...]", result if isinstance(result, tuple) else (result,))
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(shape)] for x, shape in given.values()))
        return np.concatenate([np.reshape(part, (*batch, -1)) for part in parts], axis=-1)
