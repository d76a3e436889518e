"""A user's text for one state after the other: arrays in, one flat array out, by the shortest way there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.result_layout import Layout, Single
from knuckle.engine.kernels.kernel_registry import Array, kernels
from knuckle.engine.kernels.one_state import arrays_call
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native.python_abi import python_abi

from .numpy_arrays import NumPyArrays

_DOUBLE = np.dtype(np.float64)


class OneByOne:
    """A text as a function of float64 arrays of these shapes, numbers being vectors of one.

    `call` gives the scalars of the result as one array, and `layout` says how they go together. Arguments that are not
    arrays of such shapes take the general way; they may have batch axes, which come first in the result.
    """

    def __init__(self, specialization: Specialization, shapes: Mapping[str, Shape]) -> None:
        self._specialization = specialization
        self.shapes = {name: shape or (1,) for name, shape in shapes.items()}
        self.call: Callable[..., Array] = self._general
        self._layout: Layout | None = None
        abi = python_abi()
        if abi is None or kernels.policy == "never":
            return
        slot = kernels.slot(specialization, self.shapes, _DOUBLE)
        one = kernels.one(slot, specialization, self.shapes, _DOUBLE)
        if one is not None:
            straight = arrays_call(abi, specialization.name, self.shapes, _DOUBLE, self._general)
            straight.form.lead_to(Single((one.layout.size,)), one=one.address, keep=one)
            self.call, self._layout = straight.function, one.layout

    @property
    def layout(self) -> Layout:
        """How the scalars of a result go together; known when there was one."""
        if self._layout is None:
            raise RuntimeError(f"nothing was computed of {self._specialization.name} yet")
        return self._layout

    def _general(self, *arrays: Any) -> Array:
        """Any arrays, by the kernel for batches or by the text itself."""
        numbers = (np.atleast_1d(np.asarray(x, float)) for x in arrays)
        arguments = {name: (x, self.shapes[name]) for name, x in zip(self.shapes, numbers, strict=True)}
        computed = NumPyArrays().scalars(self._specialization, arguments)
        self._layout = computed.layout
        return np.reshape(computed.flat, (*computed.batch, self._layout.size))
