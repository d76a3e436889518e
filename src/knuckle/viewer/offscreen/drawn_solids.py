"""What is drawn in one picture: triangles in the scene with normals and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knuckle.viewer.scene.triangles import Array

_SIDES = 10


@dataclass(frozen=True, eq=False)
class Solid:
    """A coloured surface: vertices (n, 3), their normals, and faces (m, 3)."""

    vertices: Array
    normals: Array
    faces: Array
    color: Array
    """(4,): red, green, blue and opacity, or one for each face (m, 4)"""

    def moved(self, T: Array) -> Solid:
        """The surface where a pose puts it."""
        return Solid(self.vertices @ T[:3, :3].T + T[:3, 3], self.normals @ T[:3, :3].T, self.faces, self.color)


def solid(vertices: Array, faces: Array, color: Sequence[float]) -> Solid:
    """A surface whose normals at vertices are the means of those of their triangles, by area."""
    corners = vertices[faces]
    own = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(vertices, dtype=float)
    for k in range(3):
        np.add.at(normals, faces[:, k], own)
    return Solid(np.asarray(vertices, float), normals, np.asarray(faces, np.int64), np.asarray(color, float))


def rods(ends: Array, radii: Array, colors: Array) -> Solid:
    """Round rods between points (n, 2, 3), of radii (n, 2) at their ends and colours (n, 3): lines, arrows, cones."""
    way = ends[:, 1] - ends[:, 0]
    length = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
    z = way / length
    aside = np.where(np.abs(z[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    x = np.cross(aside, z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.cross(z, x)
    angle = 2 * np.pi * np.arange(_SIDES) / _SIDES
    around = x[:, None] * np.cos(angle)[:, None] + y[:, None] * np.sin(angle)[:, None]
    rings = [ends[:, k, None] + radii[:, k, None, None] * around for k in (0, 1)]
    k = np.arange(_SIDES)
    n = (k + 1) % _SIDES
    sides = np.concatenate([np.stack([k, n, k + _SIDES], 1), np.stack([n, n + _SIDES, k + _SIDES], 1)])
    caps = np.array([(0, i + 1, i) for i in range(1, _SIDES - 1)])
    faces = np.concatenate([sides, caps, caps[:, ::-1] + _SIDES])
    first = 2 * _SIDES * np.arange(len(ends))
    vertices = np.concatenate(rings, axis=1).reshape(-1, 3)
    normals = np.concatenate([around, around], axis=1).reshape(-1, 3)
    every = (first[:, None, None] + faces).reshape(-1, 3)
    rgba = np.column_stack([np.repeat(colors, len(faces), axis=0), np.ones(len(every))])
    return Solid(vertices, normals, every, rgba)


def arrows(tail: Array, way: Array, width: float, colors: Array) -> list[Solid]:
    """Arrows (n, 3) from their tails: a shaft and a head each."""
    if not len(tail):
        return []
    length = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
    w = width * np.minimum(1.0, length / (6 * width))
    neck = tail + way * (1 - np.minimum(4 * w, 0.5 * length) / length)
    shaft = rods(np.stack([tail, neck], 1), np.column_stack([w, w]), colors)
    head = rods(np.stack([neck, tail + way], 1), np.column_stack([2.1 * w, 1e-3 * w]), colors)
    return [shaft, head]
