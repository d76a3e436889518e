"""Any integrator with soft contact: the forces join the system's, and the springs of friction its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.contact.friction_springs import begun_springs, soft_force, soft_force_within, springs_after
from knuckle.contact.soft_contact import spring_count
from knuckle.integrators.base import Adaptive, DenseOutput, Integrator, State, StepForms
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.spatial import Vector

from .newton import Iterative, Newton


def with_soft_contact(integrator: Integrator, contacts: CompliantContacts) -> Integrator:
    """An integrator whose steps have soft contact.

    Forces are those of the law at every evaluation. Springs of friction are the first entry of the memory: where they
    stick they move with the state, of the integrator's own order up to the fourth; what slides is settled at the end of
    a step.
    """
    if integrator.solves_contacts:
        raise ValueError(f"{type(integrator).__name__} has contacts of its own: soft ones need another integrator")
    return integrator.formed(SoftContactForms(contacts))


@dataclass(frozen=True)
class SoftContactForms(StepForms):
    """Integrators with soft contact."""

    contacts: CompliantContacts

    def steps(self, integrator: Integrator) -> Integrator:
        return StepsWithContact(integrator, self.contacts)

    def adaptive(self, integrator: Adaptive) -> Integrator:
        tolerances = integrator.rtol, integrator.atol_q, integrator.atol_v
        return AdaptiveWithContact(*tolerances, integrator, self.contacts)

    def newton(self, integrator: Newton) -> Integrator:
        return NewtonWithContact(integrator.iterations, integrator.tolerance, integrator, self.contacts)

    def iterative(self, integrator: Iterative) -> Integrator:
        if self.contacts.friction == "spring" and len(integrator.parts) > 1:
            raise ValueError(
                f"{type(integrator).__name__} of order {integrator.order} steps back and forth, and the springs of "
                'friction cannot: take friction="regularized", order 2 or another integrator'
            )
        return IterativeWithContact(integrator.iterations, integrator.tolerance, integrator, self.contacts)


class AroundSteps(Integrator):
    """What the integrators with contact share: the methods of another one on a system with forces of contact."""

    solves_contacts = True

    integrator: Any
    """That other one"""
    contacts: CompliantContacts

    @property
    def order(self) -> int:
        return self.integrator.order

    @property
    def evaluations(self) -> int | None:
        return self.integrator.evaluations

    @property
    def soft_contacts(self) -> CompliantContacts:
        return self.contacts

    def check(self, t: float, state: State, dt: float) -> None:
        self.integrator.check(t, state, dt)

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        n = 3 * spring_count(system.model, self.contacts)
        springs = (np.zeros(n) if isinstance(q, np.ndarray) else Vector([0.0] * n),) if n else ()
        first = State(q, v, springs)
        state = self.integrator.begin(self._touching(system, t, first), t, q, v, dt)
        return State(state.q, state.v, (*springs, *state.memory))

    def acting(self, system: System, state: State) -> System:
        """With the forces of contact; springs move with the position."""
        return self._touching(system, None, state)

    def in_step(self, system: System, t: Any, state: State, dt: Any) -> System:
        return self.integrator.in_step(system, t, self._own(system, state), dt)

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        """Springs go on from where they were: also where something cuts a step short or changes the velocity."""
        inside = self._own(system, old), t, self._own(system, new)
        own = self.integrator.carried(self._touching(system, t0, old), t0, *inside)
        return self._with_springs(system, t0, old, t, own)

    def renewed(self, system: System, t: Any, state: State, dt: Any) -> State:
        """Springs stay wound up."""
        new = self.integrator.renewed(self._touching(system, t, state), t, self._own(system, state), dt)
        return State(new.q, new.v, (*state.memory[: self.has_springs(system.model)], *new.memory))

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        new = self.integrator.step(self._touching(system, t, state), t, self._own(system, state), dt)
        return self._with_springs(system, t, state, t + dt, new)

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        first, last = self._own(system, old), self._own(system, new)
        return self.integrator.dense(self._touching(system, t, old), t, first, last, dt)

    def formed(self, forms: StepForms) -> Integrator:
        return forms.soft_contact(self)

    def states_place(self, model: Model, memory: int) -> int | None:
        inside = self.integrator.states_place(model, memory)
        return None if inside is None else inside + self.has_springs(model)

    def has_springs(self, model: Model) -> bool:
        """Whether the first entry of the memory is springs of friction."""
        return spring_count(model, self.contacts) > 0

    def _own(self, system: System, state: State) -> State:
        """A state as the integrator inside knows it."""
        return State(state.q, state.v, state.memory[self.has_springs(system.model) :])

    def _touching(self, system: System, t0: Any, state: State) -> System:
        """The system with forces of contact, for a step from a state."""
        contacts, model, outer = self.contacts, system.model, system.force
        if not self.has_springs(model):

            def force(at: Model, t: Any, q: Any, v: Any) -> Any:
                return outer(at, t, q, v) + soft_force(model, t, q, v, contacts=contacts)

            return system.under(force, system.sticking)
        q0, v0, springs = state.q, state.v, state.memory[0]
        start = begun_springs(model, 0.0 if t0 is None else t0, q0, v0, contacts=contacts)

        def winding(at: Model, t: Any, q: Any, v: Any) -> Any:
            since = t if t0 is None else t0
            pull = soft_force_within(model, t, q, v, since, q0, v0, springs, start, contacts=contacts)
            return outer(at, t, q, v) + pull

        return system.under(winding, system.sticking)

    def _with_springs(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        """A state at t with the springs of a step from an old one."""
        model, contacts = system.model, self.contacts
        if not self.has_springs(model):
            return new
        start = begun_springs(model, t0, old.q, old.v, contacts=contacts)
        springs = springs_after(
            model, t, new.q, new.v, t0, old.q, old.v, old.memory[0], start, contacts=contacts
        )  # fmt: skip
        return State(new.q, new.v, (springs, *new.memory))


@dataclass(frozen=True)
class StepsWithContact(AroundSteps):
    """An integrator of steps of one length, with soft contact."""

    integrator: Any
    contacts: CompliantContacts

    @property
    def evaluates_forces_once(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.integrator.evaluates_forces_once


@dataclass(frozen=True)
class AdaptiveWithContact(AroundSteps, Adaptive):
    """An adaptive integrator, with soft contact."""

    integrator: Any = None
    contacts: CompliantContacts = CompliantContacts()  # noqa: RUF009

    def attempt(self, system: System, t: Any, state: State, dt: Any) -> tuple[State, Any, Any]:
        touching = self._touching(system, t, state)
        new, *errors = self.integrator.attempt(touching, t, self._own(system, state), dt)
        return self._with_springs(system, t, state, t + dt, new), *errors


@dataclass(frozen=True)
class IterativeWithContact(AroundSteps, Iterative):
    """An integrator that solves an equation in every step, with soft contact."""

    integrator: Any = None
    contacts: CompliantContacts = CompliantContacts()  # noqa: RUF009

    @property
    def parts(self) -> tuple[float, ...]:
        return self.integrator.parts

    def is_short(self, nv: int) -> bool:
        return self.integrator.is_short(nv)

    def goes_on(self, size: Any, last: Any) -> Any:
        return self.integrator.goes_on(size, last)

    def guess(self, system: System, t: Any, state: State, dt: Any) -> Any:
        return self.integrator.guess(self._touching(system, t, state), t, self._own(system, state), dt)

    def force_arguments(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any, Any]:
        return self.integrator.force_arguments(system, t, self._own(system, state), x, dt)

    def improved(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any]:
        return self.integrator.improved(self._touching(system, t, state), t, self._own(system, state), x, dt)

    def finished(self, system: System, t: Any, state: State, x: Any, size: Any, dt: Any) -> State:
        new = self.integrator.finished(self._touching(system, t, state), t, self._own(system, state), x, size, dt)
        return self._with_springs(system, t, state, t + dt, new)


@dataclass(frozen=True)
class NewtonWithContact(IterativeWithContact, Newton):
    """An integrator that solves its equation by Newton's method, with soft contact."""

    def residual(self, system: System, t: Any, state: State, x: Any, dt: Any) -> Any:
        return self.integrator.residual(self._touching(system, t, state), t, self._own(system, state), x, dt)
