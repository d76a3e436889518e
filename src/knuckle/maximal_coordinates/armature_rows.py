"""What moves along with force elements (armature of lines, rotors of joints), in the equations of all bodies.

An inertia a with the speed s = Σ J·V of bodies adds a JᵀJ to their inertia and −a Jᵀ J̇V to their forces.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.elements import element_forces
from knuckle.engine.calls.function import kernel
from knuckle.functions.configuration import velocity_to_qdot
from knuckle.functions.derivatives.dual_jacobians import along, derivative_of
from knuckle.model import ROOT, Model
from knuckle.spatial import Vector

Array: TypeAlias = NDArray[Any]


class ArmatureRows:
    """Which inertias there are, and on which bodies; `at` has their rows in a state."""

    def __init__(self, model: Model) -> None:
        self._model = model.replace(elements=tuple(x for x in model.elements if x.armature))
        named, Q = model.frame_table, self._model.positions(model.start)
        self.bodies: list[tuple[int, ...]] = []
        inertias: list[float] = []
        for at in element_forces.placed(self._model, Q):
            for a, _ in at.element.inertias(at.X):
                self.bodies.append(tuple(named[name].body for name in at.element.frames))
                inertias.append(float(a))
        self.inertias = np.array(inertias)

    def at(self, q: Array, v: Array) -> tuple[list[Array], list[Array]]:
        """J and J̇ of each inertia: a row of six for each body that it is on."""
        if not self.bodies:
            return [], []
        cuts = np.cumsum([len(bodies) for bodies in self.bodies])[:-1]
        both = np.asarray(_rows(self._model, q, v)).reshape(2, -1, 6)
        J, rates = (np.split(part, cuts) for part in both)
        return J, rates

    @property
    def pairs(self) -> set[tuple[int, int]]:
        """The bodies (i, k), i < k, that inertias tie to each other."""
        return {(i, k) for bodies in self.bodies for i in bodies for k in bodies if ROOT < i < k}


@kernel
def _rows(model: Model, q: Any, v: Any) -> Any:
    moving = along(Vector(q), velocity_to_qdot.reference(model, Vector(q), Vector(v)))
    rows = _flat(model, moving)
    return Vector([*_flat(model, q), *derivative_of(rows)])


def _flat(model: Model, q: Any) -> Vector:
    """J of all inertias, body after body, in a row."""
    numbers: list[Any] = []
    for at in element_forces.placed(model, model.positions(q)):
        for _, pulls in at.element.inertias(at.X):
            for frame, f in zip(at.frames, pulls, strict=True):
                numbers += (-(frame.X.T @ f)).components
    return Vector(numbers)
