"""Where the nodes of deformable bodies are along a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class NodeRows:
    """Positions and velocities (..., rows, nodes, 3) of all nodes, in base coordinates."""

    x: Array
    u: Array

    def rows(self, which: Any) -> NodeRows:
        """Some of the rows."""
        return NodeRows(self.x[which], self.u[which])

    def at(self, times: Array, new: Array) -> NodeRows:
        """At other times, by cubics between rows."""
        k = np.clip(np.searchsorted(times, new, side="right") - 1, 0, max(0, len(times) - 2))
        if len(times) == 1:
            return self.rows(np.zeros(len(new), int))
        h = np.where(times[k + 1] > times[k], times[k + 1] - times[k], 1.0)[:, None, None]
        s = ((new - times[k])[:, None, None]) / h
        x0, x1, u0, u1 = self.x[k], self.x[k + 1], self.u[k], self.u[k + 1]
        a, b = h * u0 - (x1 - x0), -h * u1 + (x1 - x0)
        x = (1 - s) * x0 + s * x1 + s * (1 - s) * ((1 - s) * a + s * b)
        slope = (x1 - x0) + (1 - 2 * s) * ((1 - s) * a + s * b) + s * (1 - s) * (b - a)
        return NodeRows(x, slope / h)

    def energies(self, model: Model) -> tuple[Array, Array, Array]:
        """(elastic, of height, kinetic) of every row, in joules."""
        from knuckle.elements import SoftBodies

        bodies = SoftBodies(model)
        elastic = np.array([bodies.energy(x) for x in self.x])
        height = -np.einsum("tni,n,i->t", self.x, bodies.masses, np.array(model.gravity, float))
        return elastic, height, np.einsum("tni,tni,n->t", self.u, self.u, bodies.masses) / 2


class WithNodes:
    """Motions whose deformable bodies are noted: the dots are batch axes, where there are some."""

    model: Model
    node_rows: NodeRows | None

    def nodes(self, name: str) -> Array:
        """(..., n, nodes, 3) in metres: where the nodes of a deformable body are, in base coordinates."""
        return self._noted_nodes(name).x[..., self._node_part(name), :]

    def node_velocities(self, name: str) -> Array:
        """(..., n, nodes, 3) in m/s: how the nodes of a deformable body move, in base coordinates."""
        return self._noted_nodes(name).u[..., self._node_part(name), :]

    def _noted_nodes(self, name: str) -> NodeRows:
        self.model.deformable(name)  # says which there are
        if self.node_rows is None:
            raise ValueError(
                f"this motion of {self.model.name} has no record of nodes: kn.simulate and kn.rollout keep them"
            )
        return self.node_rows

    def _node_part(self, name: str) -> slice:
        sizes = {soft.name: len(soft.mesh.nodes) for soft in self.model.deformables}
        start = sum(sizes[other] for other in list(sizes)[: list(sizes).index(name)])
        return slice(start, start + sizes[name])
