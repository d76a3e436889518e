"""Implicit Euler steps by loops over bodies: for mechanisms of any size, one state at a time (notes 2.73, 2.13)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from knuckle.errors import ConvergenceError
from knuckle.integrators.base import DenseOutput, Integrator, State
from knuckle.integrators.controller_gains import ControllerGains
from knuckle.integrators.dense_output import linear
from knuckle.integrators.implicit_loops.implicit_room import ImplicitRoom
from knuckle.integrators.system import HOLD, System
from knuckle.model import Model

TRIED_AGAIN = 200
"""After so many steps the preconditioners are compared again."""


@dataclass(frozen=True)
class TreeSteps(Integrator):
    """What `ImplicitEuler` is for a mechanism of many bodies: the same equations, by loops over these.

    The memory is the change of velocity of the last step, with which the next one begins; which preconditioner it has;
    and the numbers of steps and iterations, the most iterations of a step and the largest residual so far.
    """

    model: Model
    solver: Literal["woodbury", "pcg", "kkt"]
    tolerance: float = 1e-6
    iterations: int = 500
    turning: bool = False

    evaluates_forces_once = True
    is_implicit = True
    takes_numbers = True

    @property
    def order(self) -> int:
        return 1

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        return State(q, v, (np.zeros(self._size), 0.0, 0.0, 0.0, 0.0, 0.0))

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        guess, blocks, steps, total, most, worst = state.memory
        tau, *wrenches = system.forces(t, state.q, state.v)
        applied = np.asarray(wrenches[0], float) if wrenches else None
        ahead, stiff = self._of_gains(system, float(t), state, float(dt))
        held = self._held(system) + stiff
        args = float(t), state.q, state.v, np.asarray(tau, float) - ahead, applied, held, float(dt)
        if self.solver == "pcg" and self.model.elements and steps % TRIED_AGAIN == 0:
            blocks = self.room.tried(*args, guess, system.decay_time)
        new = self.room.step(*args, guess, blocks, system.decay_time)
        if new.iterations < 0:
            raise ConvergenceError(
                f'ImplicitEuler(solver="pcg") did not converge: after {-1 - new.iterations} iterations {new.left:.2g} '
                f"of the right-hand side is left, and {self.tolerance:.1g} is asked for; take shorter steps, more "
                'iterations, or solver="kkt"'
            )
        most, worst = max(most, float(new.iterations)), max(worst, new.left)
        return State(new.q, new.v, (new.change, blocks, steps + 1.0, total + new.iterations, most, worst))

    def closed(self, system: System, t: Any, state: State, dt: Any) -> State:
        if not system.is_closed or not np.isfinite(state.q).all():
            return state
        q, v = self.room.closed(float(t + dt), np.asarray(state.q), np.asarray(state.v), self._held(system))
        return State(q, v, state.memory)

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        return State(new.q, new.v, (new.memory[0], *old.memory[1:]))

    def account(self, state: State) -> str:
        _, blocks, steps, total, most, worst = state.memory
        size = f"{self.model.nb} bodies and {len(self.model.elements)} elements"
        by = f'implicit steps by solver="{self.solver}" for {size}'
        if not steps:
            return by
        if self.solver != "pcg":
            return f"{by}: {total / steps:.1f} refinements in a step, residual {worst:.1g} at most"
        how = "with" if blocks else "without"
        return (
            f"{by}: {total / steps:.1f} iterations in a step, {int(most)} at most, residual {worst:.1g} at most, "
            f"preconditioned {how} what elements do to single bodies"
        )

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)

    @property
    def _size(self) -> int:
        """Velocity variables of the tree."""
        return sum(joint.type.nv for joint in self.model.joints)

    def _held(self, system: System) -> Any:
        return 0.0 if system.sticking is None else HOLD * np.asarray(system.sticking, float)

    def _of_gains(self, system: System, t: float, state: State, dt: float) -> tuple[Any, Any]:
        """dt K v and dt D + dt² K of a controller; none where its force is held for the step."""
        if not system.is_text:
            return 0.0, 0.0
        known = self._local.__dict__.get("gains")
        if known is None or known.force is not system.force:
            known = self._local.gains = ControllerGains(system.force, self.model.nv)
        gains = known.at(self.model, t, np.asarray(state.q, float), np.asarray(state.v, float))
        return (0.0, 0.0) if gains is None else (dt * gains.K * state.v, dt * gains.D + dt * dt * gains.K)

    @cached_property
    def _local(self) -> threading.local:
        """What threads do not share."""
        return threading.local()

    @property
    def room(self) -> ImplicitRoom:
        """The memory of this thread's steps."""
        room = self._local.__dict__.get("room")
        if room is None:
            room = self._local.room = ImplicitRoom(
                self.model, self.solver, float(self.tolerance), self.iterations, self.turning
            )
        return room

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("model", "solver", "tolerance", "iterations", "turning")}
