"""A mechanism and what acts on it, as an integrator sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from knuckle.algorithms.dynamics.actuator_drive import actuator_rates
from knuckle.algorithms.elements import muscle_rates
from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.bound import Bound, bind
from knuckle.engine.calls.function import kernel
from knuckle.engine.differentiate.derivative_rules import Chained
from knuckle.functions import forward_dynamics
from knuckle.functions.configuration import alongside, has_charts, in_charts
from knuckle.functions.loops.loop_closure import consistent_velocity, solve_dependent
from knuckle.functions.loops.projection import STEPS, onto_constraints
from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.spatial import Vector, called, with_rule

from .loop_stabilization import Stabilization, can_be_held, goes_sparse, sparse_dynamics

if TYPE_CHECKING:
    from knuckle.maximal_coordinates.sparse_dynamics import SparseDynamics


@dataclass(frozen=True)
class MuscleDrive:
    """Which muscles have states, what excites them, and what they begin with where that is given."""

    which: MuscleStates
    excitations: Callable[[Model, Any, Any, Any, Any], Any]
    """(model, t, q, v, z) → u; None where activations are no states"""
    activations: Any = None
    fibers: Any = None
    controls: Callable[[Model, Any, Any, Any], Any] | None = None
    """(model, t, q, v) → what actuators with states are told"""
    driven: Any = None
    """The states that actuators begin with"""

    def told(self, model: Model, t: Any, q: Any, v: Any) -> Any:
        """The controls of actuators; None where none has a state."""
        return None if self.controls is None or not self.which.driven else self.controls(model, t, q, v)


HOLD = 1e20
"""The rotor inertia of a joint that is held: nothing moves it, and its velocity tells the impulse against it."""
Force = Callable[[Model, Any, Any, Any], Any]


@dataclass(frozen=True)
class System:
    """A mechanism under forces. Every method takes one state: arrays, or inside a kernel vectors of scalars."""

    model: Model
    force: Force
    """(model, t, q, v) → τ"""
    external_forces: Force | None = None
    """(model, t, q, v) → f_ext, a wrench per body"""
    stabilization: Stabilization = None
    """What keeps loops closed"""
    sticking: Any = None
    """1 for each velocity variable that is held by dry friction, 0 for the others; None where there is no friction"""
    is_text: bool = False
    """Whether the force is a function of the state that can be part of compiled code, so that its slopes are known"""
    muscles: MuscleDrive | None = None
    """What muscles with states of their own are told"""
    states: Any = None
    """The states of muscles; None where they are those of their laws"""
    law: Callable[..., Any] | None = None
    """(model, q, v, τ, f_ext, decay time) → v̇, where that is not forward dynamics"""

    def acceleration(self, t: Any, q: Any, v: Any) -> Any:
        """v̇ under the forces at this instant: one piece of code, however often a step asks for it."""
        return self._acceleration(t, q, v)

    @cached_property
    def _acceleration(self) -> Callable[..., Any]:
        return called(self._accelerated)

    def _accelerated(self, t: Any, q: Any, v: Any) -> Any:
        forces = self.forces(t, q, v)
        if self.law is not None:
            tau, f_ext = (*forces, None)[:2]
            return self.law(self.at_time(t), q, v, tau, f_ext, self.decay_time)
        if (sparse := self._by_sparse(q)) is not None:
            return sparse.forward_dynamics(q, v, *forces, stabilization=self.decay_time, held=self.sticking)
        if self._is_kernel:
            tau, f_ext = (*forces, None)[:2]
            return _acceleration_at(
                self.model, t, q, v, tau, f_ext, self.sticking, self.states,
                stabilization=self.decay_time, choice=self.choice, muscles=self._which,
            )  # fmt: skip
        return self._forward(q, v, *forces)

    def closed(self, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
        """The state (q, v) with its loops closed, where states are to be kept so; else the same.

        The nearest one by projection; with independent variables, that of the same independent variables.
        """
        if not self.is_closed:
            return q, v
        if (sparse := self._by_sparse(q)) is not None:
            return sparse.project(q, v, self.sticking)
        if self._is_kernel:
            return _closed_at(self.model, t, q, v, self.sticking, choice=self.choice)
        return onto_constraints(self.model, q, v)

    @property
    def is_closed(self) -> bool:
        """Whether the loops of every state are closed, not only held."""
        return bool(self.model.loops) and (self.stabilization == "projection" or self.choice is not None)

    @property
    def decay_time(self) -> float | None:
        """T_stab, where loop errors are to decay."""
        return self.stabilization if isinstance(self.stabilization, float) and self.model.loops else None

    @property
    def choice(self) -> Choice | None:
        """The independent variables, where the others follow them."""
        return self.stabilization if isinstance(self.stabilization, Choice) and self.model.loops else None

    def forces(self, t: Any, q: Any, v: Any) -> tuple[Any, ...]:
        """(τ,) or (τ, f_ext) at this instant."""
        model = self._moving(t)
        if self.muscles is not None and self.states is not None:
            model = self.muscles.which.driving(model, self.states)
        tau = self.force(model, t, q, v)
        return (tau,) if self.external_forces is None else (tau, self.external_forces(model, t, q, v))

    def moved(self, q: Any, u: Any) -> Any:
        """q ⊕ u: the position after moving with the velocity variables u for a unit of time."""
        return self._by_pieces["integrate"](q, u) if (sparse := self._by_sparse(q)) is None else sparse.integrate(q, u)

    def displacement(self, q0: Any, q1: Any) -> Any:
        """q1 ⊖ q0."""
        return (self._by_sparse(q0) or self._functions).difference(q0, q1)

    def difference_rate(self, u: Any, v: Any) -> Any:
        """u̇ of the displacement u = q ⊖ q0 while q moves with v."""
        sparse = self._by_sparse(u)
        return self._by_pieces["difference_rate"](u, v) if sparse is None else sparse.difference_rate(u, v)

    def in_charts(self, q: Any, v: Any) -> tuple[Any, Any]:
        """The same state far from where the coordinates of joints end; as it is, where there are no such joints."""
        return in_charts(self.model, q, v) if self.has_charts else (q, v)

    def alongside(self, q0: Any, q: Any, v: Any) -> tuple[Any, Any]:
        """The state (q, v) in the coordinates of q0, in which displacements from there and their rates are smooth."""
        return alongside(self.model, q0, q, v) if self.has_charts else (q, v)

    @cached_property
    def has_charts(self) -> bool:
        """Whether the coordinates of some joint end somewhere."""
        return has_charts(self.model)

    def at_time(self, t: Any) -> Model:
        """The mechanism at time t: itself, unless some joint moves by a law of time, or is held."""
        now = self.unheld(t)
        return now if self.sticking is None else held_model(now, self.sticking)

    def unheld(self, t: Any) -> Model:
        """The mechanism at time t with nothing held."""
        now = self._moving(t)
        if self.muscles is not None and self.states is not None:
            now = self.muscles.which.at(now, self.states)
        return now

    def under(self, force: Force, sticking: Any) -> System:
        """The same mechanism under another force, with some velocity variables held; bound functions are shared."""
        return self._sharing(replace(self, force=force, sticking=sticking))

    def in_state(self, states: Any) -> System:
        """The same mechanism with its muscles in these states."""
        return self._sharing(replace(self, states=states))

    def state_rates(self, t: Any, q: Any, v: Any, states: Any) -> Any:
        """ż of muscles and actuators in these states."""
        assert self.muscles is not None
        now = self._moving(t)
        excitations = self.muscles.excitations(now, t, q, v, states)
        controls = self.muscles.told(now, t, q, v)
        return _state_rates(self.model, t, q, states, excitations, controls, which=self.muscles.which)

    def first_states(self, t: Any, q: Any) -> Any:
        """z to begin with: given activations, else those of the laws; and fibers in equilibrium, or as given."""
        assert self.muscles is not None
        muscles = self.muscles
        return _first_states(self.model, t, q, muscles.activations, muscles.fibers, muscles.driven, which=muscles.which)

    def _sharing(self, new: System) -> System:
        new.__dict__["_functions"], new.__dict__["_known_sparse"] = self._functions, self._known_sparse
        return new

    @property
    def _which(self) -> MuscleStates | None:
        return None if self.muscles is None or self.states is None else self.muscles.which

    def _moving(self, t: Any) -> Model:
        return self.model.at_time(t) if self.depends_on_time else self.model

    @property
    def _is_kernel(self) -> bool:
        """Whether the mechanism differs from instant to instant, so that its differences are arguments of a kernel."""
        return self.depends_on_time or self.choice is not None or self.sticking is not None or self.states is not None

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether some joint, or loop joint, moves by a law of time."""
        return self.model.depends_on_time

    def _by_sparse(self, x: Any) -> SparseDynamics | None:
        """The functions of a mechanism that goes by sparse equations, for numbers."""
        return self._sparse if isinstance(x, np.ndarray) else None

    @property
    def _sparse(self) -> SparseDynamics | None:
        return None if self.states is not None else self._sparsely(HOLD if self.sticking is not None else 0.0)

    def _sparsely(self, hold: float) -> SparseDynamics | None:
        """Sparse equations, with or without variables that are held, where these are for the mechanism."""
        if self.choice is not None or not goes_sparse(self.model) or (hold and not can_be_held(self.model)):
            return None
        if hold not in self._known_sparse:
            self._known_sparse[hold] = sparse_dynamics(self.model, hold)
        return self._known_sparse[hold]

    @cached_property
    def _known_sparse(self) -> dict[float, SparseDynamics]:
        return {}

    def held_response(self, q: Any) -> Callable[[Any, Any], Any] | None:
        """(impulse, what is held) → the change of velocity, where the mechanism goes by sparse equations; else None."""
        sparse = self._sparsely(HOLD) if isinstance(q, np.ndarray) else None
        return None if sparse is None else lambda push, held: sparse.response(q, push, held)

    @cached_property
    def _functions(self) -> Bound:
        return bind(self.model)

    @cached_property
    def _by_pieces(self) -> dict[str, Callable[..., Any]]:
        """Functions of positions as pieces, whose derivatives are printed once, however often a step asks for them."""
        found: dict[str, Callable[..., Any]] = {}
        for name, size in (("integrate", self.model.nq), ("difference_rate", self.model.nv)):
            of_two: Any = getattr(self._functions, name)
            found[name] = with_rule(of_two, Chained(partial(_of_row, of_two, size)))
        return found

    @cached_property
    def _forward(self) -> Callable[..., Any]:
        if self.decay_time is None:
            return self._functions.forward_dynamics
        return self._functions.prepare(forward_dynamics, stabilization=self.decay_time)


