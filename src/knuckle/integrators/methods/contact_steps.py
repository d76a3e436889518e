"""Time stepping with contact (Moreau and Jean): impulses of contact and friction decide the velocity of every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from knuckle.algorithms.contact.closed_rows import orthogonal_ties, ties, untied
from knuckle.algorithms.contact.coasting import lone_body, moved_back, without_impulses
from knuckle.algorithms.contact.cone_problem import WARNED, ConeProblem
from knuckle.algorithms.contact.cone_rounds import Solver, solved
from knuckle.algorithms.contact.contact_rows import (
    inner,
    rate,
    roots,
    velocity_change,
    whitened_row,
    whitened_sum,
)
from knuckle.algorithms.contact.overlap_recovery import largest, recovered
from knuckle.algorithms.contact.rebound import solved_with_rebound, without_gain
from knuckle.algorithms.dynamics.inertia_inverse import factors
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.contact.impulse_slopes import with_slopes
from knuckle.engine.calls.function import kernel
from knuckle.engine.kernels.specialization import canonical_form
from knuckle.functions.line_inertia import must_have_no_armature
from knuckle.functions.loops.loop_terms import is_redundant
from knuckle.integrators.base import Integrator, State, StepForms
from knuckle.integrators.system import System, with_rotors
from knuckle.model import Model
from knuckle.scalar import ZERO, absolute, constant, less, maximum, select
from knuckle.spatial import Vector, called, repeated
from knuckle.spatial.linear.sparse_rows import transposed_times

from .contact_impulses import (
    Contact,
    axes_of,
    chosen_pairs,
    contacts_of,
    impulse_count,
    must_be_few,
    on_canonical,
)


@dataclass(frozen=True)
class ContactSteps(Integrator):
    """v' = v + dt a + H⁻¹ Tλ, and q moves with v', under contact impulses λ such that no gap closes beyond zero.

    Friction is Coulomb's with its round cone: what sticks stands still, what slides is not lifted; moments against
    turning and rolling are bounded in the same way. A pair that approaches with u and will touch within the step leaves
    with −e u, unless friction makes energy of that. Surfaces with a stiffness push as springs and dampers, solved with
    the rest. Of an overlap a step takes back a fifth, without leaving a velocity. Closed loops, joints that follow
    others, dry friction at joints and, with `joint_limits`, the joints' ranges are part of the same problem. Any number
    of contacts may open and close in a step.

    The error of a step is of the first order in dt. `extrapolated` takes a whole step and two halves, and the second
    order from them, wherever all contacts stay what they are.

    The memory is the impulses of the last step, with which the next one begins; the largest residual so far, a
    velocity: what a contact that should stand still may move with; and the number of steps in which it was above
    `WARNED`. Where it stays above that after `rounds`, many more are tried.

    Args:
        joint_limits: whether the ranges of joints are stops.
        rounds: how often impulses are improved at most.
        tolerance: the residual that is enough, in parts of the largest velocity at a contact.
        extrapolated: whether steps are of the second order.
        pairs: the numbers of the pairs of `kn.contact.contact_pairs` to look at; all of them, where it is not given.
    """

    joint_limits: bool = False
    rounds: int = 40
    tolerance: float = 1e-12
    extrapolated: bool = False
    pairs: tuple[int, ...] | None = None

    evaluates_forces_once = True
    solves_friction = True
    solves_contacts = True
    begins_blank = True

    def formed(self, forms: StepForms) -> Integrator:
        return forms.contact_steps(self)

    def __post_init__(self) -> None:
        for name in ("joint_limits", "extrapolated"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} is True or False, not {getattr(self, name)!r}")
        is_whole = isinstance(self.rounds, (int, np.integer)) and not isinstance(self.rounds, bool)
        if not is_whole:
            raise TypeError(f"rounds is a whole number, not {self.rounds!r}")
        if self.rounds < 1:
            raise ValueError(f"rounds is a whole number from 1 on, not {self.rounds!r}")
        is_number = isinstance(self.tolerance, (int, float, np.number)) and not isinstance(self.tolerance, bool)
        if not is_number:
            raise TypeError(f"tolerance is a number, not {self.tolerance!r}")
        if not 0 <= self.tolerance < math.inf:
            raise ValueError(f"tolerance is a finite number from 0 on, not {self.tolerance!r}")
        numbers = self.pairs if isinstance(self.pairs, tuple) else ()
        if self.pairs is not None and not (isinstance(self.pairs, tuple) and all(type(k) is int for k in numbers)):
            raise TypeError(f"pairs is a tuple of whole numbers or None, not {self.pairs!r}")

    @property
    def order(self) -> int:
        return 2 if self.extrapolated else 1

    @property
    def evaluations(self) -> int:
        return 3 if self.extrapolated else 1

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        model = system.at_time(t)
        must_be_few(model, self.joint_limits, self.pairs)
        n = impulse_count(model, self.joint_limits, self.pairs)
        return State(q, v, (np.zeros(n) if isinstance(q, np.ndarray) else Vector([0.0] * n), 0.0, 0.0))

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        impulses, worst, unsolved = state.memory

        def one(t: Any, q: Any, v: Any, impulses: Any, dt: Any) -> Any:
            later = at_end(system, dt)
            a = smooth(later).acceleration(t, q, v)
            return with_contacts(
                later.at_time(t), q, v, a, impulses, dt,
                joint_limits=bool(self.joint_limits), rounds=int(self.rounds), tolerance=float(self.tolerance),
                pairs=self.pairs,
            )  # fmt: skip

        if self.extrapolated:
            q, v, impulses, residual = _extrapolated(system, called(one), t, state, dt)
        else:
            q, v, impulses, residual, _ = one(t, state.q, state.v, impulses, dt)
        failed = unsolved + select(less(residual, WARNED), 0.0, 1.0)
        return State(q, v, (impulses, maximum(worst, residual), failed))


def _extrapolated(system: System, one: Any, t: Any, state: State, dt: Any) -> tuple[Any, Any, Any, Any]:
    """(q', v', impulses, residual): twice two half steps less a whole one, where all contacts stay what they are.

    Elsewhere it is the two half steps.
    """
    guess, half = state.memory[0], dt / 2
    q1, v1, whole, first, before = one(t, state.q, state.v, guess, dt)
    middle, speed, some, second, between = one(t, state.q, state.v, 0.5 * guess, half)
    q2, v2, more, third, after = one(t + half, middle, speed, some, half)
    changes = sum((absolute(a - b) + absolute(a - c) for a, b, c in zip(before, between, after, strict=True)), ZERO)
    share = select(less(changes, 0.5), 1.0, 0.0)
    q = system.moved(q2, share * system.displacement(q1, q2))
    impulses = some + more + share * (some + more - whole)
    return q, v2 + share * (v2 - v1), impulses, maximum(first, maximum(second, third))


def at_end(system: System, dt: Any) -> System:
    """The system with springs and dampers of joints as they are at the end of a step, however stiff.

    Their forces there, −D (v + dt a) − K (q + dt v + dt² a), make it (H + dt D + dt² K) a = f − dt K v.
    """
    model = system.model
    springs, dampers = per_variable(model, "stiffness"), per_variable(model, "damping")
    if not any((*springs, *dampers)):
        return system

    def force(at: Model, t: Any, q: Any, v: Any) -> Any:
        pull = [dt * k * x for k, x in zip(springs, v, strict=True)]
        tau = system.force(at, t, q, v)
        return tau - (np.array(pull) if isinstance(tau, np.ndarray) else Vector(pull))

    more = [dt * (d + dt * k) if d or k else ZERO for d, k in zip(dampers, springs, strict=True)]
    return replace(system, model=with_rotors(model, more), force=force if any(springs) else system.force)


def per_variable(model: Model, name: str) -> list[float]:
    """A property of joints for each velocity variable."""
    return [x for i, joint in enumerate(model.joints) if i not in model.coupled for x in getattr(joint, name)]


def smooth(system: System) -> System:
    """Without dry friction at joints, which is found with the contacts."""
    if not any(constant(f) is not ZERO for joint in system.model.joints for f in joint.friction):
        return system
    joints = tuple(replace(joint, friction=()) for joint in system.model.joints)
    return replace(system, model=system.model.replace(joints=joints))


@kernel
def with_contacts(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    impulses: Any,
    dt: Any,
    *,
    joint_limits: bool,
    rounds: int,
    tolerance: float,
    pairs: tuple[int, ...] | None,
) -> Any:
    """(q', v', impulses, residual, states of the contacts) of a step that begins with the acceleration a.

    Velocities change in the axes that bodies have at its beginning; what goes anywhere goes straight ahead with them.
    """
    must_have_no_armature(model, "steps with contacts")
    at, old = model.positions(q), model.velocities(q, v)
    pulled = model.velocities(q, a)
    old, free, turns = without_impulses(model, old, pulled, dt)
    form = canonical_form(model)  # the same operations as in forward dynamics
    tree, here, slow, fast = form.light, *map(form.per_joint, (at, old, free))
    X0, before, after = positions(tree, here), velocities(tree, here, slow), velocities(tree, here, fast)
    shared = factors(tree, here)
    root = roots(tree, shared)
    touching = [on_canonical(form, pair) for pair in chosen_pairs(model, pairs)]
    contacts = list(contacts_of(tree, here, X0, dt, joint_limits, touching))
    rows = [x for contact in contacts for x in contact.rows]
    axes, J = axes_of(tree, X0, rows, [not contact.is_soft for contact in contacts for _ in contact.rows])
    y = [whitened_row(tree, shared, root, x) for x in axes]
    if model.loops or model.couplings:
        parts = orthogonal_ties(tree, shared, root, *ties(tree, q, here), redundant=is_redundant(model))
        y = [untied(tree, parts, x) for x in y]
    G = [[inner(tree, y[max(i, k)], y[min(i, k)]) for k in range(len(y))] for i in range(len(y))]
    rates = [rate(after, fast, x) for x in rows]

    def earlier() -> list[Any]:
        """The rates before forces act."""
        return [rate(before, slow, x) for x in rows]

    found, residual, problem = resolved(
        contacts, G, J, rates, earlier, list(impulses), dt, rounds, tolerance, with_slopes
    )
    z = whitened_sum(tree, y, transposed_times(J, found, len(y)))

    def unsolved(more: Any, _: Any) -> tuple[Any, Any]:
        """The part of the impulses that brings no energy."""
        free = worked_against(contacts, rates, earlier(), dt)
        along = sum((x * u for x, u in zip(found, free, strict=True)), ZERO)
        work = sum((x * x for own in z.values() for x in own), compliant_work(contacts, found, dt))
        return 0.0 * more, without_gain(along, work)

    _, part = repeated(unsolved, (select(less(residual, WARNED), 0.0, 1.0), 1.0), 1)
    found, z = [part * x for x in found], {i: [part * x for x in own] for i, own in z.items()}
    change = form.per_old_joint(velocity_change(tree, shared, root, z))
    new: dict[int, tuple[Vector, Vector]] = {}
    for i, _, joint in model.outward():
        if i not in model.coupled:
            speed = free[i] + change[i]
            new[i] = joint.coasted(at[i], speed, dt, lone_body(model, i), speed - turns[i])

    def apart(push: Any, *states: tuple[Vector, Vector]) -> tuple[Any, ...]:
        """The states of joints with a part of overlaps taken back."""
        stops, pushes = recovered(problem, overlaps)
        along = whitened_sum(tree, y, transposed_times([J[n] for n in stops], pushes, len(y)))
        back = form.per_old_joint(velocity_change(tree, shared, root, along))
        moved = (
            moved_back(model.joints[i].type, *state, lone_body(model, i), back[i], dt)
            for i, state in zip(new, states, strict=True)
        )
        return 0.0 * push, *moved

    overlaps, n = dict[int, Any](), 0
    for contact in contacts:
        if contact.is_stop:
            overlaps[n] = contact.recovery(dt)
        n += len(contact.rows)
    states = repeated(apart, (largest(overlaps), *new.values()), 1)[1:] if overlaps else new.values()
    q, v = (Vector(x for state in states for x in state[part]) for part in (0, 1))
    return q, v, Vector(found), residual, Vector(_states(contacts, found))


def resolved(
    contacts: Sequence[Contact],
    G: list[list[Any]],
    J: Sequence[dict[int, Any]],
    rates: Sequence[Any],
    earlier: Callable[[], Sequence[Any]],
    impulses: list[Any],
    dt: Any,
    rounds: int,
    tolerance: float,
    solve: Solver = solved,
) -> tuple[list[Any], Any, ConeProblem]:
    """Impulses, the residual, and the problem that they solve.

    J G Jᵀ is T H⁻¹ Tᵀ, `rates` are those of the rows without impulses, and `earlier` gives those before forces act.
    """
    b = list[Any]()
    for contact in contacts:
        n, m = len(b), len(contact.rows)
        if contact.is_soft:
            (k,) = J[n]
            G[k][k] = G[k][k] + contact.compliance(dt)
        b += [rates[n] + contact.slack(dt), *rates[n + 1 : n + m]]
    problem = ConeProblem.along(G, J, b, [contact.law for contact in contacts])
    if all(contact.restitution is ZERO for contact in contacts):
        return *solve(problem, impulses, rounds, tolerance), problem
    rebound, before = list[Any](), earlier()
    for contact in contacts:
        n, m = len(rebound), len(contact.rows)
        first = ZERO if contact.restitution is ZERO else contact.rebound(before[n], dt)
        rebound += [first, *[ZERO] * (m - 1)]
    free = worked_against(contacts, rates, before, dt)
    return *solved_with_rebound(problem, rebound, free, impulses, rounds, tolerance, solve), problem


def worked_against(contacts: Sequence[Contact], rates: Sequence[Any], earlier: Sequence[Any], dt: Any) -> list[Any]:
    """The mean of the rates before and after forces act, against which impulses work as they do."""
    free = [(x + y) / 2 for x, y in zip(rates, earlier, strict=True)]
    n = 0
    for contact in contacts:
        if contact.is_soft:
            free[n] = free[n] + contact.slack(dt)
        n += len(contact.rows)
    return free


def compliant_work(contacts: Sequence[Contact], impulses: Sequence[Any], dt: Any) -> Any:
    """What impulses do to the springs of soft contacts: part of λᵀA λ."""
    total, n = ZERO, 0
    for contact in contacts:
        if contact.is_soft:
            total = total + contact.compliance(dt) * impulses[n] * impulses[n]
        n += len(contact.rows)
    return total


def _states(contacts: list[Contact], impulses: list[Any]) -> Iterator[Any]:
    """What each contact does: whether it pushes, sticks and slides."""
    n = 0
    for contact in contacts:
        yield from contact.law.state(impulses[n : n + len(contact.rows)])
        n += len(contact.rows)
