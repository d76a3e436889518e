"""Time stepping with contact (Moreau and Jean): impulses of contact and friction decide the velocity of every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from knuckle.algorithms.contact.cone_problem import ConeProblem, solved
from knuckle.algorithms.contact.contact_rows import UnitImpulse, inner, rate, roots, row, velocity_change, whitened_row
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone
from knuckle.algorithms.dynamics.inertia_inverse import factors
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.contact.contact_terms import candidates, frame_axes
from knuckle.engine.calls.function import kernel
from knuckle.errors import ModelError
from knuckle.integrators.base import Integrator, State
from knuckle.integrators.system import System
from knuckle.joints.base import is_plain
from knuckle.model import Model
from knuckle.scalar import ZERO, constant, less, maximum, select
from knuckle.spatial import Vector

WARNED = 1e-6
"""The residual, in m/s or rad/s, beyond which contacts count as not solved."""
RECOVERY = 0.2
"""The part of an overlap that a step takes back."""


@dataclass(frozen=True)
class ContactSteps(Integrator):
    """v' = v + dt a + H⁻¹ Tλ, and q moves with v', under contact impulses λ such that no gap closes beyond zero.

    Friction is Coulomb's with its round cone: what sticks stands still, what slides is not lifted. A pair that
    approaches with u and will touch within the step leaves with −e u. Of an overlap a step takes back a fifth. Dry
    friction at joints and, with `joint_limits`, the joints' ranges are part of the same problem. Any number of contacts
    may open and close in a step, whose error is of the first order in dt.

    The memory is the impulses, with which the next step begins, and the largest residual so far, a velocity: what a
    contact that should stand still may move with. Above `WARNED` it is worth a warning.
    """

    joint_limits: bool = False
    rounds: int = 40
    tolerance: float = 1e-12

    evaluates_forces_once = True
    solves_friction = True
    solves_contacts = True

    @property
    def order(self) -> int:
        return 1

    @property
    def evaluations(self) -> int:
        return 1

    def start(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        must_be_tree(system.model)
        n = impulse_count(system.at_time(t), self.joint_limits)
        return State(q, v, (np.zeros(n) if isinstance(q, np.ndarray) else Vector([0.0] * n), 0.0))

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        impulses, worst = state.memory
        a = _smooth(system).acceleration(t, state.q, state.v)
        q, v, impulses, residual = with_contacts(
            system.at_time(t), state.q, state.v, a, impulses, dt,
            joint_limits=self.joint_limits, rounds=self.rounds, tolerance=self.tolerance,
        )  # fmt: skip
        return State(q, v, (impulses, maximum(worst, residual)))


def _smooth(system: System) -> System:
    """Without dry friction at joints, which is found with the contacts."""
    if not any(constant(f) is not ZERO for joint in system.model.joints for f in joint.friction):
        return system
    joints = tuple(replace(joint, friction=()) for joint in system.model.joints)
    return replace(system, model=system.model.replace(joints=joints))


def must_be_tree(model: Model) -> None:
    """An error for mechanisms whose response to impulses is not that of a tree."""
    if model.loops or model.couplings:
        what = "closed loops" if model.loops else "joints that follow others"
        raise ModelError(f"contact steps take no {what} yet, and {model.name!r} has some")


class Contact(NamedTuple):
    """The rows of a contact, of friction at a joint or of a joint's limit; its law, gap and restitution."""

    rows: tuple[UnitImpulse, ...]
    law: Cone | Bounds
    gap: Any = None
    restitution: Any = ZERO


def contacts_of(model: Model, q: Any, X0: Any, dt: Any, joint_limits: bool) -> Iterator[Contact]:
    """All that impulses act on, in the order of the impulses."""
    for pair, place in candidates(model, X0):
        rows = tuple(row(model, X0, pair.first, pair.second, place.point, d) for d in frame_axes(pair, place))
        mu = constant(pair.surface.friction)
        yield Contact(rows, PUSHES if mu is ZERO else Cone(mu), place.gap, constant(pair.surface.restitution))
    for i, joint in enumerate(model.joints):
        for k, f in enumerate(joint.friction):
            if constant(f) is not ZERO:
                yield Contact((UnitImpulse({}, (i, k)),), Bounds(-f * dt, f * dt))
    for i, joint in enumerate(model.joints) if joint_limits else ():
        if not is_plain(joint.type) or joint.type.has_charts:
            continue
        for k, (low, high) in enumerate(zip(joint.limits.lower, joint.limits.upper, strict=True)):
            if low > -math.inf:
                yield Contact((UnitImpulse({}, (i, k)),), PUSHES, q[i][k] - low)
            if high < math.inf:
                yield Contact((UnitImpulse({}, (i, k), -1.0),), PUSHES, high - q[i][k])


def impulse_count(model: Model, joint_limits: bool) -> int:
    """How many impulses there are."""
    q = model.positions(Vector(model.start))
    return sum(len(contact.rows) for contact in contacts_of(model, q, positions(model, q), 1.0, joint_limits))


@kernel
def with_contacts(
    model: Model, q: Any, v: Any, a: Any, impulses: Any, dt: Any, *, joint_limits: bool, rounds: int, tolerance: float
) -> Any:
    """(q', v', impulses, residual) of a step that begins with the acceleration a.

    Velocities change in the axes that bodies have at its beginning; what goes anywhere goes straight ahead with them.
    """
    at, old = model.positions(q), model.velocities(q, v)
    pulled = model.velocities(q, a)
    free = [
        u + dt * (x - joint.coasting_rate(u)) for (_, _, joint), u, x in zip(model.outward(), old, pulled, strict=True)
    ]
    X0, before, after = positions(model, at), velocities(model, at, old), velocities(model, at, free)
    shared = factors(model, at)
    root = roots(model, shared)
    contacts = list(contacts_of(model, at, X0, dt, joint_limits))
    b: list[Any] = []
    for contact in contacts:
        rates = [rate(after, free, x) for x in contact.rows]
        b += [rates[0] + _slack(contact, rate(before, old, contact.rows[0]), dt), *rates[1:]]
    y = [whitened_row(model, shared, root, x) for contact in contacts for x in contact.rows]
    A = [[inner(model, y[max(i, k)], y[min(i, k)]) for k in range(len(y))] for i in range(len(y))]
    problem = ConeProblem.of(A, b, [contact.law for contact in contacts])
    found, residual = solved(problem, list(impulses), rounds, tolerance)
    change = velocity_change(model, shared, root, y, found)
    new = [joint.coasted(at[i], free[i] + change[i], dt) for i, _, joint in model.outward()]
    q, v = (Vector(x for state in new for x in state[part]) for part in (0, 1))
    return q, v, Vector(found), residual


def _slack(contact: Contact, approach: Any, dt: Any) -> Any:
    """By how much a normal velocity may go below zero: gap/dt; where it strikes, e times the approach instead."""
    gap, e = contact.gap, contact.restitution
    if gap is None:
        return ZERO
    slack = select(less(gap, 0), RECOVERY * gap, gap) / dt
    if e is ZERO:
        return slack
    strikes = select(less(approach, 0), less_than_zero(gap + dt * approach), 0.0)
    return select(less(0.5, strikes), e * approach, slack)


def less_than_zero(x: Any) -> Any:
    """1 below zero, else 0."""
    return select(less(x, 0), 1.0, 0.0)
