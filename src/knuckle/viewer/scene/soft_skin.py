"""Deformable bodies as they are drawn: vertices that follow nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.model import Model
from knuckle.model.deformables import Deformable
from knuckle.trajectory.node_rows import NodeRows

from .mesh_file import Color
from .triangles import Array, Triangles, creased

COLORS: tuple[Color, ...] = ((0.93, 0.55, 0.42, 1.0), (0.42, 0.70, 0.62, 1.0), (0.62, 0.56, 0.80, 1.0))
_THICKNESS = 0.12
"""Of edges, as a part of their length."""


@dataclass(frozen=True, eq=False)
class SoftSkin:
    """The surface of a deformable body: vertices at nodes, some of them beside."""

    name: str
    node: Array
    """(vertices,): numbers among all nodes of the mechanism"""
    beside: Array
    """(vertices, 3) in metres"""
    faces: Array
    color: Color

    def vertices(self, x: Array) -> Array:
        """(..., vertices, 3), where nodes are at x (..., nodes, 3)."""
        return x[..., self.node, :] + self.beside


def soft_skins(model: Model) -> list[SoftSkin]:
    """The surfaces of all deformable bodies."""
    skins: list[SoftSkin] = []
    start = 0
    for k, soft in enumerate(model.deformables):
        node, beside, faces = _tubes(soft) if soft.mesh.dimension == 1 else _surface(soft)
        skins.append(SoftSkin(soft.name, start + node, beside, faces, COLORS[k % len(COLORS)]))
        start += len(soft.mesh.nodes)
    return skins


def node_places(model: Model, q: Array, rows: NodeRows | None) -> Array | None:
    """(n, nodes, 3) over positions q (n, nq): as they are known, else at rest on their frames; None where none are."""
    if not model.deformables:
        return None
    if rows is not None:
        return rows.x
    bodies = SoftBodies(model)
    return np.array([bodies.start(x, np.zeros(model.nv))[0] for x in q])


def reach(places: Array | None) -> Array | None:
    """(2, 3): the least and the greatest coordinates of nodes (..., 3)."""
    if places is None:
        return None
    flat = places.reshape(-1, 3)
    return np.array([flat.min(axis=0), flat.max(axis=0)])


def _surface(soft: Deformable) -> tuple[Array, Array, Array]:
    """Triangles, whose sharp edges at rest stay sharp."""
    X = np.array(soft.mesh.nodes, float)
    rest = creased(Triangles(X, np.array(soft.mesh.surface, np.int64)))
    numbers = {tuple(x): k for k, x in enumerate(X.tolist())}
    node = np.array([numbers[tuple(x)] for x in rest.vertices.tolist()], np.int64)
    return node, np.zeros((len(node), 3)), rest.faces


def _tubes(soft: Deformable) -> tuple[Array, Array, Array]:
    """Edges as tubes between octahedra about their nodes."""
    X, edges = np.array(soft.mesh.nodes, float), np.array(soft.mesh.cells, np.int64)
    size = _THICKNESS * float(np.linalg.norm(X[edges[:, 1]] - X[edges[:, 0]], axis=1).mean())
    corners = size * np.concatenate([np.eye(3), -np.eye(3)])
    node = np.repeat(np.arange(len(X)), 6)
    sides = [(i, k) for i, k in combinations(range(6), 2) if k != i + 3]
    faces = [
        face
        for a, b in edges.tolist()
        for i, k in sides
        for face in ((6 * a + i, 6 * a + k, 6 * b + k), (6 * a + i, 6 * b + k, 6 * b + i))
    ]
    return node, np.tile(corners, (len(X), 1)), np.array(faces, np.int64)
