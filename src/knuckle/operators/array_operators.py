"""Operators on arrays of real numbers, any batch axes before the last: what the closed-chain dynamics is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.kernels.specialization import Specialization
from knuckle.model import Frame, Model
from knuckle.scalar import is_inside

from .operator import Operator, apply_operator
from .operator_expression import OperatorExpression
from .operators_at import Operators

Array: TypeAlias = np.ndarray[Any, Any]


def real(name: str, value: Any) -> Array:
    """An array of real numbers; what is solved between the kernels is solved by NumPy, for numbers only."""
    if is_inside():
        raise TypeError(
            "closed chains of operators compute with arrays of numbers, not inside a kernel; "
            "knuckle.forward_dynamics goes there, with loop joints too"
        )
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} is of {array.dtype}, and closed chains of operators compute with real numbers")
    return array if array.dtype.kind == "f" else array.astype(float)


def on_arrays(model: Model, q: Array, points: tuple[Frame, ...]) -> Callable[[OperatorExpression, Any], Array]:
    """How to apply expressions at positions q (..., nq) to vectors (..., m), or to several each (..., k, m).

    At one position its entries are computed once. For several, the kernel of an expression computes what it needs.
    """
    if q.ndim == 1:
        ops = Operators(model, q, None, points)
        return lambda expression, x: Operator(ops, expression).rows(x)

    def apply(expression: OperatorExpression, x: Any) -> Array:
        here = q if np.ndim(x) <= q.ndim else q[..., None, :]
        options = ("expression", expression), ("points", points)
        specialization = Specialization("operators.apply", apply_operator, model, options)
        return NumPyArrays().compute(specialization, {"q": (here, (model.nq,)), "x": (x, (np.shape(x)[-1],))})

    return apply


def loop_points(model: Model) -> tuple[Frame, ...]:
    """The successor's and the predecessor's frame of every loop joint: `NAME/successor`, `NAME/predecessor`."""
    return tuple(
        Frame(f"{loop.name}/{end}", body, X)
        for loop in model.loops
        for end, body, X in (
            ("successor", loop.successor, loop.X_successor),
            ("predecessor", loop.predecessor, loop.X_predecessor),
        )
    )
