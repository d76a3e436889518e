"""Rollouts as functions that JAX differentiates: losses and gradients from one callback, and products of Hessians.

Second derivatives are symmetric, so a product with them is its own transpose: both of JAX's modes have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .rollout_loss import Runs


def losses_by_jax(runs: Runs, arrays: Sequence[Any]) -> Any:
    """The losses of rollouts of arrays."""
    jx: Any = import_module("jax")
    names, product = runs.names, _product(runs)

    def on_host(*values: Any) -> tuple[Any, ...]:
        plain = [np.asarray(x) for x in values]
        loss, gradients = runs.gradient(dict(zip(names, plain, strict=True)), names)
        return tuple(np.asarray(x, plain[0].dtype) for x in (loss, *gradients))

    def sizes(values: Sequence[Any]) -> tuple[Any, ...]:
        own = {name: tuple(x.shape) for name, x in zip(names, values, strict=True)}
        batch = runs.batch(own)
        return batch, *(batch + runs.own_shape(name, size) for name, size in own.items())

    def rate_of(gradients: Sequence[Any], directions: Sequence[Any], loss: Any) -> Any:
        rate = jx.numpy.zeros_like(loss)
        for name, g, d in zip(names, gradients, directions, strict=True):
            own = len(runs.own_shape(name, tuple(d.shape)))
            rate = rate + jx.numpy.sum(g * d, axis=tuple(range(-own, 0)))
        return rate

    @jx.custom_jvp
    def evaluate(*values: Any) -> Any:
        results = tuple(jx.ShapeDtypeStruct(size, values[0].dtype) for size in sizes(values))
        return tuple(jx.pure_callback(on_host, results, *values, vmap_method="sequential"))

    def rule(values: Any, directions: Any) -> Any:
        loss, *gradients = evaluate(*values)
        spread = [jx.numpy.broadcast_to(d, g.shape) for d, g in zip(directions, gradients, strict=True)]
        rates = product.bind(*values, *spread)
        return (loss, *gradients), (rate_of(gradients, directions, loss), *rates)

    evaluate.defjvp(rule)

    @jx.custom_jvp
    def losses(*values: Any) -> Any:
        return evaluate(*values)[0]

    def first_rule(values: Any, directions: Any) -> Any:
        loss, *gradients = evaluate(*values)
        return loss, rate_of(gradients, directions, loss)

    losses.defjvp(first_rule)
    return losses(*(jx.numpy.asarray(x) for x in arrays))


def _product(runs: Runs) -> Any:
    """A primitive of JAX: of arrays and of directions with all batch axes → how the gradients change along these."""
    jx: Any = import_module("jax")
    ad: Any = import_module("jax.interpreters.ad")
    batching: Any = import_module("jax.interpreters.batching")
    mlir: Any = import_module("jax.interpreters.mlir")
    names, half = runs.names, len(runs.names)

    def on_host(*values: Any) -> tuple[Any, ...]:
        plain = [np.asarray(x) for x in values]
        arrays, directions = (dict(zip(names, some, strict=True)) for some in (plain[:half], plain[half:]))
        return tuple(np.asarray(x, plain[0].dtype) for x in runs.curvature(arrays, directions)[1])

    def call(*values: Any) -> Any:
        results = tuple(jx.ShapeDtypeStruct(x.shape, x.dtype) for x in values[half:])
        return jx.pure_callback(on_host, results, *values, vmap_method="sequential")

    def along(values: Any, tangents: Any) -> Any:
        if any(type(t) is not ad.Zero for t in tangents[:half]):
            raise NotImplementedError("rollouts have first and second derivatives, and no third ones")
        directions = [ad.instantiate_zeros(t) for t in tangents[half:]]
        return primitive.bind(*values), primitive.bind(*values[:half], *directions)

    def transposed(weights: Any, *values: Any) -> Any:
        if any(ad.is_undefined_primal(x) for x in values[:half]):
            raise NotImplementedError("rollouts have first and second derivatives, and no third ones")
        back = primitive.bind(*values[:half], *(ad.instantiate_zeros(w) for w in weights))
        found = [x if ad.is_undefined_primal(y) else None for x, y in zip(back, values[half:], strict=True)]
        return [None] * half + found

    def one_by_one(values: Any, axes: Any) -> Any:
        moving = [k for k, axis in enumerate(axes) if axis is not None]
        moved = [jx.numpy.moveaxis(values[k], axes[k], 0) for k in moving]

        def one(some: Any) -> Any:
            mine = dict(zip(moving, some, strict=True))
            whole = [mine.get(k, x) for k, x in enumerate(values)]
            return primitive.bind(*whole)

        results = jx.lax.map(one, moved)
        return results, [0] * len(results)

    primitive: Any = import_module("jax.extend.core").Primitive("rollout_curvature")
    primitive.multiple_results = True
    primitive.def_impl(call)
    primitive.def_abstract_eval(lambda *values: list(values[half:]))
    ad.primitive_jvps[primitive] = along
    ad.primitive_transposes[primitive] = transposed
    batching.primitive_batchers[primitive] = one_by_one
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=True))
    return primitive
