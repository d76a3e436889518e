"""A mechanism, an integrator and a controller made into one function: the step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.result_layout import Layout, Several
from knuckle.engine.calls.one_by_one import OneByOne
from knuckle.engine.kernels.specialization import Specialization
from knuckle.errors import ConvergenceError
from knuckle.functions import neutral
from knuckle.integrators.base import Adaptive, DenseOutput, Integrator, State, must_know_deformables
from knuckle.integrators.loop_stabilization import Stabilization, must_fit, stabilization_of, takes_long
from knuckle.integrators.methods.newton import LEAST_PART, MOST_ITERATIONS, PARTS, Iterative, Newton
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import ConstantForce, Control, Parameters, forces_of
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
from knuckle.simulation.muscle_inputs import EXCITED, MuscleInputs

from .native_steps import NativeSteps, StateRows
from .step_text import StepText

if TYPE_CHECKING:
    from .looped_steps import LoopedSteps

Array: TypeAlias = NDArray[Any]
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


class Stepper:
    """Steps of one integrator for one mechanism. `stepper` makes it.

    `is_compiled` says whether a step is one piece of native code, the kernel of `text()`; many of them then run in one
    call (`steps`). With forces of Python functions, a step that evaluates them once takes them as arguments of native
    code, and one that evaluates them several times runs as a text on arrays, as does one of a mechanism with many
    loops. A long equation is solved here, with native code for its terms. `stabilization` keeps loops closed.
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
    ) -> None:
        told = muscles or MuscleInputs(None)
        self.muscles, parameters = told.which, {**parameters, **told.parameters}
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
            stabilization=stabilization, excitations=told.excitations, muscles=told.which,
        )  # fmt: skip
        self._held = self._step if self._is_text else _with_held_forces(self._step)
        self._native_methods: dict[tuple[str, int], Callable[..., list[Any]]] = {}
        self._many: NativeSteps | LoopedSteps = NativeSteps(self._step, model, self.parameters)
        if is_looped:
            from knuckle.integrators.methods.collider_steps import ColliderSteps

            from .looped_steps import LoopedSteps

            assert isinstance(integrator, ColliderSteps)
            self._many = LoopedSteps(self._step, integrator, model, self.parameters)

    @cached_property
    def system(self) -> System:
        """The mechanism under its forces, on arrays."""
        return self._step.system(self.model, self.parameters)

    @cached_property
    def neutral(self) -> Array:
        """The neutral position, from which the sizes of positions are measured."""
        return neutral(self.model)

    def text(self, method: str = "step", memory: int = 0) -> StepText:
        """What the kernel of a step is made of, for states with so many entries of memory."""
        return replace(self._step, method=method, memory=memory)

    def start(self, t: float, q: ArrayLike, v: ArrayLike, dt: float, modes: Array | None = None) -> State:
        """The state to begin with, at time t; `modes` of dry friction, where they are known."""
        q, v = (_state(name, x, n) for name, x, n in (("q", q, self.model.nq), ("v", v, self.model.nv)))
        return begun(self.integrator, self.system, t, q, v, dt, modes)

    def held(self, state: State) -> System:
        """The mechanism in the modes of a state."""
        return held(self.system, state.memory[0]) if self.has_friction else self.system

    def acting(self, state: State) -> System:
        """The mechanism in the modes of a state, under all forces: also those that the integrator adds."""
        return self.integrator.acting(self.held(state), self._own(state))

    def states(self, state: State) -> Array:
        """The states of muscles in a state."""
        place = self.states_place(len(state.memory))
        return np.zeros(0) if place is None or place >= len(state.memory) else np.asarray(state.memory[place], float)

    def states_place(self, memory: int) -> int | None:
        """Which entry of a memory of so many they are; None if none."""
        place = self.integrator.states_place(self.model, memory - self.has_friction)
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
        return State(own.q, own.v, (*new.memory[: self.has_friction], *own.memory))

    def account(self, state: State) -> str:
        """What the steps up to a state have to say of themselves."""
        return self.integrator.account(self._own(state))

    def step(self, t: float, state: State, dt: float) -> State:
        """The state at t + dt."""
        if isinstance(self.integrator, Iterative) and not self.is_compiled:
            return self._persistent("step", self.integrator, t, state, dt)
        if self.integrator.takes_numbers and not self.has_friction:
            return self.integrator.closed(self.system, t, self.integrator.step(self.system, t, state, dt), dt)
        if self._is_long or (not self._is_text and not self.integrator.evaluates_forces_once):
            return stepped(self.integrator, self.system, t, state, dt)
        return self._stepped("step", t, state, dt)

    def steps(self, times: Array, state: State, dt: float, every: int = 1) -> StateRows:
        """Steps that begin at `times`, in one native call, if the step is compiled: the states after every so many."""
        return self._many.run(times, state, dt, every)

    @property
    def most_steps(self) -> int:
        """How many steps one call may take."""
        return self._many.most

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
            return within_modes("slid", self.integrator, self.system, t, state, (), dt)
        return self._stepped("slid", t, state, dt)

    def _stepped(self, method: str, t: float, state: State, dt: float) -> State:
        q, v, *memory = self._native(method, t, state, dt, self._forces(t, state.q, state.v, state))
        return self._checked(t, state, State(q, v, tuple(memory)), dt, method)

    def _checked(self, t: float, state: State, new: State, dt: float, method: str = "step") -> State:
        """A step by native code, if its equations were solved; else the step with as many iterations as that takes."""
        try:
            self.integrator.check(t, new, dt)
        except ConvergenceError:
            if not isinstance(self.integrator, Iterative):
                raise
            return self._persistent(method, self.integrator, t, state, dt)
        return new

    def _persistent(self, method: str, integrator: Iterative, t: float, state: State, dt: float) -> State:
        """A step whose equations are solved here, with as many improvements as that takes."""
        new, at = state, t
        for part in integrator.parts:
            new = self._solved(integrator, at, new, part * dt)
            at += part * dt
        new = State(new.q, new.v, new.memory[self.has_friction :])
        if method == "slid":
            return kept(integrator, self.system, t, state, new, state.memory[0], dt)
        if self.has_friction:
            return finished(integrator, self.system, t, state, new, dt)
        return integrator.closed(self.system, t, new, dt)

    def attempt(self, t: float, state: State, dt: float) -> tuple[State, Array, Array]:
        """The state at t + dt, and the estimated errors of its q (as a displacement) and v."""
        if not isinstance(self.integrator, Adaptive):
            raise TypeError(f"{type(self.integrator).__name__} does not know its error; use step")
        if self._is_long or not self._is_text:
            return within_modes("attempt", self.integrator, self.system, t, state, (), dt)
        q, v, *memory, q_error, v_error = self._native("attempt", t, state, dt, ())
        return State(q, v, tuple(memory)), q_error, v_error

    def dense(self, t: float, old: State, new: State, dt: float) -> DenseOutput:
        """(q, v) at t + θ dt within a step that was done, in the modes that it began with."""
        system, n = self.held(old), int(self.has_friction)
        first, last = (State(x.q, x.v, x.memory[n:]) for x in (old, new))
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
        stage = Stepper(self.model, method, step.controller, step.external_forces, self.parameters, self.stabilization)
        found = stage._solved(method, t, State(state.q, state.v, (*state.memory[:first], 0.0)), part * dt)
        memory = integrator.after_stage(self.held(state), own, found.v, float(found.memory[-1]), dt)
        return State(state.q, state.v, (*state.memory[:first], *memory))

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
        return self._forces(*integrator.force_arguments(self.held(state), t, self._own(state), x, dt), state)

    def _own(self, state: State) -> State:
        """A state as the integrator knows it: without the modes of dry friction."""
        return State(state.q, state.v, state.memory[self.has_friction :])

    def _forces(self, t: float, q: Array, v: Array, state: State) -> tuple[Array, ...]:
        """The forces of Python functions in a state, and excitations, which native code takes as they are."""
        if self._is_text:
            return ()
        drive, forces = self.system.muscles, self.system.forces(t, q, v)
        if drive is None or not drive.which.is_excited:
            return forces
        return *forces, drive.excitations(self.system.at_time(t), t, q, v, self.states(state))

    def _native(
        self, method: str, t: float, state: State, dt: float, forces: tuple[Array, ...], **besides: Any
    ) -> list[Any]:
        """What a method of the integrator gives, by native code."""
        key = method, len(state.memory)
        if key not in self._native_methods:
            text = replace(self._held, method=method, memory=len(state.memory), besides=tuple(besides))
            self._native_methods[key] = self._compiled(text, state, forces)
        return self._native_methods[key](t, state, dt, *besides.values(), *forces)

    def _compiled(self, text: StepText, state: State, forces: tuple[Array, ...]) -> Callable[..., list[Any]]:
        """The text as native code, called with time, state, step, what the method takes besides, and the forces."""
        parameters = forces or tuple(self.parameters[name] for name in text.parameters)
        besides = {name: () if name == "size" else (self.model.nv,) for name in text.besides}
        sizes = {name: np.shape(x) for name, x in zip(text.parameters, parameters, strict=True)}
        shapes = {**self._state_shapes(state), **besides, "dt": (), **sizes}
        single = tuple(name for name, shape in shapes.items() if not shape)
        specialization = Specialization(text.name, text, self.model, numbers=single, is_users=True)
        function = OneByOne(specialization, shapes)
        call = function.call
        constants = () if forces else tuple(np.atleast_1d(x) for x in parameters)
        n = len(besides)

        parts: list[tuple[int, int | slice]] = []

        def native(t: float, state: State, dt: float, *others: Any) -> list[Any]:
            arrays = map(_array, (t, state.q, state.v, *state.memory, *others[:n], dt))
            flat = call(*arrays, *others[n:], *constants)
            if not parts:
                parts.extend(_places(function.layout))
            return [flat[..., place] if kind else float(flat[place]) for kind, place in parts]

        return native

    def _state_shapes(self, state: State) -> Shapes:
        memory = {f"memory{k}": np.shape(x) for k, x in enumerate(state.memory)}
        return {"t": (), "q": (self.model.nq,), "v": (self.model.nv,), **memory}


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


def _with_held_forces(text: StepText) -> StepText:
    """The text with the forces as parameters."""
    controller = Control(ConstantForce("tau"), "controller", ("tau",))
    external_forces = text.external_forces
    if external_forces.function is not None:
        external_forces = Control(ConstantForce("f_ext"), "external_forces", ("f_ext",))
    excitations = text.excitations
    if excitations.function is not None:
        excitations = Control(ConstantForce(EXCITED), "excitations", (EXCITED,))
    return replace(text, controller=controller, external_forces=external_forces, excitations=excitations)


def _state(name: str, value: ArrayLike, n: int) -> Array:
    array = np.array(value, float)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, and must have shape ({n},)")
    return array


def _array(x: Any) -> Array:
    """An array as it is, a number as an array of one."""
    return x if isinstance(x, np.ndarray) else np.array([x], float)


def _places(layout: Layout) -> Iterator[tuple[int, int | slice]]:
    """The number of axes of each part of a result, and where in the flat array it is: a number, or a vector."""
    start = 0
    for part in layout.parts if isinstance(layout, Several) else (layout,):
        shape = getattr(part, "shape", ())
        yield len(shape), slice(start, start + part.size) if shape else start
        start += part.size
