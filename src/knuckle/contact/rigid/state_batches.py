"""Arguments of functions on numbers, with one axis for all states of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.base import in_one_row
from knuckle.engine.calls.numpy_arrays import numbers
from knuckle.model import Model

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class StateBatch:
    """The arguments by name, (states, …) each, and the axes that they had together."""

    batch: tuple[int, ...]
    arrays: dict[str, Array]

    @classmethod
    def of(cls, what: str, model: Model, **values: Any) -> StateBatch:
        """Of positions called q, wrenches called f_ext and else of velocity variables; without those that are None.

        `what` is the function that errors name.
        """
        if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{what} needs a knuckle.Model first, not {type(model).__name__}")
        known = {"q": (model.nq,), "f_ext": (model.nb, model.algebra.dimension)}
        shapes = {name: known.get(name, (model.nv,)) for name, value in values.items() if value is not None}
        arrays = {name: numbers(name, values[name], shape) for name, shape in shapes.items()}
        for name, array in arrays.items():
            if array.dtype.kind == "c":
                raise TypeError(f"{name} holds complex numbers, and must hold real ones: contacts open and close")
        axes = {name: array.shape[: array.ndim - len(shapes[name])] for name, array in arrays.items()}
        try:
            batch = np.broadcast_shapes(*axes.values())
        except ValueError:
            listed = ", ".join(f"{name} {axis}" for name, axis in axes.items())
            raise ValueError(f"the batch axes of the arguments do not broadcast: {listed}") from None
        flat = {name: in_one_row(array.astype(float), batch, shapes[name]) for name, array in arrays.items()}
        return cls(batch, flat)

    def shaped(self, rows: list[Any], *shape: int) -> Array:
        """The results of all states as one array."""
        return np.array(rows).reshape((*self.batch, *shape))
