"""A mechanism near a state as a linear system: ẋ = A x + B u, or x' = A x + B u of one step of an integrator."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.choose_container import unpacked
from knuckle.engine.calls.numpy_arrays import NumPyArrays, numbers
from knuckle.engine.differentiate.derivative_rules import chained
from knuckle.engine.differentiate.derivative_texts import Call, Jacobian, OfUser
from knuckle.engine.kernels.specialization import Specialization
from knuckle.functions.configuration import difference_rate
from knuckle.integrators.base import Integrator
from knuckle.integrators.contact_choice import SILENCE, must_be_a_choice
from knuckle.integrators.default_steps import default_steps
from knuckle.integrators.loop_stabilization import Stabilization, must_be_closed, stabilization_of
from knuckle.integrators.methods.semi_implicit_euler import SemiImplicitEuler
from knuckle.integrators.starting_state import must_be_unit
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.model.contact.contact_candidates import may_touch_ground
from knuckle.scalar import ONE, ZERO
from knuckle.simulation.rollout.rollout_inputs import finite
from knuckle.simulation.steps.step_text import StepText
from knuckle.spatial import Matrix, Vector
from knuckle.warning import warn

from .governed_steps import GovernedStep, constrained_laws, prescribed_law
from .linear_rows import SingleStep, applied, by_rows, displacement

if TYPE_CHECKING:
    from knuckle.constraints import Constraint

Array = NDArray[Any]


class Linearization(NamedTuple):
    """The slopes of a motion: of changes x = (δq, δv), positions first, and u = δτ.

    δq is along the velocity variables: q ⊕ δq is the changed position, so that there are nv of them whatever nq is.
    """

    A: Array
    """(..., 2 nv, 2 nv)"""
    B: Array
    """(..., 2 nv, nv)"""


def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    dt: float | None = None,
    *,
    integrator: str | Integrator | None = None,
    contacts: bool | CompliantContacts | None = None,
    f_ext: ArrayLike | None = None,
    t: float = 0.0,
    prescribed: Iterable[str] = (),
    constraints: Iterable[Constraint] = (),
    stabilization: Stabilization = "projection",
) -> Linearization:
    """A and B of the motion near a state: exact, compiled, for any batch of states.

    Without `dt` it is ẋ = A x + B u, where x = (δq, δv) is the change beside the motion that begins in the state, and
    u = δτ. With `dt` it is x' = A x + B u of one step, as `rollout` takes it: u is held while it lasts. Everything that
    acts counts: damping, springs, friction (smooth, as `forward_dynamics` has it; in steps as modes that stay), force
    elements, couplings, external forces; in steps contacts too, as open, sticking or sliding as they are. Closed loops
    are those of the tree's variables: changes that open them are taken back by `stabilization` at the end of a step,
    and the acceleration is consistent with the loops.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv); none, if not given.
        dt: the length of a step in seconds, or None for rates.
        integrator: what steps, by its name or itself; if not given, what `rollout` would take. One that looks back
            begins anew with this step.
        contacts: whether contacts are solved, or soft ones, as for `rollout`. Rates know none.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6), which stays the same.
        t: the time, where joints move by a law of it.
        prescribed: names of joints whose acceleration is given (`hybrid_dynamics`): `tau` has it in place of their
            force, and so has u.
        constraints: those of `kn.constraints`, which the motion keeps. Of inequalities those count that are active in a
            state, as they are by `kn.constraints.dynamics`; the others are as if they were not there.
        stabilization: what keeps closed loops closed; see `simulate`. If it is a time, errors of constraints decay in
            it too.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"linearize needs a knuckle.Model first, not {type(model).__name__}")
    arrays: dict[str, tuple[Any, tuple[int, ...]]] = {
        "q": (numbers("q", unpacked(q), (model.nq,)), (model.nq,)),
        "v": (numbers("v", unpacked(v), (model.nv,)), (model.nv,)),
        "tau": (numbers("tau", unpacked(np.zeros(model.nv) if tau is None else tau), (model.nv,)), (model.nv,)),
        "t": (np.array([finite("t", t)]), (1,)),
    }
    if f_ext is not None:
        shape = model.nb, model.algebra.dimension
        arrays["f_ext"] = numbers("f_ext", unpacked(f_ext), shape), shape
    closing, method = stabilization_of(stabilization), _method(model, arrays["q"][0], dt, integrator, contacts)
    must_be_unit(model, arrays["q"][0])
    must_be_closed(model, arrays["q"][0], arrays["v"][0], closing, t)
    if dt is not None:
        arrays["dt"] = np.array([finite("dt", dt)]), (1,)
    named, listed = tuple((prescribed,) if isinstance(prescribed, str) else prescribed), tuple(constraints)
    is_solved = method.solves_contacts and method.soft_contacts is None
    if not named and not listed:
        text = StepText("step", method, stabilization=closing)
        return Linearization(*by_rows(model, arrays, text)) if is_solved else _linearized(model, arrays, text)
    if method.solves_contacts:
        raise TypeError("linearize takes prescribed joints or constraints without contacts: contacts=False says so")
    if dt is not None and not method.is_explicit:
        raise TypeError(f"{type(method).__name__} takes no prescribed joints or constraints: take an explicit one")
    if named and listed:
        raise TypeError("linearize takes prescribed joints or constraints: kn.constraints.JointAcceleration is both")
    step = GovernedStep("step", method, stabilization=closing)
    if named:
        return _linearized(model, arrays, dataclasses.replace(step, law=prescribed_law(model, named)))
    return _constrained(model, arrays, step, listed, closing if isinstance(closing, float) else None)


