"""Dry friction at joints through a step: which joints slide and which stick, and the impulses that decide it.

Friction is a force of any size up to f against a motion, and of size f while there is one. A step begins with a mode
for every velocity variable with friction: it slides forwards (1) or backwards (−1), under a force of constant size, or
sticks (0), its velocity being zero. While modes stay, the motion is smooth, and every integrator keeps its order. A
joint that sticks is held by a rotor of inertia `HOLD`, beside which every other is nothing: its velocity at the end of
the step tells the impulse that it was held against.

At the end a box-constrained problem in the impulses says which modes were wrong. A joint that turned back within the
step was under the wrong force since it stood still: it stops, or goes on backwards under the other force. A joint held
against more than f slips by the rest. Simulations find these moments by events (`sticking`); rollouts go over them with
an error of the second order in the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.calls.function import kernel
from knuckle.errors import ModelError
from knuckle.functions import integrate, mass_matrix
from knuckle.integrators.base import Integrator, State
from knuckle.integrators.methods.newton import Iterative
from knuckle.integrators.methods.variational import response
from knuckle.integrators.system import HOLD, System, held_model
from knuckle.joints.base import is_plain
from knuckle.model import Model, reduction
from knuckle.scalar import ZERO, absolute, constant, less, maximum, select, sign
from knuckle.spatial import Matrix, Vector, repeated

Pushed: TypeAlias = Callable[[dict[int, "Row"]], Any]
"""The change of velocity by the impulses of rows"""
SMALL = 12
"""Up to so many velocity variables the mass matrix and solutions with it are shorter than recursions."""
ROUNDS = 10
"""Solutions in which joints change sides, at most: two or three are usual."""


def friction_rows(model: Model) -> tuple[int, ...]:
    """The velocity variables at which dry friction acts."""
    if all(type(f) is float and f == 0.0 for joint in model.joints for f in joint.friction):
        return ()
    rows = {
        row
        for i, joint in enumerate(model.joints)
        if any(constant(f) is not ZERO for f in joint.friction)
        for row, f in zip(model.variables(i), joint.friction * _sources(model, i), strict=True)
        if constant(f) is not ZERO
    }
    return tuple(sorted(rows))


def has_modes(integrator: Integrator, model: Model) -> bool:
    """Whether states carry modes of dry friction: an integrator may solve for it itself."""
    return not integrator.solves_friction and bool(friction_rows(model))


def _sources(model: Model, i: int) -> int:
    return len(model.coupled[i].sources) if i in model.coupled else 1


def must_be_separate(model: Model) -> None:
    """An error for friction that acts on several velocity variables at once, or among too many loops."""
    for coupling in model.couplings:
        joint = model.joints[coupling.joint]
        if len(coupling.sources) > 1 and any(constant(f) is not ZERO for f in joint.friction):
            raise ModelError(
                f"joint {joint.name!r} has dry friction and follows several joints at once: a step takes the friction "
                "of each velocity variable by itself. Give the friction to the joints that it follows"
            )


def friction_limits(model: Model, q: Any) -> Vector:
    """The largest friction force at each velocity variable: |G|ᵀ f."""
    total: list[Any] = [ZERO] * model.nv
    for joint, G in zip(model.joints, reduction.rows(model, q), strict=True):
        for f, row in zip(joint.friction, G, strict=True):
            for k, ratio in row.items():
                total[k] = total[k] + constant(f) * absolute(ratio)
    return Vector(total)


@kernel
def largest_friction(model: Model, t: Any, q: Any) -> Any:
    """The same at a time."""
    return friction_limits(model.at_time(t), q)


def modes_of(model: Model, v: Any) -> Any:
    """The modes of a state by its velocity alone: what stands still sticks."""
    rows = friction_rows(model)
    return _like(v, (sign(x) if i in rows else ZERO for i, x in enumerate(v)))


def held(system: System, modes: Any) -> System:
    """The mechanism while it keeps its modes: under constant friction where it slides, held where it sticks."""
    rows = friction_rows(system.model)

    def force(at: Model, t: Any, q: Any, v: Any) -> Any:
        model = system.unheld(t)
        friction = friction_limits(model, q)
        model = model if at.actuators is model.actuators else model.replace(actuators=at.actuators)
        return system.force(model, t, q, v) - _like(v, (f * s for f, s in zip(friction, modes, strict=True)))

    resting: Any = [ZERO] * len(modes) if system.sticking is None else system.sticking
    both = zip(modes, resting, strict=True)
    sticking = (1 - (s * s) * (1 - r) if i in rows else r for i, (s, r) in enumerate(both))
    return system.under(force, _like(modes, sticking))


def still(model: Model, before: State, after: State) -> tuple[Any, Any]:
    """(q, v) after a step: exactly zero velocity where joints stick, and where they did before, exactly their place."""
    rows, q, v = friction_rows(model), list(after.q), list(after.v)
    was, now = before.memory[0], after.memory[0]
    for i, joint in enumerate(model.joints):
        for n, row in enumerate(range(model.v_slices[i].start, model.v_slices[i].stop)):
            if row not in rows:
                continue
            v[row] = v[row] * (now[row] * now[row])
            if is_plain(joint.type) and not joint.type.has_charts:
                k = model.q_slices[i].start + n
                q[k] = select(less(was[row] * was[row] + now[row] * now[row], 0.5), before.q[k], q[k])
    return _like(after.q, q), _like(after.v, v)


def at_rest(model: Model, v: Any, modes: Any) -> Any:
    """A velocity, exactly zero where joints stick."""
    rows = friction_rows(model)
    return _like(v, (ZERO if i in rows and modes[i] == 0 else x for i, x in enumerate(v)))


def begun(integrator: Integrator, system: System, t: Any, q: Any, v: Any, dt: Any, modes: Any = None) -> State:
    """The state to begin with; its modes, where they are not given, are those of the velocity."""
    if not has_modes(integrator, system.model):
        return integrator.begin(system, t, q, v, dt)
    modes = modes_of(system.model, v) if modes is None else modes
    state = integrator.begin(held(system, modes), t, q, v, dt)
    return State(state.q, state.v, (modes, *state.memory))


def stepped(integrator: Integrator, system: System, t: Any, state: State, dt: Any) -> State:
    """The state at t + dt, with dry friction found and loops closed. The modes are the first entry of the memory."""
    if not has_modes(integrator, system.model):
        return integrator.closed(system, t, integrator.step(system, t, state, dt), dt)
    return finished(integrator, system, t, state, slid(integrator, system, t, state, dt), dt)


def within_modes(
    method: str, integrator: Integrator, system: System, t: Any, state: State, besides: tuple[Any, ...], dt: Any
) -> Any:
    """What a method of an integrator gives if all modes stay what they are; a state has its loops closed."""
    if method == "slid":
        return kept(integrator, system, t, state, slid(integrator, system, t, state, dt), state.memory[0], dt)
    if not has_modes(integrator, system.model):
        result = getattr(integrator, method)(system, t, state, *besides, dt)
        return (integrator.closed(system, t, result[0], dt), *result[1:]) if method == "attempt" else result
    modes, *memory = state.memory
    result = getattr(integrator, method)(held(system, modes), t, State(*state[:2], tuple(memory)), *besides, dt)
    if method == "attempt":
        return kept(integrator, system, t, state, result[0], modes, dt), *result[1:]
    return State(result.q, result.v, (modes, *result.memory)) if isinstance(result, State) else result


def slid(integrator: Integrator, system: System, t: Any, state: State, dt: Any) -> State:
    """The state at t + dt if all modes stay what they are. What sticks has no velocity, and no change of one."""
    modes, *memory = state.memory
    rows = friction_rows(system.model)
    moving = _like(state.v, (x * (modes[i] * modes[i]) if i in rows else x for i, x in enumerate(state.v)))
    new = integrator.step(held(system, modes), t, State(state.q, moving, tuple(memory)), dt)
    if system.sticking is None:
        return new
    v = _like(new.v, (x * (1 - r) for x, r in zip(new.v, system.sticking, strict=True)))
    return State(new.q, v, new.memory)


def kept(integrator: Integrator, system: System, t: Any, old: State, new: State, modes: Any, dt: Any) -> State:
    """A state at t + dt in its right modes: at rest where it sticks, and its loops closed."""
    new = integrator.closed(held(system, modes), t, new, dt)
    new = State(new.q, new.v, (modes, *new.memory))
    return State(*still(system.model, old, new), new.memory)


def finished(integrator: Integrator, system: System, t: Any, state: State, new: State, dt: Any) -> State:
    """The state at t + dt from what `slid` found: impulses where modes were wrong, and the modes from here on."""
    modes = state.memory[0]
    ends = state.q, state.v, modes, new.q, new.v
    pushed = system.held_response(state.q)
    if pushed is None:
        q, v, after = settled(system.model, t, *ends, dt)
    else:
        q, v, after = _settled_numbers(system, pushed, *ends, dt)
    if system.sticking is not None:  # what rests on a stop stays in its mode
        both = zip(modes, after, system.sticking, strict=True)
        after = _like(after, (r * old + (1 - r) * x for old, x, r in both))
    memory = new.memory
    if memory:  # a change of modes is a new beginning
        fresh = integrator.renewed(system, t + dt, State(q, v, memory), dt).memory
        changed = less(0.5, sum((absolute(a - b) for a, b in zip(after, modes, strict=True)), 0.0))
        begun = tuple(_chosen(changed, a, b) for a, b in zip(fresh, memory, strict=True))
        memory = (*begun[:-1], memory[-1]) if isinstance(integrator, Iterative) else begun
    return kept(integrator, system, t, state, State(q, v, memory), after, dt)


@dataclass(frozen=True)
class Row:
    """One velocity variable with friction at the end of a step, while its impulse is looked for. Flags are 1 or 0."""

    most: Any
    """The largest impulse of friction"""
    sticks: Any
    """Whether it was held in the step"""
    load: Any
    """The impulse that it was held against in the same time: the step, or the part of it in which modes were wrong"""
    turns: Any
    """Whether it slid, and turned back"""
    rest: Any
    """The part of the step in which its mode was wrong, if it was"""
    was: Any
    """Its velocity at the end of the step"""
    holds: Any
    """Whether it is held now"""
    way: Any
    """The direction of the impulse that its mode left out"""
    push: Any
    """That impulse"""

    @classmethod
    def of(cls, v0: Any, mode: Any, v: Any, most: Any) -> Row:
        """After a step from v₀ to v in a mode."""
        sticks = 1 - mode * mode
        back = less(mode * v, 0)
        rest = select(back, v / select(back, v - v0, 1), ZERO)
        turns = select(back, 1 - sticks, ZERO)
        load = HOLD * v * sticks
        push = turns * mode * (2 * most * rest)
        return cls(most, sticks, load, turns, rest, v * (1 - sticks), sticks, turns * mode, push).after(ZERO, ZERO)

    def on(self, side: tuple[Any, Any, Any]) -> Row:
        """On another side: whether it is held, the direction of its impulse, and the impulse."""
        holds, way, push = side
        return replace(self, holds=holds, way=way, push=push)

    def after(self, change: Any, v: Any) -> Row:
        """With other sides where a round with this change of velocity, to v, shows them wrong."""
        load, ahead = self.load + HOLD * change, self.way * v
        slips = select(less(self.most, absolute(load)), self.sticks * self.holds, ZERO)
        returns = select(less(ahead, 0), self.sticks * (1 - self.holds), ZERO)
        stops = select(less(0, ahead), self.turns * (1 - self.holds), ZERO)
        away = sign(load)
        return replace(
            self,
            holds=self.holds - slips + returns + stops,
            way=select(less(0.5, slips), away, self.way),
            push=(1 - slips - returns - stops) * self.push + slips * (self.load - self.most * away)
            - stops * (HOLD * self.was),
        )  # fmt: skip


@kernel
def settled(model: Model, t: Any, q0: Any, v0: Any, modes: Any, q: Any, v: Any, dt: Any) -> Any:
    """(q, v, modes) at the end of a step that came from q₀, v₀ to q, v and kept its modes.

    The impulses that were left out are at most 2 f (1 − θ) dt for a joint that stood still at θ dt and came back, and
    what is more than f dt for one that was held. Each round is a solution with some joints held and some pushed, after
    which those on the wrong side change it (`boxed`). Steps in which all modes were right need none.
    """
    now = model.at_time(t)
    return _settled(now, q0, v0, modes, q, v, dt, _pushes(now, q0), partial(integrate, now))


def _settled(
    model: Model, q0: Any, v0: Any, modes: Any, q: Any, v: Any, dt: Any, pushed: Pushed, moved: Callable[..., Any]
) -> Any:
    F = friction_limits(model, q0)
    on = friction_rows(model)
    wrong: Any = sum((_is_wrong(modes[i], v[i], F[i] * dt) for i in on), 0)
    was: Any = Vector(x * (modes[i] * modes[i]) if i in on else x for i, x in enumerate(v))

    def mended(_: Any, q: Any, __: Any) -> Any:
        rows = {i: Row.of(v0[i], modes[i], v[i], F[i] * dt) for i in on}
        rest: Any = ZERO
        for row in rows.values():
            rest = maximum(rest, maximum(row.rest, row.sticks * (1 - row.holds)))
        first = {i: replace(row, load=row.load * rest, most=row.most * rest) for i, row in rows.items()}

        def another(_: Any, sides: Any, change: Any) -> Any:
            before = {i: row.on(side) for (i, row), side in zip(first.items(), sides, strict=True)}
            after = {i: row.after(change[i], was[i] + change[i]) for i, row in before.items()}
            differ = sum((absolute(after[i].holds - before[i].holds) for i in after), 0.0)
            return differ, _sides(after), pushed(after)

        _, sides, change = repeated(another, (1, _sides(first), pushed(first)), ROUNDS)
        new: Any = was + change
        began: Any = Vector.zero(model.nv)
        for i, (holds, _, _) in zip(first, sides, strict=True):  # what slips from rest began with v₀ = 0, or beside it
            began = _with(began, i, v0[i] * (first[i].sticks * (1 - holds)))
            new = _with(new, i, (new[i] + began[i]) * (1 - holds))
        return 0, moved(q, (dt * rest / 2) * (new - was + began)), new

    _, q, new = repeated(mended, (wrong, q, was), 1)
    return q, new, Vector(sign(x) if i in on else ZERO for i, x in enumerate(new))


def _settled_numbers(
    system: System, respond: Callable[..., Any], q0: Any, v0: Any, modes: Any, q: Any, v: Any, dt: Any
) -> tuple[Any, ...]:
    """The same on arrays, with the change of velocity by impulses that a mechanism of many loops has of its own."""
    n = system.model.nv

    def pushed(rows: dict[int, Row]) -> Vector:
        push, holds = ([float(getattr(rows[i], x)) if i in rows else 0.0 for i in range(n)] for x in ("push", "holds"))
        return Vector(respond(np.array(push), np.array(holds)))

    def moved(q: Any, u: Any) -> Vector:
        return Vector(system.moved(*(np.array([float(x) for x in y]) for y in (q, u))))

    began = Vector(q0), Vector(v0), Vector(modes)
    found = _settled(system.model, *began, Vector(q), Vector(v), dt, pushed, moved)
    return tuple(np.array([float(x) for x in part]) for part in found)


def _is_wrong(mode: Any, v: Any, most: Any) -> Any:
    """1 where a joint in this mode ended a step with a velocity that says otherwise, else 0."""
    slips = less(most, absolute(HOLD * v) * (1 - mode * mode))
    return select(less(mode * v, 0), 1, select(slips, 1, 0))


def _sides(rows: dict[int, Row]) -> tuple[Any, ...]:
    """What changes from round to round."""
    return tuple((row.holds, row.way, row.push) for row in rows.values())


def _with(v: Vector, i: int, x: Any) -> Vector:
    return Vector(x if k == i else y for k, y in enumerate(v))


@kernel
def responses(model: Model, t: Any, q: Any, push: Any, sticking: Any) -> Any:
    """The change of velocity by an impulse, with some joints held."""
    return response(held_model(model.at_time(t), sticking), q, push)


def responses_in(system: System, t: float, q: Any, push: Any, sticking: Any) -> Any:
    """The same of impulses (n, nv) on a system, by sparse equations where it has some."""
    respond = system.held_response(q)
    if respond is None:
        return responses(system.model, t, q, push, sticking)
    return np.array([respond(p, sticking) for p in push]).reshape(np.shape(push))


def _pushes(model: Model, q: Any) -> Pushed:
    """The change of velocity by the impulses of rows: with the mass matrix of a small tree, else in O(n)."""
    n, is_small = model.nv, model.nv <= SMALL and not model.loops
    H: Any = mass_matrix(model, q) if is_small else None

    def pushed(rows: dict[int, Row]) -> Any:
        holds = Vector(rows[i].holds if i in rows else ZERO for i in range(n))
        push = Vector(rows[i].push if i in rows else ZERO for i in range(n))
        if H is None:
            return response(held_model(model, holds), q, push)
        return (H + Matrix.diagonal(HOLD * holds)).solve(push)

    return pushed


def _like(x: Any, entries: Any) -> Any:
    """Entries as an array or as a vector, as x is one."""
    return np.array([float(a) for a in entries]) if isinstance(x, np.ndarray) else Vector(entries)


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    if isinstance(condition, bool | np.bool_):
        return a if condition else b
    if isinstance(a, Vector):
        return Vector(select(condition, x, y) for x, y in zip(a, b, strict=True))
    return select(condition, a, b)
