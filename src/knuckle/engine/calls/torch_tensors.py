"""Tensors of torch: computed by the same code, and differentiated by torch's autograd, as often as one likes.

Derivatives are by the entries of the arguments, as torch has them: nq of a position. Where tensors are on another
device than the processor's, they are copied there and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from knuckle.engine.arrays.base import Arrays, Container, Shape, Text
from knuckle.engine.arrays.result_layout import Layout, Several, Single
from knuckle.model import Model

from .arguments import Sorted

if TYPE_CHECKING:
    from .function import Function


class TorchTensors(Container):
    """Tensors of torch, and numbers and arrays among them."""

    def compute(self, text: Text, arrays: Arrays) -> Any:
        raise TypeError("tensors of torch are arguments of functions, and not of their pieces")

    def evaluate(self, function: Function[..., Any], model: Model, call: Sorted) -> Any:
        """The results of a function, with a node of autograd that knows their derivatives."""
        import torch  # pyright: ignore[reportMissingImports]

        th: Any = torch
        given = {name: _entry(value) for name, (value, _) in call.arrays.items()}
        like = next(x for x in given.values() if isinstance(x, th.Tensor))
        dtype = like.dtype if like.dtype.is_floating_point else th.get_default_dtype()
        tensors = [th.as_tensor(x, dtype=dtype, device=like.device) for x in given.values()]
        batch, layout = _batch(tensors, call), function.derivatives.layout(model, call)
        parts = _node().apply((function, model, call, batch), *tensors)
        return _together(layout, list(parts))


def _entry(value: Any) -> Any:
    """A number is a list of one entry, which may be a tensor without axes."""
    if isinstance(value, list) and len(cast("list[Any]", value)) == 1 and hasattr(value[0], "reshape"):
        return value[0].reshape(*value[0].shape, 1)
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


def _together(layout: Layout, parts: list[Any]) -> Any:
    """Tensors in the place of the arrays of some results."""
    if isinstance(layout, Single):
        return parts.pop(0)
    inner = [_together(part, parts) for part in layout.parts]
    return layout.collect(inner) if layout.names is None else dict(zip(layout.names, inner, strict=True))


def leaves(result: Any, layout: Layout) -> list[Any]:
    """The arrays of some results, one after the other."""
    if not isinstance(layout, Several):
        return [result]
    parts = result.values() if layout.names is not None else result
    return [leaf for part, inner in zip(parts, layout.parts, strict=True) for leaf in leaves(part, inner)]


def with_values(call: Sorted, values: Sequence[Any]) -> dict[str, Any]:
    """The arguments of a call by name, with other values: numbers without an axis of their own."""
    arrays = {
        name: value[..., 0] if name in call.numbers else value for name, value in zip(call.arrays, values, strict=True)
    }
    return {**call.options, **arrays}


_made: list[Any] = []
"""The class of nodes, made when torch is first used: it inherits from torch's."""


def _node() -> Any:
    if _made:
        return _made[0]
    import torch  # pyright: ignore[reportMissingImports]

    th: Any = torch

    class AutogradCall(th.autograd.Function):
        """A call of a function. Its derivatives are calls too, so that they have derivatives."""

        generate_vmap_rule = False

        @staticmethod
        def forward(what: Any, *tensors: Any) -> Any:
            function, model, call, batch = what
            arrays = [x.detach().cpu().numpy() for x in tensors]
            result = function(model, **with_values(call, arrays))
            layout = function.derivatives.layout(model, call)
            like = tensors[0]
            return tuple(
                th.from_numpy(np.array(np.broadcast_to(x, batch + part.shape))).to(like.device)
                for x, part in zip(leaves(result, layout), leaves_of(layout), strict=True)
            )

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            what, *tensors = inputs
            ctx.what = what
            ctx.save_for_backward(*tensors)

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            function, model, call, _ = ctx.what
            tensors = ctx.saved_tensors
            names = [name for name, needs in zip(call.arrays, ctx.needs_input_grad[1:], strict=True) if needs]
            gradients = function.derivatives.entries("vjp", model, tuple(names), call, weights)(
                model, **with_values(call, tensors), **dict(zip(weight_names_of(len(weights)), weights, strict=True))
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


def _with_axes(x: Any, axes: int) -> Any:
    """x with axes of length one after its first, so many that it has `axes`."""
    return x.reshape(x.shape[0], *[1] * (axes - x.ndim), *x.shape[1:])


def leaves_of(layout: Layout) -> list[Single]:
    """The layouts of the arrays of some results."""
    return [layout] if isinstance(layout, Single) else [leaf for part in layout.parts for leaf in leaves_of(part)]


def weight_names_of(count: int) -> tuple[str, ...]:
    """The names of so many weights."""
    return ("weight",) if count == 1 else tuple(f"weight_{k}" for k in range(count))
