"""What a simulation notes of its contacts at the rows that it saves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import State
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.integrators.methods.soft_contact_steps import AroundSteps
from knuckle.model import Model
from knuckle.simulation.mode_switch import ModeSwitch, Step
from knuckle.simulation.row_notes import RowNotes
from knuckle.simulation.steps.native_steps import StateRows
from knuckle.simulation.steps.stepper import Stepper
from knuckle.trajectory.contacts.contact_log import ContactLog, NotedRows
from knuckle.trajectory.contacts.contact_record import ContactRecord, Method

from .contact_events import ContactEvents

Array: TypeAlias = NDArray[Any]


class ContactNotes(RowNotes):
    """Notes of the contacts of one run."""

    def __init__(self, method: Method) -> None:
        self.method, self._log = method, ContactLog()

    @property
    def log(self) -> ContactLog:
        return self._log

    def of_trajectory(self, model: Model) -> dict[str, Any]:
        return {"contact_record": ContactRecord(model, self.method, tuple(self.log.entries))}


class ImpulseNotes(ContactNotes):
    """Of steps that solve contacts: their impulses, and the states that they began and ended with."""

    needs_every_state = True

    def many(self, row: int, saved: Array, stepper: Stepper, starts: Array, state: State, rows: StateRows) -> None:
        acts = np.flatnonzero(rows.memory[0][_together(saved)].any(axis=1)) if len(saved) else saved
        if not len(acts):
            return
        at, which = saved[acts], _together(saved[acts])
        lengths, states = starts[at + 1] - starts[at], (*rows.before, rows.v, rows.memory[0])
        self.log.add(NotedRows(_pairs(stepper), row + acts, starts[at], lengths, *(x[which] for x in states)))

    def one(self, row: int, t: float, q: Array, v: Array, state: State, step: Step | None) -> None:
        if step is None or not np.any(step.new.memory[0]):
            return
        old, new = step.old, step.new
        instants = np.array([step.t]), np.array([step.h])
        states = (np.array(x, float)[None] for x in (old.q, old.v, new.v, new.memory[0]))
        self.log.add(NotedRows(_pairs(step.stepper), np.array([row]), *instants, *states))


class SpringNotes(ContactNotes):
    """Of soft contacts: the states at rows, and how far the springs of friction are wound up there."""

    def __init__(self, method: Method, stepper: Stepper) -> None:
        super().__init__(method)
        self._place = int(stepper.has_friction) if _has_springs(stepper) else None

    def many(self, row: int, saved: Array, stepper: Stepper, starts: Array, state: State, rows: StateRows) -> None:
        if not len(saved):
            return
        which = _together(saved)
        q, v = rows.q[which], rows.v[which]
        springs = np.zeros((len(saved), 0)) if self._place is None else rows.memory[self._place][which]
        self.log.add(
            NotedRows(None, row + np.arange(len(saved)), starts[saved + 1], np.zeros(len(saved)), q, v, v, springs)
        )

    def one(self, row: int, t: float, q: Array, v: Array, state: State, step: Step | None) -> None:
        if step is not None and step.t < t < step.end:
            begun = step.stepper.start(t, q, v, step.h, since=(step.t, step.old))
            state = step.stepper.carried(step.t, step.old, t, begun)
        springs = np.zeros(0) if self._place is None else np.asarray(state.memory[self._place])
        arrays = (np.array(x, float)[None] for x in (q, v, v, springs))
        self.log.add(NotedRows(None, np.array([row]), np.array([t]), np.zeros(1), *arrays))


class ForceNotes(ContactNotes):
    """From event to event: the forces of the contacts that hold, and the impulses of impacts."""

    def __init__(self, switch: ContactEvents) -> None:
        super().__init__(switch.spec)
        self._switch = switch

    def many(self, row: int, saved: Array, stepper: Stepper, starts: Array, state: State, rows: StateRows) -> None:
        """Nothing touches in native runs."""

    def settled(self, t: float, state: State) -> None:
        if t == 0.0 and not self.log.count:
            self.one(0, t, state.q, state.v, state, None)

    def one(self, row: int, t: float, q: Array, v: Array, state: State, step: Step | None) -> None:
        values = self._switch.noted(t, q, v)
        if values is not None:
            arrays = (np.array(x, float)[None] for x in (q, v, v, values.ravel()))
            self.log.add(NotedRows(None, np.array([row]), np.array([t]), np.zeros(1), *arrays))


def _together(at: Array) -> Any:
    """Numbers in order, as a slice where they follow each other: that copies nothing."""
    first, last = int(at[0]), int(at[-1])
    return slice(first, last + 1) if last - first + 1 == len(at) else at


def _has_springs(stepper: Stepper) -> bool:
    integrator = stepper.integrator
    return isinstance(integrator, AroundSteps) and integrator.has_springs(stepper.model)


def _pairs(stepper: Stepper) -> tuple[int, ...] | None:
    return getattr(stepper.integrator, "pairs", None)


def contact_notes(stepper: Stepper, switches: Iterable[ModeSwitch]) -> ContactNotes | None:
    """What notes the contacts of a run; None where it has none."""
    for switch in switches:
        if isinstance(switch, ContactEvents):
            return ForceNotes(switch)
    integrator = stepper.integrator
    if isinstance(integrator, (ContactSteps, ColliderSteps)):
        return ImpulseNotes(integrator)
    if isinstance(integrator, AroundSteps):
        return SpringNotes(integrator.contacts, stepper)
    return None
