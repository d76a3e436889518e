"""Which integrator takes which steps where nothing is said: by how stiff joints and soft contacts are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import neutral
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.scalar import ZERO, constant
from knuckle.warning import warn

from .base import Adaptive, Integrator, must_know_deformables
from .contact_choice import contact_integrator, must_solve_contacts
from .implicit_choice import is_large
from .registry import integrator_of, name_of
from .starting_state import DEFAULT_STEP
from .stiffness import Stiffness, fiber_stiffness, stiffness
from .system import System

Array = NDArray[Any]

STABLE = 2.5
"""RK4 is stable up to about dt · rate = 2.7."""
LIMITS = {1: 2.0, 2: 2.0}
"""Those of the first and the second order are so up to 2."""
DAMPED, SWINGING = 0.5, 0.2
"""dt times the rates of dampers and springs up to which RK4 follows them well."""
MOST_PARTS, IMPLICIT_PARTS = 256, 16
"""Parts of `DEFAULT_STEP` that RK4 takes; where more would be needed, implicit steps are taken, so many."""
SAMPLES = 8
"""States of a batch that are looked at."""


@dataclass(frozen=True)
class Steps:
    """How a motion is computed: the integrator, its name, its step, and why these."""

    integrator: Integrator
    name: str
    dt: float | None
    """The step in seconds; None where an adaptive integrator chooses it"""
    parts: int = 1
    """How many of these steps make one of `DEFAULT_STEP`, after which a row is kept"""
    why: str = ""
    """What the choice follows from, where the model asks for it"""
    is_coarse: bool = False
    """Whether the choice costs accuracy"""


def default_steps(
    model: Model,
    dt: float | None = None,
    q: Array | None = None,
    *,
    integrator: str | Integrator | None = None,
    contacts: bool | CompliantContacts | None = None,
    one_state: bool = True,
) -> Steps:
    """What a motion of this model is computed with, as far as it is not said.

    Contact steps of a millisecond where something may touch the ground, else RK4. Where dampers and springs at the
    joints, or soft contacts, are too stiff for that, and no dt is given, RK4 in parts of a millisecond; where these
    would be too many, or dt is given, implicit steps. With deformable bodies there are `DeformableSteps` only. A
    warning says where a given integrator is explicit and its steps are too long for soft contacts.

    Args:
        model: the mechanism.
        dt: the step in seconds, if it is given.
        q: positions (..., nq) from which it moves; neutral, if not given.
        integrator: by name, or itself, if it is given.
        contacts: True if contacts are to be solved, False if bodies pass through each other; if not given, they are
            solved where something may touch a shape of the base. Soft contacts become part of any integrator.
        one_state: whether it is one motion, as in `simulate`, which can have contacts of any shapes, or a rollout.
    """
    positions = neutral(model) if q is None else q
    if model.deformables:
        from .methods.deformable_steps import DeformableSteps

        method = DeformableSteps() if integrator is None else integrator_of(integrator)
        must_know_deformables(model, method)
        if isinstance(method, DeformableSteps):
            method = method.with_contacts(model, contacts)
        return Steps(method, "deformable" if integrator is None else name_of(integrator), dt or DEFAULT_STEP)
    if isinstance(contacts, CompliantContacts):
        return _soft_steps(model, dt, positions, integrator, contacts)
    if integrator is not None:
        must_solve_contacts(model, contacts, integrator_of(integrator))
        return _given_steps(integrator, dt)
    touching = contact_integrator(model, contacts, one_state=one_state)
    if touching is not None:  # springs and dampers of joints are those at the end of its steps
        return Steps(touching, "contact", dt or DEFAULT_STEP)
    rate, fibers = _stiffest(model, positions), _stiffest_fibers(model, positions)
    what = "fibers of muscles" if fibers > rate.rate else "joints"
    rate = Stiffness(max(rate.damping, fibers), rate.frequency)
    return _chosen_steps(model, dt, rate, what)


def _given_steps(integrator: str | Integrator, dt: float | None) -> Steps:
    method = integrator_of(integrator)
    step = None if dt is None and isinstance(method, Adaptive) else dt or DEFAULT_STEP
    return Steps(method, name_of(integrator), step)


def _chosen_steps(model: Model, dt: float | None, rate: Stiffness, what: str) -> Steps:
    """Steps of RK4 as short as what is stiff needs them, or implicit ones."""
    step, plain, name = dt or DEFAULT_STEP, integrator_of("rk4"), "rk4"
    parts = max(rate.damping * step / DAMPED, rate.frequency * step / SWINGING)
    if dt is None and 1 < parts <= MOST_PARTS:
        n = 2 ** math.ceil(math.log2(parts))
        why = f"{_stiff(model, rate, what)}: {type(plain).__name__} takes steps of {step / n:.3g} s"
        return Steps(plain, name, step / n, n, why)
    if not rate.rate * step > STABLE:
        return Steps(plain, name, step)
    return implicit_steps(model, step, IMPLICIT_PARTS if dt is None else 1, _stiff(model, rate, what))


def _soft_steps(
    model: Model, dt: float | None, q: Array, integrator: str | Integrator | None, contacts: CompliantContacts
) -> Steps:
    """Steps with soft contact."""
    joints, touching, fibers = _stiffest(model, q), _stiffest(model, q, contacts), _stiffest_fibers(model, q)
    rate = Stiffness(max(joints.damping, touching.damping, fibers), max(joints.frequency, touching.frequency))
    what = "soft contacts" if touching.rate >= joints.rate else "joints"
    steps = _chosen_steps(model, dt, rate, what) if integrator is None else _given_steps(integrator, dt)
    limit = LIMITS.get(steps.integrator.order, STABLE)
    is_explicit = steps.integrator.evaluations is not None and not isinstance(steps.integrator, Adaptive)
    if is_explicit and steps.dt is not None and touching.rate * steps.dt > limit:
        warn(
            f"soft contacts of {model.name} are too stiff for {steps.name} in steps of {steps.dt:.3g} s (damping "
            f"{touching.damping:.3g} 1/s, springs {touching.frequency:.3g} rad/s): it is stable up to "
            f'{limit / touching.rate:.2g} s. Take shorter steps, softer surfaces, or integrator="implicit"'
        )
    return with_contacts(steps, contacts)


def with_contacts(steps: Steps, contacts: CompliantContacts) -> Steps:
    """The same steps with soft contacts."""
    from .methods.soft_contact_steps import with_soft_contact

    return replace(steps, integrator=with_soft_contact(steps.integrator, contacts))


def implicit_steps(model: Model, step: float, parts: int, because: str) -> Steps:
    """Steps that are stable however stiff the joints are."""
    why = (
        f"{because}: steps of {step / parts:.3g} s are implicit ones, whose error is of the first order. Shorter ones "
        'are more exact; integrator="implicit" says that they are meant'
    )
    return Steps(integrator_of("implicit"), "implicit", step / parts, parts, why, is_coarse=True)


def implicit_instead(model: Model, steps: Steps, because: str) -> Steps:
    """Implicit steps instead of others, with the same soft contacts."""
    new = implicit_steps(model, DEFAULT_STEP, IMPLICIT_PARTS, because)
    contacts = steps.integrator.soft_contacts
    return new if contacts is None else with_contacts(new, contacts)


def is_too_stiff(model: Model, steps: Steps, q: Array) -> bool:
    """Whether RK4 is not stable with these steps in one of the last of the positions (n, nq) of a motion."""
    if steps.name != "rk4" or steps.dt is None:
        return False
    rates = [_stiffest(model, q[-SAMPLES:], x).rate for x in {None, steps.integrator.soft_contacts}]
    return max(rates) * steps.dt > STABLE


def _stiff(model: Model, rate: Stiffness, what: str) -> str:
    return f"the {what} of {model.name} are stiff (damping {rate.damping:.3g} 1/s, springs {rate.frequency:.3g} rad/s)"


def _stiffest(model: Model, q: Array, contacts: CompliantContacts | None = None) -> Stiffness:
    """How stiff the joints and force elements of a mechanism are in some of its states, or its soft contacts."""
    has_springs = any(constant(x) is not ZERO for joint in model.joints for x in (*joint.damping, *joint.stiffness))
    if contacts is None and not has_springs and not model.elements:
        return Stiffness(0.0, 0.0)
    at_rest, system = np.zeros(model.nv), System(model, _nothing)

    def at(x: Array) -> Stiffness:
        if contacts is not None:
            from .contact_stiffness import contact_stiffness

            return contact_stiffness(model, contacts, x)
        if is_large(model) and not model.couplings:
            from .implicit_loops.fastest_rates import fastest_rates

            return fastest_rates(model, x)
        return stiffness(system, 0.0, x, at_rest, with_forces=False)

    rates = [at(np.asarray(x, float)) for x in _samples(model, q)]
    rates = [x for x in rates if np.isfinite(x.rate)]
    return Stiffness(max((x.damping for x in rates), default=0.0), max((x.frequency for x in rates), default=0.0))


def _stiffest_fibers(model: Model, q: Array) -> float:
    """How fast fibers at elastic tendons of muscles come to rest, in 1/s, in some states."""
    return max((fiber_stiffness(model, np.asarray(x, float)) for x in _samples(model, q)), default=0.0)


def _samples(model: Model, q: Array) -> Array:
    states = q.reshape(math.prod(q.shape[:-1]), model.nq)
    states = states[np.isfinite(states).all(axis=-1)]
    last = len(states) - 1
    return states[sorted({last * k // (SAMPLES - 1) for k in range(SAMPLES)})] if len(states) else states


def _nothing(model: Model, t: Any, q: Any, v: Any) -> Any:
    return 0 * v
