"""Controllers with a period and a state of their own, as computers have them: sampled, and held in between.

At every sample time t = t₀ + k T the law gives the force that acts until the next one, and its own next state:
(τₖ, zₖ₊₁) = law(t, q, v, zₖ). What a step remembers of it is one vector: the time since the last sample, the held force
and z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.base import must_end_in
from knuckle.engine.calls.traced_scalars import composed
from knuckle.integrators.base import Adaptive, Integrator
from knuckle.model import Model
from knuckle.public_names import public
from knuckle.scalar import is_inside, less, select
from knuckle.spatial import Vector, repeated

from .controls import STATE, Control, Parameters, control_of

Array: TypeAlias = NDArray[Any]

OWN_STATE = "z"
"""The argument of a law that receives its own state."""
FIRST_STATE = "first z"
"""The argument of a step for the state that a law begins with: no name that a law could have."""
WHOLE = 1e-9
"""Parts of a period by which it may differ from a whole number of steps."""


@public
@dataclass(frozen=True, eq=False)
class SampledController:
    """A controller that is asked every `period` seconds, and whose force is held in between.

        @kn.kernel
        def pid(model, q, v, z, goal):
            error = goal - q
            return 80.0 * error - 12.0 * v + 40.0 * z, z + 0.002 * error      # the force, and the next state

        kn.simulate(model, controller=kn.SampledController(pid, period=0.002, state=np.zeros(model.nv)), …)

    The period is a whole number of steps. In `kn.simulate`, `kn.rollout` and `kn.Stepping` a kernel is part of the
    native code and runs at sample times only; a Python function is called at sample times, between native steps (again
    for the same time, where an event takes a part of the motion back). It is a function of its arguments alone.

    Args:
        law: law(model, …) → (τ, next z), or → τ for one without a state: a `kn.kernel` or a Python function. Its
            arguments called t, q and v receive time and state, z its own state, all others the `parameters` of their
            names.
        period: the time between samples in seconds.
        state: z to begin with (n,), in a rollout also (..., n); None for a law without a state.
    """

    law: Callable[..., Any]
    period: float
    state: ArrayLike | None = None

    def __post_init__(self) -> None:
        if not callable(self.law):
            raise TypeError(f"law is a function law(model, t, q, v, z, …) → (τ, next z), not {self.law!r}")
        try:
            period = float(self.period)
        except (TypeError, ValueError):
            raise TypeError(f"period is a number of seconds, not {self.period!r}") from None
        if not (period > 0 and math.isfinite(period)):
            raise ValueError(f"period={self.period!r} must be positive and finite: a number of seconds")
        object.__setattr__(self, "period", period)
        if self.state is None:
            return
        try:
            state = np.array(self.state, float)
        except (TypeError, ValueError):
            raise TypeError(f"state must be numbers, not {self.state!r}") from None
        if not state.ndim or not np.isfinite(state).all():
            raise ValueError(f"state must be finite numbers of shape (n,), not {self.state!r}")
        state.flags.writeable = False
        object.__setattr__(self, "state", state)


@dataclass(frozen=True)
class SampledControl:
    """A sampled controller as a part of steps: equal ones share their code.

    Its memory is a vector (e, u…, z…): the time since the last sample, what is held and the state of the law.
    """

    law: Control
    period: float
    size: int
    """How many numbers are held: forces, or controls of actuators"""
    states: int
    is_inside: bool = True
    """Whether the law is part of compiled code; else it is called between native steps"""

    @property
    def count(self) -> int:
        """Entries of its memory."""
        return 1 + self.size + self.states

    def held(self, memory: Any) -> Any:
        """What acts until the next sample."""
        return memory[..., 1 : 1 + self.size] if isinstance(memory, np.ndarray) else memory[1 : 1 + self.size]

    def own_state(self, memory: Any) -> Any:
        """The state of the law."""
        return memory[..., 1 + self.size :] if isinstance(memory, np.ndarray) else memory[1 + self.size :]

    def begun(self, model: Model, t: Any, q: Any, v: Any, first: Any, values: Mapping[str, Any]) -> Any:
        """The memory after the first sample; `first` is z before it."""
        return _joined(q, 0.0, *self.sample(model, t, q, v, first, values))

    def after(self, model: Model, t: Any, q: Any, v: Any, memory: Any, dt: Any, values: Mapping[str, Any]) -> Any:
        """The memory at the end t of a step of dt: another sample, if it is time for one.

        Every step ends at a sample time or before it, so that half a step tells which, whatever rounding does.
        """
        elapsed = memory[0] + dt
        is_due = less(self.period, elapsed + 0.5 * dt)
        if isinstance(is_due, (bool, np.bool_)):
            return self.at_sample(model, t, q, v, memory, values) if is_due else _joined(q, elapsed, memory[1:])
        due = select(is_due, 1.0, 0.0)

        def sampled(_: Any, __: Any, z: Any) -> Any:
            return 0.0, *self.sample(model, t, q, v, z, values)

        _, held, z = repeated(sampled, (due, self.held(memory), self.own_state(memory)), 1)
        return _joined(q, elapsed * (1 - due), held, z)

    def later(self, memory: Any, dt: Any) -> Any:
        """The memory after a time without a sample."""
        return _joined(memory, memory[0] + dt, memory[1:])

    def is_due(self, memory: Any) -> bool:
        """Whether it is time for a sample."""
        return bool(memory[0] > self.period * (1 - WHOLE))

    def at_sample(self, model: Model, t: Any, q: Any, v: Any, memory: Any, values: Mapping[str, Any]) -> Any:
        """The memory after a sample at t."""
        return _joined(q, 0.0, *self.sample(model, t, q, v, self.own_state(memory), values))

    def sample(self, model: Model, t: Any, q: Any, v: Any, z: Any, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """(u, next z) of the law, as arrays, inside a kernel as vectors."""
        now = model.at_time(t) if model.depends_on_time else model
        known = {**values, "t": t, "q": q, "v": v, OWN_STATE: z}
        assert self.law.function is not None
        result: Any = self.law.function(now, **{name: known[name] for name in self.law.names})
        if not self.states and not isinstance(result, tuple):
            result = result, z
        if not isinstance(result, tuple) or len(cast(Any, result)) != 2:
            what = f"(τ, next z) with {self.states} numbers in z" if self.states else "τ"
            raise TypeError(f"{self.law.title} returns {_kind(result)}, and must return {what}")
        u, z = (
            self._checked(name, x, n, q)
            for name, x, n in zip(("τ", "next z"), cast(Any, result), (self.size, self.states), strict=True)
        )
        return u, z

    def _checked(self, name: str, value: Any, size: int, q: Any) -> Any:
        title = f"{name} of {self.law.title}"
        if is_inside():
            return composed(title, value, (size,))
        array = np.asarray(value, q.dtype)
        must_end_in(title, array.shape, (size,))
        return array


@dataclass(frozen=True)
class SampledInputs:
    """A sampled controller of one motion, and its numbers by name: parameters and the state that it begins with."""

    which: SampledControl | None = None
    parameters: Parameters = field(default_factory=dict[str, Array])


NOT_SAMPLED = SampledInputs()


def sampled_inputs(what: str, value: Any, size: int, parameters: Mapping[str, ArrayLike] | None) -> SampledInputs:
    """A sampled controller (`what` is its argument) that gives so many numbers; nothing for any other controller."""
    if not isinstance(value, SampledController):
        return NOT_SAMPLED
    named = dict(parameters or {})
    law, own = control_of(what, value.law, what, (size,), named, (*STATE, OWN_STATE))
    first = np.zeros(0) if value.state is None else np.asarray(value.state, float)
    which = SampledControl(law, float(value.period), size, first.shape[-1], law.is_text)
    return SampledInputs(which, {**own, FIRST_STATE: first})


def must_fit_steps(control: SampledControl, dt: float, integrator: Integrator) -> int:
    """How many steps make a period; an error unless that is a whole number."""
    if isinstance(integrator, Adaptive):
        raise ValueError(
            f"{control.law.title} is sampled every {control.period:g} s, and {type(integrator).__name__} chooses its "
            "steps itself: take an integrator of fixed steps"
        )
    steps = round(control.period / dt) if dt > 0 else 0
    if steps < 1 or abs(steps * dt - control.period) > WHOLE * control.period:
        raise ValueError(
            f"period={control.period:g} s of {control.law.title} is no whole number of steps of dt={dt:g} s"
        )
    return steps


def must_be_one(other: SampledInputs) -> None:
    """An error for two sampled controllers in one motion."""
    if other.which is not None:
        raise TypeError(
            "controller and controls are both sampled: a motion has one SampledController, whose law may compute both"
        )


def must_not_jump(control: SampledControl, contacts: Any) -> None:
    """An error for contacts from event to event, whose forces know no held ones."""
    if contacts is not None:
        raise ValueError(
            f"contacts={type(contacts).__name__}(…) goes from event to event, and cannot have {control.law.title}, "
            "which is sampled: take contact steps, or CompliantContacts"
        )


def fitting_step(control: SampledControl, dt: float) -> float:
    """The longest step up to dt of which a period is a whole number."""
    return control.period / math.ceil(control.period / dt * (1 - WHOLE))


def between_samples(control: SampledControl) -> SampledControl:
    """A controller whose law is called outside of compiled steps."""
    return replace(control, law=Control(None, control.law.what), is_inside=False)


def _joined(like: Any, elapsed: Any, *parts: Any) -> Any:
    """One vector, of an array's kind where that is one."""
    if isinstance(like, np.ndarray):
        return np.concatenate([np.atleast_1d(np.asarray(elapsed, float)), *(np.asarray(x, float) for x in parts)])
    return Vector([elapsed, *(x for part in parts for x in part)])


def _kind(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(cast(Any, value))}"
    return "one array" if hasattr(value, "__len__") else f"a {type(value).__name__}"