def _of_row(text: Callable[..., Any], size: int, x: Vector) -> Any:
    """A function of two vectors of one, whose first `size` entries are the first of them."""
    return text(x[:size], x[size:])


@kernel
def _acceleration_at(
    model: Model,
    t: Any,
    q: Any,
    v: Any,
    tau: Any,
    f_ext: Any = None,
    sticking: Any = None,
    states: Any = None,
    *,
    stabilization: float | None,
    choice: Choice | None,
    muscles: MuscleStates | None = None,
) -> Any:
    """The time is an argument, so that one piece of code serves every instant."""
    now = _then(model if muscles is None else muscles.at(model, states), t, sticking)
    if choice is None:
        return forward_dynamics(now, q, v, tau, f_ext, stabilization=stabilization)
    q, v = _followed(now, q, v, choice)
    return forward_dynamics.reference(now, q, v, tau, f_ext, method="independent", choice=choice)


@kernel
def _state_rates(
    model: Model, t: Any, q: Any, states: Any, excitations: Any = None, controls: Any = None, *, which: MuscleStates
) -> Any:
    model = model.at_time(t)
    a, fibers = which.apart(states)
    rates = [] if a is None else muscle_rates.activation_rates(model, excitations, a)
    if fibers is not None:
        rates += muscle_rates.fiber_rates(model, model.positions(q), which.activations(model, a), fibers)
    if which.driven:
        rates += actuator_rates(model, controls, states[which.of_muscles :])
    return Vector(rates)


