"""Parameters of states that are stepped together: the same for all, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ParameterBatch:
    """A number, a vector or a matrix, or one for each state of a batch; numbers travel as vectors of one."""

    array: Array
    shape: tuple[int, ...]
    is_number: bool

    @classmethod
    def of(cls, value: ArrayLike, is_one: bool, is_matrix: bool) -> ParameterBatch:
        """A parameter of one state, or of a batch, whose axes come before its own."""
        array = np.asarray(value, float)
        if not array.ndim:
            return cls(array[None], (1,), True)
        return cls(array, array.shape if is_one else array.shape[-2 if is_matrix else -1 :], False)

    @property
    def one(self) -> Array:
        """That of the first state."""
        own = self.array.reshape(-1, *self.shape)[0] if self.array.size else np.zeros(self.shape)
        return own[0] if self.is_number else own

    @property
    def size(self) -> int:
        """How many numbers one of them has."""
        return prod(self.shape)

    @property
    def flat(self) -> Array:
        """(..., size)."""
        return self.array.reshape(*self.array.shape[: self.array.ndim - len(self.shape)], self.size)

    def must_fit(self, name: str, batch: tuple[int, ...]) -> None:
        """An error if its axes are not those of a batch."""
        own = self.array.shape[: self.array.ndim - len(self.shape)]
        try:
            fits = np.broadcast_shapes(own, batch) == batch
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"parameter {name} has the batch axes {own}, and the states have {batch}")

    def changed(self, name: str, value: ArrayLike, batch: tuple[int, ...], which: ArrayLike | None) -> ParameterBatch:
        """The same with another value, for all or for some of a batch."""
        new = np.asarray(value, float)
        new = new[..., None] if self.is_number else new
        chosen = ... if which is None else np.asarray(which)
        whole = np.broadcast_to(self.array, (*batch, *self.shape)).copy()
        try:
            whole[chosen] = new
        except ValueError:
            own = () if self.is_number else self.shape
            place = np.empty(batch)[chosen].shape
            raise ValueError(
                f"parameter {name} has shape {np.shape(value)}, and must have shape {own}, or {(*place, *own)}"
            ) from None
        return ParameterBatch(whole, self.shape, self.is_number)

    def chosen(self, batch: tuple[int, ...], which: Array) -> Array:
        """Those of some states of a batch."""
        return np.broadcast_to(self.array, (*batch, *self.shape))[which]
