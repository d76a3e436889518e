"""What routines are written with, besides plain Python: the kinds of their arguments, and calls of compiled texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
"""Numbers one after the other. `x[k:]` is what begins at the k-th: what is written there is written to x."""
Wholes: TypeAlias = NDArray[np.int64]
"""Whole numbers one after the other."""


class Code:
    """A compiled text for one state: where it is, and a call of it on arrays of given sizes."""

    def __init__(self, address: int, call: Callable[..., Any], sizes: tuple[int, ...], keeps: Any = None) -> None:
        self.address, self._call, self._sizes, self._keeps = address, call, sizes, keeps

    def __call__(self, *inputs: Reals) -> Reals:
        """Its numbers in a row; of each array it takes as many as it needs."""
        return np.ravel(self._call(*(x[:n] for x, n in zip(inputs, self._sizes, strict=True))))


Codes: TypeAlias = list[Code]
"""Several of them."""


def apply(code: Code, out: Reals, *inputs: Reals) -> None:
    """The numbers that a compiled text gives for these arrays, written to `out`."""
    result = code(*inputs)
    out[: len(result)] = result
