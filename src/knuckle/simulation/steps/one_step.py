"""`kn.step`: one step from a state, as a function of arrays like any other."""

from __future__ import annotations

from typing import Any

from knuckle.engine.calls.function import kernel
from knuckle.integrators.base import Adaptive, Integrator
from knuckle.integrators.contact_choice import contact_integrator, must_solve_contacts
from knuckle.integrators.loop_stabilization import Stabilization, stabilization_of
from knuckle.integrators.methods.soft_contact_steps import with_soft_contact
from knuckle.integrators.registry import integrator_of
from knuckle.integrators.starting_state import DEFAULT_STEP
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.public_names import public
from knuckle.simulation.friction.dry_friction import begun, must_be_separate, stepped
from knuckle.spatial import Matrix


@public
@kernel
def step(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    dt: Any = None,
    f_ext: Any = None,
    t: Any = None,
    *,
    integrator: str | Integrator | None = None,
    contacts: bool | CompliantContacts | None = None,
    stabilization: Stabilization = "projection",
) -> Any:
    """(q, v) after one step of dt, under forces that are held while it lasts: `q, v = kn.step(model, q, v, tau, 1e-3)`.

    Compiled at its first call. From then on a call with NumPy arrays costs a fraction of a microsecond and the step
    itself; `kn.bind(model).prepare(kn.step, integrator="euler")` fixes the options. It remembers nothing: steps with
    contact begin anew each time, and joints with dry friction that stand still are held as far as friction can. Loops
    that step on from their own results go better by `kn.Stepping`, which remembers, and many steps by `kn.rollout`.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv); none, if not given.
        dt: the length of the step in seconds: 1 ms, if not given.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6); none, if not given.
        t: the time at its beginning, for mechanisms with joints that move by a law of time; 0, if not given.
        integrator: by its name, or itself; if not given, "contact" where something may touch the ground, else "rk4".
        contacts: whether contacts are solved, or soft ones; see `simulate`.
        stabilization: what keeps closed loops closed; see `simulate`.

    Raises:
        ValueError: an array has a wrong shape, or the integrator chooses its steps itself.
    """
    for name, x, n in (("q", q, model.nq), ("v", v, model.nv), ("tau", tau, model.nv)):
        if x is not None and len(x) != n:
            raise ValueError(f"step: {name} has shape (..., {len(x)}), and must have shape (..., {n})")
    if f_ext is not None and (rows := Matrix(f_ext).nrows) != model.nb:
        raise ValueError(f"step: f_ext has {rows} wrenches, and must have one for each of {model.nb} bodies")
    must_be_separate(model)
    dt, t = DEFAULT_STEP if dt is None else dt, 0.0 if t is None else t
    method = _method(model, integrator, contacts)
    system = System(
        model,
        lambda at, t, q, v: v * 0 if tau is None else tau,
        None if f_ext is None else lambda at, t, q, v: f_ext,
        stabilization_of(stabilization),
    )
    new = stepped(method, system, t, begun(method, system, t, q, v, dt), dt)
    return new.q, new.v


def _method(model: Model, integrator: str | Integrator | None, contacts: bool | CompliantContacts | None) -> Integrator:
    """The integrator of a step."""
    solved = None if isinstance(contacts, CompliantContacts) else contacts
    if integrator is not None:
        method = integrator_of(integrator)
        if not isinstance(contacts, CompliantContacts):
            must_solve_contacts(model, solved, method)
    else:
        touching = (
            None if isinstance(contacts, CompliantContacts) else contact_integrator(model, solved, one_state=False)
        )
        method = touching or integrator_of("rk4")
    if isinstance(method, Adaptive):
        raise ValueError(f"step: {type(method).__name__} chooses its steps itself: take an integrator of fixed steps")
    if method.takes_numbers:
        raise ValueError(f"step: {type(method).__name__} is for kn.simulate and kn.Stepping")
    return with_soft_contact(method, contacts) if isinstance(contacts, CompliantContacts) else method
