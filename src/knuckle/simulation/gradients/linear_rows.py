"""A and B of a step by rows: what weights of its result give, one compiled text for all of them.

Code for all columns at once is as long as there are directions. Steps that solve contacts are long themselves, and are
differentiated from their results back instead, once for each row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.differentiate.derivative_texts import Call, OfUser
from knuckle.engine.differentiate.tangent_space import along_velocities, position_rates
from knuckle.engine.kernels.specialization import Specialization
from knuckle.functions.configuration import difference
from knuckle.model import Model
from knuckle.scalar import ZERO
from knuckle.simulation.steps.step_text import APPLIED, WRENCHES, StepText
from knuckle.spatial import Vector
from knuckle.warning import warn

from .redundant_contacts import SharedLoads

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Mapping[str, tuple[Array, tuple[int, ...]]]
"""Arguments by their names, with their shapes for one state."""
WEIGHT = "weight"


@dataclass(frozen=True)
class SingleStep:
    """A text (model, q, v, tau, t, dt, f_ext) → q', v' of a step that begins anew, and what is remembered of it."""

    step: StepText
    __name__ = "linearize"

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        arguments = {**values, **applied(values)}
        _, _, *memory = dataclasses.replace(self.step, method="start")(model, **arguments)
        known = {f"memory{k}": x for k, x in enumerate(memory)}
        return dataclasses.replace(self.step, memory=len(memory))(model, **arguments, **known)


@dataclass(frozen=True)
class WeightedStep:
    """A text (model, weight, q, v, tau, t, dt, f_ext) → wᵀA, wᵀB, and what the step leaves in memory."""

    step: StepText
    __name__ = "linearize by rows"

    def __call__(self, model: Model, weight: Any, **arrays: Any) -> tuple[Any, ...]:
        nq, nv = model.nq, model.nv
        call = Call.of(OfUser(tuple(arrays), (), SingleStep(self.step)), model, arrays)
        sweep, _ = call.sweep()
        there = sweep.outputs[:nq]
        both = Call.of(OfUser(("q0", "q1"), (), displacement), model, {"q0": Vector(there), "q1": Vector(there)})
        beside = both.sweep()[0].pulled(list(weight[:nv]))
        weights = [*(beside.get(nq + i, ZERO) for i in range(nq)), *weight[nv:]]
        slopes = sweep.pulled([*weights, *[ZERO] * (len(sweep.outputs) - len(weights))])

        def by(name: str) -> dict[int, Any]:
            start = call.starts[name]
            return {k: slopes[start + k] for k in range(len(call.scalars[name])) if start + k in slopes}

        along = along_velocities(position_rates(model, arrays["q"]), by("q"), nv)
        own, forced = by("v"), by("tau")
        a = Vector([*along, *(own.get(k, ZERO) for k in range(nv))])
        return a, Vector(forced.get(k, ZERO) for k in range(nv)), Vector(sweep.outputs[nq + nv :])


def applied(values: Mapping[str, Any]) -> dict[str, Any]:
    """What acts in a step, by the names that it has there."""
    f_ext = values.get("f_ext")
    return {APPLIED: values["tau"]} | ({} if f_ext is None else {WRENCHES: f_ext})


def displacement(model: Model, q0: Any, q1: Any) -> Any:
    """q₁ ⊖ q₀."""
    return difference(model, q0, q1)


def by_rows(model: Model, arrays: Arrays, step: StepText) -> tuple[Array, Array]:
    """A and B of a step, row by row; a warning where they are those of one choice among impulses."""
    n, by_step = 2 * model.nv, ("t", "dt")
    beside = {
        name: (x if name in by_step else np.expand_dims(x, -1 - len(shape)), shape)
        for name, (x, shape) in arrays.items()
    }
    name = f"linearize by {type(step.integrator).__name__}"
    specialization = Specialization(name, WeightedStep(step), model, numbers=by_step, is_users=True)
    container = NumPyArrays(weak=frozenset(by_step))
    A, B, memory = container.compute(specialization, {WEIGHT: (np.eye(n), (n,)), **beside})
    shared = SharedLoads.of(model, step.integrator)
    if shared is not None and A.size and shared.unclear(memory[..., :1, :].reshape(-1, 1, memory.shape[-1])).any():
        warn(
            f"bodies of {model.name} slide in different directions on more places than share their load in one way: A "
            "and B are those of one choice. Soft contacts, contacts=kn.contact.CompliantContacts(), have no such choice"
        )
    return A, B
