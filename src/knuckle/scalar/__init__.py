"""Scalars of any kind: what an algorithm may do with a number, whatever the number is.

Arithmetic is Python's own operators. The functions below choose their implementation by the kind of their
arguments: Python numbers, NumPy lane arrays, mpmath, SymPy, CasADi, `Dual`, or any class with a `scalar_kind`.
"""

from .derived_functions import power, remainder
from .dual import Dual, derivative, parts
from .elementary import (
    absolute,
    arctan2,
    cos,
    cosh,
    exp,
    floor,
    less,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sinh,
    sqrt,
    tanh,
    value_of,
)
from .grid import Grid
from .inside_kernel import inside_a_kernel, is_inside, is_of_one_state, running_texts
from .kinds import Kind, functions_of, kind_of
from .structural import ONE, ZERO, MadeOfScalars, StructuralDivisionError, constant

__all__ = [
    "ONE",
    "ZERO",
    "Dual",
    "Grid",
    "Kind",
    "MadeOfScalars",
    "StructuralDivisionError",
    "absolute",
    "arctan2",
    "constant",
    "cos",
    "cosh",
    "derivative",
    "exp",
    "floor",
    "functions_of",
    "inside_a_kernel",
    "is_inside",
    "is_of_one_state",
    "kind_of",
    "less",
    "log",
    "maximum",
    "minimum",
    "parts",
    "power",
    "remainder",
    "running_texts",
    "select",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tanh",
    "value_of",
]
