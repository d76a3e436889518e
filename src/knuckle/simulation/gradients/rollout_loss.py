"""The loss of rollouts for other people's autodiff: tensors of torch and arrays of JAX in, and the same out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.calls.choose_container import package_of
from knuckle.model import Model

from .position_entries import PositionEntries
from .rollout_gradient import RolloutGradient, rollout_gradient

OVER_TIME = ("tau", "controls", "excitations")
"""Arrays with an axis of steps."""
STATE = ("q0", "v0", *OVER_TIME, "activations0", "fiber_lengths0", "actuator_states0")
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
    """The losses (...) of trajectories, for torch or JAX to differentiate by every array that is a tensor of theirs.

    What it computes, and with which arguments, is what `rollout_gradient` says: values and gradients come from it, in
    one go. First and second derivatives, forward or backward in any order; third ones raise an error. Those by q0 are
    by its entries, tangent to the positions there are: a quaternion gets no derivative along itself, as if the loss
    were that of q0 / |q0|.

    Args:
        model: the mechanism.
        loss: a kernel, or None where there is a `final_loss`.
        q0: initial positions (..., nq).
        v0: initial velocity variables (..., nv).
        tau: joint forces, as for `rollout`.
        dt: the length of a step in seconds.
        parameters: what losses, controller, external forces and `model_fn` ask for.
        options: everything else that `rollout_gradient` takes, such as `steps`, `final_loss`, `controller`, `controls`.
    """
    for name in ("wrt", "direction"):
        if name in options:
            raise TypeError(f"rollout_loss has no {name}: torch and JAX know what they differentiate by")
    given = {"q0": q0, "v0": v0, "tau": tau, **{name: options.get(name) for name in STATE[3:]}}
    given |= {name: None if callable(given[name]) else given[name] for name in OVER_TIME}
    arrays = {name: x for name, x in given.items() if x is not None}
    options = {name: x for name, x in options.items() if name not in arrays}
    arrays |= {f"parameter {name}": x for name, x in (parameters or {}).items()}
    kinds = {package_of(x).replace("jaxlib", "jax") for x in arrays.values()} & {"torch", "jax"}
    if len(kinds) > 1:
        raise TypeError("tensors of torch and arrays of JAX do not go into one call")
    own = {name: x for name, x in arrays.items() if package_of(x).replace("jaxlib", "jax") in kinds}
    fixed = {name: x for name, x in arrays.items() if name not in own}
    runs = Runs(model, loss, dt, fixed, tuple(own), options)
    match sorted(kinds):
        case ["torch"]:
            from .torch_rollouts import losses_by_torch

            return losses_by_torch(runs, list(own.values()))
        case ["jax"]:
            from .jax_rollouts import losses_by_jax

            return losses_by_jax(runs, list(own.values()))
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
        result = self._result(arrays, wrt)
        found: list[Any] = []
        for name in wrt:
            g = result[_title(name)]
            if name == "q0" and name in arrays:
                g = PositionEntries.at(self.model, arrays[name]).gradient(g)
            found.append(self._with_own_axes(name, arrays, g, result.loss.ndim))
        return result.loss, found

    def curvature(self, arrays: Mapping[str, Any], directions: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """How the losses and their gradients change along directions of the arrays, which have all batch axes."""
        along, entries = dict(directions), None
        if "q0" in arrays:
            entries = PositionEntries.at(self.model, arrays["q0"])
            along["q0"] = entries.velocities(directions["q0"])
        result = self._result(arrays, self.names, {_title(name): x for name, x in along.items()})
        assert result.hessian_product is not None
        found: list[Any] = []
        for name in self.names:
            g = result.hessian_product[_title(name)]
            if name == "q0" and entries is not None:
                g = entries.product(result["q0"], g, directions[name])
            found.append(self._with_own_axes(name, arrays, g, result.loss.ndim))
        return result.rate, found

    def _result(
        self, arrays: Mapping[str, Any], wrt: Sequence[str], direction: Mapping[str, Any] | None = None
    ) -> RolloutGradient:
        every = {**self.fixed, **arrays}
        state = {name: every[name] for name in STATE if name in every}
        parameters = {_title(name): x for name, x in every.items() if name not in STATE}
        return rollout_gradient(
            self.model, self.loss, **state, dt=self.dt, parameters=parameters or None,
            wrt=[_title(name) for name in wrt], direction=direction, **self.options,
        )  # fmt: skip

    def _with_own_axes(self, name: str, arrays: Mapping[str, Any], g: Any, batch_axes: int) -> Any:
        """A gradient with an axis of time where the array has one of length one."""
        if name in arrays and len(self.own_shape(name, arrays[name].shape)) == g.ndim - batch_axes + 1:
            return g[..., None, :]
        return g

    def own_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The axes of an array that are not batch axes."""
        over_time = name in OVER_TIME or name.removeprefix("parameter ") in self.options.get("time_varying", ())
        return shape[-2:] if over_time else shape[-1:]

    def batch(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """The batch axes of all arrays together."""
        every = {name: np.shape(x) for name, x in self.fixed.items()} | dict(shapes)
        return np.broadcast_shapes(*(s[: len(s) - len(self.own_shape(name, s))] for name, s in every.items()))


def _title(name: str) -> str:
    """What an array is called in the arguments of `rollout_gradient`."""
    return name.removeprefix("parameter ")
