"""What routines are written with, besides plain Python: the kinds of their arguments, and calls of compiled texts."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
"""Numbers one after the other. `x[k:]` is what begins at the k-th: what is written there is written to x."""
Wholes: TypeAlias = NDArray[np.int64]
"""Whole numbers one after the other."""


class Code:
    """A compiled text for one state: where it is, and a call of it on arrays that gives its numbers in a row."""

    def __init__(self, address: int, call: Any, keeps: Any = None) -> None:
        self.address, self.call, self._keeps = address, call, keeps


Codes: TypeAlias = list[Code]
"""Several of them."""


def apply(code: Code, out: Reals, *inputs: Reals) -> None:
    """The numbers that a compiled text gives for these arrays, written to `out`."""
    result = np.ravel(code.call(*inputs))
    out[: len(result)] = result
