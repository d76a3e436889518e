"""Any integrator with muscles whose activations, and lengths of fibers at elastic tendons, are states, or actuators'.

Explicit methods see one differential equation of velocities and states (`ExtendedSystem`) and keep their order.
Implicit ones and those with contacts take a step with the states held, between two halves of a step of the states
alone: of the second order where they are. A half of a step of states is exponential (`advanced`): stable however stiff
a tendon is, and activations stay between 0 and 1. So do explicit ones where an actuator's state is to be stepped
exactly, or ahead of the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from knuckle.algorithms.elements.muscle_rates import muscle_lengths
from knuckle.engine.calls.function import kernel
from knuckle.integrators.base import Adaptive, DenseOutput, Integrator, State, StepForms
from knuckle.integrators.extended_system import ExtendedSystem, joined
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.scalar import ZERO, Dual, absolute, exp, less, parts, select
from knuckle.spatial import Vector

from .collider_steps import ColliderSteps
from .contact_steps import ContactSteps
from .newton import Iterative, Newton
from .soft_contact_steps import AroundSteps, with_soft_contact


def with_muscle_states(integrator: Integrator) -> Integrator:
    """An integrator whose steps have states of muscles: the first entry of the memory, with contacts the last."""
    return integrator.formed(MuscleForms())


class MuscleForms(StepForms):
    """Integrators with states of muscles."""

    def steps(self, integrator: Integrator) -> Integrator:
        return StepsWithMuscles(integrator)

    def adaptive(self, integrator: Adaptive) -> Integrator:
        return AdaptiveWithMuscles(integrator.rtol, integrator.atol_q, integrator.atol_v, integrator)

    def newton(self, integrator: Newton) -> Integrator:
        return NewtonWithMuscles(integrator.iterations, integrator.tolerance, integrator)

    def iterative(self, integrator: Iterative) -> Integrator:
        if len(integrator.parts) > 1:
            raise ValueError(
                f"{type(integrator).__name__} of order {integrator.order} steps back and forth, and activations and "
                "fibers of muscles cannot: take order 2 or another integrator"
            )
        return IterativeWithMuscles(integrator.iterations, integrator.tolerance, integrator)

    def contact_steps(self, integrator: ContactSteps) -> Integrator:
        return ContactStepsWithMuscles(**_fields(integrator))

    def collider_steps(self, integrator: ColliderSteps) -> Integrator:
        return ColliderStepsWithMuscles(**_fields(integrator))

    def soft_contact(self, integrator: AroundSteps) -> Integrator:
        return with_soft_contact(with_muscle_states(integrator.integrator), integrator.contacts)


class AroundMuscles(Integrator):
    """What the integrators with muscles share: the methods of another one, on a system with states of muscles."""

    integrator: Any
    """That other one"""

    @property
    def order(self) -> int:
        return self.integrator.order

    @property
    def evaluations(self) -> int | None:
        return self.integrator.evaluations

    def check(self, t: float, state: State, dt: float) -> None:
        self.integrator.check(t, state, dt)

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        z = system.first_states(t, q)
        state = self.integrator.begin(system.in_state(z), t, q, v, dt)
        return State(state.q, state.v, (z, *state.memory))

    def renewed(self, system: System, t: Any, state: State, dt: Any) -> State:
        z = state.memory[0]
        new = self.integrator.renewed(system.in_state(z), t, _own(state), dt)
        return State(new.q, new.v, (z, *new.memory))

    def acting(self, system: System, state: State) -> System:
        return self.integrator.acting(system.in_state(state.memory[0]), _own(state))

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        """States go on from where they were, also where something cuts a step short."""
        z, now = old.memory[0], system.in_state(old.memory[0])
        own = self.integrator.carried(now, t0, _own(old), t, _own(new))
        if t != t0 and self.is_one_equation(system):
            z = self.step(system, t0, old, t - t0).memory[0]
        elif t != t0:
            z = advanced(system, t0, old.q, old.v, z, t - t0, 1)
        return State(own.q, own.v, (z, *own.memory))

    def in_step(self, system: System, t: Any, state: State, dt: Any) -> System:
        if self.is_one_equation(system):
            return system.in_state(state.memory[0])
        return self.held(system, t, state, dt)

    def is_one_equation(self, system: System) -> bool:
        """Whether velocities and states are one differential equation."""
        assert system.muscles is not None
        return self.integrator.is_explicit and not system.muscles.which.steps_apart

    def states_place(self, model: Model, memory: int) -> int | None:
        return 0

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        if self.is_one_equation(system):
            extended = ExtendedSystem.of(system)
            return _split(extended, self.integrator.step(extended, t, _whole(state), dt))
        held = self.held(system, t, state, dt)
        return self.with_states(held, t, self.integrator.step(held, t, _own(state), dt), dt)

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        if not self.is_one_equation(system):
            return self.integrator.dense(system.in_state(old.memory[0]), t, _own(old), _own(new), dt)
        extended = ExtendedSystem.of(system)
        between = self.integrator.dense(extended, t, _whole(old), _whole(new), dt)

        def plain(theta: Any) -> tuple[Any, Any]:
            q, v = between(theta)
            return q, extended.apart(v)[0]

        return plain

    def held(self, system: System, t: Any, state: State, dt: Any) -> System:
        """The system with the states of muscles that act in a step: those in its middle, or at its end."""
        return held_system(system, t, state.q, state.v, state.memory[0], dt, self.integrator.acts_at_the_end)

    def with_states(self, held: System, t: Any, new: State, dt: Any) -> State:
        """A state at the end of a step with states held, with those of the muscles at the end."""
        z = held.states
        if not self.integrator.acts_at_the_end:
            z = advanced(held, t + dt, new.q, new.v, z, dt / 2, -1, early=0.0)
        return State(new.q, new.v, (z, *new.memory))


@dataclass(frozen=True)
class StepsWithMuscles(AroundMuscles):
    """An integrator of steps of one length, with muscles."""

    integrator: Any

    @property
    def evaluates_forces_once(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.integrator.evaluates_forces_once


@dataclass(frozen=True)
class AdaptiveWithMuscles(AroundMuscles, Adaptive):
    """An adaptive integrator, with muscles. It chooses its steps by the errors of the motion and of the states."""

    integrator: Any = None

    def attempt(self, system: System, t: Any, state: State, dt: Any) -> tuple[State, Any, Any]:
        extended = ExtendedSystem.of(system)
        new, q_error, errors = self.integrator.attempt(extended, t, _whole(state), dt)
        return _split(extended, new), extended.apart(q_error)[0], errors


@dataclass(frozen=True)
class IterativeWithMuscles(AroundMuscles, Iterative):
    """An integrator that solves an equation in every step, with muscles."""

    integrator: Any = None

    def is_short(self, nv: int) -> bool:
        return self.integrator.is_short(nv)

    def goes_on(self, size: Any, last: Any) -> Any:
        return self.integrator.goes_on(size, last)

    def guess(self, system: System, t: Any, state: State, dt: Any) -> Any:
        return self.integrator.guess(self.held(system, t, state, dt), t, _own(state), dt)

    def force_arguments(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any, Any]:
        return self.integrator.force_arguments(system, t, _own(state), x, dt)

    def improved(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any]:
        return self.integrator.improved(self.held(system, t, state, dt), t, _own(state), x, dt)

    def finished(self, system: System, t: Any, state: State, x: Any, size: Any, dt: Any) -> State:
        held = self.held(system, t, state, dt)
        return self.with_states(held, t, self.integrator.finished(held, t, _own(state), x, size, dt), dt)


@dataclass(frozen=True)
class NewtonWithMuscles(IterativeWithMuscles, Newton):
    """An integrator that solves its equation by Newton's method, with muscles."""

    def residual(self, system: System, t: Any, state: State, x: Any, dt: Any) -> Any:
        return self.integrator.residual(self.held(system, t, state, dt), t, _own(state), x, dt)


