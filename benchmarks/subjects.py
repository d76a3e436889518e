"""The mechanisms that are measured: three robots of `example-robot-data` and a tree of a hundred bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import knuckle as kn
from knuckle.testing import auto_tree, random_state
from knuckle.testing.oracles.other_libraries import robot_files

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Subject:
    """A mechanism, how Pinocchio gets it, and how many states make its batch."""

    name: str
    title: str
    model: kn.Model
    pinocchio: Callable[[Any], Any]
    batch: int

    @property
    def frame(self) -> str:
        """The body farthest from the base: its Jacobian has the most columns."""
        depth: list[int] = []
        for parent in self.model.parents:
            depth.append(1 + (depth[parent] if parent >= 0 else 0))
        return self.model.body_names[max(range(self.model.nb), key=lambda i: (depth[i], i))]


@dataclass(frozen=True)
class States:
    """A batch of states with accelerations, and the forces that belong to them."""

    q: Array
    v: Array
    a: Array
    tau: Array

    def first(self, count: int) -> States:
        return States(self.q[:count], self.v[:count], self.a[:count], self.tau[:count])

    def as_type(self, dtype: Any) -> States:
        return States(*(x.astype(dtype) for x in (self.q, self.v, self.a, self.tau)))


def states(model: kn.Model, count: int) -> States:
    """Random states, the same in every run. The forces are near those that give the accelerations."""
    some = [random_state(model, seed) for seed in range(min(count, 64))]
    copies = -(-count // len(some))
    q, v, a = (np.tile([getattr(s, name) for s in some], (copies, 1))[:count] for name in ("q", "v", "a"))
    rng = np.random.default_rng(0)
    v, a = (np.ascontiguousarray(x + 0.1 * rng.standard_normal(x.shape)) for x in (v, a))
    q = kn.integrate(model, q, 0.1 * v)
    return States(q, v, a, kn.inverse_dynamics(model, q, v, a) + 1.0)


def _robot(name: str, title: str, ending: str, base: Literal["fixed", "floating"]) -> Subject:
    path = next(path for path in robot_files() if path.as_posix().endswith(ending))

    def pinocchio(pin: Any) -> Any:
        return pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "floating" else []))

    # as the other libraries see it: mimic joints independent, no damping and friction
    model = kn.load(path, base=base, mimic=False).without_friction()
    return Subject(name, title, model, pinocchio, 4096)


def _tree() -> Subject:
    model = auto_tree(100, 2, 0.3, 0.98)
    text = kn.formats.to_urdf(model)
    return Subject("tree100", "Tree of 100 bodies", model, lambda pin: pin.buildModelFromXML(text), 1024)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "xarm7": lambda: _robot("xarm7", "xArm7, a seven-joint arm", "xarm_description/urdf/xarm7.urdf", "fixed"),
    "anymal": lambda: _robot(
        "anymal", "ANYmal B, a floating quadruped", "anymal_b_simple_description/robots/anymal.urdf", "floating"
    ),
    "talos": lambda: _robot("talos", "Talos, a floating humanoid", "talos_data/robots/talos_reduced.urdf", "floating"),
    "tree100": _tree,
}
