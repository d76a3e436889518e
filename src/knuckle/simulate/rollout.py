"""Many trajectories at once, with the loop through time in native code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.model import Model
from knuckle.run import memory
from knuckle.run.trajectories import Input, through_time
from knuckle.run.user_recipe import UserRecipe, compute_numbers
from knuckle.run.warning import warn

from .asking import Asking, in_code, in_python
from .control import Control
from .friction import friction_rows, must_be_separate
from .integrator import Integrator
from .iterative import Iterative
from .loops import Stabilization, must_be_closed, must_be_short, stabilization_of
from .named import integrator_of
from .rollout_inputs import Inputs, controls_of, finite, inputs_of, whole
from .round import APPLIED, WRENCHES, Round

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rollout:
    """Trajectories: K states of each, at the same times."""

    times: Array
    """(K,)"""
    q: Array
    """(..., K, nq)"""
    v: Array
    """(..., K, nv)"""

    @property
    def final(self) -> tuple[Array, Array]:
        """The last states: q (..., nq) and v (..., nv)."""
        return self.q[..., -1, :], self.v[..., -1, :]


def rollout(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | None,
    dt: float,
    *,
    steps: int,
    keep: int = 1,
    integrator: str | Integrator = "euler",
    controller: Callable[..., Any] | None = None,
    external: Callable[..., Any] | None = None,
    mechanism: Callable[..., Model] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    sequences: Collection[str] = (),
    t0: float = 0.0,
    stabilization: Stabilization = "projection",
    out: Rollout | None = None,
) -> Rollout:
    """Trajectories from many states, under many forces, of many mechanisms: whatever has batch axes broadcasts.

    The loop through time is native code, the threads of `kn.set_threads` share the batch, and the results are those of
    single steps to the last bit. Ctrl-C ends it within a fraction of a second (KeyboardInterrupt; nothing is returned).
    The precision is that of the arrays: float32 only if all are.

    Args:
        model: the mechanism.
        q0: initial positions (..., nq).
        v0: initial velocity variables (..., nv).
        tau: joint forces: (nv,), always the same; (..., steps, nv), at every step their own, held while it lasts;
            (..., 1, nv), for every trajectory their own, always the same. None for none.
        dt: the length of a step in seconds.
        steps: how many.
        keep: every how many steps the state is kept; the first and the last state always are.
        integrator: by its name, or itself.
        controller: controller(model, …) → τ, added to `tau`. Its arguments called t, q and v receive time and state,
            all others the `parameters` of their names. A kernel becomes part of the native code. Any other function is
            called once a step with the arrays of all trajectories, and what it says is held while the step lasts.
        external: external(model, …) → f_ext (nb, 6), in the same way.
        mechanism: mechanism(model, …) → the model that moves, made with `parameters` as inertias, lengths or
            coefficients. The controller still knows `model`.
        parameters: what controller, external and mechanism ask for: numbers, or (..., n) per trajectory.
        sequences: the names of those parameters that are (..., steps, n): at every step their own.
        t0: the time at the beginning.
        stabilization: what keeps closed loops closed: "projection", a decay time in seconds, or None; see `simulate`.
        out: an earlier rollout of the same shapes, whose arrays are written over: fresh memory takes time.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"rollout needs a knuckle.Model first, not {type(model).__name__}")
    steps, keep, dt, t0 = whole("steps", steps, 0), whole("keep", keep, 1), finite("dt", dt), finite("t0", t0)
    given = dict(parameters or {})
    asked = controls_of({"controller": controller, "external": external, "mechanism": mechanism}, given, sequences)
    inputs = inputs_of(model, q0, v0, tau, t0, dt, steps, given, sequences)
    acting = asked.get("controller"), asked.get("external")
    native, python = (in_code(acting[0]), in_code(acting[1])), (in_python(acting[0]), in_python(acting[1]))
    closing, method = stabilization_of(stabilization), integrator_of(integrator)
    must_be_short(model)
    must_be_separate(model)
    if mechanism is None:  # another one has its loops elsewhere
        must_be_closed(model, inputs.state["q"], inputs.state["v"], closing, t0)
    step = Round("step", method, *native, asked.get("mechanism"), stabilization=closing)
    ask = Asking(model, *python, inputs.single) if any(python) else None
    if ask is not None:
        inputs = _held(model, inputs, *python)
    found = _room(out, inputs, t0 + dt * np.minimum(np.arange(0, steps + keep, keep), steps))
    if steps:
        step, inputs = _started(step, model, inputs, ask)
    last = through_time(
        _recipe(step, model, inputs), inputs.state, inputs.others, inputs.batch,
        steps=steps, keep=keep, kept=(found.q, found.v), ask=ask,
    )  # fmt: skip
    if isinstance(step.integrator, Iterative) and steps:
        _must_be_solved(step.integrator, [*last.values()][-1])
    return found