@kernel
def _first_states(
    model: Model, t: Any, q: Any, activations: Any = None, fibers: Any = None, driven: Any = None,
    *, which: MuscleStates,
) -> Any:  # fmt: skip
    model = model.at_time(t)
    a = which.activations(model, activations)
    states = [*a] if which.is_excited else []
    if which.elastic:
        states += [*(muscle_rates.fiber_equilibrium(model, model.positions(q), a) if fibers is None else fibers)]
    if which.driven:
        begin = [law.state for _, law in with_dynamics(model.actuators)] if driven is None else driven
        states += [*begin]
    return Vector(which.within(model, states))


@kernel
def _closed_at(model: Model, t: Any, q: Any, v: Any, sticking: Any = None, *, choice: Choice | None) -> Any:
    now = _then(model, t, sticking)
    return onto_constraints(now, q, v) if choice is None else _followed(now, q, v, choice)


def _then(model: Model, t: Any, sticking: Any) -> Model:
    now = model.at_time(t)
    return now if sticking is None else held_model(now, sticking)


def held_model(model: Model, sticking: Any) -> Model:
    """The mechanism without dry friction, with some velocity variables held."""
    free = model.replace(joints=tuple(replace(joint, friction=()) for joint in model.joints))
    return with_rotors(free, [HOLD * x for x in sticking])


def with_rotors(model: Model, rotor: Any) -> Model:
    """The model with rotor inertia more at each velocity variable."""
    joints = list(model.joints)
    for i, joint in enumerate(joints):
        if i not in model.coupled:
            total = tuple(a + b for a, b in zip(joint.rotor_inertia, rotor[model.v_slices[i]], strict=True))
            joints[i] = replace(joint, rotor_inertia=total)
    return model.replace(joints=tuple(joints))


def _followed(model: Model, q: Any, v: Any, choice: Choice) -> tuple[Any, Any]:
    """The state in which the dependent variables follow the others (RBDA 8.56-8.57)."""
    q = solve_dependent.reference(model, q, choice=choice, steps=STEPS)
    return q, consistent_velocity.reference(model, q, v, choice=choice)
