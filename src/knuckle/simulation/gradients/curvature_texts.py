"""Second derivatives of a rollout's loss: its texts, and beside each result how it changes along a direction.

With δ for the derivative along a direction of everything a rollout begins with, x' = f(x, u) goes with

    δx' = ∂f/∂x δx + ∂f/∂u δu,

and the adjoints λ go back with δλ, the derivative of λ = (∂f/∂x)ᵀ λ' + ∂ℓ/∂x along (δx, δu, δλ'). At the beginning
δλ is the product of the loss's second derivatives with the direction: forward over backward.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.base import put_together
from knuckle.engine.calls.choose_container import unpacked
from knuckle.engine.calls.numpy_arrays import NumPyArrays, numbers
from knuckle.engine.calls.trajectory_batches import Input
from knuckle.engine.differentiate.derivative_texts import Call, OfUser
from knuckle.functions.configuration import velocity_to_qdot
from knuckle.integrators.base import Integrator
from knuckle.model import Model
from knuckle.scalar import ZERO
from knuckle.simulation.rollout.rollout_inputs import Inputs
from knuckle.simulation.rollout.rollout_steps import specialization_of
from knuckle.simulation.steps.step_text import APPLIED, StepText

from .adjoint_texts import flat

Array: TypeAlias = NDArray[Any]

RATE = "δ "
"""What derivatives along the direction are called: this before the name of what they are derivatives of."""


@dataclass(frozen=True)
class WithRates:
    """A function of the arguments of a text, and of their derivatives → its results, and theirs.

    The first `leading` results are followed by their derivatives, then the others by theirs. An argument whose
    derivative is not given does not change.
    """

    text: Any
    leading: int = 0

    @property
    def integrator(self) -> Integrator:
        return self.text.integrator

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        own = {name: x for name, x in values.items() if not name.startswith(RATE)}
        call = Call.of(OfUser(tuple(own), (), self.text), model, own)
        sweep, layout = call.sweep()
        seeds: dict[int, dict[int, Any]] = {}
        for name, start in call.starts.items():
            for k, rate in enumerate(flat(values[RATE + name]) if RATE + name in values else ()):
                seeds[start + k] = {0: rate}
        slopes = [row.get(0, ZERO) for row in sweep.pushed(seeds)]
        results, rates = (layout.together(some, put_together) for some in (sweep.outputs, slopes))
        k = self.leading
        return *results[:k], *rates[:k], *results[k:], *rates[k:]


@dataclass(frozen=True)
class Direction:
    """A direction of what rollouts begin with.

    Attributes:
        state: (..., nq) and (..., nv): how the first state changes.
        others: inputs of steps that say how those of the same names change.
        batch: the batch axes of directions and rollouts together.
    """

    state: Mapping[str, Array]
    others: Mapping[str, Input]
    batch: tuple[int, ...]

    @classmethod
    def of(cls, model: Model, given: Mapping[str, ArrayLike], inside: Mapping[str, str], inputs: Inputs) -> Direction:
        """The direction that is given by the names of arguments; `inside` has those of inputs."""
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(given).__name__
            raise TypeError(
                f"direction says by name how some of {', '.join(inside)} change, in a dict; not in a {kind}"
            )
        if not given:
            raise TypeError(f"direction is empty: it says how some of {', '.join(inside)} change")
        dtype = inputs.state["q"].dtype
        rates: dict[str, Array] = {"q": np.zeros(model.nv, dtype), "v": np.zeros(model.nv, dtype)}
        others: dict[str, Input] = {}
        for title, value in given.items():
            if title not in inside:
                raise TypeError(f"direction names arguments that are given: {', '.join(inside)}, not {title!r}")
            name, what = inside[title], f"direction[{title!r}]"
            if name in rates:
                rates[name] = np.asarray(numbers(what, unpacked(value), (model.nv,)), dtype)
            else:
                like = inputs.others[name]
                assert isinstance(like, Input)
                others[name] = _like(what, value, like, name in inputs.single, name == APPLIED, dtype)
        q = velocity_to_qdot(model, inputs.state["q"], rates["q"]) if "q0" in given else np.zeros(model.nq, dtype)
        shapes = [q.shape[:-1], rates["v"].shape[:-1], *(x.batch for x in others.values())]
        return cls(
            {"q": q, "v": rates["v"]}, {RATE + name: x for name, x in others.items()},
            np.broadcast_shapes(inputs.batch, *shapes),
        )  # fmt: skip

    def beside(self, inputs: Inputs) -> Inputs:
        """Inputs and, beside them, how they change."""
        state = dict(inputs.state) | {RATE + name: x for name, x in self.state.items()}
        others = {name: x for name, x in self.others.items() if name.removeprefix(RATE) in inputs.others}
        single = (*inputs.single, *(RATE + name for name in inputs.single))
        return dataclasses.replace(
            inputs, state=state, others={**inputs.others, **others}, single=single, batch=self.batch
        )

    def started(self, start: StepText, model: Model, first: Inputs) -> Direction:
        """The direction of the state with the memory that an integrator begins with."""
        both = self.beside(first)
        arrays = {name: (x, x.shape[-1:]) for name, x in both.state.items()}
        arrays |= {name: (x.at(0), x.shape) for name, x in both.others.items()}
        results = NumPyArrays().compute(specialization_of(WithRates(start), model, both, "start and its rate"), arrays)
        count = len(results) // 2
        names = ["q", "v", *(f"memory{k}" for k in range(count - 2))]
        rates = {
            name: x if np.ndim(x) > len(both.batch) else np.asarray(x)[..., np.newaxis]
            for name, x in zip(names, results[count:], strict=True)
        }
        return dataclasses.replace(self, state=rates)


def _like(what: str, value: ArrayLike, like: Input, is_number: bool, may_stay: bool, dtype: Any) -> Input:
    """How an input changes: an array of its own shape, with any batch axes before it."""
    steps = like.array.shape[len(like.batch)]
    array = np.asarray(unpacked(value))
    if is_number:
        return Input(np.asarray(numbers(what, array, ()), dtype)[..., np.newaxis, np.newaxis], (1,))
    size = like.shape
    stays = not like.is_moving and (not may_stay or array.ndim <= len(size) or array.shape[-1 - len(size)] != 1)
    array = np.ascontiguousarray(numbers(what, array, size if stays else (steps, *size)), dtype)
    return Input(np.expand_dims(array, array.ndim - len(size)) if stays else array, size)
