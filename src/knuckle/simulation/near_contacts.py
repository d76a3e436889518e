"""Scenes of many bodies: of all pairs of shapes that may touch, steps look at those that are near.

The text of a step grows with the pairs in it. Where there are many, a simulation takes the near ones, by balls around
their shapes, and steps with these until another pair comes near.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.contact.contact_pairs import contact_pairs
from knuckle.engine.calls.function import kernel
from knuckle.functions.configuration import integrate
from knuckle.integrators.base import Integrator, State
from knuckle.integrators.methods.contact_impulses import impulse_count
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Geometry, Model, Plane, Sphere
from knuckle.spatial import Matrix

from .mode_switch import ModeSwitch, Run, Step
from .steps.native_steps import StateRows
from .steps.stepper import Stepper

Array = NDArray[Any]

FEW = 48
"""Impulses up to which all pairs are part of every step."""
NEAR, TOO_NEAR = 0.5, 0.1
"""Pairs closer than this part of the smaller ball are taken; others must stay farther away than that."""
LOOK = 16
"""Steps between states at which distances are looked at."""
AHEAD = 4 * LOOK
"""Steps for which pairs are chosen by the velocities of their bodies."""


@kernel
def _places(model: Model, q: Any) -> Any:
    """The origins and the third axes of all shapes that collide, in base coordinates: (n, 6)."""
    X0 = positions(model, model.positions(q))
    here = [shape.X @ X0[i] for i, shape in _shapes(model)]
    return Matrix([[*X.r, *X.E[2]] for X in here], 6)


def _shapes(model: Model) -> list[tuple[int, Geometry]]:
    bodies = [(-1, model.base), *enumerate(model.bodies)]
    return [(i, shape) for i, body in bodies for shape in body.collisions]


def ball_around(shape: Any) -> float:
    """The radius of a ball about the origin of a shape that has all of it; infinite where none is known."""
    match shape:
        case Sphere():
            return shape.radius
        case Capsule():
            return shape.radius + shape.length / 2
        case Box():
            return math.hypot(*shape.size) / 2
        case Cylinder():
            return math.hypot(shape.radius, shape.length / 2)
        case Ellipsoid():
            return max(shape.radii)
        case _:
            return math.inf


class NearContacts(ModeSwitch):
    """Chooses the pairs of shapes that steps look at, and chooses again where another one comes near."""

    def __init__(
        self, model: Model, integrator: ContactSteps, made: Callable[[Integrator], Stepper], dt: float
    ) -> None:
        self._model, self._integrator, self._made, self._dt = model, integrator, made, dt
        pairs, shapes = contact_pairs(model), _shapes(model)
        number = {(i, id(shape)): k for k, (i, shape) in enumerate(shapes)}
        self._first, self._second = (
            np.array([number[i, id(shape)] for i, shape in sides], int)
            for sides in (
                [(pair.first, pair.first_shape) for pair in pairs],
                [(pair.second, pair.second_shape) for pair in pairs],
            )
        )
        balls = np.array([[ball_around(s.shape) for s in (pair.first_shape, pair.second_shape)] for pair in pairs])
        self._is_plane = np.array([isinstance(pair.second_shape.shape, Plane) for pair in pairs])
        self._balls = np.where(self._is_plane, balls[:, 0], balls.sum(1))
        size = np.where(self._is_plane, balls[:, 0], balls.min(1))
        self._size = np.where(np.isfinite(size), size, 1.0)
        self._steppers: dict[tuple[int, ...], Stepper] = {}
        self._chosen: tuple[int, ...] = ()
        self._is_stale = False
        self._worst, self._unsolved = 0.0, 0.0

    def choose(self, q: Array, v: Array) -> Stepper:
        """What takes the steps from a state. An error counts the contacts if these are too many."""
        now, then = (self._apart(x) for x in (q, integrate(self._model, q, AHEAD * self._dt * v)))
        soon = np.minimum(now, then)
        self._chosen = tuple(np.flatnonzero(~(soon > NEAR * self._size)).tolist())
        if self._chosen not in self._steppers:
            self._steppers[self._chosen] = self._made(replace(self._integrator, pairs=self._chosen))
        return self._steppers[self._chosen]

    def _apart(self, q: Array, pairs: Any = slice(None)) -> Array:
        """How far balls around the shapes of pairs are apart, at least: (..., pairs)."""
        at = np.asarray(_places(self._model, q))
        way = at[..., self._first[pairs], :3] - at[..., self._second[pairs], :3]
        distance, flat = np.sqrt((way * way).sum(-1)), self._is_plane[pairs]
        distance[..., flat] = (way[..., flat, :] * at[..., self._second[pairs][flat], 3:]).sum(-1)
        return distance - self._balls[pairs]

    def _is_disturbed(self, before: Array, rows: Array) -> Array:
        """Which states have a pair too near that steps leave out, or will after twice the way from the state before."""
        left_out = np.setdiff1d(np.arange(len(self._size)), self._chosen)
        apart = self._apart(np.concatenate([before[None], rows]), left_out)
        soon = apart[1:] - 2 * np.maximum(apart[:-1] - apart[1:], 0.0)
        return np.asarray(~(soon > TOO_NEAR * self._size[left_out]).all(-1))

    @property
    def memory(self) -> Any:
        return {"pairs": list(self._chosen), "worst": self._worst, "unsolved": self._unsolved}

    def restore(self, memory: Any) -> None:
        self._chosen = tuple(memory["pairs"])
        self._steppers.setdefault(self._chosen, self._made(replace(self._integrator, pairs=self._chosen)))
        self._worst, self._unsolved = memory["worst"], memory["unsolved"]

    def start(self, t: float, state: State) -> State:
        impulses, worst, unsolved = state.memory
        return State(state.q, state.v, (impulses, max(worst, self._worst), unsolved + self._unsolved))

    def allows_many(self, state: State) -> bool:
        return not self._is_stale

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        looked = np.unique([*range(LOOK - 1, len(times), LOOK), len(times) - 1])
        disturbed = np.flatnonzero(self._is_disturbed(run.state.q, rows.q[looked]))
        if not len(disturbed):
            return len(times)
        self._is_stale = True
        return int(looked[disturbed[0] - 1]) + 1 if disturbed[0] else 0

    def settle(self, run: Run) -> None:
        if self._is_stale:
            before, state = self._chosen, run.state
            self.choose(state.q, state.v)
            if self._chosen != before:
                _, self._worst, self._unsolved = state.memory
                run.restart(state.q, state.v)
            self._is_stale = False

    def stepper(self, stepper: Stepper) -> Stepper:
        return self._steppers.get(self._chosen, stepper)

    def accept(self, step: Step) -> None:
        _, self._worst, self._unsolved = step.new.memory
        self._is_stale = bool(self._is_disturbed(step.old.q, step.new.q[None])[0])


def has_many_contacts(model: Model, integrator: Integrator) -> bool:
    """Whether steps look at the near pairs of shapes only."""
    if not isinstance(integrator, ContactSteps) or integrator.pairs is not None:
        return False
    return len(contact_pairs(model)) > FEW or impulse_count(model, integrator.joint_limits) > FEW
