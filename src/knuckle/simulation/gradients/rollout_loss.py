"""The loss of rollouts for other people's autodiff: tensors of torch and arrays of JAX in, and the same out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.calls.choose_container import package_of
from knuckle.functions.configuration import velocity_to_qdot
from knuckle.model import Model

from .rollout_gradient import rollout_gradient

STATE = ("q0", "v0", "tau")
"""What is differentiated besides parameters."""


def rollout_loss(
    model: Model,
    loss: Callable[..., Any] | None,
    q0: Any = None,
    v0: Any = None,
    tau: Any = None,
    dt: float | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """The losses (...) of trajectories, for torch or JAX to differentiate by `q0`, `v0`, `tau` and `parameters`.

    What it computes, and with which arguments, is what `rollout_gradient` says: values and gradients come from it, in
    one go. First derivatives, forward or backward; second ones raise an error. Those by q0 are by its entries, tangent
    to the positions there are: a quaternion gets no derivative along itself.

    Args:
        model: the mechanism.
        loss: a kernel, or None where there is a `final_loss`.
        q0: initial positions (..., nq).
        v0: initial velocity variables (..., nv).
        tau: joint forces, as for `rollout`.
        dt: the length of a step in seconds.
        parameters: what losses, controller, external forces and `model_fn` ask for.
        options: everything else that `rollout_gradient` takes, such as `steps`, `final_loss` and `controller`.
    """
    if "wrt" in options:
        raise TypeError("rollout_loss has no wrt: torch and JAX know what they differentiate by")
    arrays = {name: x for name, x in zip(STATE, (q0, v0, tau), strict=True) if x is not None}
    arrays |= {f"parameter {name}": x for name, x in (parameters or {}).items()}
    kinds = {package_of(x).replace("jaxlib", "jax") for x in arrays.values()} & {"torch", "jax"}
    if len(kinds) > 1:
        raise TypeError("tensors of torch and arrays of JAX do not go into one call")
    own = {name: x for name, x in arrays.items() if package_of(x).replace("jaxlib", "jax") in kinds}
    fixed = {name: x for name, x in arrays.items() if name not in own}
    runs = Runs(model, loss, dt, fixed, tuple(own), options)
    match sorted(kinds):
        case ["torch"]:
            return _by_torch(runs, list(own.values()))
        case ["jax"]:
            return _by_jax(runs, list(own.values()))
        case _:
            return runs.gradient({}, ("v0",))[0]


@dataclass(frozen=True)
class Runs:
    """Rollouts as a function of some of their arrays."""

    model: Model
    loss: Callable[..., Any] | None
    dt: float | None
    fixed: Mapping[str, Any]
    names: tuple[str, ...]
    options: Mapping[str, Any]

    def gradient(self, arrays: Mapping[str, Any], wrt: Sequence[str]) -> tuple[Any, list[Any]]:
        """The losses, and their gradients by arrays: after the batch axes those of the array itself."""
        every = {**self.fixed, **arrays}
        state = {name: every[name] for name in STATE if name in every}
        parameters = {name.removeprefix("parameter "): x for name, x in every.items() if name not in STATE}
        result = rollout_gradient(
            self.model, self.loss, **state, dt=self.dt, parameters=parameters or None,
            wrt=[name.removeprefix("parameter ") for name in wrt], **self.options,
        )  # fmt: skip
        found: list[Any] = []
        for name in wrt:
            g = result[name.removeprefix("parameter ")]
            if name == "q0" and name in arrays:
                g = self._by_entries(arrays[name], g)
            if name in arrays and len(self.own_shape(name, arrays[name].shape)) == g.ndim - result.loss.ndim + 1:
                g = g[..., None, :]
            found.append(g)
        return result.loss, found

    def own_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The axes of an array that are not batch axes."""
        over_time = name == "tau" or name.removeprefix("parameter ") in self.options.get("time_varying", ())
        return shape[-2:] if over_time else shape[-1:]

    def batch(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """The batch axes of all arrays together."""
        every = {name: np.shape(x) for name, x in self.fixed.items()} | dict(shapes)
        return np.broadcast_shapes(*(s[: len(s) - len(self.own_shape(name, s))] for name, s in every.items()))

    def _by_entries(self, q: Any, along: Any) -> Any:
        """The gradient by the entries of positions, from that along the velocity variables: q̇ = E v, g = E⁺ᵀ g_v."""
        E = velocity_to_qdot.jacobian(self.model, q, np.zeros(self.model.nv), wrt="v")["v"]
        return (np.swapaxes(np.linalg.pinv(E), -1, -2) @ along[..., None])[..., 0]


def _by_torch(runs: Runs, tensors: list[Any]) -> Any:
    import torch  # pyright: ignore[reportMissingImports]

    th: Any = torch

    class AutogradRollout(th.autograd.Function):
        """Rollouts whose gradients are computed with their losses."""

        @staticmethod
        def forward(*tensors: Any) -> Any:
            arrays = dict(zip(runs.names, (x.detach().cpu().numpy() for x in tensors), strict=True))
            loss, gradients = runs.gradient(arrays, runs.names)
            like = tensors[0]
            return tuple(th.from_numpy(np.array(x)).to(like) for x in (loss, *gradients))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.shapes = [x.shape for x in inputs]
            ctx.save_for_backward(*output[1:])
            ctx.save_for_forward(*output[1:])
            ctx.mark_non_differentiable(*output[1:])

        @staticmethod
        @th.autograd.function.once_differentiable
        def backward(ctx: Any, weight: Any, *_: Any) -> Any:
            return tuple(
                (weight.reshape((*weight.shape, *[1] * (g.ndim - weight.ndim))) * g).sum_to_size(shape)
                for g, shape in zip(ctx.saved_tensors, ctx.shapes, strict=True)
            )

        @staticmethod
        def jvp(ctx: Any, *directions: Any) -> Any:
            rate: Any = 0.0
            for name, g, d in zip(runs.names, ctx.saved_tensors, directions, strict=True):
                if d is not None:
                    own = len(runs.own_shape(name, tuple(d.shape)))
                    rate = rate + (g * d).sum(tuple(range(-own, 0))) if own else rate + g * d
            return (rate, *[None] * len(ctx.saved_tensors))

    return AutogradRollout.apply(*tensors)[0]


def _by_jax(runs: Runs, arrays: list[Any]) -> Any:
    import jax  # pyright: ignore[reportMissingImports]

    jx: Any = jax
    names = runs.names

    def shapes(values: Sequence[Any]) -> tuple[Any, ...]:
        sizes = {name: tuple(x.shape) for name, x in zip(names, values, strict=True)}
        batch, dtype = runs.batch(sizes), values[0].dtype
        own = (batch + runs.own_shape(name, size) for name, size in sizes.items())
        return tuple(jx.ShapeDtypeStruct(shape, dtype) for shape in (batch, *own))

    def on_host(*values: Any) -> tuple[Any, ...]:
        plain = [np.asarray(x) for x in values]
        loss, gradients = runs.gradient(dict(zip(names, plain, strict=True)), names)
        return tuple(np.asarray(x, plain[0].dtype) for x in (loss, *gradients))

    @jx.custom_jvp
    def losses(*values: Any) -> Any:
        return jx.pure_callback(on_host, shapes(values), *values, vmap_method="sequential")[0]

    def rule(values: Any, directions: Any) -> Any:
        loss, *gradients = jx.pure_callback(on_host, shapes(values), *values, vmap_method="sequential")
        rate: Any = jx.numpy.zeros_like(loss)
        for name, g, d in zip(names, gradients, directions, strict=True):
            own = len(runs.own_shape(name, tuple(d.shape)))
            rate = rate + jx.numpy.sum(g * d, axis=tuple(range(-own, 0)))
        return loss, rate

    losses.defjvp(rule)
    return losses(*(jx.numpy.asarray(x) for x in arrays))
