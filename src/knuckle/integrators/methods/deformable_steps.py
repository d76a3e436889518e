"""Steps of mechanisms with deformable bodies: joints and nodes in one implicit system (notes 1.30, 2.75, 2.88)."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.errors import ModelError
from knuckle.integrators.base import DenseOutput, Integrator, State
from knuckle.integrators.contact_choice import must_be_a_choice
from knuckle.integrators.deformable.coupled_step import CoupledStep, Effort
from knuckle.integrators.deformable.touched_shapes import placed_shapes
from knuckle.integrators.dense_output import linear
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.model.contact.contact_candidates import contact_candidates, may_touch_ground
from knuckle.scalar import ZERO, constant
from knuckle.warning import warn


@dataclass(frozen=True)
class DeformableSteps(Integrator):
    """Backward Euler of joints and nodes together, by Newton's method: linearly implicit Euler where that is enough.

    (Tᵀ A T + R) Δ = b of the changes of v and of the velocities of free nodes, with A = M (1 + h α) + h D + h² K of all
    nodes, R = H + h D + h² K of the joints, and T, which has the Jacobians of attached nodes (notes 2.85). It is solved
    by conjugate gradients. Where it is not positive, the stiffness of cells is made so.

    The memory is the positions and velocities of nodes, in base coordinates, in a row each.

    Args:
        iterations: of Newton's method at most: 1 is linearly implicit.
        enough: what may be left of the equations after an iteration, as a part of what they had at first: smooth
            motions take one iteration. With 0 iterations go on until changes are below the tolerance.
        tolerance: of each linear equation, as a part of its right side.
        most: iterations of the conjugate gradients at most.
        contacts: whether free nodes touch shapes of the base and of bodies, but for those that carry nodes of the same
            deformable body. Nodes neither enter them nor stick to them, and rub on them by Coulomb's law, with the
            friction of the surfaces; bodies receive what nodes do.
    """

    iterations: int = 12
    enough: float = 0.6
    tolerance: float = 1e-5
    most: int = 20_000
    contacts: bool = True

    evaluates_forces_once = True
    takes_numbers = True
    solves_deformables = True

    def __post_init__(self) -> None:
        for name in ("iterations", "most"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} is a whole number from 1 on, not {value!r}")
        if not isinstance(self.contacts, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"contacts is True or False, not {self.contacts!r}")
        if not (isinstance(self.tolerance, (int, float)) and 0 < self.tolerance < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"tolerance is a number between 0 and 1, not {self.tolerance!r}")
        if not (isinstance(self.enough, (int, float)) and 0 <= self.enough < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"enough is a number from 0 to below 1, not {self.enough!r}")

    @property
    def order(self) -> int:
        return 1

    def with_contacts(self, model: Model, contacts: Any) -> DeformableSteps:
        """The same steps where contacts are to be solved, are not, or nothing is said (True, False, None).

        An error where that cannot be; a warning where bodies would touch, which these steps do not know.
        """
        must_be_a_choice(contacts)
        if contacts is False:
            return replace(self, contacts=False)
        name, pairs = model.name, contact_candidates(model)
        if contacts and pairs:
            raise ValueError(
                f"contacts=True: bodies of {name} have shapes that may touch each other or the base, and steps with "
                "deformable bodies solve contacts of nodes only"
            )
        if contacts and not placed_shapes(model):
            raise ValueError(f"contacts=True: nodes of deformable bodies touch shapes, and {name} has none")
        if contacts is None and pairs and may_touch_ground(model):
            warn(
                f"steps with deformable bodies solve contacts of nodes only: bodies of {name} pass through the ground. "
                "contacts=False says that nothing touches"
            )
        return replace(self, contacts=True) if contacts else self

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        x, u = self.bodies(system.model).start(q, v, t)
        return State(q, v, (x.reshape(-1), u.reshape(-1)))

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        effort = Effort(self.iterations, self.enough, self.tolerance, self.most)
        return self._run(system)(float(t), state, float(dt), effort)

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        """The nodes go on from where a part of the step has them; those that bodies carry are where the bodies are."""
        if not old.memory:
            return new
        there = old if t <= t0 else self.step(system, t0, old, t - t0)
        x, u = (part.reshape(-1, 3) for part in there.memory)
        x, u = self.bodies(system.model).placed(x, u, float(t), np.asarray(new.q), np.asarray(new.v))
        return State(new.q, new.v, (x.reshape(-1), u.reshape(-1)))

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)

    def bodies(self, model: Model) -> SoftBodies:
        """The deformable bodies of a mechanism, with memory of this thread."""
        last = self._local.__dict__.get("bodies")
        if last is None or last.model is not model:
            must_be_known(model)
            last = self._local.bodies = SoftBodies(model)
        return last

    def _run(self, system: System) -> CoupledStep:
        last = self._local.__dict__.get("run")
        if last is None or last.system is not system:
            last = self._local.run = CoupledStep(system, self.bodies(system.model), contacts=self.contacts)
        return last

    @cached_property
    def _local(self) -> threading.local:
        """What threads do not share."""
        return threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("iterations", "enough", "tolerance", "most", "contacts")}


def must_be_known(model: Model) -> None:
    """An error for what steps with deformable bodies do not know."""
    what = "steps with deformable bodies"
    if model.loops:
        raise ModelError(f"{what} know no closed loops, and {model.name} has some: model.without_loops()")
    if any(constant(f) is not ZERO for joint in model.joints for f in joint.friction):
        raise ModelError(f"{what} know no dry friction at joints, and {model.name} has some: model.without_friction()")
