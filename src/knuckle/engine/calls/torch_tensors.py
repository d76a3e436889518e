"""Tensors of torch: computed by the same code, and differentiated by torch's autograd, as often as one likes.

Derivatives are by the entries of the arguments, as torch has them: nq of a position. Where tensors are on another
device than the processor's, they are copied there and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from knuckle.engine.arrays.base import Arrays, Container, Shape, Text
from knuckle.model import Model

from .arguments import Sorted
from .result_parts import leaves, leaves_of, together, with_values

if TYPE_CHECKING:
    from .function import Function


class TorchTensors(Container):
    """Tensors of torch, and numbers and arrays among them."""

    def compute(self, text: Text, arrays: Arrays) -> Any:
        raise TypeError("tensors of torch are arguments of functions, and not of their pieces")

    def evaluate(self, function: Function[..., Any], model: Model, call: Sorted) -> Any:
        """The results of a function, with a node of autograd that knows their derivatives."""
        th: Any = import_module("torch")
        given = {name: _entry(value) for name, (value, _) in call.arrays.items()}
        like = next(x for x in given.values() if isinstance(x, th.Tensor))
        dtype = like.dtype if like.dtype.is_floating_point else th.get_default_dtype()
        tensors = [th.as_tensor(x, dtype=dtype, device=like.device) for x in given.values()]
        batch, layout = _batch(tensors, call), function.derivatives.layout(model, call)
        parts = _node().apply((function, model, call, batch), *tensors)
        return together(layout, list(parts))


def _entry(value: Any) -> Any:
    """A number is a list of one entry, which may be a tensor without axes."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return items[0].reshape(*items[0].shape, 1) if len(items) == 1 and hasattr(items[0], "reshape") else items
    return value


def _batch(tensors: Sequence[Any], call: Sorted) -> Shape:
    shapes = [tuple(x.shape) for x in tensors]
    for (name, (_, shape)), actual in zip(call.arrays.items(), shapes, strict=True):
        if actual[len(actual) - len(shape) :] != shape:
            expected = ", ".join(["...", *map(str, shape)])
            raise ValueError(f"{name} has shape {actual}, and must have shape ({expected})")
    return np.broadcast_shapes(
        *(actual[: len(actual) - len(shape)] for actual, (_, shape) in zip(shapes, call.arrays.values(), strict=True))
    )


_made: list[Any] = []
"""The class of nodes, made when torch is first used: it inherits from torch's."""


def _node() -> Any:
    if _made:
        return _made[0]
    th: Any = import_module("torch")

    class AutogradCall(th.autograd.Function):
        """A call of a function. Its derivatives are calls too, so that they have derivatives."""

        generate_vmap_rule = False

        @staticmethod
        def forward(what: Any, *tensors: Any) -> Any:
            function, model, call, batch = what
            results = on_host(function, model, call, [x.detach().cpu().numpy() for x in tensors])
            layout = function.derivatives.layout(model, call)
            return tuple(
                th.from_numpy(_whole(x, batch + part.shape)).to(tensors[0].device)
                for x, part in zip(results, leaves_of(layout), strict=True)
            )

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            what, *tensors = inputs
            ctx.what = what
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)

        @staticmethod
        def jvp(ctx: Any, _: Any, *directions: Any) -> Any:
            function, model, call, _ = ctx.what
            given = {name: d for name, d in zip(call.arrays, directions, strict=True) if d is not None}
            names = function.derivatives.direction_names(tuple(given))
            along = {
                direction: d[..., 0] if name in call.numbers else d
                for direction, (name, d) in zip(names, given.items(), strict=True)
            }
            rates = function.derivatives.entries("jvp", model, tuple(given), call)
            return tuple(
                leaves(
                    rates(model, **with_values(call, ctx.saved_tensors), **along)[1],
                    function.derivatives.layout(model, call),
                )
            )

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            function, model, call, _ = ctx.what
            tensors = ctx.saved_tensors
            names = [name for name, needs in zip(call.arrays, ctx.needs_input_grad[1:], strict=True) if needs]
            given = function.derivatives.weight_names(function.derivatives.layout(model, call))
            gradients = function.derivatives.entries("vjp", model, tuple(names), call)(
                model, **with_values(call, tensors), **dict(zip(given, weights, strict=True))
            )
            found: list[Any] = []
            for name, x in zip(call.arrays, tensors, strict=True):
                gradient = gradients.get(name)
                if gradient is not None and name in call.numbers:
                    gradient = gradient[..., None]
                found.append(None if gradient is None else gradient.sum_to_size(x.shape))
            return (None, *found)

        @staticmethod
        def vmap(info: Any, in_dims: Any, what: Any, *tensors: Any) -> Any:
            function, model, call, batch = what
            moved = [
                x if dim is None else _with_axes(th.movedim(x, dim, 0), len(batch) + len(shape) + 1)
                for x, dim, (_, shape) in zip(tensors, in_dims[1:], call.arrays.values(), strict=True)
            ]
            parts = AutogradCall.apply((function, model, call, (info.batch_size, *batch)), *moved)
            return parts, tuple(0 for _ in parts)

    _made.append(AutogradCall)
    return AutogradCall


def on_host(function: Function[..., Any], model: Model, call: Sorted, arrays: Sequence[Any]) -> list[Any]:
    """The results of a call with arrays of NumPy, which are views of the tensors' memory."""
    result = function(model, **with_values(call, arrays))
    return [np.asarray(x) for x in leaves(result, function.derivatives.layout(model, call))]


def _whole(x: Any, shape: Shape) -> Any:
    """x as it is, or copied to its full shape where the batch of the call is larger."""
    return x if x.shape == shape and x.flags.writeable else np.array(np.broadcast_to(x, shape))


def _with_axes(x: Any, axes: int) -> Any:
    """x with axes of length one after its first, so many that it has `axes`."""
    return x.reshape(x.shape[0], *[1] * (axes - x.ndim), *x.shape[1:])
