"""A mechanism that is stepped from outside, for loops of reinforcement learning and of control."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
from knuckle.public_names import public
from knuckle.warning import warn

from .actuated_control import GIVEN, must_have_actuators, with_actuators
from .controls import CONTROLS, forces_of
from .rollout.rollout_inputs import finite, whole
from .sampled_control import FIRST_STATE, SampledController, must_fit_steps, sampled_inputs
from .steps.flat_step import FlatStep
from .steps.step_text import APPLIED
from .steps.stepper import Stepper
from .stops.compliant_stops import with_stops
from .stops.joint_ranges import must_keep_coordinates
from .stops.stop_spec import CompliantStops, stops_from

Array: TypeAlias = NDArray[Any]


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
            integrator, contacts, controller, parameters, external_forces, joint_limits, stabilization,
            np.asarray(numbers("q", start_of(model, q, v)[0], (model.nq,)), float),
        )  # fmt: skip
        self._clock = np.array([0.0, self.dt])
        self._inputs = tuple(np.atleast_1d(x) for x in self._named.values())
        self._nothing = np.zeros(self._size)
        self._shapes, self._code = (), None
        self._row, self._done = np.zeros(0), 0
        self.reset(q, v)

    def _made(
        self, integrator: Any, contacts: Any, controller: Any, parameters: Any, external_forces: Any,
        joint_limits: Any, stabilization: Stabilization, q: Array,
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
        sampled = sampled_inputs("controller", controller, model.nv, parameters)
        acting = None if sampled.which is not None else controller
        control, wrenches, named = forces_of(model, acting, external_forces, parameters, sampled.parameters)
        if sampled.which is not None:
            must_fit_steps(sampled.which, self.dt, steps.integrator)
        law = sampled.which.law if sampled.which is not None else control
        for what in (law, wrenches):
            if not what.is_text:
                raise TypeError(f"{what.title} is no kernel: Stepping takes kernels; call others between steps")
        method = steps.integrator
        if is_one:
            method = steps_for_one_state(model, method)
            method = implicit_steps_for(model, method, closing, control.has_slopes, limits is not None)
        force = control if self._given == APPLIED else with_actuators(control, GIVEN)
        force = force if limits is None else with_stops(force, limits)
        self._named = {**named, **{k: x for k, x in sampled.parameters.items() if k != FIRST_STATE}}
        self._first = sampled.parameters.get(FIRST_STATE)
        self._held = np.zeros(self._size)
        return Stepper(model, method, force, wrenches, {**named, self._given: self._held}, closing, sampled=sampled)

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
    def batch(self) -> tuple[int, ...]:
        """The batch axes; () for one state."""
        return self._row.shape[:-1]

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None, which: ArrayLike | None = None) -> None:
        """Stands in another state, and remembers nothing of the steps before.

        Args:
            q: positions (..., nq); neutral, if not given.
            v: velocity variables (..., nv); at rest, if not given.
            which: of a batch, those that are reset: indices of its first axis, or a mask over its axes. The others go
                on. Time goes on for all.
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
            self._row, self._done = self._started(q, v, batch), 0
            places = slice(self.model.nq), slice(self.model.nq, self.model.nq + self.model.nv)
            self._q_place, self._v_place = ((..., place) if batch else place for place in places)
            return
        chosen = np.asarray(which)
        if not self.batch or chosen.dtype.kind not in "biu":
            raise ValueError(f"which is indices or a mask over the batch axes {self.batch}, not {which!r}")
        rows = self._started(q, v, np.empty(self.batch)[chosen].shape)
        rows[..., -1] = self._done
        self._row = self._row.copy()
        self._row[chosen] = rows

    def _state_arguments(self, q: ArrayLike, v: ArrayLike) -> tuple[tuple[str, ArrayLike, int], ...]:
        return ("q", q, self.model.nq), ("v", v, self.model.nv)

    def _started(self, q: Array, v: Array, batch: tuple[int, ...]) -> Array:
        """The rows of states to begin with."""
        q, v = np.broadcast_to(q, (*batch, self.model.nq)), np.broadcast_to(v, (*batch, self.model.nv))
        must_be_closed(self.model, q, v, self._stepper.stabilization)
        some = [np.asarray(x, float) for x in start_of(self.model, None, None)]
        first = [x[(0,) * len(batch)] for x in (q, v)] if math.prod(batch) else some
        begun = self._stepper.start(0.0, first[0], first[1], self.dt)
        self._shapes = tuple(np.shape(x) for x in begun.memory)
        parts: list[Any] = [q, v, *begun.memory]
        if batch and begun.memory:
            parts = [*self._begun(q, v)]
        sizes = self.model.nq, self.model.nv, *map(math.prod, self._shapes)
        wide = (np.asarray(x, float).reshape(*batch, n) for x, n in zip(parts, sizes, strict=True))
        return np.concatenate([*wide, np.zeros((*batch, 1))], axis=-1)

    def _begun(self, q: Array, v: Array) -> tuple[Array, ...]:
        """Positions, velocities and memories of many states to begin with."""
        arrays: dict[str, Any] = {"t": (np.zeros(1), (1,)), "q": (q, q.shape[-1:]), "v": (v, v.shape[-1:])}
        arrays |= {"dt": (np.array([self.dt]), (1,)), self._given: (self._nothing, self._nothing.shape)}
        arrays |= {name: (x, x.shape) for name, x in zip(self._named, self._inputs, strict=True)}
        arrays |= (
            {} if self._first is None or not self._first.size else {FIRST_STATE: (self._first, self._first.shape[-1:])}
        )
        single = ("t", "dt", *(name for name, x in self._named.items() if not np.ndim(x)))
        text = self._stepper.text("start")
        return NumPyArrays().compute(Specialization(text.name, text, self.model, numbers=single, is_users=True), arrays)

    # steps

    def step(self, tau: ArrayLike | None = None) -> tuple[Array, Array]:
        """(q, v) after `substeps` steps under a joint force (..., nv) that is held; none, if not given.

        With `controls=True`, under controls u (..., n) of the actuators; all 0, if not given.
        """
        if tau is None:
            force = self._nothing
        elif type(tau) is np.ndarray and tau.shape == self._nothing.shape:
            force = tau
        else:
            force = self._checked(tau)
        self._row = (self._code or self._coded())(self._row, force, self._clock, *self._inputs)
        self._done += self.substeps
        return self._row[self._q_place], self._row[self._v_place]

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

    def _coded(self) -> Callable[..., Array]:
        """What takes the steps from row to row: native code, or steps that go by numbers."""
        stepper = self._stepper
        if not self.batch and (prepared := stepper.prepared(self.substeps)) is not None:
            self._code = self._by_loops(*prepared)
            return self._code
        if not self.batch and (stepper.integrator.takes_numbers or not stepper.is_compiled):
            self._code = self._by_stepper
            return self._code
        text = FlatStep(stepper.text("step", len(self._shapes)), self._shapes, self.substeps)
        parameters = {name: x.shape for name, x in zip(self._named, self._inputs, strict=True)}
        shapes = text.arguments(self.model, (self._given, self._size), parameters)
        single = tuple(name for name, x in self._named.items() if not np.ndim(x))
        specialization = Specialization(text.name, text, self.model, numbers=single, is_users=True)
        if not self.batch:
            self._code = OneByOne(specialization, shapes).call
            return self._code

        def together(*arrays: Array) -> Array:
            given = {name: (x, shape) for (name, shape), x in zip(shapes.items(), arrays, strict=True)}
            return NumPyArrays(eager=True).compute(specialization, given)

        self._code = together
        return together

    def _by_loops(self, steps: PreparedSteps, packed: Array) -> Callable[..., Array]:
        """Steps of one state by loops over what touches. The force is the last of the parameters but for a zero."""
        n, m, size = self.model.nq, self.model.nq + self.model.nv, self._size

        def stepped(row: Array, force: Array, clock: Array, *inputs: Array) -> Array:
            packed[-1 - size : -1] = force
            t, new = self._done * self.dt, np.empty(len(row))
            q, v, impulses, worst, unsolved = steps(t, row[:n], row[n:m], row[m:-3], row[-3], row[-2], self.dt)
            new[:n], new[n:m], new[m:-3], new[-3], new[-2] = q, v, impulses, worst[0], unsolved[0]
            new[-1] = row[-1] + self.substeps
            return new

        return stepped

    def _by_stepper(self, row: Array, force: Array, clock: Array, *inputs: Array) -> Array:
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
