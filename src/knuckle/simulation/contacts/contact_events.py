"""Rigid contacts as a mode switch: impacts, and bodies that rest, roll and slide on each other (RBDA table 11.1).

The current contacts are the places that touch without opening; the active ones are those that hold. A step goes with
the active ones as equations. It is cut where a gap closes, where a contact slides no longer, and where forces would
have to pull or friction to hold more than it can. Then the laws are asked again, for all current contacts: one that was
not needed before may have to hold now. Where contacts say the same, their forces are not unique: a phase ends when no
forces at all keep it up, not when those do that were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.contact.rigid.contact_dynamics import directions
from knuckle.contact.rigid.contact_forces import Grip
from knuckle.contact.rigid.impact import struck
from knuckle.errors import ModelError
from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.model.contact import RigidContacts
from knuckle.simulation.controls import Control
from knuckle.simulation.crossings import dip, may_dip, reopening, root
from knuckle.simulation.friction.dry_friction import at_rest
from knuckle.simulation.mode_switch import SWITCHES, Crossing, ModeSwitch, Run, Step
from knuckle.simulation.steps.native_steps import StateRows
from knuckle.simulation.steps.stepper import Stepper

from .contact_phase import SLACK, STILL, Contacts, Phase, TouchTerms

Array: TypeAlias = NDArray[Any]

BOUNCES = 1000
"""Interruptions of one step after which impacts no longer bounce."""
BEYOND = 1e-4
"""How far beyond the end of a phase the next one is looked for, as a part of the step."""
LOOSE = 1e-9
"""Rates of what should hold, as a part of the largest, that say that it does not."""
AHEAD = 0.5
"""What slides slowly keeps its direction as long as this part of its velocity is along it."""
OVERLAP = 1e-6
"""How deep bodies may overlap at first, in metres."""


class AfterImpact(NamedTuple):
    """A state after its impacts, the approaching speeds of the places that were struck, and what holds from here."""

    q: Array
    v: Array
    speeds: Array
    phase: Phase


class Jump(NamedTuple):
    """An impact: the velocity and the phase before it, its impulses (n, 3) in base axes, and the approaching speeds."""

    v: Array
    before: Phase
    impulses: Array
    speeds: Array


class ContactEvents(ModeSwitch):
    """The rigid contacts of a mechanism: crossings are gaps that close, slips that end, and phases that do not hold."""

    def __init__(self, spec: RigidContacts, stepper: Stepper, external_forces: Control, dt: float) -> None:
        self.spec, self.model = spec, stepper.model
        self.contacts = Contacts(self.model)
        self._free, self._external = stepper, external_forces
        self._system = stepper.system
        self._phase, self._next = Phase(), None
        self._current, self._is_known = frozenset[int](), False
        """The places that touched when the phase was chosen, and whether it holds on as far as is known"""
        self._dt, self._calm = dt, np.zeros(0)
        """The length of steps, where it is fixed, and the speeds of sliding below which they are long"""
        self._steppers: dict[Stepper, Stepper] = {}
        self._held = frozenset[int]()
        self._impulses, self._jump = np.zeros((0, 3)), None
        self._at_end: tuple[float, Array, Array] | None = None
        """The forces of the places that hold at the end of the last step, its time and its position"""

    @property
    def phase(self) -> Phase:
        """What holds now."""
        return self._phase

    @property
    def memory(self) -> Any:
        """What holds, what touched when that was chosen, and the speeds of slow sliding."""
        ways = [list(way) for way in self._phase.ways]
        return [list(self._phase.places), ways, sorted(self._current), self._is_known, self._calm.tolist()]

    def restore(self, memory: Any) -> None:
        places, ways, current, self._is_known, calm = memory
        self._phase = Phase(tuple(places), tuple((x, y) for x, y in ways))
        self._current, self._calm = frozenset(current), np.array(calm, float)

    def allows_many(self, state: State) -> bool:
        return not np.any(self.contacts.gaps(state.q) <= SLACK)

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        q, v = (np.vstack([first, others]) for first, others in zip(run.state[:2], rows[:2], strict=True))
        gaps = self.contacts.gaps(q)
        is_free = np.all(gaps[1:] > SLACK, axis=-1) & ~np.any(self._may_dip(q, v, gaps, dt), axis=-1)
        return len(is_free) if is_free.all() else int(np.argmin(is_free))

    def _may_dip(self, q: Array, v: Array, gaps: Array, dt: float) -> Array:
        """Which gaps may close and open again in each step from a state (n, nq), (n, nv) to the next."""
        rates = dt * self.contacts.velocity(q, v)[..., 0]
        is_open = (gaps[:-1] > SLACK) & (gaps[1:] > SLACK)
        return is_open & may_dip(gaps[:-1], rates[:-1], gaps[1:], rates[1:], -SLACK)

    # at an instant

    def settle(self, run: Run) -> None:
        """Impacts at this instant, and what holds from now."""
        q, v, before = run.state.q, run.state.v, self._phase
        if self._free.has_friction:
            self._system = self._free.held(run.state)
        now = self._settled(run, q, v)
        is_struck = bool(np.any(now.speeds > STILL))
        self._record(run, now, v, before)
        self._phase, self._next = now.phase, None
        if is_struck:
            self._jump, self._calm = Jump(v, before, self._impulses, now.speeds), np.zeros(len(now.phase.places))
            run.jump((q, v), (now.q, now.v))
            self._jump = None
        elif now.phase.key != before.key or not (np.array_equal(now.q, q) and np.array_equal(now.v, v)):
            run.restart(now.q, now.v)
        if self._free.has_friction:
            self._system = self._free.held(run.state)
        self._calm = np.zeros(len(now.phase.places))
        if any(map(any, now.phase.ways)):
            touch, _, forces = self._forces(run.t, now.q, now.v)
            self._calm = touch.calm(forces, self._dt)

    def _forces(self, t: float, q: Array, v: Array) -> tuple[TouchTerms, Grip, Array]:
        """The places that hold, what they do, and their forces."""
        return self.contacts.held_forces(self._system, t, q, v, self._phase, self._calm)

    def noted(self, t: float, q: Array, v: Array) -> Array | None:
        """(n, 8) of all places in a state that is saved; None where nothing pushes.

        That is the force along the axes of `contact_frames`, the impulse of an impact at this instant, in base axes,
        how fast the gap closed before it, and 1 where the contact slides.
        """
        jump = self._jump
        is_before = jump is not None and v is jump.v
        phase = jump.before if jump is not None and is_before else self._phase
        is_struck = jump is not None and not is_before
        if not phase.places and not is_struck:
            return None
        found = np.zeros((len(self.contacts.names), 8))
        if phase.places:
            found[phase.index, :3] = self._forces_of(phase, t, q, v).reshape(-1, 3)
            found[phase.index, 7] = [float(any(way)) for way in phase.ways]
        if jump is not None and is_struck:
            found[:, 3:6], found[:, 6] = jump.impulses, jump.speeds
            slides = np.linalg.norm(self.contacts.velocity(q, v)[:, 1:], axis=1) > STILL
            found[:, 7] = np.where(np.any(jump.impulses != 0, axis=1), slides, found[:, 7])
        return found

    def _forces_of(self, phase: Phase, t: float, q: Array, v: Array) -> Array:
        """The forces of the places that hold in a phase; those at the end of a step are known."""
        if self._at_end is not None and phase is self._phase and self._at_end[0] == t and self._at_end[1] is q:
            return self._at_end[2]
        calm = self._calm if len(self._calm) == len(phase.places) else np.zeros(len(phase.places))
        return self.contacts.held_forces(self._system, t, q, v, phase, calm)[2]

    def _settled(self, run: Run, q: Array, v: Array) -> AfterImpact:
        contacts = self.contacts
        gaps = contacts.gaps(q)
        held = np.isin(np.arange(len(gaps)), list(self._held))
        touching = (gaps <= SLACK) | held
        speeds = np.where(touching, np.maximum(-contacts.velocity(q, v)[:, 0], 0.0), 0.0)
        if not touching.any():
            return AfterImpact(q, v, speeds, Phase())
        if np.any(speeds > STILL):
            v = self._struck(run, q, v)
            self._is_known = False
        u = contacts.velocity(q, v)
        current = np.flatnonzero(touching & ((u[:, 0] <= STILL) | held))
        phase = self._chosen(run, q, v, u, current)
        self._current, self._is_known = frozenset(current.tolist()), True
        if phase.places:
            q, v = contacts.settled(q, v, phase, self._system.sticking)
            phase = phase.without_slips(u, contacts.velocity(q, v))
        return AfterImpact(q, v, speeds, phase)

    def _struck(self, run: Run, q: Array, v: Array) -> Array:
        """The velocity after the impacts at this instant."""
        surfaces = self.contacts.surfaces
        given = self.contacts.surfaces_with(surfaces.restitution * (run.interruptions < BOUNCES))
        result = struck(self.model, given, q, v, self.spec.law, self.spec.order, SLACK, self.spec.rest_speed)
        if result.status == "unsolved":
            run.stall(str(result.message))
        self._impulses = result.impulses
        return result.v

    def _chosen(self, run: Run, q: Array, v: Array, u: Array, current: Array) -> Phase:
        """What holds from here: what was seen to come next, or what the laws of contact say."""
        if not len(current):
            return Phase()
        way = self._ways(u, current)
        after = self._phase if self._is_known and self._current == set(current.tolist()) else self._next
        if after is not None and set(after.places) <= set(current.tolist()):
            return self._with_ways(after, dict(zip(current.tolist(), way, strict=True)))
        touch = self.contacts.touch(self._system, run.t, q, v, current)
        solution = touch.free_forces(way)
        if solution.problem:
            pairs = ", ".join(sorted({_pair(self.contacts.names[k]) for k in current}))
            run.stall(f"{pairs}: {solution.problem}")
        phase = Phase.of(current, solution.grip)
        missing = [k for k in self._held if k in current and k not in phase.places]
        return Phase((*phase.places, *missing), (*phase.ways, *((0.0, 0.0) for _ in missing)))

    def _ways(self, u: Array, current: Array) -> Array:
        """The directions in which contacts slide: what slides slowly keeps the one that it had."""
        way = directions(u[current, 1:], self.contacts.surfaces.friction[current], STILL)
        for k, calm, own in zip(self._phase.places, self._calm, self._phase.way, strict=True):
            j, speed = np.flatnonzero(current == k), float(np.linalg.norm(u[k, 1:]))
            if own.any() and len(j) and STILL < speed <= calm and u[k, 1:] @ own > AHEAD * speed:
                way[j[0]] = own
        return way

    @staticmethod
    def _with_ways(phase: Phase, way: dict[int, Array]) -> Phase:
        """The phase, with the directions of what moves already."""
        ways = tuple(
            (float(way[k][0]), float(way[k][1])) if way[k].any() else own
            for k, own in zip(phase.places, phase.ways, strict=True)
        )
        return Phase(phase.places, ways)

    def _record(self, run: Run, now: AfterImpact, v: Array, before: Phase) -> None:
        names = self.contacts.names
        slow = (now.speeds > STILL) & (now.speeds <= self.spec.rest_speed)
        loud = {_pair(names[k]) for k in np.flatnonzero((now.speeds > STILL) & ~slow)}
        old, new = (_of_pairs(phase, names) for phase in (before, now.phase))
        kinds = (
            ("impact", loud),
            ("contact", new.keys() - old.keys()),
            ("release", old.keys() - new.keys()),
            ("slip", {x for x in new.keys() & old.keys() if new[x] and not old[x]}),
            ("stick", {x for x in new.keys() & old.keys() if old[x] and not new[x]}),
        )
        for kind, pairs in kinds:
            for pair in sorted(pairs):
                late = self._bounces_left(run, now, slow, pair) if kind == "contact" else 0.0
                run.record(pair, kind, now.q, now.v, v, run.t + late)

    def _bounces_left(self, run: Run, now: AfterImpact, slow: Array, pair: str) -> float:
        """How long the bounces would have gone on that are left out: the sum of all 2 e^k u/a."""
        e, names = self.contacts.surfaces.restitution, self.contacts.names
        places = np.array([k for k in np.flatnonzero(slow & (e > 0) & (e < 1)) if _pair(names[k]) == pair], int)
        if not len(places):
            return 0.0
        pull = -self.contacts.touch(self._system, run.t, now.q, now.v, places).rates[::3]
        left = [2 * e[k] * now.speeds[k] / (a * (1 - e[k])) for k, a in zip(places, pull, strict=True) if a > 0]
        return float(max(left, default=0.0))

    # in a step

    def stepper(self, stepper: Stepper) -> Stepper:
        """While bodies touch, the forces of contacts are part of τ."""
        if not self._phase.places:
            return stepper
        if stepper not in self._steppers:

            def force(model: Model, t: float, q: Array, v: Array) -> Array:
                touch, _, forces = self._forces(t, q, v)
                return stepper.force(t, q, v) + touch.response.J.T @ forces

            control = Control(force, "controller", ("t", "q", "v"))
            parameters = {name: stepper.parameters[name] for name in self._external.parameters}
            self._steppers[stepper] = Stepper(
                self.model, stepper.integrator, control, self._external, parameters, stepper.stabilization
            )
        return self._steppers[stepper]

    def adjust(self, run: Run, step: Step) -> State:
        """The nearest state in which what holds touches and stands still."""
        new = step.new
        if not self._phase.places:
            return new
        q, v = self.contacts.settled(new.q, new.v, self._phase, self._system.sticking)
        return State(q, at_rest(self.model, v, new.memory[0]) if self._free.has_friction else v, new.memory)

    def crossings(self, run: Run, step: Step) -> Sequence[Crossing] | None:
        """What is touched, stops sliding, or no longer holds. A gap that closes from the very beginning has to hold."""
        old, new = self.contacts.gaps(step.old.q), self.contacts.gaps(step.new.q)
        held, found = list[int](), list[Crossing]()
        for k in np.flatnonzero(new < -SLACK):
            if k in self._phase.places:
                continue
            gap = self._gap(step, int(k), min(float(old[k]), 0.0))
            start, end, value = (0.0, 1.0, float(old[k])) if old[k] > SLACK else reopening(gap)
            if value > 0:
                found.append(Crossing(root(gap, start, end, value, gap(end)), SWITCHES, "gap", int(k), self))
            else:
                held.append(int(k))
        if held:
            self._held |= frozenset(held)
            self._is_known = False
            return None
        return found + self._touched_between(step, old, new) + self._stopped(step) + self._ended(step)

    def _gap(self, step: Step, k: int, first: float = 0.0) -> Callable[[float], float]:
        """The gap of a place within a step, less the overlap that it began with."""
        return lambda theta: float(self.contacts.gaps(step.state(theta)[0])[k]) - first

    def _touched_between(self, step: Step, old: Array, new: Array) -> list[Crossing]:
        """The gaps that close and open again within the step."""
        found = list[Crossing]()
        if not np.any((old > SLACK) & (new > SLACK)):
            return found
        q, v = np.stack([step.old.q, step.new.q]), np.stack([step.old.v, step.new.v])
        for k in np.flatnonzero(self._may_dip(q, v, np.stack([old, new]), step.h)[0]):
            gap = self._gap(step, int(k))
            beyond = dip(gap, -SLACK)
            if beyond is not None:
                theta = root(gap, 0.0, beyond, float(old[k]), gap(beyond))
                found.append(Crossing(theta, SWITCHES, "gap", int(k), self))
        return found

    def _stopped(self, step: Step) -> list[Crossing]:
        """The contacts that slide no longer, or no longer in the direction that they had."""
        found, phase = list[Crossing](), self._phase
        slides = [j for j, way in enumerate(phase.ways) if any(way)]
        if not slides:
            return found

        def ahead(theta: float, j: int) -> float:
            u = self.contacts.velocity(*step.state(theta))[phase.places[j]]
            return float(u[1:] @ phase.way[j])

        for j in slides:
            start, end = ahead(0.0, j), ahead(1.0, j)
            if start > STILL and end < 0:
                theta = root(lambda x, j=j: ahead(x, j), 0.0, 1.0, start, end)
                found.append(Crossing(theta, SWITCHES, "stop", phase.places[j], self))
        return found

    def _ended(self, step: Step) -> list[Crossing]:
        """Where the phase no longer holds: forces would have to pull, or friction to hold more than it can."""
        if not self._phase.places:
            return []
        miss = self._misses(step)
        if miss(1.0) <= 0:
            return []
        return [Crossing(_departure(miss), SWITCHES, "end", self._phase.places[0], self)]

    def _misses(self, step: Step) -> Callable[[float], float]:
        """By how much the phase does not hold at t + θ h: what the chosen forces exceed, or rates of what should hold.

        Where forces are unique these tell; elsewhere it counts whether any forces hold.
        """
        limits = self.contacts.surfaces.friction[self._phase.index]

        def miss(theta: float) -> float:
            q, v = step.state(theta)
            touch, grip, forces = self._forces(step.time(theta), q, v)
            if theta == 1.0:
                self._at_end = step.end, q, forces
            over = float(np.max(grip.excess(forces, limits)))
            if over <= LOOSE * np.abs(forces).max(initial=0.0) * 1e-3:
                return min(over, 0.0)
            if grip.is_determined(touch.response.A, limits):
                return over
            held = grip.rows(limits)
            solution = touch.free_forces(grip.way)
            rates = solution.rates.ravel()[held]
            size = np.abs(touch.rates).max() + np.abs(rates).max()
            loose = float(np.abs(rates).max()) if not solution.problem else float(size)
            return loose if loose > LOOSE * size else 0.0

        return miss

    def act(self, run: Run, step: Step, crossing: Crossing) -> bool:
        theta = crossing.theta
        if crossing.kind == "end":
            self._next = self._after(step, min(1.0, theta + BEYOND))
        run.continue_from(step.time(theta), *step.state(theta))
        return True

    def _after(self, step: Step, theta: float) -> Phase | None:
        """What the laws of contact say a little later, where it is clear."""
        q, v = step.state(theta)
        places = self._phase.index
        others = np.flatnonzero(np.abs(self.contacts.gaps(step.old.q)) <= SLACK)
        slow = self.contacts.velocity(step.old.q, step.old.v)[others, 0] <= STILL
        current = np.union1d(places, others[slow]).astype(int)
        way = np.zeros((len(current), 2))
        for k, own in zip(places, self._phase.way, strict=True):
            way[np.searchsorted(current, k)] = own
        solution = self.contacts.touch(self._system, step.time(theta), q, v, current).free_forces(way)
        return None if solution.problem else Phase.of(current, solution.grip)

    def restarted(self, run: Run) -> None:
        self._is_known = False

    def jumped(self, run: Run, v_before: Array) -> None:
        self._is_known = False

    def forget(self) -> None:
        self._held = frozenset()


def contact_events(
    spec: RigidContacts, stepper: Stepper, external_forces: Control, q: Array, dt: float | None = None
) -> ContactEvents:
    """The mode switch of rigid contacts for a simulation that begins at q; an error where bodies overlap there.

    `dt` is the length of the steps, where it is fixed.
    """
    model = stepper.model
    if model.depends_on_time:
        raise ModelError(f"rigid contacts take no joints that move by a law of time yet, and {model.name!r} has some")
    switch = ContactEvents(spec, stepper, external_forces, dt or 0.0)
    gaps = switch.contacts.gaps(q)
    if np.any(gaps < -OVERLAP):
        k = int(np.argmin(gaps))
        raise ValueError(
            f"q0: {_pair(switch.contacts.names[k])} overlap by {-gaps[k]:.6g} m; rigid contacts need bodies apart"
        )
    return switch


def _pair(names: tuple[str, str]) -> str:
    return f"{names[0]} on {names[1]}"


def _of_pairs(phase: Phase, names: Sequence[tuple[str, str]]) -> dict[str, bool]:
    """The pairs that touch, and whether they slide anywhere."""
    pairs: dict[str, bool] = {}
    for k, slides in phase.key:
        name = _pair(names[k])
        pairs[name] = pairs.get(name, False) or slides
    return pairs


def _departure(miss: Callable[[float], float]) -> float:
    """Where a function that is zero or less first, and positive at 1, leaves zero: by its slope from the right."""
    a, b, right = 0.0, 1.0, miss(1.0)
    before, value = 1.0, right
    for _ in range(60):
        guess = (a + b) / 2
        if before > b and value > right > 0:
            guess = b - right * (before - b) / (value - right)
        guess = guess if a < guess < b else (a + b) / 2
        now = miss(guess)
        if now > 0:
            before, value, b, right = b, right, guess, now
        elif now < 0:  # a smooth function: its root
            return root(miss, guess, b, now, right)
        else:
            a = guess
        if b - a <= 1e-13:
            break
    return b


def pairs_of(names: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The names of pairs as events have them."""
    return tuple(dict.fromkeys(map(_pair, names)))
