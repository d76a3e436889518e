"""Arrays of three and more axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .array_like import ArrayLike


class Stack(ArrayLike):
    """Matrices on top of each other, as the poses of all bodies: an array of scalars with three or more axes.

    It is indexed as NumPy's arrays are, and operators work entry by entry.
    """

    __slots__ = ("entries",)

    def __init__(self, entries: np.ndarray[Any, np.dtype[Any]]) -> None:
        self.entries = entries

    @property
    def shape(self) -> tuple[int, ...]:
        return self.entries.shape

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"Stack({self.entries.tolist()})"

    def __hash__(self) -> int:
        return hash(tuple(self.entries.flat))

    def __eq__(self, other: object) -> Any:
        return self._operated(np.equal, other)

    def __ne__(self, other: object) -> Any:
        return self._operated(np.not_equal, other)
