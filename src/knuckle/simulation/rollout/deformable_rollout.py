"""Rollouts of mechanisms with deformable bodies: trajectories one by one, shared among threads, each in native code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.trajectory_batches import Clock
from knuckle.engine.native.threads import get_threads, shared
from knuckle.errors import ConvergenceError, ModelError
from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.simulation.long_runs.same_digits import steady_digits
from knuckle.simulation.steps.step_text import APPLIED, WRENCHES, StepText
from knuckle.simulation.steps.stepper import Stepper
from knuckle.trajectory.node_rows import NodeRows

from .finite_until import UNTIL
from .held_control import HeldControl
from .rollout_inputs import Inputs

Array: TypeAlias = NDArray[Any]
Index: TypeAlias = tuple[Any, ...]

HELD = (APPLIED, WRENCHES)
"""Forces that are arrays: what a step has of them may change from step to step."""


def must_be_plain(model: Model, step: StepText, dt: float, inputs: Inputs, asked: Mapping[str, Any]) -> None:
    """An error for what rollouts with deformable bodies do not know; `asked` are arguments that may be given."""
    for name, value in asked.items():
        if value:
            raise ModelError(f"rollouts with deformable bodies do not know {name}, and {model.name} has such bodies")
    if dt <= 0:
        raise ValueError(f"dt={dt:g} must be above zero: steps with deformable bodies do not go back")
    moving = [name for name, x in inputs.others.items() if not isinstance(x, Clock) and x.is_moving]
    if names := [name for name in moving if name not in HELD and step.controller.has_slopes]:
        raise ModelError(
            f"{names[0]} is given for every step, and slopes of controllers that are kernels, and of actuators, are "
            f"part of the steps of {model.name}, which has deformable bodies: take a controller that is a function of "
            "Python's, which is called once a step"
        )


@dataclass(frozen=True)
class DeformableRollout:
    """The trajectories of a rollout, each of them that of `kn.simulate` to the last bit.

    Trajectories go one after the other from beginning to end; step by step all together, where Python's functions have
    a word (`ask`).
    """

    model: Model
    text: StepText
    inputs: Inputs
    dt: float
    t0: float
    ask: HeldControl | None = None

    def run(self, steps: int, save_every: int, q: Array, v: Array) -> tuple[dict[str, Array], NodeRows]:
        """Writes the states that are kept (*batch, K, n) to q and v; returns the last ones, and the nodes."""
        batch, rows = self.inputs.batch, q.shape[-2]
        places = list(np.ndindex(batch))
        nodes = sum(len(soft.mesh.nodes) for soft in self.model.deformables)
        kept = NodeRows(*(np.full((*batch, rows, nodes, 3), np.nan) for _ in "xu"))
        last = {"q": np.empty((*batch, self.model.nq)), "v": np.empty((*batch, self.model.nv))}
        last[UNTIL] = np.full((*batch, 1), self.t0)
        with steady_digits():
            runs = {at: _Run(self, at) for at in places}

        def save(at: Index, row: int) -> None:
            state = runs[at].state
            q[(*at, row)], v[(*at, row)] = state.q, state.v
            if state.memory:
                kept.x[(*at, row)], kept.u[(*at, row)] = (x.reshape(-1, 3) for x in state.memory)

        def follow(at: Index, first: int, end: int, ended: threading.Event, held: Mapping[str, Array]) -> None:
            for k in range(first, end):
                if ended.is_set():
                    return
                runs[at].step(k, {name: x[at] for name, x in held.items()})
                if (k + 1) % save_every == 0 or k + 1 == steps:
                    save(at, -(-(k + 1) // save_every))

        for at in places:
            save(at, 0)
        with steady_digits():
            if self.ask is None:
                self._share(places, lambda at, ended: follow(at, 0, steps, ended, {}))
            for k in range(steps) if self.ask is not None else ():
                held = self._asked(k, runs)
                self._share(places, lambda at, ended, k=k, held=held: follow(at, k, k + 1, ended, held))
        for at, one in runs.items():
            last["q"][at], last["v"][at], last[UNTIL][at] = one.state.q, one.state.v, one.until
        return last, kept

    def _share(self, places: list[Index], work: Callable[[Index, threading.Event], None]) -> None:
        shared(places, min(get_threads(), max(len(places), 1)), work)

    def _asked(self, k: int, runs: Mapping[Index, _Run]) -> dict[str, Array]:
        """What Python's functions say at a step, for each trajectory."""
        batch, sizes = self.inputs.batch, {"q": self.model.nq, "v": self.model.nv}
        now = {name: np.empty((*batch, n)) for name, n in sizes.items()}
        for at, one in runs.items():
            now["q"][at], now["v"][at] = one.state.q, one.state.v
        assert self.ask is not None
        held = self.ask({**now, **{name: x.at(k) for name, x in self.inputs.others.items()}})
        shapes = {APPLIED: (self.model.nv,), WRENCHES: (self.model.nb, self.model.algebra.dimension)}
        return {name: np.broadcast_to(x, (*batch, *shapes[name])) for name, x in held.items() if name in shapes}

    def parameters(self, at: Index, step: int) -> dict[str, Array]:
        """What a trajectory has at a step; numbers as such."""
        found: dict[str, Array] = {}
        for name, x in self.inputs.others.items():
            if name not in ("t", "dt") and not isinstance(x, Clock):
                value = np.broadcast_to(x.at(step), (*self.inputs.batch, *x.shape))[at]
                found[name] = np.array(value[0] if name in self.inputs.single else value, float)
        return found


class _Run:
    """One trajectory: where it stands, and what steps it. What its forces need is written over at every step."""

    def __init__(self, of: DeformableRollout, at: Index) -> None:
        self._of, self._at = of, at
        self._values = of.parameters(at, 0)
        text = of.text
        self._stepper = Stepper(
            of.model, text.integrator, text.controller, text.external_forces, self._values, text.stabilization
        )
        batch, first = of.inputs.batch, of.inputs.state
        q, v = (np.array(np.broadcast_to(first[x], (*batch, first[x].shape[-1]))[at], float) for x in "qv")
        self.until = of.t0
        self.state = self._stepper.start(of.t0, q, v, of.dt) if np.isfinite(q).all() else State(q, v, ())

    def step(self, k: int, held: Mapping[str, Array]) -> None:
        """The next step; what is no longer finite stays so."""
        for name, x in {**self._of.parameters(self._at, k), **held}.items():
            self._stepper.parameters[name][...] = x
        if not self.state.memory:
            return
        t, dt = self._of.t0, self._of.dt
        try:
            new = self._stepper.step(t + dt * k, self.state, dt)
        except ConvergenceError:
            q, v, _ = self.state
            new = State(np.full_like(q, np.nan), np.full_like(v, np.nan), ())
        self.state = new if np.isfinite(new.v).all() else State(new.q, new.v, ())
        self.until = t + dt * (k + 1) if self.state.memory else self.until