def _linearized(model: Model, arrays: Mapping[str, tuple[Any, tuple[int, ...]]], step: StepText) -> Linearization:
    """A and B of rates, or of a step where there is a dt."""
    has_steps = "dt" in arrays
    text = LinearStep(step) if has_steps else LinearRates(step)
    name = f"linearize by {type(step.integrator).__name__}" if has_steps else "linearize"
    specialization = Specialization(name, text, model, numbers=("t", "dt")[: 1 + has_steps], is_users=True)
    return Linearization(*NumPyArrays(weak=frozenset(("t", "dt"))).compute(specialization, arrays))


def _constrained(
    model: Model,
    arrays: Mapping[str, tuple[Any, tuple[int, ...]]],
    step: GovernedStep,
    constraints: tuple[Constraint, ...],
    decay_time: float | None,
) -> Linearization:
    """A and B under constraints: states in which the same inequalities are active go together."""
    names = [name for name in ("q", "v", "tau", "f_ext") if name in arrays]
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(shape)] for x, shape in (arrays[name] for name in names)))
    whole = {name: np.broadcast_to(arrays[name][0], (*batch, *arrays[name][1])) for name in names}
    n = model.nv
    found = Linearization(np.empty((*batch, 2 * n, 2 * n)), np.empty((*batch, 2 * n, n)))
    for where, law in constrained_laws(model.at_time(float(arrays["t"][0][0])), constraints, whole, decay_time):
        some = {**arrays, **{name: (x[where], arrays[name][1]) for name, x in whole.items()}}
        for part, values in zip(found, _linearized(model, some, dataclasses.replace(step, law=law)), strict=True):
            part[where] = values
    return found


def _method(
    model: Model,
    q: Array,
    dt: float | None,
    integrator: str | Integrator | None,
    contacts: bool | CompliantContacts | None,
) -> Integrator:
    if dt is None:
        if integrator is not None:
            raise TypeError("linearize takes an integrator with dt only: without it, it gives rates")
        return _of_rates(model, contacts)
    method = default_steps(model, abs(dt), q, integrator=integrator, contacts=contacts, one_state=False).integrator
    if method.takes_numbers:
        raise TypeError(
            f"{type(method).__name__} takes numbers only, and has no derivatives: take another integrator"
            + (", fewer shapes (kn.model.edit.keep_collisions), or contacts=False" if method.solves_contacts else "")
        )
    return method