def _held(model: Model, inputs: Inputs, controller: Control | None, external: Control | None) -> Inputs:
    """The inputs with places for the forces that Python will say."""
    others, dtype = dict(inputs.others), inputs.state["q"].dtype
    if controller is not None:
        others.setdefault(APPLIED, Input(np.zeros((1, model.nv), dtype), (model.nv,)))
    if external is not None:
        shape = (model.nb, model.algebra.dimension)
        others[WRENCHES] = Input(np.zeros((1, *shape), dtype), shape)
    return dataclasses.replace(inputs, others=others)


def _must_be_solved(integrator: Iterative, sizes: Array) -> None:
    """A warning if the equations of some steps were not solved: a batch is not lost for a few trajectories."""
    unsolved = ~(sizes <= integrator.tolerance)
    if unsolved.any():
        warn(
            f"{type(integrator).__name__} did not solve its equations to {integrator.tolerance:.3g} in "
            f"{unsolved.sum()} of {unsolved.size} trajectories: take shorter steps or more iterations"
        )


def _room(out: Rollout | None, inputs: Inputs, times: Array) -> Rollout:
    """Where the states go."""
    shapes = [(*inputs.batch, len(times), x.shape[-1]) for x in inputs.state.values()]
    dtype = next(iter(inputs.state.values())).dtype
    if out is None:
        return Rollout(times, *(memory.empty(shape, dtype) for shape in shapes))
    for name, array, shape in zip("qv", (out.q, out.v), shapes, strict=True):
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"out.{name} has shape {array.shape} and dtype {array.dtype}, and must have {shape} and {dtype}"
            )
        if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
            raise ValueError(f"out.{name} must be an array of its own, as a rollout gives it, not a part of another")
    return Rollout(times, out.q, out.v)


def _recipe(text: Round, model: Model, inputs: Inputs) -> UserRecipe:
    return UserRecipe(f"rollout by {type(text.integrator).__name__}", text, model, (), inputs.single)


def _started(step: Round, model: Model, inputs: Inputs, ask: Asking | None) -> tuple[Round, Inputs]:
    """The step and its inputs with the memory that the integrator begins with."""
    if type(step.integrator).start is Integrator.start and not friction_rows(model) and step.mechanism is None:
        return step, inputs
    text = dataclasses.replace(step, method="start")
    given = dict(inputs.state) | {name: x.at(0) for name, x in inputs.others.items()}
    given |= ask(given) if ask else {}
    shapes = {name: x.shape[-1:] for name, x in inputs.state.items()}
    shapes |= {name: x.shape for name, x in inputs.others.items()}
    arrays = {name: (given[name], shape) for name, shape in shapes.items()}
    q, v, *memory = compute_numbers(_recipe(text, model, inputs), arrays, set())
    state = {"q": q, "v": v}
    numbers = tuple(np.ndim(x) == len(inputs.batch) for x in memory)
    for k, (x, is_number) in enumerate(zip(memory, numbers, strict=True)):
        state[f"memory{k}"] = np.asarray(x)[..., np.newaxis] if is_number else x
    single = (*inputs.single, *(f"memory{k}" for k, is_number in enumerate(numbers) if is_number))
    return dataclasses.replace(step, numbers=numbers), dataclasses.replace(inputs, state=state, single=single)
