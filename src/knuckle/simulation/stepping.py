"""A mechanism that is stepped from outside, for loops of reinforcement learning and of control."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.numpy_arrays import NumPyArrays, numbers
from knuckle.engine.calls.one_by_one import OneByOne
from knuckle.engine.kernels.specialization import Specialization
from knuckle.errors import ModelError
from knuckle.integrators.base import Adaptive, Integrator, State
from knuckle.integrators.contact_choice import steps_for_one_state
from knuckle.integrators.contact_loops.prepared_steps import PreparedSteps
from knuckle.integrators.default_steps import default_steps
from knuckle.integrators.implicit_choice import implicit_steps_for
from knuckle.integrators.loop_stabilization import Stabilization, must_be_closed, must_be_short, stabilization_of
from knuckle.integrators.starting_state import DEFAULT_STEP, must_be_unit, start_of
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.public_names import public
from knuckle.warning import warn

from .actuated_control import GIVEN, must_have_actuators, with_actuators
from .controls import CONTROLS, forces_of
from .muscle_inputs import MuscleInputs
from .rollout.rollout_inputs import controls_of, finite, whole
from .sampled_control import FIRST_STATE, SampledController, must_fit_steps, sampled_inputs
from .steps.flat_step import CLOCK, ROW, FlatStep
from .steps.parameter_batches import ParameterBatch
from .steps.readings import BEFORE, ReadSteps, readings_of
from .steps.step_text import APPLIED
from .steps.stepper import Stepper
from .stops.compliant_stops import with_stops
from .stops.joint_ranges import must_keep_coordinates
from .stops.stop_spec import CompliantStops, stops_from

Array: TypeAlias = NDArray[Any]

FEW_READS = 2
"""Readings by themselves that are not worth a compilation."""


@public
class Stepping:
    """A mechanism, or a batch of them, that stands somewhere and is stepped from outside.

        world = kn.Stepping(model, dt=2e-3, substeps=5)
        for _ in range(1000):
            q, v = world.step(policy(world.q, world.v))

    `step` holds its force for `substeps` steps of dt, in one native call: for one state a microsecond or a few. What
    steps remember stays: impulses of contact, joints that stick, the state of a sampled controller. States with batch
    axes are stepped together, on all threads. `q` and `v` are arrays of their own after each step.

    Args:
        model: the mechanism.
        q: positions (..., nq) to begin with; neutral, if not given.
        v: velocity variables (..., nv); at rest, if not given.
        dt: the length of a step in seconds: 1 ms, if not given.
        substeps: how many steps one call of `step` takes.
        integrator: by its name, or itself; if not given, what `kn.integrators.default_steps` takes for this dt.
        contacts: whether contacts are solved, or soft ones; see `simulate`.
        controller: what acts besides the force that `step` is given: a kernel, or a `kn.SampledController`, whose
            period is a whole number of steps; see `simulate`.
        parameters: what controller and external_forces ask for, by name.
        external_forces: external_forces(model, …) → f_ext (nb, 6), a kernel or an array.
        joint_limits: None, or `CompliantStops(…)`.
        stabilization: what keeps closed loops closed; see `simulate`.
        controls: whether `step` is given controls u (..., n) of the model's actuators instead of joint forces.
        model_fn: model_fn(model, …) → the mechanism of some `parameters`, as for `rollout`: masses, friction, lengths
            that differ from state to state.
        readings: kernels by name, (model, …) → a number or a vector, which are computed in the same native call after
            each `step`, and are in `readings` then. Besides t, q, v and parameters they may ask for `u`, or `tau`, that
            the step was given, and for `q_before` and `v_before`.

    Parameters of a batch may have its axes before their own, and `set_parameters` changes them.

    Raises:
        ValueError, TypeError: an argument has a wrong shape or kind; the message names it.
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        dt: float = DEFAULT_STEP,
        substeps: int = 1,
        integrator: str | Integrator | None = None,
        contacts: bool | CompliantContacts | None = None,
        controller: Callable[..., Any] | SampledController | ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        external_forces: Callable[..., Any] | ArrayLike | None = None,
        joint_limits: CompliantStops | None = None,
        stabilization: Stabilization = "projection",
        controls: bool = False,
        model_fn: Callable[..., Model] | None = None,
        readings: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Stepping needs a knuckle.Model first, not {type(model).__name__}")
        if model.deformables:
            raise ModelError(f"Stepping knows no deformable bodies, and {model.name} has some: kn.simulate does")
        self.model, self.dt, self.substeps = model, finite("dt", dt), whole("substeps", substeps, 1)
        if not self.dt > 0:
            raise ValueError(f"dt={dt!r} must be positive: a number of seconds")
        if controls:
            must_have_actuators(model)
        self._given, self._size = (CONTROLS, len(model.actuators)) if controls else (APPLIED, model.nv)
        self._stepper = self._made(
            integrator, contacts, controller, parameters, external_forces, joint_limits, stabilization, model_fn,
            readings, np.asarray(numbers("q", start_of(model, q, v)[0], (model.nq,)), float),
        )  # fmt: skip
        self._clock = np.array([0.0, self.dt])
        self._nothing = np.zeros(self._size)
        self._shapes, self._code, self._loops, self._read_rows = (), None, None, None
        self._reads = 0
        self.values: tuple[Any, ...] = ()
        """What the kernels of `readings` gave, in their order"""
        self._row, self._done = np.zeros(0), 0
        self.reset(q, v)

    def _made(
        self, integrator: Any, contacts: Any, controller: Any, parameters: Any, external_forces: Any,
        joint_limits: Any, stabilization: Stabilization, model_fn: Any, readings: Any, q: Array,
    ) -> Stepper:  # fmt: skip
        """What takes the steps."""
        model, closing, is_one = self.model, stabilization_of(stabilization), q.ndim == 1
        limits = stops_from(joint_limits, model)
        if limits is not None and not isinstance(limits, CompliantStops):
            raise TypeError(f"joint_limits is None or CompliantStops(…) for Stepping, not {joint_limits!r}")
        if limits is not None:
            must_keep_coordinates(model, limits.joints)
        must_be_short(model)
        steps = default_steps(model, self.dt, q, integrator=integrator, contacts=contacts, one_state=is_one)
        if isinstance(steps.integrator, Adaptive):
            raise ValueError(f"{type(steps.integrator).__name__} chooses its steps itself: take one of fixed steps")
        if steps.is_coarse:
            warn(steps.why)
        named = dict(parameters or {})
        held_name = "tau" if self._given == APPLIED else "u"
        self._readings, read = readings_of(readings, named, self._given, held_name)
        self._model_fn = controls_of({"model_fn": model_fn}, named, (), named).get("model_fn")
        varied = {name: named[name] for name in (() if self._model_fn is None else self._model_fn.parameters)}
        sampled = sampled_inputs("controller", controller, model.nv, parameters)
        acting = None if sampled.which is not None else controller
        used = {*sampled.parameters, *read, *varied}
        control, wrenches, own = forces_of(model, acting, external_forces, parameters, used)
        if sampled.which is not None:
            must_fit_steps(sampled.which, self.dt, steps.integrator)
        law = sampled.which.law if sampled.which is not None else control
        for what in (law, wrenches):
            if not what.is_text:
                raise TypeError(f"{what.title} is no kernel: Stepping takes kernels; call others between steps")
        method = steps.integrator
        if is_one or (sampled.which is None and self._model_fn is None):
            method = steps_for_one_state(model, method) if self._model_fn is None else method
        if is_one:

            def acts_across(values: Mapping[str, Any] = own) -> bool:
                return control.acts_across(model, model.start, np.zeros(model.nv), values)

            method = implicit_steps_for(model, method, closing, acts_across, limits is not None)
        if self._model_fn is not None and method.takes_numbers:
            raise ModelError(f"model_fn needs compiled steps, and {model.name} has shapes that need loops")
        told = MuscleInputs(None)
        if self._given == CONTROLS and (states := MuscleStates.of(model, False, True)) is not None:
            from knuckle.integrators.methods.muscle_steps import with_muscle_states

            told, method = MuscleInputs(states, controls=GIVEN), with_muscle_states(method)
        force = control if self._given == APPLIED else with_actuators(control, GIVEN)
        force = force if limits is None else with_stops(force, limits)
        own = {**own, **read, **varied, **{k: x for k, x in sampled.parameters.items() if k != FIRST_STATE}}
        laws = control, wrenches, law, *self._readings.functions
        matrices = {name for each in laws for name in each.matrices}
        self._parameters = {name: ParameterBatch.of(x, is_one, name in matrices) for name, x in own.items()}
        self._first = sampled.parameters.get(FIRST_STATE)
        self._held = np.zeros(self._size)
        first = {name: x.one for name, x in self._parameters.items()}
        return Stepper(model, method, force, wrenches, {**first, self._given: self._held}, closing, told, sampled)

    def set_parameters(self, values: Mapping[str, ArrayLike], which: ArrayLike | None = None) -> None:
        """Other values of parameters, from the next step on.

        Args:
            values: by name; numbers, vectors and matrices as they were, of a batch also with its axes before.
            which: of a batch, those for which they are: indices of its first axis, or a mask over its axes.
        """
        for name, value in values.items():
            if name not in self._parameters:
                raise TypeError(f"there is no parameter {name}; there are {', '.join(self._parameters) or 'none'}")
            if which is not None and not self.batch:
                raise ValueError("which is for batches, and this is one state")
            self._parameters[name] = self._parameters[name].changed(name, value, self.batch, which)
        self._inputs_changed()

    def _inputs_changed(self) -> None:
        self._inputs = tuple(x.array for x in self._parameters.values())
        if self._loops is not None and self._inputs:
            flat = [np.broadcast_to(x.flat, (*self.batch, x.size)) for x in self._parameters.values()]
            packed = np.concatenate(flat, axis=-1)
            self._loops.given[:, : packed.shape[-1]] = packed.reshape(len(self._loops.given), -1)

    # where it stands

    @property
    def t(self) -> float:
        """The time in seconds since the last reset of all."""
        return self._done * self.dt

    @property
    def q(self) -> Array:
        """Positions (..., nq)."""
        return self._row[self._q_place]

    @property
    def v(self) -> Array:
        """Velocity variables (..., nv)."""
        return self._row[self._v_place]

    @property
    def actuator_states(self) -> Array:
        """The states (..., s) of the actuators that have some, where these are told controls."""
        place = self._stepper.states_place(len(self._shapes))
        if place is None:
            return np.zeros((*self.batch, 0))
        at = self.model.nq + self.model.nv + sum(map(math.prod, self._shapes[:place]))
        return self._row[..., at : at + math.prod(self._shapes[place])]

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch axes; () for one state."""
        return self._row.shape[:-1]

    def reset(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        which: ArrayLike | None = None,
        *,
        time_anew: bool = False,
    ) -> None:
        """Stands in another state, and remembers nothing of the steps before.

        Args:
            q: positions (..., nq); neutral, if not given.
            v: velocity variables (..., nv); at rest, if not given.
            which: of a batch, those that are reset: indices of its first axis, or a mask over its axes. The others go
                on.
            time_anew: whether the time of those that are reset begins at 0 again, or goes on as that of all.
        """
        q, v = start_of(self.model, q, v)
        q, v = (np.asarray(numbers(name, x, (n,)), float) for name, x, n in self._state_arguments(q, v))
        must_be_unit(self.model, q)
        if which is None:
            batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
            if self._row.size and bool(batch) != bool(self.batch):
                raise ValueError(
                    f"q and v have the batch axes {batch}, and those before had {self.batch}: make another"
                )
            if batch != self.batch or not self._row.size:
                self._loops = self._code = None
                for name, x in self._parameters.items():
                    x.must_fit(name, batch)
            self._row, self._done = self._started(q, v, batch), 0
            places = slice(self.model.nq), slice(self.model.nq, self.model.nq + self.model.nv)
            self._q_place, self._v_place = ((..., place) if batch else place for place in places)
            self._prepare()
            self.values = self._read(self._row, self._row, self._nothing)
            return
        chosen = np.asarray(which)
        if not self.batch or chosen.dtype.kind not in "biu":
            raise ValueError(f"which is indices or a mask over the batch axes {self.batch}, not {which!r}")
        rows = self._started(q, v, np.empty(self.batch)[chosen].shape, chosen)
        rows[..., -1] = 0 if time_anew else self._done
        self._row = self._row.copy()
        self._row[chosen] = rows
        if self._readings.functions and math.prod(rows.shape[:-1]):
            self.values = tuple(x.copy() for x in self.values)
            inputs = [x.chosen(self.batch, chosen) for x in self._parameters.values()]
            for all_of_them, new in zip(self.values, self._read(rows, rows, self._nothing, inputs), strict=True):
                all_of_them[chosen] = new

    def _state_arguments(self, q: ArrayLike, v: ArrayLike) -> tuple[tuple[str, ArrayLike, int], ...]:
        return ("q", q, self.model.nq), ("v", v, self.model.nv)

    def _started(self, q: Array, v: Array, batch: tuple[int, ...], chosen: Array | None = None) -> Array:
        """The rows of states to begin with: of all, or of chosen ones."""
        q, v = np.broadcast_to(q, (*batch, self.model.nq)), np.broadcast_to(v, (*batch, self.model.nv))
        must_be_closed(self.model, q, v, self._stepper.stabilization)
        is_blank = self._stepper.integrator.begins_blank and self._stepper.sampled is None
        parts: list[Any] = []
        if not (is_blank and self._shapes):
            some = [np.asarray(x, float) for x in start_of(self.model, None, None)]
            first = [x[(0,) * len(batch)] for x in (q, v)] if math.prod(batch) else some
            begun = self._stepper.start(0.0, first[0], first[1], self.dt)
            self._shapes = tuple(np.shape(x) for x in begun.memory)
            parts = [q, v, *begun.memory]
        if is_blank:
            parts = [q, v, *(np.zeros((*batch, *shape)) for shape in self._shapes)]
        elif batch and self._shapes:
            parts = [*self._begun(q, v, chosen)]
        sizes = self.model.nq, self.model.nv, *map(math.prod, self._shapes)
        wide = (np.asarray(x, float).reshape(*batch, n) for x, n in zip(parts, sizes, strict=True))
        return np.concatenate([*wide, np.zeros((*batch, 1))], axis=-1)

    def _begun(self, q: Array, v: Array, chosen: Array | None) -> tuple[Array, ...]:
        """Positions, velocities and memories of many states to begin with."""
        arrays: dict[str, Any] = {"t": (np.zeros(1), (1,)), "q": (q, q.shape[-1:]), "v": (v, v.shape[-1:])}
        arrays |= {"dt": (np.array([self.dt]), (1,)), self._given: (self._nothing, self._nothing.shape)}
        own = {
            name: x.array if chosen is None else x.chosen(self.batch, chosen) for name, x in self._parameters.items()
        }
        arrays |= {name: (x, self._parameters[name].shape) for name, x in own.items()}
        if self._first is not None and self._first.size:
            size = self._first.shape[-1:]
            first = self._first if chosen is None else np.broadcast_to(self._first, (*self.batch, *size))[chosen]
            arrays[FIRST_STATE] = first, size
        text = replace(self._stepper.text("start"), model_fn=self._model_fn)
        single = ("t", "dt", *self._numbers)
        return NumPyArrays().compute(Specialization(text.name, text, self.model, numbers=single, is_users=True), arrays)

    @property
    def _numbers(self) -> tuple[str, ...]:
        """The parameters that are numbers, and travel as vectors of one."""
        return tuple(name for name, x in self._parameters.items() if x.is_number)

    # steps

    def step(self, tau: ArrayLike | None = None) -> tuple[Array, Array]:
        """(q, v) after `substeps` steps under a joint force (..., nv) that is held; none, if not given.

        With `controls=True`, under controls u (..., n) of the actuators; all 0, if not given.
        """
        if tau is None:
            force = self._nothing
        elif type(tau) is np.ndarray and tau.shape == self._nothing.shape:
            force = tau if tau.dtype == np.float64 else tau.astype(float)
        else:
            force = self._checked(tau)
        self._row, self.values = (self._code or self._coded())(self._row, force)
        self._done += self.substeps
        return self._row[self._q_place], self._row[self._v_place]

    @property
    def readings(self) -> dict[str, Any]:
        """What the kernels of `readings` gave after the last step, or where it was reset to, by name."""
        return dict(zip(self._readings.names, self.values, strict=True))

    def _checked(self, tau: ArrayLike) -> Array:
        name = "tau" if self._given == APPLIED else "controls"
        force = np.asarray(numbers(name, tau, self._nothing.shape), float)
        fits = force.ndim == 1
        try:
            fits = fits or np.broadcast_shapes(force.shape[:-1], self.batch) == self.batch
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"{name} has shape {force.shape}, and must have shape {(*self.batch, self._size)}")
        return np.ascontiguousarray(force)

    def _prepare(self) -> None:
        """Memory for steps by loops, where they are taken, and parameters in their places."""
        if self._loops is None and self._stepper.integrator.takes_numbers:
            self._loops = self._stepper.prepared(math.prod(self.batch), self.substeps)
            if self._loops is not None:
                self._loops.clock[:] = self._clock
        self._inputs_changed()

    def _coded(self) -> Callable[..., tuple[Array, tuple[Any, ...]]]:
        """What takes the steps from row to row, and reads: native code, or steps that go by numbers."""
        self._code = self._steps_and_readings()
        return self._code

    def _steps_and_readings(self) -> Callable[..., tuple[Array, tuple[Any, ...]]]:
        stepper = self._stepper
        if self._loops is not None:
            return self._read_after(self._by_loops(self._loops))
        if stepper.integrator.takes_numbers and self.batch:
            raise ModelError(
                f"Stepping takes one state of {self.model.name} at a time: it has closed loops, or shapes that need "
                "another library, and many places where they may touch"
            )
        if not self.batch and (stepper.integrator.takes_numbers or not stepper.is_compiled):
            return self._read_after(self._by_stepper)
        step = replace(stepper.text("step", len(self._shapes)), model_fn=self._model_fn)
        steps = FlatStep(step, self._shapes, self.substeps)
        shapes = steps.arguments(self.model, (self._given, self._size), self._own_shapes)
        text = ReadSteps(steps, self._readings) if self._readings.functions else steps
        specialization = Specialization(text.name, text, self.model, numbers=self._numbers, is_users=True)
        if not self.batch:
            call, n, read = OneByOne(specialization, shapes).call, len(self._row), bool(self._readings.functions)

            def alone(row: Array, force: Array) -> tuple[Array, tuple[Any, ...]]:
                new = call(row, force, self._clock, *self._inputs)
                return (new[:n], self._apart(new[n:])) if read else (new, ())

            return alone

        def together(row: Array, force: Array) -> tuple[Array, tuple[Any, ...]]:
            given = zip(shapes.items(), (row, force, self._clock, *self._inputs), strict=True)
            new = NumPyArrays(eager=True).compute(specialization, {name: (x, shape) for (name, shape), x in given})
            return (new[0], new[1:]) if isinstance(new, tuple) else (new, ())

        return together

    @property
    def _own_shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: x.shape for name, x in self._parameters.items()}

    # readings

    def _read(self, row: Array, before: Array, force: Array, inputs: Any = None) -> tuple[Any, ...]:
        """Readings in states that are rows."""
        if not self._readings.functions:
            return ()
        if inputs is None and not self.batch and self._read_rows is not None:
            return self._apart(self._read_rows(row, before, force, self._clock, *self._inputs))
        shapes = {ROW: row.shape[-1:], BEFORE: row.shape[-1:], self._given: (self._size,), CLOCK: (2,)}
        shapes |= self._own_shapes
        text = self._readings
        specialization = Specialization(text.name, text, self.model, numbers=self._numbers, is_users=True)
        arrays = row, before, force, self._clock, *(self._inputs if inputs is None else inputs)
        given = {name: (x, shape) for (name, shape), x in zip(shapes.items(), arrays, strict=True)}
        self._reads += 1
        values = NumPyArrays(eager=self._reads > FEW_READS).compute(specialization, given)
        ends = np.cumsum([1 if x.ndim < row.ndim else x.shape[-1] for x in values])
        self._pieces = [
            e - 1 if x.ndim < row.ndim else slice(e - x.shape[-1], e) for e, x in zip(ends, values, strict=True)
        ]
        if self._reads > FEW_READS and not self.batch:
            self._read_rows = OneByOne(specialization, shapes).call
        return values

    def _apart(self, flat: Array) -> tuple[Any, ...]:
        return tuple([flat[piece] for piece in self._pieces])

    def _read_after(self, steps: Callable[[Array, Array], Array]) -> Callable[..., tuple[Array, tuple[Any, ...]]]:
        def both(row: Array, force: Array) -> tuple[Array, tuple[Any, ...]]:
            new = steps(row, force)
            return new, self._read(new, row, force)

        return both if self._readings.functions else lambda row, force: (steps(row, force), ())

    def _by_loops(self, steps: PreparedSteps) -> Callable[[Array, Array], Array]:
        """Steps by loops over what touches. The force is the last of the parameters but for a zero."""
        shape, rows = self._row.shape, steps.rows.reshape(self._row.shape)
        held = steps.given.reshape(*shape[:-1], -1)[..., -1 - self._size : -1]

        def stepped(row: Array, force: Array) -> Array:
            rows[...], held[...] = row, force
            steps()
            return rows.copy()

        return stepped

    def _by_stepper(self, row: Array, force: Array) -> Array:
        """The steps of one state by what `simulate` takes for it."""
        self._held[:] = force
        n, m, at = self.model.nq, self.model.nq + self.model.nv, self.model.nq + self.model.nv
        memory = list[Any]()
        for shape in self._shapes:
            size = math.prod(shape)
            memory.append(row[at : at + size].reshape(shape) if shape else float(row[at]))
            at += size
        state, dt = State(row[:n], row[n:m], tuple(memory)), self.dt
        times = dt * np.arange(self._done, self._done + self.substeps)
        if self._stepper.is_compiled:
            state = self._stepper.steps(times, state, dt, self.substeps).state(-1)
        else:
            for t in times:
                state = self._stepper.step(float(t), state, dt)
        parts = (np.atleast_1d(x).reshape(-1) for x in (state.q, state.v, *state.memory, row[-1] + self.substeps))
        return np.concatenate([*parts])

    def __repr__(self) -> str:
        many = f", {' × '.join(map(str, self.batch))} states" if self.batch else ""
        name = type(self._stepper.integrator).__name__
        return f"<knuckle.Stepping of {self.model.name}: t = {self.t:.6g} s, {name}, dt={self.dt:g} s{many}>"
