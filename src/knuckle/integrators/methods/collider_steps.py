"""Contact steps on numbers: for shapes and numbers of contacts that compiled steps cannot have.

A compiled step has text for every place at which shapes may touch. Here loops over pairs find the places first, and
only those that will touch are solved, by a routine over numbers in memory; a collider may be any. The laws are those of
`contact_steps`, and so are the rounds of the solver.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.contact.shape_collider import ShapeCollider
from knuckle.errors import ModelError
from knuckle.functions.configuration import has_charts
from knuckle.functions.line_inertia import must_have_no_armature
from knuckle.integrators.base import Integrator, State, StepForms
from knuckle.integrators.contact_loops.step_room import ContactScene, StepRoom
from knuckle.integrators.system import HOLD, System
from knuckle.model import Model

from .contact_steps import WARNED, smooth

Array = NDArray[Any]


@dataclass(frozen=True)
class ColliderSteps(Integrator):
    """`ContactSteps` for one state at a time, with a collider for any shapes, and any number of places.

    `kn.simulate` takes it where compiled steps would be too long, or where shapes have no text. The memory is that of
    contact steps: impulses at all places that the collider has, of joints and of loops; the largest residual so far,
    and the number of steps in which it was above `WARNED`.

    Args:
        collider: where shapes touch, `kn.contact.ShapeCollider.of(model)` of the mechanism that moves.
        rounds: how often impulses are improved at most.
        tolerance: the residual that is enough, in parts of the largest velocity at a contact.
    """

    collider: ShapeCollider
    rounds: int = 40
    tolerance: float = 1e-12

    evaluates_forces_once = True
    solves_friction = True
    solves_contacts = True
    begins_blank = True
    takes_numbers = True

    def formed(self, forms: StepForms) -> Integrator:
        return forms.collider_steps(self)

    def __post_init__(self) -> None:
        if not isinstance(self.collider, ShapeCollider):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"collider is a kn.contact.ShapeCollider, not {self.collider!r}")
        if not isinstance(self.rounds, (int, np.integer)) or isinstance(self.rounds, bool):
            raise TypeError(f"rounds is a whole number, not {self.rounds!r}")
        if self.rounds < 1:
            raise ValueError(f"rounds is a whole number from 1 on, not {self.rounds!r}")
        if not isinstance(self.tolerance, (int, float, np.number)) or isinstance(self.tolerance, bool):
            raise TypeError(f"tolerance is a number, not {self.tolerance!r}")
        if not 0 <= self.tolerance < math.inf:
            raise ValueError(f"tolerance is a finite number from 0 on, not {self.tolerance!r}")

    @property
    def order(self) -> int:
        return 1

    @property
    def evaluations(self) -> int:
        return 1

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        must_be_of(self.collider, system.model)
        return State(q, v, (np.zeros(len(self.room.outcome.impulses)), 0.0, 0.0))

    def with_springs(self, springs: Array, dampers: Array) -> ColliderSteps:
        """These steps with other springs and dampers at the velocity variables, whose forces the system has already."""
        new = replace(self)
        vars(new)["_scene"] = replace(self._scene, springs=springs, dampers=dampers)
        return new

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        impulses, worst, unsolved = state.memory
        q, v = np.asarray(state.q, float), np.asarray(state.v, float)
        a = self._smooth(system).acceleration(t, q, v)
        held = 0.0 if system.sticking is None else HOLD * np.asarray(system.sticking, float)
        q, v, impulses, residual = self.room.step(t, q, v, a, impulses, held, dt)
        failed = unsolved + (not residual <= WARNED)
        return State(q, v, (impulses, max(worst, residual), failed))

    def _smooth(self, system: System) -> System:
        """The system without dry friction at joints; the same one for the same system, so that its code is."""
        last = self._local.__dict__.get("system")
        if last is None or last[0] is not system:
            last = self._local.system = system, smooth(system)
        return last[1]

    @cached_property
    def _scene(self) -> ContactScene:
        must_be_known(self.collider.model)
        return ContactScene.of(self.collider)

    @cached_property
    def _local(self) -> threading.local:
        """What threads do not share."""
        return threading.local()

    @property
    def runs_alone(self) -> bool:
        """Whether many steps can be one call: no pair needs another library, and nothing is done between steps."""
        model = self.collider.model
        return all(pair.is_compiled for pair in self.collider.pairs) and not model.loops and not has_charts(model)

    @property
    def room(self) -> StepRoom:
        """The memory of this thread's steps."""
        room = self._local.__dict__.get("room")
        if room is None:
            room = self._local.room = StepRoom(self._scene, int(self.rounds), float(self.tolerance))
        return room

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("collider", "rounds", "tolerance")}


def must_be_of(collider: ShapeCollider, model: Model) -> None:
    """An error unless a collider is of a mechanism."""
    there = collider.model
    if there is model:
        return
    same = all(getattr(there, name) == getattr(model, name) for name in ("joints", "loops", "couplings"))
    if not same or [body.inertia for body in there.bodies] != [body.inertia for body in model.bodies]:
        raise ModelError(
            f"the collider of ColliderSteps is of {there.name!r}, which moves otherwise than {model.name!r}: "
            "kn.contact.ShapeCollider.of(model) is the one of the mechanism that is simulated"
        )


def must_be_known(model: Model) -> None:
    """An error for what these steps do not know."""
    must_have_no_armature(model, "steps with contacts")
    if model.couplings:
        raise ModelError(f"contacts of {model.name}, which has joints that follow others, are too many to be compiled")