class ContactsAndMuscles(Integrator):
    """What contact steps with muscles share: states are the last entry of the memory, so that impulses stay first."""

    begins_blank = False

    def states_place(self, model: Model, memory: int) -> int | None:
        return memory - 1

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        state = super().begin(system, t, q, v, dt)
        return State(state.q, state.v, (*state.memory, system.first_states(t, q)))

    def acting(self, system: System, state: State) -> System:
        return super().acting(system.in_state(state.memory[-1]), _inside(state))

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        z = old.memory[-1]
        z = z if t == t0 else advanced(system, t0, old.q, old.v, z, t - t0, 1)
        return State(new.q, new.v, (*new.memory[:-1], z))

    def in_step(self, system: System, t: Any, state: State, dt: Any) -> System:
        return held_system(system, t, state.q, state.v, state.memory[-1], dt, False)

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        held = self.in_step(system, t, state, dt)
        new = super().step(held, t, _inside(state), dt)  # pyright: ignore[reportAbstractUsage]
        z = advanced(held, t + dt, new.q, new.v, held.states, dt / 2, -1, early=0.0)
        return State(new.q, new.v, (*new.memory, z))

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return super().dense(system.in_state(old.memory[-1]), t, _inside(old), _inside(new), dt)


@dataclass(frozen=True)
class ContactStepsWithMuscles(ContactsAndMuscles, ContactSteps):
    """Contact steps with muscles."""


