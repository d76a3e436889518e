"""Arrays of JAX: computed by the same code through a callback, under jit, vmap, grad, jvp and their compositions.

Derivatives are by the entries of the arguments, as JAX has them: nq of a position. They come from the function's own
Jacobian, which JAX multiplies with directions or weights; so both of its modes work, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from knuckle.engine.arrays.base import Arrays, Container, Shape, Text
from knuckle.model import Model

from .arguments import Sorted
from .result_parts import leaves, leaves_of, together, with_values

if TYPE_CHECKING:
    from .function import Function


class JAXArrays(Container):
    """Arrays of JAX, traced or not, and numbers and arrays of NumPy among them."""

    def compute(self, text: Text, arrays: Arrays) -> Any:
        raise TypeError("arrays of JAX are arguments of functions, and not of their pieces")

    def evaluate(self, function: Function[..., Any], model: Model, call: Sorted) -> Any:
        """The results of a function, as JAX's own."""
        jnp: Any = import_module("jax.numpy")
        dtype = jnp.result_type(*(value for value, _ in call.arrays.values() if hasattr(value, "dtype")), float)
        arrays: list[Any] = [jnp.asarray(_entry(jnp, value), dtype) for value, _ in call.arrays.values()]
        for (name, (_, shape)), x in zip(call.arrays.items(), arrays, strict=True):
            if x.shape[x.ndim - len(shape) :] != shape:
                expected = ", ".join(["...", *map(str, shape)])
                raise ValueError(f"{name} has shape {x.shape}, and must have shape ({expected})")
        parts = called(function, model, call)(*arrays)
        return together(function.derivatives.layout(model, call), list(parts))


def _entry(jnp: Any, value: Any) -> Any:
    return jnp.stack(value) if isinstance(value, list) else value


def called(function: Function[..., Any], model: Model, call: Sorted) -> Callable[..., Any]:
    """The function of arrays with the axes of a call, its numbers as vectors of one entry: a tuple of arrays."""
    jx: Any = import_module("jax")
    layout = function.derivatives.layout(model, call)
    shapes = [shape for _, shape in call.arrays.values()]

    def numbers(*arrays: Any) -> tuple[Any, ...]:
        plain = [np.asarray(x) for x in arrays]
        batch = _batch([x.shape for x in plain], shapes)
        return tuple(
            np.broadcast_to(x, batch + part.shape).astype(plain[0].dtype, copy=False)
            for x, part in zip(on_host(function, model, call, plain), leaves_of(layout), strict=True)
        )

    @jx.custom_jvp
    def compute(*arrays: Any) -> Any:
        if not any(isinstance(x, jx.core.Tracer) for x in arrays):
            return tuple(jx.numpy.asarray(x) for x in numbers(*arrays))
        batch = _batch([x.shape for x in arrays], shapes)
        results = tuple(jx.ShapeDtypeStruct(batch + part.shape, arrays[0].dtype) for part in leaves_of(layout))
        return jx.pure_callback(numbers, results, *arrays, vmap_method="broadcast_all")

    def rule(arrays: Any, directions: Any) -> Any:
        moving = [
            k for k, d in enumerate(directions) if type(d).__name__ != "SymbolicZero" and d.dtype != jx.dtypes.float0
        ]
        names = tuple(list(call.arrays)[k] for k in moving)
        jacobian = function.derivatives.entries("jacobian", model, names, call)
        slopes = called(jacobian, model, call)(*arrays)
        results = compute(*arrays)
        parts, rates = leaves_of(layout), list[Any]()
        for number, part in enumerate(parts):
            total: Any = 0
            for place, k in enumerate(moving):
                slope = slopes[place * len(parts) + number]
                total = total + _along(
                    jx.numpy, slope, directions[k], part.shape, shapes[k], list(call.arrays)[k] in call.numbers
                )
            rates.append(jx.numpy.broadcast_to(total, results[number].shape))
        return results, tuple(rates)

    compute.defjvp(rule)
    return compute


def on_host(function: Function[..., Any], model: Model, call: Sorted, arrays: Sequence[Any]) -> list[Any]:
    """The results of a call with arrays of NumPy, which are views of the memory of JAX's."""
    return leaves(function(model, **with_values(call, arrays)), function.derivatives.layout(model, call))


def _along(jnp: Any, slope: Any, direction: Any, part: Shape, shape: Shape, is_number: bool) -> Any:
    """A Jacobian (…, *part, *shape) times a direction (…, *shape)."""
    if is_number:
        slope = slope[..., None]
    batch = direction.shape[: direction.ndim - len(shape)]
    spread = direction.reshape(*batch, *[1] * len(part), *shape)
    return jnp.sum(slope * spread, axis=tuple(range(-len(shape), 0)))


def _batch(actual: list[Shape], shapes: list[Shape]) -> Shape:
    return np.broadcast_shapes(*(x[: len(x) - len(shape)] for x, shape in zip(actual, shapes, strict=True)))
