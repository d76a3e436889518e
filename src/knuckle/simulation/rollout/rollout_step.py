"""One step of a rollout as a text: the integrator, what acts on the mechanism, and what the mechanism is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from knuckle.integrators.base import Integrator, State
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import Control
from knuckle.simulation.friction.dry_friction import begun, stepped
from knuckle.spatial import Vector

APPLIED, WRENCHES = "applied τ", "applied f_ext"
"""What given forces are called among the arguments: no names that a controller could ask for."""


@dataclass(frozen=True)
class Round:
    """A step, or the start, as a function (model, q, v, memory0, …, t, dt, parameters …) → (q', v', memory0', …).

    `numbers` says for each entry of the memory whether it is a number, which travels as a vector of one.
    """

    method: Literal["start", "step"]
    integrator: Integrator
    controller: Control | None = None
    external: Control | None = None
    mechanism: Control | None = None
    numbers: tuple[bool, ...] = ()
    stabilization: Stabilization = None

    def __call__(self, model: Model, **given: Any) -> tuple[Any, ...]:
        system, t, dt = self.system(model, given), given["t"], given["dt"]
        if self.method == "start":
            new = begun(self.integrator, system, t, given["q"], given["v"], dt)
            return new.q, new.v, *new.memory
        memory = tuple(given[f"memory{k}"] for k in range(len(self.numbers)))
        new = stepped(self.integrator, system, t, State(given["q"], given["v"], memory), dt)
        return new.q, new.v, *(Vector([x]) if number else x for x, number in zip(new.memory, self.numbers, strict=True))

    def system(self, model: Model, given: Mapping[str, Any]) -> System:
        """The mechanism of these parameters under its forces. Controllers know the model that they were made for."""
        moving: Model = mechanism_of(self.mechanism, model, given) if self.mechanism else model

        def force(at: Model, t: Any, q: Any, v: Any) -> Any:
            applied = given[APPLIED] if APPLIED in given else v * 0
            if self.controller is None:
                return applied
            return applied + self.controller(_then(model, system, t), t, q, v, given, (model.nv,))

        def f_ext(at: Model, t: Any, q: Any, v: Any) -> Any:
            if self.external is None:
                return given[WRENCHES]
            return self.external(_then(model, system, t), t, q, v, given, (model.nb, model.algebra.dimension))

        wrenches = f_ext if self.external or WRENCHES in given else None
        system = System(moving, force, wrenches, self.stabilization)
        return system


def _then(model: Model, system: System, t: Any) -> Model:
    return model.at(t) if system.is_timed else model


def mechanism_of(mechanism: Control, model: Model, given: Mapping[str, Any]) -> Model:
    """The mechanism that moves."""
    assert mechanism.function is not None
    made: Any = mechanism.function(model, **{name: given[name] for name in mechanism.names})
    if not isinstance(made, Model):
        raise TypeError(f"mechanism returns a {type(made).__name__}, and must return a knuckle.Model")
    if (made.nq, made.nv) != (model.nq, model.nv):
        raise ValueError(
            f"mechanism returns a model with nq, nv = {made.nq}, {made.nv}; they must stay {model.nq}, {model.nv}"
        )
    return made