@dataclass(frozen=True)
class ColliderStepsWithMuscles(ContactsAndMuscles, ColliderSteps):
    """Contact steps on numbers, with muscles."""

    @property
    def runs_alone(self) -> bool:
        return False


# steps of the states alone


def held_system(system: System, t: Any, q: Any, v: Any, z: Any, dt: Any, at_the_end: bool) -> System:
    """The system with the states of muscles in the middle of a step, or at its end."""
    return system.in_state(advanced(system, t, q, v, z, dt if at_the_end else dt / 2, 1, early=dt))


def advanced(system: System, t: Any, q: Any, v: Any, z: Any, h: Any, side: int, early: Any = None) -> Any:
    """z after h, a part of a step that begins (side 1) or ends (side −1) with t, q and v.

    The motion, excitations and controls are those in the middle of that part. States of actuators that are ahead of the
    motion go on by the time `early` instead.
    """
    assert system.muscles is not None
    half = side * h / 2
    middle = system.moved(q, half * v)
    excitations = system.muscles.excitations(system.model, t + half, middle, v, z)
    controls = system.muscles.told(system.model, t + half, middle, v)
    ahead = h if early is None else early
    return _advanced(system.model, t + half, middle, z, h, ahead, excitations, controls, which=system.muscles.which)


@kernel
def _advanced(
    model: Model, t: Any, q: Any, z: Any, h: Any, early: Any, excitations: Any = None, controls: Any = None,
    *, which: MuscleStates,
) -> Any:  # fmt: skip
    model = model.at_time(t)
    activations, fibers = which.apart([*z])
    laws = muscle_lengths(model, model.positions(q))
    new, between = list[Any](), which.activations(model, activations)
    if activations is not None:
        follow = zip(laws, excitations, activations, strict=True)
        new = [exponential(lambda a, law=law, u=u: law.activation_rate(u, a), a, h) for (law, _), u, a in follow]
        between = [(a + b) / 2 for a, b in zip(activations, new, strict=True)]
    if fibers is not None:
        elastic = [(*law, a) for law, a in zip(laws, between, strict=True) if law[0].is_elastic]
        for (law, length, a), x in zip(elastic, fibers, strict=True):
            new.append(exponential(lambda y, law=law, length=length, a=a: law.fiber_rate(length, y, a), x, h))
    if which.driven:
        follow = zip(with_dynamics(model.actuators), z[which.of_muscles :], strict=True)
        for (k, law), a in follow:
            new.append(law.later(model.actuators[k].followed(controls[k], a), a, early if law.is_early else h))
    return Vector(new)


def exponential(rate: Callable[[Any], Any], x: Any, h: Any) -> Any:
    """x + h φ(hJ) ẋ with φ(s) = (eˢ − 1) / s and J = ∂ẋ/∂x: exact where ẋ is linear in x, else of the second order."""
    value, slope = parts(rate(Dual(x, 1.0)))
    s = h * (0.0 if slope is ZERO else slope)
    is_small = less(absolute(s), 1e-4)
    some = select(is_small, 1.0, s)
    return x + h * value * select(is_small, 1 + s * (1 / 2 + s / 6), (exp(some) - 1) / some)


# states


def _own(state: State) -> State:
    """A state as the integrator inside knows it."""
    return State(state.q, state.v, state.memory[1:])


def _inside(state: State) -> State:
    return State(state.q, state.v, state.memory[:-1])


def _whole(state: State) -> State:
    """A state with (v, z) for v."""
    z, *memory = state.memory
    return State(state.q, joined(state.v, z), tuple(memory))


def _split(extended: ExtendedSystem, state: State) -> State:
    v, z = extended.apart(state.v)
    assert extended.muscles is not None
    return State(state.q, v, (extended.muscles.which.within(extended.model, z), *state.memory))


def _fields(integrator: Any) -> dict[str, Any]:
    return {field.name: getattr(integrator, field.name) for field in fields(integrator)}
