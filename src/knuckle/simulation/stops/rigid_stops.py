"""Rigid stops as a mode switch: impacts, and joints that rest against their limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.bound import bind
from knuckle.errors import ConvergenceError
from knuckle.functions import mass_matrix, mass_matrix_inverse
from knuckle.functions.loops.dense_constraints import DenseConstraints, spanning_tree
from knuckle.functions.loops.loop_terms import judged_constraints
from knuckle.integrators.base import State
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import Control
from knuckle.simulation.crossings import dip, may_dip, reopening, root
from knuckle.simulation.friction.dry_friction import at_rest, largest_friction, responses_in
from knuckle.simulation.mode_switch import SWITCHES, Crossing, ModeSwitch, Run, Step
from knuckle.simulation.steps.native_steps import StateRows
from knuckle.simulation.steps.stepper import Stepper

from .joint_ranges import RangeEnds, bounds_of
from .stop_spec import RigidStops, complementary, impact, restitutions

Array = NDArray[Any]

SILENT = 1e-6
"""Arrivals slower than this part of `rest_speed` are rounding and go unrecorded."""
ROUNDING = 1e-9
"""Pushes below this part of a joint's dry friction are rounding."""
REACH = 100.0
"""Gaps that are not closed in a step at so many times the largest velocity variable are far."""
FAR = 1e9
"""What the gap of a stop that is rested on counts as, where gaps are looked for that may close."""
BOUNCES = 1000
"""Interruptions of one step after which impacts no longer bounce."""


class Settled(NamedTuple):
    """A state after its impacts, the stops that were hit, and those that joints rest on."""

    q: Array
    v: Array
    hit: tuple[int, ...] = ()
    resting: tuple[int, ...] = ()
    is_changed: bool = False


