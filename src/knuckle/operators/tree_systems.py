"""Systems of trees with points of closure: the parts of a closed chain that closures leave alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from knuckle.engine.calls.function import kernel
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.errors import ModelError
from knuckle.model import Frame, Model
from knuckle.spatial import SPATIAL

from .array_operators import Array, loop_points, real
from .chain_steps import correction, free_motion
from .operators_at import check, placed
from .point_closure import Closure, Side

_free_motion = kernel(free_motion)
_correction = kernel(correction)


class SystemState(NamedTuple):
    """Of a system: positions (..., nq), velocities (..., nv), joint forces (..., nv) and forces on the bodies."""

    q: ArrayLike
    v: ArrayLike
    tau: ArrayLike | None = None
    f_ext: ArrayLike | None = None


@dataclass(frozen=True)
class TreeSystem:
    """A tree-topology system and its points of closure: names of frames. Its kernels are compiled once.

    The base of the model is a point like any other, for what is tied to the ground. Loop joints of the model are
    closures within the system, which are always there.
    """

    model: Model
    points: tuple[str, ...] = ()
    tree: Model = field(init=False, repr=False, compare=False)
    frames: tuple[Frame, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        tree = self.model.without_loops() if isinstance(self.model, Model) and self.model.loops else self.model
        check(tree)
        if self.model.algebra is not SPATIAL:
            raise ModelError(f"{self.model.name} is planar, and closed chains of operators are in space")
        object.__setattr__(self, "points", tuple(self.points))
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "frames", (*placed(tree, self.points), *loop_points(self.model)))

    def within(self, side: Side) -> list[Closure]:
        """The loop joints as closures between points of this system, which stands on this side."""
        return [
            Closure(loop.name, (side, f"{loop.name}/predecessor"), (side, f"{loop.name}/successor"), loop.type)
            for loop in self.model.loops
        ]

    def free(self, state: SystemState) -> Mapping[str, Array]:
        """Steps A, B and C: β̇ᶠ, α̂ᶠ and Λ, and where the points are and how they move."""
        tau = np.zeros(self.tree.nv) if state.tau is None else state.tau
        q, v, tau = real("q", state.q), real("v", state.v), real("tau", tau)
        return _free_motion(self.tree, q, v, tau, state.f_ext, points=self.frames)

    def corrected(self, q: ArrayLike, x: Array) -> Array:
        """Step E: what the forces −x at the points do to the joint variables."""
        return _correction(self.tree, np.asarray(q), x, points=self.frames)

    @property
    def kernels(self) -> int:
        """How many kernels have been compiled for the model so far."""
        return kernels.made(self.tree)

    def index(self, point: str) -> int:
        """The number of a point."""
        names = [*self.points, *(frame.name for frame in self.frames[len(self.points) :])]
        if point not in names:
            raise KeyError(f"{point!r} is no point of {self.model.name}; there are {', '.join(names) or 'none'}")
        return names.index(point)