def _of_rates(model: Model, contacts: bool | CompliantContacts | None) -> Integrator:
    """An integrator whose system has the rates."""
    if contacts or isinstance(contacts, CompliantContacts):
        raise ValueError("contacts need steps, which dt is for: rates know none")
    must_be_a_choice(contacts)
    if contacts is None and may_touch_ground(model):
        warn(
            f"rates know no contact: bodies of {model.name} pass through the ground. With dt contacts are solved; "
            f"{SILENCE}"
        )
    return SemiImplicitEuler()


@dataclass(frozen=True)
class LinearRates:
    """A text (model, q, v, tau, t, f_ext) → A, B of ẋ = A x + B u.

    The change δq = u beside a motion with v grows by u̇ = R(u) (v + δv) − R(−u) v, with the matrix R of
    `difference_rate`.
    """

    step: StepText

    def __call__(self, model: Model, q: Any, v: Any, tau: Any, t: Any, f_ext: Any = None) -> tuple[Matrix, Matrix]:
        nv = model.nv
        turned = _slopes(_apart, model, {"u": Vector([0.0] * nv), "v": v}, ("u",))
        state = {"q": q, "v": v, "tau": tau}
        arrays = {**state, "t": t} | ({} if f_ext is None else {"f_ext": f_ext})
        a = _slopes(_Acceleration(self.step), model, arrays, tuple(state))
        moved = ({**row, nv + k: ONE} for k, row in enumerate(turned))
        return _together([*moved, *a], nv)


@dataclass(frozen=True)
class LinearStep:
    """A text (model, q, v, tau, t, dt, f_ext) → A, B of x' = A x + B u."""

    step: StepText

    def __call__(self, model: Model, **arrays: Any) -> tuple[Matrix, Matrix]:
        nq, nv = model.nq, model.nv
        call = Call.of(OfUser(tuple(arrays), ("q",), SingleStep(self.step)), model, arrays)
        sweep, _ = call.sweep()
        rows = sweep.pushed(call.seeds(("q", "v", "tau")))
        there = sweep.outputs[:nq]
        both = Call.of(OfUser(("q0", "q1"), (), displacement), model, {"q0": Vector(there), "q1": Vector(there)})
        beside = chained(both.sweep()[0].pushed({nq + i: {i: ONE} for i in range(nq)}), rows[:nq])
        return _together([*beside, *rows[nq : nq + nv]], nv)


@dataclass(frozen=True)
class _Acceleration:
    """A text (model, q, v, tau, t, f_ext) → v̇."""

    step: StepText
    __name__ = "linearize"

    def __call__(self, model: Model, q: Any, v: Any, **values: Any) -> Any:
        return self.step.system(model, applied(values)).acceleration(values["t"], q, v)


def _apart(model: Model, u: Any, v: Any) -> Any:
    return difference_rate(model, u, v) - difference_rate(model, -u, v)


def _slopes(text: Any, model: Model, arrays: Mapping[str, Any], wrt: tuple[str, ...]) -> list[dict[int, Any]]:
    """The derivatives of the results of a text by some arguments, by direction."""
    call = Call.of(OfUser(tuple(arrays), ("q",), text), model, arrays)
    rows, _ = Jacobian(call.source, wrt).rows(call)
    return [dict(row) for row in rows]


def _together(rows: list[Mapping[int, Any]], nv: int) -> tuple[Matrix, Matrix]:
    """A and B of rows of derivatives along δq, δv and δτ."""
    A = Matrix(([row.get(k, ZERO) for k in range(2 * nv)] for row in rows), 2 * nv)
    return A, Matrix(([row.get(2 * nv + k, ZERO) for k in range(nv)] for row in rows), nv)
