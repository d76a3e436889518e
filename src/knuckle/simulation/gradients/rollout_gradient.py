"""The gradient of a loss over a compiled rollout: by the first state, the controls, and any parameter."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.base import Shape
from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.calls.trajectory_batches import Clock, Input
from knuckle.engine.differentiate.solved_results import solved_count
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native import result_memory, threads
from knuckle.engine.native.rolled_code import BODIES
from knuckle.integrators.base import Integrator
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.simulation.friction.dry_friction import friction_rows
from knuckle.simulation.rollout.rollout_inputs import MUSCLE_TITLES, Inputs
from knuckle.simulation.rollout.rollout_steps import RolloutSteps, specialization_of, started, steps_to_take
from knuckle.simulation.steps.step_text import APPLIED
from knuckle.warning import warn

from .adjoint_texts import ADJOINT, GIVEN, SUM, AtEnd, AtStart, BackwardStep
from .curvature_texts import RATE, Direction, WithRates
from .loss_texts import NOTED, TOTAL, Forced, Loss, Scored, loss_of, must_be_loss
from .memory_plan import MemoryPlan, memory_to_use
from .redundant_contacts import SharedLoads
from .there_and_back import ThereAndBack

Array: TypeAlias = NDArray[Any]

CHAOTIC = 1e6
"""How much larger than what losses give an adjoint has to be for a warning."""
TITLES = {APPLIED: "tau", **MUSCLE_TITLES}
"""What inputs of steps are called in the arguments."""


@dataclass(frozen=True)
class RolloutGradient:
    """The losses of trajectories and their gradients.

    Attributes:
        loss: (...): one for each trajectory.
        gradients: the derivatives of the loss of each trajectory by the arguments, named by them: "q0" (..., nv), along
            the velocity variables, "v0" (..., nv), "tau" (..., steps, nv) or, if it stays, (..., nv), and parameters
            with their own shape after the batch axes, and that of the steps where they vary with time.
        growth: (...): how many times as large as all that losses give the adjoint of the first state is. It tells how
            far gradients reach: a change of the first state by more than one part in so many is no small one.
        q: the last positions (..., nq).
        v: the last velocity variables (..., nv).
        integrator: the name of what stepped.
        kept_every: every how many steps a state was kept; states between them were computed twice.
        rate: (...): the derivative of the loss along a `direction`, if there was one.
        hessian_product: the derivatives of `gradients` along that direction, named and shaped like them: the second
            derivatives of the loss, times the direction.
    """

    loss: Array
    gradients: dict[str, Array]
    growth: Array
    q: Array
    v: Array
    integrator: str
    kept_every: int
    rate: Array | None = None
    hessian_product: dict[str, Array] | None = None

    def __getitem__(self, name: str) -> Array:
        return self.gradients[name]


def rollout_gradient(
    model: Model,
    loss: Callable[..., Any] | None,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    dt: float | None = None,
    *,
    final_loss: Callable[..., Any] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    wrt: str | Sequence[str] | None = None,
    integrator: str | Integrator | None = None,
    contacts: bool | CompliantContacts | None = None,
    controller: Callable[..., Any] | None = None,
    external_forces: Callable[..., Any] | None = None,
    controls: Callable[..., Any] | ArrayLike | None = None,
    excitations: Callable[..., Any] | ArrayLike | None = None,
    activations0: ArrayLike | None = None,
    fiber_lengths0: ArrayLike | None = None,
    actuator_states0: ArrayLike | None = None,
    model_fn: Callable[..., Model] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    time_varying: Collection[str] = (),
    t0: float = 0.0,
    stabilization: Stabilization = "projection",
    memory: int | None = None,
    direction: Mapping[str, ArrayLike] | None = None,
) -> RolloutGradient:
    """The loss of trajectories, as `rollout` computes them, and its exact gradients by everything they begin with.

    The loss is Σ loss(x_k) over the states at the beginnings of all steps, and final_loss(x_N). The way back is a loop
    of native code like that there; it takes about two to three times as long. States are held in memory on the way
    there; where they are too many, only some are, and the others are computed again: the results are the same to the
    last bit. A warning says where gradients grow so much that the horizon is too long for them.

    Args:
        model: the mechanism.
        loss: a kernel loss(model, …) → a number. Its arguments called t, q, v and tau receive time, state and joint
            forces (those given and the controller's), all others the `parameters` of their names. None for none.
        q0: initial positions (..., nq), as for `rollout`; neutral, if not given.
        v0: initial velocity variables (..., nv).
        tau: joint forces (nv,), (..., steps, nv) or (..., 1, nv).
        dt: the length of a step in seconds: 1 ms, if not given.
        final_loss: a kernel final_loss(model, …) → a number, of the last state; it takes t, q, v and parameters.
        steps: how many.
        duration: how long in seconds, instead of `steps`.
        wrt: the names of the arguments to differentiate by: "q0", "v0", "tau", "controls", "excitations",
            "activations0", "fiber_lengths0", "actuator_states0" and those of parameters. None for all that are given,
            and the first state.
        integrator: by its name, or itself, as for `rollout`.
        contacts: whether contacts are solved, or soft ones, as for `rollout`. Derivatives of steps with solved contacts
            are those while each contact stays open, sticking or sliding.
        controller: a kernel controller(model, …) → τ, as for `rollout`.
        external_forces: a kernel.
        controls: inputs of the model's actuators, arrays or a kernel, as for `rollout`.
        excitations: arrays or a kernel, as for `rollout`.
        activations0: the activations to begin with.
        fiber_lengths0: the lengths of fibers to begin with.
        actuator_states0: the states of actuators to begin with.
        model_fn: model_fn(model, …) → the model that moves, made with `parameters`, by which it is differentiated too.
        parameters: what loss, final_loss, controller, external_forces and model_fn ask for.
        time_varying: the names of those parameters that are (..., steps, n): at every step their own.
        t0: the time at the beginning.
        stabilization: what keeps closed loops closed; see `simulate`.
        memory: how many bytes the states may take on the way; a quarter of what is free, and 256 MiB at most, if it is
            not given.
        direction: how some arguments change, by their names, "q0" (..., nv) along the velocity variables, others with
            their own shapes: `hessian_product` of the result is how the gradients change then, exactly, d/ds at s = 0
            for q0 ⊕ s δq0, v0 + s δv0, …; several directions are a batch.
    """
    if loss is None and final_loss is None:
        raise TypeError("rollout_gradient needs a loss, a final_loss or both")
    for name, function in (("loss", loss), ("final_loss", final_loss)):
        must_be_loss(name, function)
    taken = steps_to_take(
        model, q0, v0, tau, dt, steps=steps, duration=duration, integrator=integrator, contacts=contacts,
        controller=controller, external_forces=external_forces, excitations=excitations, activations0=activations0,
        fiber_lengths0=fiber_lengths0, model_fn=model_fn, parameters=parameters, time_varying=time_varying, t0=t0,
        stabilization=stabilization, losses={"loss": loss, "final_loss": final_loss}, name="rollout_gradient",
        controls=controls, actuator_states0=actuator_states0,
    )  # fmt: skip
    _must_have_derivatives(taken, time_varying)
    inside = _inside(taken.inputs)
    along = None if direction is None else Direction.of(model, direction, inside, taken.inputs)
    return _Gradient(model, taken, _names(wrt, inside), along).run(memory)


def _must_have_derivatives(taken: RolloutSteps, time_varying: Collection[str]) -> None:
    """An error for what has none."""
    told = (*taken.python, taken.held_controls, taken.sampler)
    for what, control in zip(
        ("controller", "external_forces", "excitations", "controls", "the law of a SampledController"),
        told,
        strict=True,
    ):
        if control is not None:
            raise TypeError(f"{what} must be a kernel, whose derivatives are known: @kn.kernel before it makes it one")
    if taken.step.integrator.takes_numbers:
        raise TypeError(
            f'integrator "{taken.name}" steps by loops on numbers, which have no derivatives here: take another, '
            '"contact" where contacts are few, or soft contacts, contacts=kn.contact.CompliantContacts()'
        )
    final = taken.functional.get("final_loss")
    if final is not None and (late := [name for name in final.names if name in time_varying]):
        raise TypeError(f"final_loss asks for {late[0]}, which has a value for every step, and none for the last state")


def _inside(inputs: Inputs) -> dict[str, str]:
    """The names that arguments have in steps, by those that they are given by."""
    others = {TITLES.get(name, name): name for name in inputs.others if name not in ("t", "dt")}
    return {"q0": "q", "v0": "v", **others}


def _names(wrt: str | Sequence[str] | None, inside: Mapping[str, str]) -> tuple[str, ...]:
    """What to differentiate by, by the names that inputs have in steps."""
    if wrt is None:
        return tuple(inside.values())
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for name in names:
        if name not in inside:
            raise TypeError(f"wrt names arguments that are given: {', '.join(inside)}, not {name!r}")
    if len(set(names)) < len(names) or not names:
        raise TypeError(f"wrt names each argument once, and one at least, not {wrt!r}")
    return tuple(inside[name] for name in names)


class _Gradient:
    """A gradient under way: by the inputs `wrt` of steps, the first state among them, and how it changes `along` a way.

    `inputs` are those of steps and how they change, `first` those of the beginning.
    """

    def __init__(self, model: Model, taken: RolloutSteps, wrt: tuple[str, ...], along: Direction | None) -> None:
        self.model, self.taken, self.wrt = model, taken, wrt
        self.first = taken.inputs
        self.step, self.inputs = started(taken.step, model, taken.inputs, None)
        self.parts = {name: x.shape[-1] for name, x in self.inputs.state.items()}
        self.orders: tuple[str, ...] = ("",)
        if along is not None:
            self.orders, self.first = ("", RATE), along.beside(taken.inputs)
            if self.step is not taken.step:
                along = along.started(dataclasses.replace(taken.step, method="start"), model, taken.inputs)
            self.inputs = along.beside(self.inputs)
        given = {name: x for name, x in taken.inputs.others.items() if name in wrt and isinstance(x, Input)}
        later = {name: x for name, x in given.items() if name in self.inputs.others}
        self.moving = tuple(name for name, x in later.items() if x.array.shape[len(x.batch)] > 1)
        self.held = tuple(name for name in later if name not in self.moving)
        self.given = tuple(given)

    def _text(self, text: Any, leading: int = 0) -> Any:
        """A text, and beside its results how they change if that is asked for."""
        return text if len(self.orders) == 1 else WithRates(text, leading)

    def run(self, memory: int | None) -> RolloutGradient:
        """All trajectories, some at a time."""
        inputs, steps = self.inputs, self.taken.steps
        count, dtype = math.prod(inputs.batch), inputs.state["q"].dtype
        noted = self._noted()
        parts = {name: x.shape[-1] for name, x in inputs.state.items()} | ({NOTED: noted} if noted else {})
        lanes = kernels.target.width(DTYPES[dtype]) if dtype in DTYPES else 1
        plan = MemoryPlan.of(
            count, steps, sum(parts.values()) * dtype.itemsize,
            memory_to_use() if memory is None else memory, lanes, threads.get_threads(),
        )  # fmt: skip
        names = [(order, name) for order in self.orders for name in self.moving]
        rows = {order + name: result_memory.empty((count, steps + 1, self._size(name)), dtype) for order, name in names}
        state = {name: _in_a_row(x, inputs.batch) for name, x in inputs.state.items()}
        state |= {NOTED: np.zeros((count, noted), dtype)} if noted else {}
        loops = self._loops(parts, plan.steps)
        room = loops.room(plan.trajectories, dtype)
        found: list[dict[str, Array]] = []
        for start in range(0, max(count, 1), max(plan.trajectories, 1)):  # none at all, once
            some = slice(start, min(start + plan.trajectories, count))
            others = {name: _some(x, inputs.batch, some) for name, x in inputs.others.items()}
            own = {name: x[some] for name, x in state.items()}
            written = {name: x[some] for name, x in rows.items()}
            found.append(dataclasses.replace(loops, others=others).run(own, written, room))
        whole = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        return self._result(whole | self._at_start(whole), rows, plan)

    def _noted(self) -> int:
        """How many numbers a step solves for, which the way back then knows; not along directions."""
        if len(self.orders) > 1 or self.model.nb > BODIES:
            return 0
        loss = self._loss("loss")
        shapes = {name: x.shape[-1:] for name, x in self.inputs.state.items()}
        shapes |= {name: x.shape for name, x in self.inputs.others.items()}
        text = Forced(self.step, loss is not None and loss.takes_force)
        step = Specialization(text.__name__, text, self.model, numbers=self.inputs.single, is_users=True)
        return solved_count(step, shapes)

    def _loss(self, name: str) -> Loss | None:
        return loss_of(self.taken.functional, name, self.step.model_fn is not None)

    def _loops(self, parts: Mapping[str, int], part: int) -> ThereAndBack:
        taken, step, noted = self.taken, self.step, parts.get(NOTED, 0)
        loss, final = self._loss("loss"), self._loss("final_loss")
        back = BackwardStep(step, loss, tuple(self.parts), self.moving, self.held, noted)
        takes = final.control.parameters if final is not None else ()
        end_wrt = tuple(name for name in takes if name in self.held)
        at_end = None
        if final is not None:
            single = tuple(name for name in self.inputs.single if name.removeprefix(RATE) in ("t", *takes))
            at_end = Specialization(
                "final_loss and its gradient", self._text(AtEnd(final, ("q", "v", *end_wrt))), self.model,
                numbers=single, is_users=True,
            )  # fmt: skip
        numbers = (*self.inputs.single, *(order + name for order in self.orders for name in (TOTAL, GIVEN)))
        inputs = dataclasses.replace(self.inputs, single=numbers)
        return ThereAndBack(
            specialization_of(
                self._text(Scored(step, loss, noted), len(self.parts)), self.model, inputs, "rollout and loss"
            ),
            specialization_of(self._text(back, len(self.moving)), self.model, inputs, "gradient of a rollout"),
            at_end, parts, self.inputs.others, self.moving, self.held, takes, end_wrt, taken.steps, part, self.orders,
            SharedLoads.of(self.model, taken.step.integrator),
        )  # fmt: skip

    def _at_start(self, back: Mapping[str, Array]) -> dict[str, Array]:
        """The derivatives by the first state and by what it is made of, from the adjoints there."""
        first, every, names = self.first, slice(None), ("q", "v", *self.given)
        text = AtStart(dataclasses.replace(self.taken.step, method="start"), tuple(self.parts), names[1:])
        arrays = {name: (_in_a_row(x, first.batch), x.shape[-1:]) for name, x in first.state.items()}
        arrays |= {name: (_some(x, first.batch, every).at(0), x.shape) for name, x in first.others.items()}
        for order in self.orders:
            adjoints = {order + ADJOINT + name: size for name, size in self.parts.items()}
            arrays |= {name: (back[name], (size,)) for name, size in adjoints.items()}
        specialization = specialization_of(
            self._text(text), self.model, first, "gradient of a rollout by its first state"
        )
        results = NumPyArrays().compute(specialization, arrays)
        all_names = [f"{order}by {name}" for order in self.orders for name in names]
        return dict(zip(all_names, results, strict=True))

    def _gradients(self, whole: Mapping[str, Array], rows: Mapping[str, Array], order: str) -> dict[str, Array]:
        """The derivatives of the loss by arguments, or how they change."""
        batch, steps = self.inputs.batch, self.taken.steps
        gradients: dict[str, Array] = {}
        for name in self.wrt:
            at_start = whole[f"{order}by {name}"]
            if name in ("q", "v"):
                gradients[f"{name}0"] = at_start.reshape(*batch, self.model.nv)
                continue
            own: Shape = () if name in self.inputs.single else self.first.others[name].shape
            if name in self.moving:
                rows[order + name][:, 0] += at_start
                array = rows[order + name][:, :steps].reshape(*batch, steps, *own)
            else:
                array = at_start + whole[order + SUM + name] if name in self.held else at_start
                array = array.reshape(batch + own)[()]
            gradients[TITLES.get(name, name)] = array
        return gradients

    def _result(self, whole: Mapping[str, Array], rows: Mapping[str, Array], plan: MemoryPlan) -> RolloutGradient:
        batch, parts = self.inputs.batch, {"q": self.model.nq, "v": self.model.nv}
        adjoint = sum(np.abs(whole[ADJOINT + name]).sum(-1) for name in ("q", "v"))
        given = whole[GIVEN][:, 0]
        growth = np.where(given > 0, adjoint / np.where(given > 0, given, 1), 0.0).reshape(batch)
        loss = whole["loss"].reshape(batch)
        self._warn(loss, growth, int(whole["unclear"].sum()))
        last = {name: whole[f"last {name}"].reshape(*batch, parts[name]) for name in ("q", "v")}
        found = RolloutGradient(
            loss[()], self._gradients(whole, rows, ""), growth[()], last["q"], last["v"], self.taken.name, plan.steps
        )
        if RATE not in self.orders:
            return found
        rate, products = whole[f"{RATE}loss"].reshape(batch)[()], self._gradients(whole, rows, RATE)
        return dataclasses.replace(found, rate=rate, hessian_product=products)

    def _warn(self, loss: Array, growth: Array, unclear: int) -> None:
        taken, count = self.taken, loss.size
        lost = int((~(np.isfinite(loss) & np.isfinite(growth))).sum())
        name = self.model.name
        if lost:
            warn(
                f"the loss or the gradient of {lost} of {count} trajectories of {name} is not finite: take shorter "
                "steps, or look at kn.rollout(...).diverged_at"
            )
        if unclear:
            warn(
                f"in {unclear} of {count} trajectories of {name} more than three places between two bodies push at "
                "once, and slide in different ways: how they share their load is not unique, and the gradients are "
                "those of one choice. Soft contacts, contacts=kn.contact.CompliantContacts(), have none to make"
            )
        largest = float(np.nan_to_num(growth, posinf=0.0).max(initial=0.0))
        if largest > CHAOTIC:
            time = abs(taken.dt) * taken.steps
            many = int((growth > CHAOTIC).sum())
            warn(
                f"gradients of {many} of {count} trajectories of {name} grow by {largest:.1g} over {time:.3g} s "
                f"(e-fold in {time / math.log(largest):.2g} s): the motion is chaotic or unstable, and they hold for "
                f"changes of the first state far below {1 / largest:.0g} only. Take a shorter horizon, or several "
                f"that begin where the ones before end{self._friction()}"
            )

    def _friction(self) -> str:
        """What dry friction does to gradients, where there is some."""
        if not friction_rows(self.model):
            return ""
        return (
            f". {self.model.name} has dry friction, a force that jumps where joints come to rest: "
            "model.without_friction() has none"
        )

    def _size(self, name: str) -> int:
        return math.prod(self.first.others[name].shape)


def _some(x: Input | Clock, batch: Shape, part: slice) -> Any:
    """An input of some trajectories, which have one batch axis."""
    if isinstance(x, Clock):
        return x
    own = x.array.shape[len(x.batch) :]
    if math.prod(x.batch) == 1:
        return Input(x.array.reshape(own), x.shape)
    if x.batch == batch:
        return Input(x.array.reshape(-1, *own)[part], x.shape)
    full = np.broadcast_to(x.array, batch + own)
    return Input(full[np.unravel_index(np.arange(math.prod(batch))[part], batch)], x.shape)


def _in_a_row(x: Array, batch: Shape) -> Array:
    """A part of the state of all trajectories, (n, size)."""
    return np.broadcast_to(x, (*batch, x.shape[-1])).reshape(math.prod(batch), x.shape[-1])
