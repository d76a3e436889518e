"""Rollouts as nodes of torch's autograd: losses and gradients from one call, second derivatives as products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .rollout_loss import Runs


def losses_by_torch(runs: Runs, tensors: Sequence[Any]) -> Any:
    """The losses of rollouts of tensors."""
    th: Any = import_module("torch")

    def arrays(some: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(runs.names, (x.detach().cpu().numpy() for x in some), strict=True))

    def in_torch(some: Sequence[Any], like: Any) -> tuple[Any, ...]:
        return tuple(th.from_numpy(np.array(x)).to(like) for x in some)

    class AutogradCurvature(th.autograd.Function):
        """How losses and gradients change along directions: (rates, products) of tensors and their directions."""

        @staticmethod
        def forward(*tensors: Any) -> Any:
            half = len(tensors) // 2
            rate, products = runs.curvature(arrays(tensors[:half]), arrays(tensors[half:]))
            return in_torch((rate, *products), tensors[0])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *_: Any) -> Any:
            raise NotImplementedError("rollouts have first and second derivatives, and no third ones")

        @staticmethod
        def jvp(ctx: Any, *_: Any) -> Any:
            raise NotImplementedError("rollouts have first and second derivatives, and no third ones")

        @staticmethod
        def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
            return _one_by_one(th, AutogradCurvature.apply, info.batch_size, in_dims, tensors)

    class AutogradRollout(th.autograd.Function):
        """Losses and their gradients, which are differentiated as well."""

        @staticmethod
        def forward(*tensors: Any) -> Any:
            loss, gradients = runs.gradient(arrays(tensors), runs.names)
            return in_torch((loss, *gradients), tensors[0])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*inputs, *output[1:])
            ctx.save_for_forward(*inputs, *output[1:])

        @staticmethod
        def backward(ctx: Any, weight: Any, *weights: Any) -> Any:
            half = len(ctx.saved_tensors) // 2
            tensors, gradients = ctx.saved_tensors[:half], ctx.saved_tensors[half:]
            found: list[Any] = [None] * half
            if weight is not None:
                found = [weight.reshape((*weight.shape, *[1] * (g.ndim - weight.ndim))) * g for g in gradients]
            if any(w is not None for w in weights):
                along = [th.zeros_like(g) if w is None else w for w, g in zip(weights, gradients, strict=True)]
                _, *products = AutogradCurvature.apply(*tensors, *along)
                found = [p if x is None else x + p for x, p in zip(found, products, strict=True)]
            return tuple(None if x is None else x.sum_to_size(y.shape) for x, y in zip(found, tensors, strict=True))

        @staticmethod
        def jvp(ctx: Any, *directions: Any) -> Any:
            half = len(ctx.saved_tensors) // 2
            tensors, gradients = ctx.saved_tensors[:half], ctx.saved_tensors[half:]
            along = [
                th.zeros_like(g) if d is None else d.broadcast_to(g.shape)
                for d, g in zip(directions, gradients, strict=True)
            ]
            return AutogradCurvature.apply(*tensors, *along)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
            return _one_by_one(th, AutogradRollout.apply, info.batch_size, in_dims, tensors)

    return AutogradRollout.apply(*tensors)[0]


def _one_by_one(th: Any, call: Callable[..., Any], count: int, in_dims: Sequence[Any], tensors: Sequence[Any]) -> Any:
    """The results of a call for each place on the axes that vmap goes along."""
    results = [
        call(*(x if dim is None else x.select(dim, k) for x, dim in zip(tensors, in_dims, strict=True)))
        for k in range(count)
    ]
    parts = tuple(th.stack(some) for some in zip(*results, strict=True))
    return parts, (0,) * len(parts)
