"""Compiled texts for routines."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.calls.one_by_one import OneByOne
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.kernels.specialization import Specialization

from .language import Code

_DOUBLE = np.dtype(np.float64)


def code_of(specialization: Specialization, shapes: Mapping[str, Shape]) -> Code:
    """The code of a text for one state, for arguments of these shapes, numbers being vectors of one.

    Its address is 0 where there is none, and the text itself is called.
    """
    function = OneByOne(specialization, shapes)
    sizes = tuple(map(prod, function.shapes.values()))
    if kernels.policy == "never":
        return Code(0, function.call, sizes, function)
    slot = kernels.slot(specialization, function.shapes, _DOUBLE)
    one = kernels.one(slot, specialization, function.shapes, _DOUBLE)
    return Code(0 if one is None else one.address, function.call, sizes, (function, one))
