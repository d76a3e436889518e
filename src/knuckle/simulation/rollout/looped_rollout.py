"""Rollouts of mechanisms with more contacts than compiled steps can have: loops over what touches, in native code."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.contact.shape_collider import ShapeCollider
from knuckle.engine.calls.trajectory_batches import Clock
from knuckle.engine.native.threads import get_threads, shared
from knuckle.integrators.base import Integrator, State
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_impulses import why_too_many
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.model import Model
from knuckle.simulation.steps.looped_steps import LoopedSteps
from knuckle.simulation.steps.step_text import StepText

from .finite_until import UNTIL
from .rollout_inputs import Inputs

Array: TypeAlias = NDArray[Any]

AT_ONCE = 500
"""Steps of a trajectory between two looks at whether somebody wants to end it."""


def loops_instead(model: Model, integrator: Integrator) -> ColliderSteps | None:
    """Steps by loops with the same laws, where contacts are too many for compiled ones; None where they are not.

    None as well where loops cannot do it: with limits of joints, extrapolation, chosen pairs, closed loops, joints that
    follow others, or shapes that take another library.
    """
    if not isinstance(integrator, ContactSteps) or integrator.joint_limits or integrator.extrapolated:
        return None
    if integrator.pairs is not None or model.couplings or not why_too_many(model, False, None):
        return None
    steps = ColliderSteps(ShapeCollider.of(model), integrator.rounds, integrator.tolerance)
    return steps if steps.runs_alone else None


@dataclass(frozen=True)
class LoopedRollout:
    """The trajectories of a rollout one by one, shared among threads, each of them that of `kn.simulate`."""

    model: Model
    text: StepText
    integrator: ColliderSteps
    inputs: Inputs
    dt: float
    t0: float

    def run(self, steps: int, save_every: int, q: Array, v: Array) -> dict[str, Array]:
        """Writes the states that are kept (*batch, K, n) to q and v, and returns the last ones and their memory."""
        batch = self.inputs.batch
        count = int(np.prod(batch, dtype=int))
        last = {
            "q": np.empty((*batch, self.model.nq)), "v": np.empty((*batch, self.model.nv)),
            **{name: np.zeros((*batch, 1)) for name in ("memory1", "memory2", UNTIL)},
        }  # fmt: skip
        looped = LoopedSteps(self.text, self.integrator, self.model, self._parameters((0,) * len(batch), 0))

        def follow(b: int, ended: threading.Event) -> None:
            at = np.unravel_index(b, batch) if batch else ()
            state, until = self._start(at), self.t0
            q[(*at, 0)], v[(*at, 0)] = state.q, state.v
            row, done = 1, 0
            while done < steps and not ended.is_set():
                n = self._together(done, steps, save_every)
                times, parameters = self.t0 + self.dt * (done + np.arange(n)), self._parameters(at, done)
                before, rows = state, looped.run(times, state, self.dt, save_every, parameters)
                impulses, *counted = (x[-1] for x in rows.memory)
                state = State(rows.q[-1], rows.v[-1], (impulses, *(float(x[0]) for x in counted)))
                if np.isfinite(before.v).all():
                    is_whole = np.isfinite(state.v).all()
                    every = rows if is_whole else looped.run(times, before, self.dt, 1, parameters)
                    sound = n if is_whole else int(np.isfinite(every.v).all(axis=1).sum())
                    until = self.t0 + self.dt * (done + sound)
                done += n
                if done % save_every == 0 or done == steps:
                    q[(*at, slice(row, row + len(rows.q)))], v[(*at, slice(row, row + len(rows.v)))] = rows.q, rows.v
                    row += len(rows.q)
            for name, x in (("q", state.q), ("v", state.v), ("memory1", state.memory[1]), ("memory2", state.memory[2])):
                last[name][at] = x
            last[UNTIL][at] = until

        if count:
            looped.compile()  # once, before threads share it
        shared(range(count), min(get_threads(), max(count, 1)), follow)
        return last

    def _together(self, done: int, steps: int, save_every: int) -> int:
        """How many steps one call takes: one, where forces differ from step to step; whole numbers of rows else."""
        if any(not isinstance(x, Clock) and x.is_moving for x in self.inputs.others.values()):
            return 1
        return min(max(1, AT_ONCE // save_every) * save_every, steps - done)

    def _start(self, at: Any) -> State:
        first = [self.inputs.state[name] for name in "qv"]
        q, v = (np.broadcast_to(x, (*self.inputs.batch, x.shape[-1]))[at] for x in first)
        return State(np.array(q, float), np.array(v, float), (np.zeros(self._impulses), 0.0, 0.0))

    @property
    def _impulses(self) -> int:
        return len(self.integrator.room.outcome.impulses)

    def _parameters(self, at: tuple[Any, ...], step: int) -> Mapping[str, Array]:
        """What a trajectory has at a step; numbers as such."""
        found: dict[str, Array] = {}
        for name, x in self.inputs.others.items():
            if name not in ("t", "dt") and not isinstance(x, Clock):
                value = np.broadcast_to(x.at(step), (*self.inputs.batch, *x.shape))[at]
                found[name] = np.asarray(value[0] if name in self.inputs.single else value, float)
        return found
