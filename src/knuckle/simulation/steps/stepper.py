"""A mechanism, an integrator and a controller made into one function: the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.errors import ConvergenceError
from knuckle.functions import neutral
from knuckle.integrators.base import Adaptive, DenseOutput, Integrator, State, must_know_deformables
from knuckle.integrators.loop_stabilization import Stabilization, must_fit, stabilization_of, takes_long
from knuckle.integrators.methods.newton import LEAST_PART, MOST_ITERATIONS, PARTS, Iterative, Newton
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import Control, Parameters, forces_of
from knuckle.simulation.friction.dry_friction import (
    begun,
    finished,
    has_modes,
    held,
    kept,
    must_be_separate,
    stepped,
    still,
    within_modes,
)
from knuckle.simulation.muscle_inputs import MuscleInputs
from knuckle.simulation.sampled_control import FIRST_STATE, NOT_SAMPLED, SampledInputs, between_samples

from .native_methods import compiled, loads
from .native_steps import NativeSteps, StateRows
from .sampled_runs import SampledRuns
from .step_text import APPLIED, RESTING, LoadText, StepText, at_stops

if TYPE_CHECKING:
    from knuckle.integrators.contact_loops.prepared_steps import PreparedSteps

    from .looped_steps import LoopedSteps

Array: TypeAlias = NDArray[Any]
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


class Stepper:
    """Steps of one integrator for one mechanism. `stepper` makes it.

    `is_compiled` says whether a step is one piece of native code, the kernel of `text()`; many of them then run in one
    call (`steps`). With forces of Python functions, a step that evaluates them once takes them as arguments of native
    code, and one that evaluates them several times runs as a text on arrays, as does one of a mechanism with many
    loops. A long equation is solved here, with native code for its terms. `stabilization` keeps loops closed. What a
    `sampled` controller remembers is the last entry of a state's memory.
    """

    def __init__(
        self,
        model: Model,
        integrator: Integrator,
        controller: Control,
        external_forces: Control,
        parameters: Parameters,
        stabilization: Stabilization = None,
        muscles: MuscleInputs | None = None,
        sampled: SampledInputs = NOT_SAMPLED,
    ) -> None:
        told = muscles or MuscleInputs(None)
        self._made_of = controller, external_forces, muscles, sampled
        self.sampled, own = sampled.which, {k: x for k, x in sampled.parameters.items() if k != FIRST_STATE}
        self._first_state = sampled.parameters.get(FIRST_STATE)
        self.muscles, parameters = told.which, {**parameters, **told.parameters, **own}
        self.model, self.integrator, self.parameters = model, integrator, dict(parameters)
        self.stabilization: Stabilization = stabilization
        must_know_deformables(model, integrator)
        self.has_friction = has_modes(integrator, model)
        must_be_separate(model)
        evaluations = integrator.evaluations
        must_fit(model, type(integrator).__name__, evaluations is not None, stabilization)
        self._is_text = controller.is_text and external_forces.is_text and told.excitations.is_text
        self._is_long = integrator.takes_numbers or (evaluations is not None and takes_long(model, evaluations))
        self._is_solved = isinstance(integrator, Iterative) and not integrator.is_short(model.nv)
        is_looped = integrator.runs_alone and self._is_text
        self.is_compiled = is_looped or (self._is_text and not self._is_solved and not self._is_long)
        self._step = StepText(
            "step", integrator, controller, external_forces,
            stabilization=stabilization, excitations=told.excitations, muscles=told.which, sampled=self.sampled,
            rests=RESTING in parameters, applies=APPLIED in parameters, driven=told.controls,
        )  # fmt: skip
        self._between = replace(self._step, sampled=self.sampled and between_samples(self.sampled))
        self._samples_inside = self.sampled is None or (self.sampled.is_inside and self._is_text and not is_looped)
        if not self._is_text:
            self._between = self._between.with_held_forces()
        self._held = self._step if self._samples_inside and self._is_text else self._between
        self._native_methods: dict[tuple[str, int], Callable[..., list[Any]]] = {}
        self._many: NativeSteps | LoopedSteps | SampledRuns = NativeSteps(self._held, model, self.parameters)
        if is_looped:
            from knuckle.integrators.methods.collider_steps import ColliderSteps

            from .looped_steps import LoopedSteps

            assert isinstance(integrator, ColliderSteps)
            self._many = LoopedSteps(self._between, integrator, model, self.parameters)
        if not self._samples_inside and self.sampled is not None:
            self._many = SampledRuns(self._many, self.sampled, model, self.parameters)

    @cached_property
    def system(self) -> System:
        """The mechanism under its forces, on arrays."""
        return self._step.system(self.model, self.parameters)

    def resting(self, held: Array) -> Stepper:
        """The same steps with some velocity variables, of joints with q̇ = v, resting on stops: 1 for each of them."""
        controller, external_forces, muscles, sampled = self._made_of
        parameters = {**self.parameters, RESTING: held}
        return Stepper(
            self.model, self.integrator, controller, external_forces, parameters, self.stabilization, muscles, sampled
        )

    @cached_property
    def rests(self) -> Array:
        """1 for each velocity variable that rests on a stop, 0 for the others."""
        return np.asarray(self.parameters.get(RESTING, np.zeros(self.model.nv)), float)

    @property
    def inputs(self) -> SampledInputs:
        """The sampled controller, if there is one."""
        return self._made_of[3]

    def loads(self, times: Array, rows: StateRows) -> Array:
        """The forces (n, nv) against which stops hold in states at `times`; 0 where nothing rests."""
        text = LoadText(replace(self._between, memory=len(rows.memory)))
        return loads(text, self.model, self.parameters, times, rows)

    @cached_property
    def neutral(self) -> Array:
        """The neutral position, from which the sizes of positions are measured."""
        return neutral(self.model)

    def text(self, method: str = "step", memory: int = 0) -> StepText:
        """What the kernel of a step is made of, for states with so many entries of memory."""
        return replace(self._step, method=method, memory=memory)

    def start(
        self,
        t: float,
        q: ArrayLike,
        v: ArrayLike,
        dt: float,
        modes: Array | None = None,
        since: tuple[float, State] | None = None,
    ) -> State:
        """The state to begin with, at time t; `modes` of dry friction, where they are known.

        `since` is where the motion came from: what a sampled controller holds is held on.
        """
        q, v = (_state(name, x, n) for name, x, n in (("q", q, self.model.nq), ("v", v, self.model.nv)))
        if self.sampled is None:
            return begun(self.integrator, self.system, t, q, v, dt, modes)
        if since is None:
            own = self.sampled.begun(self.model, t, q, v, self._first_state, self.parameters)
        else:
            own = self._sampled_at(t, q, v, self.sampled.later(since[1].memory[-1], t - since[0]))
        state = begun(self.integrator, self._under(own), t, q, v, dt, modes)
        return State(state.q, state.v, (*state.memory, own))

    def _sampled_at(self, t: float, q: Array, v: Array, own: Array) -> Array:
        """What a sampled controller remembers at t, after a sample if it is time for one."""
        assert self.sampled is not None
        if not self.sampled.is_due(own):
            return own
        return self.sampled.at_sample(self.model, t, q, v, own, self.parameters)

    def _under(self, own: Array) -> System:
        """The mechanism under its forces and those that a sampled controller holds."""
        assert self.sampled is not None
        return self._step.system(self.model, self.parameters, self.sampled.held(own))

    def pushed(self, state: State) -> System:
        """The mechanism under its forces, those that a sampled controller holds in a state among them."""
        return self.system if self.sampled is None else self._under(state.memory[-1])

    def held(self, state: State) -> System:
        """The mechanism in the modes of a state."""
        return held(self.pushed(state), state.memory[0]) if self.has_friction else self.pushed(state)

    def acting(self, state: State) -> System:
        """The mechanism in the modes of a state, under all forces: also those that the integrator adds."""
        return self.integrator.acting(self.held(state), self._own(state))

    def states(self, state: State) -> Array:
        """The states of muscles in a state."""
        place = self.states_place(len(state.memory))
        return np.zeros(0) if place is None or place >= len(state.memory) else np.asarray(state.memory[place], float)

    def control_row(self, state: State) -> Array:
        """What a sampled controller holds, and its own state."""
        return np.zeros(0) if self.sampled is None else np.asarray(state.memory[-1][1:], float)

    def recorded(self, state: State) -> Array:
        """What is recorded of a state besides q and v: states of muscles, and `control_row`."""
        return np.concatenate([self.states(state), self.control_row(state)])

    def recorded_rows(self, memory: tuple[Array, ...], saved: Array) -> Array:
        """The same of some rows of many states with this memory."""
        place, none = self.states_place(len(memory)), np.zeros((len(saved), 0))
        control = none if self.sampled is None else memory[-1][saved, 1:]
        return np.concatenate([none if place is None else memory[place][saved], control], axis=1)

    @property
    def recorded_size(self) -> int:
        """How many numbers are recorded of a state besides q and v."""
        muscles = 0 if self.muscles is None else self.muscles.count
        return muscles + (0 if self.sampled is None else self.sampled.count - 1)

    def states_place(self, memory: int) -> int | None:
        """Which entry of a memory of so many they are; None if none."""
        place = self.integrator.states_place(self.model, memory - self.has_friction - (self.sampled is not None))
        return None if place is None else place + self.has_friction

    def with_states(self, state: State, z: Array) -> State:
        """A state with other states of muscles."""
        place = self.states_place(len(state.memory))
        if place is None:
            return state
        return State(state.q, state.v, (*state.memory[:place], z, *state.memory[place + 1 :]))

    def carried(self, t0: float, old: State, t: float, new: State) -> State:
        """A state at t that begins anew, with what still holds of the memory of another one at t₀."""
        own = self.integrator.carried(self.held(old), t0, self._own(old), t, self._own(new))
        return State(own.q, own.v, (*new.memory[: self.has_friction], *own.memory, *self._control(new)))

    def account(self, state: State) -> str:
        """What the steps up to a state have to say of themselves."""
        return self.integrator.account(self._own(state))

    def step(self, t: float, state: State, dt: float) -> State:
        """The state at t + dt."""
        if isinstance(self.integrator, Iterative) and not self.is_compiled:
            return self._persistent("step", self.integrator, t, state, dt)
        system, plain = self.pushed(state), self._plain(state)
        if self.integrator.takes_numbers and not self.has_friction:
            new = self.integrator.closed(system, t, self.integrator.step(system, t, plain, dt), dt)
            return self._with_sample(t, new, state, dt)
        if self._is_long or (not self._is_text and not self.integrator.evaluates_forces_once):
            return self._with_sample(t, stepped(self.integrator, system, t, plain, dt), state, dt)
        return self._stepped("step", t, state, dt)

    def _plain(self, state: State) -> State:
        """A state without what a sampled controller remembers."""
        return state if self.sampled is None else State(state.q, state.v, state.memory[:-1])

    def _control(self, state: State) -> tuple[Array, ...]:
        """What a sampled controller remembers in a state, if there is one."""
        return () if self.sampled is None else state.memory[-1:]

    def _with_sample(self, t: float, new: State, old: State, dt: float) -> State:
        """The state at the end of a step that began with `old` at t: what rests where it was, samples remembered."""
        new = State(*at_stops(self.model, self.rests, old.q, new.q, new.v), new.memory) if self.rests.any() else new
        if self.sampled is None:
            return new
        own = self._sampled_at(t + dt, new.q, new.v, self.sampled.later(old.memory[-1], dt))
        return State(new.q, new.v, (*new.memory, own))

    def steps(self, times: Array, state: State, dt: float, every: int = 1) -> StateRows:
        """Steps that begin at `times`, in one native call, if the step is compiled: the states after every so many."""
        return self._many.run(times, state, dt, every)

    @property
    def most_steps(self) -> int:
        """How many steps one call may take."""
        return self._many.most

    def prepared(self, states: int, count: int) -> PreparedSteps | None:
        """So many steps of states by loops over what touches, for calls again and again; None for other steps."""
        prepare = getattr(self._many, "prepared", None)
        return None if prepare is None else prepare(states, count)

    def step_as_of_many(self, t: float, state: State, dt: float) -> State:
        """One step by the native code of `steps`, where there is some: compiled already, with the same digits."""
        if not self.is_compiled:
            return self.step(t, state, dt)
        return self._checked(t, state, self.steps(np.array([t]), state, dt).state(0), dt)

    def slid(self, t: float, state: State, dt: float) -> State:
        """The state at t + dt if no joint with dry friction begins to slide or to stick."""
        if isinstance(self.integrator, Iterative) and not self.is_compiled:
            return self._persistent("slid", self.integrator, t, state, dt)
        if self._is_long or (not self._is_text and not self.integrator.evaluates_forces_once):
            new = within_modes("slid", self.integrator, self.pushed(state), t, self._plain(state), (), dt)
            return self._with_sample(t, new, state, dt)
        return self._stepped("slid", t, state, dt)

    def _stepped(self, method: str, t: float, state: State, dt: float) -> State:
        q, v, *memory = self._native(method, t, state, dt, self._forces(t, state.q, state.v, t, state, dt))
        if not self._samples_inside:
            memory[-1] = self._sampled_at(t + dt, q, v, memory[-1])
        return self._checked(t, state, State(q, v, tuple(memory)), dt, method)

    def _checked(self, t: float, state: State, new: State, dt: float, method: str = "step") -> State:
        """A step by native code, if its equations were solved; else the step with as many iterations as that takes."""
        try:
            self.check(t, new, dt)
        except ConvergenceError:
            if not isinstance(self.integrator, Iterative):
                raise
            return self._persistent(method, self.integrator, t, state, dt)
        return new

    def check(self, t: float, state: State, dt: float) -> None:
        """An error where a step that led to a state has not solved its equations."""
        self.integrator.check(t, self._plain(state), dt)

    def _persistent(self, method: str, integrator: Iterative, t: float, state: State, dt: float) -> State:
        """A step whose equations are solved here, with as many improvements as that takes."""
        new, at = state, t
        for part in integrator.parts:
            new = self._solved(integrator, at, new, part * dt)
            at += part * dt
        new, system, plain = self._own(new), self.pushed(state), self._plain(state)
        if method == "slid":
            new = kept(integrator, system, t, plain, new, state.memory[0], dt)
        elif self.has_friction:
            new = finished(integrator, system, t, plain, new, dt)
        else:
            new = integrator.closed(system, t, new, dt)
        return self._with_sample(t, new, state, dt)

    def attempt(self, t: float, state: State, dt: float) -> tuple[State, Array, Array]:
        """The state at t + dt, and the estimated errors of its q (as a displacement) and v."""
        if not isinstance(self.integrator, Adaptive):
            raise TypeError(f"{type(self.integrator).__name__} does not know its error; use step")
        if self._is_long or not self._is_text:
            new, *errors = within_modes("attempt", self.integrator, self.system, t, state, (), dt)
            return self._with_sample(t, new, state, dt), errors[0], errors[1]
        q, v, *memory, q_error, v_error = self._native("attempt", t, state, dt, ())
        return State(q, v, tuple(memory)), q_error, v_error

    def dense(self, t: float, old: State, new: State, dt: float) -> DenseOutput:
        """(q, v) at t + θ dt within a step that was done, in the modes that it began with."""
        system = self.held(old)
        first, last = self._own(old), self._own(new)
        last = State(*system.alongside(first.q, last.q, last.v), last.memory)
        between = self.integrator.dense(system, t, first, last, dt)

        def whole(theta: float) -> tuple[Array, Array]:
            q, v = system.in_charts(*system.closed(t + theta * dt, *between(theta)))
            return still(self.model, old, State(q, v, old.memory)) if self.has_friction else (q, v)

        return whole

    def force(self, t: float, q: Array, v: Array) -> Array:
        """τ of the controller in a state."""
        return self.system.force(self.system.at_time(t), t, q, v)

    def _solved(self, integrator: Iterative, t: float, state: State, dt: float) -> State:
        """A step whose equation is solved to the tolerance."""
        state = self._staged(integrator, t, state, dt)
        x, size, forces = self._root(integrator, t, state, dt)
        integrator.check(t, State(state.q, state.v, (size,)), dt)
        q, v, *memory = self._native("finished", t, state, dt, forces, x=x, size=size)
        return State(q, v, tuple(memory))

    def _staged(self, integrator: Iterative, t: float, state: State, dt: float) -> State:
        """The state before a step; where it is the first and a stage comes before that, with what that found."""
        own, first = self._own(state), int(self.has_friction)
        if integrator.stage is None or not integrator.is_first(own):
            return state
        part, method = integrator.stage
        step = self._step
        stage = Stepper(
            self.model, method, step.controller, step.external_forces, self.parameters, self.stabilization,
            sampled=SampledInputs(self.sampled),
        )  # fmt: skip
        tail = self._control(state)
        found = stage._solved(method, t, State(state.q, state.v, (*state.memory[:first], 0.0, *tail)), part * dt)
        size = float(stage._own(found).memory[-1])
        memory = integrator.after_stage(self.held(state), own, found.v, size, dt)
        return State(state.q, state.v, (*state.memory[:first], *memory, *tail))

    def _root(self, integrator: Iterative, t: float, state: State, dt: float) -> tuple[Array, float, tuple[Array, ...]]:
        """x of a step, what is left, and the forces there.

        Where the guess is too far off, the root is followed from shorter steps to this one: by as much as it can be
        found from the last, and by halves of that where it cannot.
        """
        x = integrator.guess(self.held(state), t, self._own(state), dt)
        reached, more = 0.0, 1.0
        while True:
            ahead = reached + more
            y, size, forces = self._improve(integrator, t, state, x, ahead * dt)
            if size <= integrator.tolerance and ahead == 1.0:
                return y, size, forces
            if size <= integrator.tolerance:
                x, reached, more = y, ahead, min(2 * more, 1.0 - ahead)
            elif more > LEAST_PART:
                more /= 2
            else:
                return y, size, forces

    def _improve(
        self, integrator: Iterative, t: float, state: State, x: Array, dt: float
    ) -> tuple[Array, float, tuple[Array, ...]]:
        """x improved as long as that helps, the last change and the forces."""
        size, forces = np.inf, ()
        for _ in range(MOST_ITERATIONS):
            forces, last = self._forces_at(integrator, t, state, x, dt), size
            x, size = self._improved(integrator, t, state, x, dt, forces)
            if integrator.is_enough(size, last) or not np.isfinite(size):
                break
        return x, size, forces

    def _improved(
        self, integrator: Iterative, t: float, state: State, x: Array, dt: float, forces: tuple[Array, ...]
    ) -> tuple[Array, float]:
        """A better x. Newton's equations are put together by native code, all directions at once, and solved here."""
        if not isinstance(integrator, Newton):
            x, size = self._native("improved", t, state, dt, forces, x=x)
            return x, size
        (slopes,) = self._native("slope", t, state, dt, forces, x=x, direction=np.eye(self.model.nv))

        def change_at(y: Array) -> Array:
            (r,) = self._native("residual", t, state, dt, self._forces_at(integrator, t, state, y, dt), x=y)
            try:
                return np.linalg.solve(slopes.T, r)
            except np.linalg.LinAlgError:
                return np.full_like(y, np.nan)

        with np.errstate(all="ignore"):  # what overflows has no solution, and `check` says so
            change, size = change_at(x), np.linalg.norm
            lengths = [(float(np.nan_to_num(size(change_at(x - PARTS[0] * change)), nan=np.inf)), PARTS[0])]
            if not lengths[0][0] < size(change) / 2:
                lengths += [(float(size(change_at(x - part * change))), part) for part in PARTS[1:]]
            return x - min(lengths)[1] * change, float(size(change) / (1 + size(x)))

    def _forces_at(self, integrator: Iterative, t: float, state: State, x: Array, dt: float) -> tuple[Array, ...]:
        """The forces of Python functions where an equation takes them."""
        if self._is_text:
            return ()
        at = integrator.force_arguments(self.held(state), t, self._own(state), x, dt)
        return self._forces(*at, t, state, dt)

    def _own(self, state: State) -> State:
        """A state as the integrator knows it: without the modes of dry friction, and without what controllers hold."""
        return State(state.q, state.v, self._plain(state).memory[self.has_friction :])

    def _forces(self, t: float, q: Array, v: Array, t0: float, state: State, dt: float) -> tuple[Array, ...]:
        """The forces of Python functions, excitations and controls, at t in a step of dt from a state at t₀."""
        if self._is_text:
            return ()
        system = self.pushed(state)
        if (drive := system.muscles) is None:
            return system.forces(t, q, v)
        now = system.at_time(t)
        forces = self.integrator.in_step(system, t0, self._own(state), dt).forces(t, q, v)
        excited = drive.excitations(now, t, q, v, self.states(state)) if drive.which.is_excited else None
        return *forces, *(x for x in (excited, drive.told(now, t, q, v)) if x is not None)

    def _native(
        self, method: str, t: float, state: State, dt: float, forces: tuple[Array, ...], **besides: Any
    ) -> list[Any]:
        """What a method of the integrator gives, by native code."""
        key = method, len(state.memory)
        if key not in self._native_methods:
            whole = self._held if method in ("step", "slid") else self._between
            text = replace(whole, method=method, memory=len(state.memory), besides=tuple(besides))
            self._native_methods[key] = compiled(text, self.model, self.parameters, state, forces)
        return self._native_methods[key](t, state, dt, *besides.values(), *forces)


def stepper(
    model: Model,
    integrator: Integrator,
    controller: Callable[..., Any] | ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    external_forces: Callable[..., Any] | ArrayLike | None = None,
    stabilization: Stabilization = "projection",
) -> Stepper:
    """A stepper for a mechanism. The step becomes one piece of native code if controller and external forces can.

    Args:
        model: the mechanism.
        integrator: how to step.
        controller: controller(model, …) → τ, a Python function or a kernel whose arguments called t, q and v receive
            time and state, and all others the `parameters` of their names; or a constant τ; None for no force.
        parameters: further arguments of the controller and the external forces, by name.
        external_forces: external_forces(model, …) → f_ext (nb, 6) in the same way.
        stabilization: what keeps loops closed, as for `simulate`.
    """
    forces = forces_of(model, controller, external_forces, parameters)
    return Stepper(model, integrator, *forces, stabilization_of(stabilization))


def _state(name: str, value: ArrayLike, n: int) -> Array:
    array = np.array(value, float)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, and must have shape ({n},)")
    return array