class JointStops(ModeSwitch):
    """The rigid stops of a mechanism: crossings are gaps that close, and forces of stops that would have to pull."""

    def __init__(self, stops: RigidStops, stepper: Stepper, external_forces: Control) -> None:
        self.stops, self.model = stops, stepper.model
        self.bounds = RangeEnds(self.model, bounds_of(self.model, stops.joints))
        self._free, self._external = stepper, external_forces
        self._system = stepper.system
        """The mechanism without forces of stops, in its modes of dry friction"""
        self._e = restitutions(stops, self.bounds)
        self._steppers: dict[tuple[Stepper, tuple[int, ...]], Stepper] = {}
        self._functions = bind(self.model)
        self._resting: tuple[int, ...] = ()
        self._released, self._held = frozenset[int](), frozenset[int]()
        """Stops that have been left in this step, and those that hold in any case"""

    @property
    def has_muscles(self) -> bool:
        """Whether muscles have states of their own."""
        return self._free.muscles is not None

    @property
    def memory(self) -> Any:
        """The stops that joints rest on."""
        return self._resting

    def restore(self, memory: Any) -> None:
        self._resting = tuple(memory)

    def allows_many(self, state: State) -> bool:
        if self._resting and not self._is_held:
            return False
        touched = np.flatnonzero(self.bounds.gaps(state.q) <= self.bounds.slack)
        return {*touched.tolist()} <= {*self._resting}

    @cached_property
    def _is_held(self) -> bool:
        """Whether what rests on a stop is one velocity variable each, which steps hold as they do what sticks.

        Closed loops alone do without, by forces of stops.
        """
        is_plain = not self.model.loops and self._free.is_compiled
        return self.bounds.alone is not None and (is_plain or self._free.has_friction or self._free.muscles is not None)

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        q, v = (np.vstack([first, others]) for first, others in zip(run.state[:2], rows[:2], strict=True))
        gaps = self.bounds.gaps(q)
        gaps[:, list(self._resting)] = FAR
        is_free = np.all(gaps[1:] > self.bounds.slack, axis=-1)
        if is_free.any():
            is_free &= ~np.any(self._may_dip(q, v, gaps, dt), axis=-1)
        if self._resting and is_free.any():
            is_free &= np.all(self._pushes_of(stepper, times, rows) > 0, axis=-1)
        return len(is_free) if is_free.all() else int(np.argmin(is_free))

    def _pushes_of(self, stepper: Stepper, times: Array, rows: StateRows) -> Array:
        """The forces (n, k) with which the stops hold that are rested on, in the states of native steps."""
        assert self.bounds.alone is not None
        on, resting = self.bounds.alone[list(self._resting)], list(self._resting)
        return -stepper.loads(times, rows)[:, on] / self.bounds.rows(rows.q[0], resting)[range(len(on)), on]

    def _may_dip(self, q: Array, v: Array, gaps: Array, dt: float) -> Array:
        """Which stops may be passed and passed back in each step from a state (n, nq), (n, nv) to the next."""
        reach = REACH * dt * np.abs(v).max(axis=-1, initial=0.0)
        is_near = np.any(gaps <= reach[:, None], axis=-1)
        rates = dt * self.bounds.rates(q, v, is_near)
        is_open = (gaps[:-1] > self.bounds.slack) & (gaps[1:] > self.bounds.slack)
        return is_open & may_dip(gaps[:-1], rates[:-1], gaps[1:], rates[1:], -self.bounds.slack)

    def settle(self, run: Run) -> None:
        """Impacts at this instant, and what is rested on from now."""
        v, before = run.state.v, self._resting
        try:
            settled = self._settled(run, run.t, run.state.q, v)
        except ConvergenceError as error:
            run.stall(str(error))
        for kind, which in (
            ("impact", settled.hit),
            ("rest", sorted({*settled.resting} - {*before})),
            ("release", sorted({*before} - {*settled.resting})),
        ):
            for k in which:
                run.record(self.bounds.bounds[k].joint, kind, settled.q, settled.v, v)
        if settled.is_changed or settled.resting != before:
            self._resting = settled.resting
            if settled.hit:
                run.jump((settled.q, v), (settled.q, settled.v))
            else:
                run.restart(settled.q, settled.v)
        self._system = self._free.acting(run.state)

    def _settled(self, run: Run, t: float, q: Array, v: Array) -> Settled:
        """Impacts of all stops that are touched, then which of them push: those that the joints rest on."""
        gaps = self.bounds.gaps(q)
        touched: list[int] = np.flatnonzero(gaps <= self.bounds.slack).tolist()
        if not touched:
            return Settled(q, v)
        at = self.bounds.snapped(q, touched)
        S, N = self._mobility(t, at, touched)
        e = self._e[touched] if run.interruptions < BOUNCES else np.zeros(len(touched))
        new, impulses = impact(N, S, v, e, self.stops.rest_speed)
        loud = impulses * np.diag(S @ N) > SILENT * self.stops.rest_speed
        hit = tuple(k for k, is_loud in zip(touched, loud, strict=True) if is_loud)
        slow = [k for k, r in zip(touched, S @ new, strict=True) if r <= SILENT * self.stops.rest_speed]
        if self._free.has_friction or self._free.muscles is not None:
            self._system = self._free.acting(run.begin(t, at, new))
        pushing = self._pushing(t, at, new, [k for k in slow if k not in self._released])
        resting = tuple(sorted({*pushing, *self._held}))
        q_new = self.bounds.snapped(q, [k for k in touched if k in hit or k in resting or gaps[k] < 0])
        changed = bool(hit) or not np.array_equal(q_new, q) or not np.array_equal(new, v)
        return Settled(q_new, new, hit, resting, changed)

    def _pushing(self, t: float, q: Array, v: Array, which: list[int]) -> list[int]:
        """Of the stops that are touched without speed, those that keep the acceleration from going beyond them."""
        if not which:
            return []
        S, N = self._mobility(t, q, which, self._system)
        a = self._system.acceleration(t, q, v)
        push = complementary(S @ N, S @ a + self.bounds.bias(q, v, which))
        return [k for k, x, least in zip(which, push, self._rounding(t, q, which), strict=True) if x > least]

    def _rounding(self, t: float, q: Array, which: list[int]) -> Array:
        """Pushes that are rounding, where dry friction is all but what moves a joint from its stop."""
        if self.bounds.alone is None or not self._free.has_friction:
            return np.zeros(len(which))
        return ROUNDING * np.asarray(largest_friction(self.model, t, q))[self.bounds.alone[which]]

    def stepper(self, stepper: Stepper) -> Stepper:
        """While the mechanism rests on stops, their forces are part of τ."""
        resting = self._resting
        if not resting:
            return stepper
        if self._is_held and self.bounds.alone is not None:
            if (stepper, resting) not in self._steppers:
                held = np.zeros(self.model.nv)
                held[self.bounds.alone[list(resting)]] = 1.0
                self._steppers[stepper, resting] = stepper.resting(held)
            return self._steppers[stepper, resting]
        if (stepper, resting) not in self._steppers:

            def force(model: Model, t: float, q: Array, v: Array) -> Array:
                S = self.bounds.rows(q, resting)
                return stepper.force(t, q, v) + S.T @ self._pushes(t, q, v, resting)

            control = Control(force, "controller", ("t", "q", "v"))
            parameters = {name: stepper.parameters[name] for name in self._external.parameters}
            self._steppers[stepper, resting] = Stepper(
                self.model, stepper.integrator, control, self._external, parameters, stepper.stabilization,
                sampled=stepper.inputs,
            )  # fmt: skip
        return self._steppers[stepper, resting]

    def adjust(self, run: Run, step: Step) -> State:
        """The nearest state, by kinetic energy, in which the stops that are rested on touch and stay so."""
        new = step.new
        if not self._resting or self._is_held:
            return new
        q = self.bounds.snapped(new.q, self._resting)
        S, N = self._mobility(step.end, q, self._resting, self._system)
        v = new.v - N @ _solved(S @ N, S @ new.v)
        return State(q, at_rest(self.model, v, new.memory[0]) if self._free.has_friction else v, new.memory)

    def crossings(self, run: Run, step: Step) -> Sequence[Crossing] | None:
        """The stops that are reached or left. A stop that is passed from the very beginning has to hold."""
        crossings, held, bounds = list[Crossing](), list[int](), self.bounds
        old, new = bounds.gaps(step.old.q), bounds.gaps(step.new.q)
        for k in np.flatnonzero(new < -bounds.slack):
            if k in self._resting:
                continue

            def gap(theta: float, k: int = int(k)) -> float:
                return float(bounds.gaps(step.state(theta)[0])[k])

            start, end, value = (0.0, 1.0, float(old[k])) if old[k] > bounds.slack[k] else reopening(gap)
            if value > 0:
                crossings.append(Crossing(root(gap, start, end, value, gap(end)), SWITCHES, "gap", int(k), self))
            else:
                held.append(int(k))
        if held:
            self._held |= frozenset(held)
            return None
        return crossings + self._touched_between(step, old, new) + self._left(step)

    def _touched_between(self, step: Step, old: Array, new: Array) -> list[Crossing]:
        """The stops that are passed and passed back within the step."""
        bounds, crossings = self.bounds, list[Crossing]()
        if not np.any((old > bounds.slack) & (new > bounds.slack)):
            return []
        q, v = np.stack([step.old.q, step.new.q]), np.stack([step.old.v, step.new.v])
        for k in np.flatnonzero(self._may_dip(q, v, np.stack([old, new]), step.h)[0]):

            def gap(theta: float, k: int = int(k)) -> float:
                return float(bounds.gaps(step.state(theta)[0])[k])

            beyond = dip(gap, -float(bounds.slack[k]))
            if beyond is not None:
                theta = root(gap, 0.0, beyond, float(old[k]), gap(beyond))
                crossings.append(Crossing(theta, SWITCHES, "gap", int(k), self))
        return crossings

    def _left(self, step: Step) -> list[Crossing]:
        """The stops that no longer have to push."""
        resting, crossings = self._resting, list[Crossing]()
        if not resting:
            return []
        old = self._pushes(step.t, step.old.q, step.old.v, resting)
        new = self._pushes(step.end, step.new.q, step.new.v, resting, self._within(step, 1.0))
        for place, k in enumerate(resting):
            if old[place] > 0 > new[place]:

                def push(theta: float, place: int = place) -> float:
                    within = self._within(step, theta)
                    return float(self._pushes(step.time(theta), *step.state(theta), resting, within)[place])

                theta = root(push, 0.0, 1.0, float(old[place]), float(new[place]))
                crossings.append(Crossing(theta, SWITCHES, "push", k, self))
        return crossings

    def act(self, run: Run, step: Step, crossing: Crossing) -> bool:
        if crossing.kind == "push":
            self._released |= {crossing.index}
        run.continue_from(step.time(crossing.theta), *step.state(crossing.theta))
        return True

    def forget(self) -> None:
        self._released, self._held = frozenset(), frozenset()

    def _within(self, step: Step, theta: float) -> System:
        """The mechanism without forces of stops within a step, its muscles in the states that they have there."""
        return self._system if self._free.muscles is None else self._free.acting(step.acting(theta))

    def _pushes(self, t: float, q: Array, v: Array, which: Sequence[int], system: System | None = None) -> Array:
        """The forces with which stops hold: λ with S v̇ + Ṡ v = 0."""
        system = system or self._system
        S, N = self._mobility(t, q, which, system)
        a = system.acceleration(t, q, v)
        return _solved(S @ N, -(S @ a + self.bounds.bias(q, v, which)))

    def _mobility(self, t: float, q: Array, which: Sequence[int], system: System | None = None) -> tuple[Array, Array]:
        """S and H⁻¹Sᵀ of some stops, with loops and, in a system with dry friction, sticking joints held."""
        S = self.bounds.rows(q, which)
        if system is not None and system.sticking is not None:
            return S, responses_in(system, t, q, S, system.sticking).T
        now = self.model.at_time(t) if self._system.depends_on_time else self.model
        respond = self._system.held_response(q) if self.model.loops else None
        if respond is not None:
            return S, np.array([respond(row, np.zeros(self.model.nv)) for row in S]).reshape(S.shape).T
        if self.model.loops:
            constrained = DenseConstraints(mass_matrix(spanning_tree(now), q), judged_constraints(now, q))
            return S, constrained.response(np.zeros(len(constrained.rows.K)), S).T
        is_same = now is self.model
        inverse = self._functions.mass_matrix_inverse(q) if is_same else mass_matrix_inverse(now, q)
        return S, inverse @ S.T


def must_be_held(stops: JointStops) -> None:
    """An error for muscles with states where some stop is not that of one velocity variable."""
    alone = stops.bounds
    if stops.has_muscles and alone.alone is None and alone.bounds:
        raise ValueError(
            "joint_limits=RigidStops(…): some joint with limits follows several others, or does not move as its "
            "velocity variables say, and muscles with states (excitations, elastic tendons) need a variable that "
            "stops: take CompliantStops, or name in RigidStops(joints=…) the joints that are to have stops"
        )


def must_be_inside(stops: JointStops, q: Array) -> None:
    """An error for a first position beyond a stop."""
    bounds = stops.bounds
    for bound, gap, slack in zip(bounds.bounds, bounds.gaps(q), bounds.slack, strict=True):
        if gap < -slack:
            raise ValueError(
                f"q0: joint {bound.joint!r} is at {bound.value(stops.model, q):.6g}, beyond its {bound.end} limit by "
                f"{-gap:.6g}; rigid stops need a state within the limits"
            )


def _solved(A: Array, b: Array) -> Array:
    """x with A x = b, the smallest where stops say the same and A is singular."""
    return b / A[0] if len(b) == 1 else np.linalg.lstsq(A, b)[0]
