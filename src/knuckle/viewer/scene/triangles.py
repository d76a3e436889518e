"""Triangulated surfaces: those of the shapes a model knows, and what is done to any surface before it is drawn.

Normals are not stored. A renderer takes the mean of the triangles that share a vertex, so an edge that should look
sharp has its vertices twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.extras import need
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Plane, Shape, Sphere

Array: TypeAlias = NDArray[Any]

_AROUND, _ALONG = 40, 20
"""Sides of a round shape, and rings from pole to pole of a ball."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles: `vertices` (n, 3) in metres, `faces` (m, 3) of their numbers, counter-clockwise seen from outside."""

    vertices: Array
    faces: Array

    def moved(self, T: Array) -> Triangles:
        """The surface where the homogeneous matrix `T` puts it; a mirror image keeps its outside outside."""
        vertices = self.vertices @ T[:3, :3].T + T[:3, 3]
        mirrored = np.linalg.det(T[:3, :3]) < 0
        return Triangles(vertices, self.faces[:, ::-1] if mirrored else self.faces)

    @property
    def bounds(self) -> Array:
        """(2, 3): the least and the greatest coordinates."""
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def outermost(self) -> Array:
        """The vertices that lie farthest in the 26 directions of the sides, edges and corners of a cube."""
        directions = np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)]) - 1
        return self.vertices[np.unique(np.argmax(self.vertices @ directions.T, axis=0))]


def joined(surfaces: Iterable[Triangles]) -> Triangles:
    """Several surfaces as one."""
    parts = list(surfaces)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
    return Triangles(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))


def primitive(shape: Shape) -> Triangles | None:
    """The surface of a shape; None for a mesh file, which has to be read, and for an endless plane."""
    match shape:
        case Box(size):
            return box(size)
        case Cylinder(radius, length):
            return cylinder(radius, length)
        case Capsule(radius, length):
            return capsule(radius, length)
        case Sphere(radius):
            return ellipsoid((radius, radius, radius))
        case Ellipsoid(radii):
            return ellipsoid(radii)
        case Plane((x, y)) if x > 0 and y > 0:
            corners = np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)], float)
            return Triangles(corners, np.array([(0, 1, 2), (0, 2, 3)]))
        case HeightField():
            return terrain(shape)
        case _:
            return None


def terrain(field: HeightField) -> Triangles:
    """A height field as two triangles for each of its cells, seen from above."""
    heights = np.array(field.heights, float)
    ny, nx = heights.shape
    x, y = ((np.arange(n) - (n - 1) / 2) * d for n, d in zip((nx, ny), field.spacing, strict=True))
    vertices = np.stack([*np.meshgrid(x, y), heights], axis=-1).reshape(-1, 3)
    i, k = np.meshgrid(np.arange(ny - 1), np.arange(nx - 1), indexing="ij")
    a, b, c, d = (((i + di) * nx + k + dk).ravel() for di, dk in ((0, 0), (0, 1), (1, 1), (1, 0)))
    return Triangles(vertices, np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]))


def box(size: Iterable[float]) -> Triangles:
    """A box centred at the origin, by its side lengths; every side has its own four corners."""
    half = np.array(list(size), float) / 2
    vertices: list[Array] = []
    for axis in range(3):
        u, v, n = (np.roll(np.eye(3)[k], axis) for k in (1, 2, 0))
        for sign in (1.0, -1.0):
            vertices += [(sign * n + a * u + sign * b * v) * half for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    first = 4 * np.arange(6)[:, None, None]
    return Triangles(np.array(vertices), (first + np.array([(0, 1, 2), (0, 2, 3)])).reshape(-1, 3))


def revolved(radii: Array, heights: Array) -> Triangles:
    """What the polyline (radius, height), from the lower end to the upper, sweeps about the z axis."""
    angles = np.linspace(0.0, 2 * np.pi, _AROUND, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(_AROUND)], axis=-1)
    rings = radii[:, None, None] * circle + heights[:, None, None] * np.array([0.0, 0.0, 1.0])
    k, j = np.meshgrid(np.arange(len(radii) - 1), np.arange(_AROUND), indexing="ij")
    next_j = (j + 1) % _AROUND
    a, b, c, d = k * _AROUND + j, k * _AROUND + next_j, (k + 1) * _AROUND + next_j, (k + 1) * _AROUND + j
    quads = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return without_slivers(Triangles(rings.reshape(-1, 3), quads))


def cylinder(radius: float, length: float) -> Triangles:
    """A cylinder along z, centred at the origin: wall, lower and upper lid, with sharp edges between them."""
    h, r = length / 2, radius
    lines = ((r, r), (-h, h)), ((0.0, r), (-h, -h)), ((r, 0.0), (h, h))
    return joined(revolved(np.array(x, float), np.array(z, float)) for x, z in lines)


def capsule(radius: float, length: float) -> Triangles:
    """A cylinder along z with round ends; `length` is that between the ends' centres."""
    t = np.linspace(-np.pi / 2, np.pi / 2, _ALONG + 1)
    middle = len(t) // 2
    t = np.insert(t, middle, t[middle])
    shift = np.where(np.arange(len(t)) <= middle, -length / 2, length / 2)
    return revolved(radius * np.cos(t), radius * np.sin(t) + shift)


def ellipsoid(radii: Iterable[float]) -> Triangles:
    """An ellipsoid centred at the origin, by its half axes."""
    t = np.linspace(-np.pi / 2, np.pi / 2, _ALONG + 1)
    ball = revolved(np.cos(t), np.sin(t))
    return Triangles(ball.vertices * np.array(list(radii), float), ball.faces)


def strut(start: Array, end: Array, radius: float) -> Triangles:
    """A capsule from one point to another."""
    along = np.asarray(end, float) - np.asarray(start, float)
    length = float(np.linalg.norm(along))
    T = np.eye(4)
    T[:3, :3] = frame_along(along) if length > 0 else np.eye(3)
    T[:3, 3] = (np.asarray(start, float) + np.asarray(end, float)) / 2
    return capsule(radius, length).moved(T)


def frame_along(z: Array) -> Array:
    """A rotation matrix whose third column is the direction of `z`."""
    z = np.asarray(z, float) / np.linalg.norm(z)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=-1)


# What is done to a surface before it is drawn


def without_slivers(surface: Triangles) -> Triangles:
    """Without triangles that have no area, and without the vertices nobody uses then."""
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=-1)
    longest = np.max([np.sum((x - y) ** 2, axis=-1) for x, y in ((a, b), (b, c), (c, a))], axis=0)
    faces = surface.faces[doubled > 1e-9 * longest]
    used, index = np.unique(faces, return_inverse=True)
    return Triangles(surface.vertices[used], index.reshape(-1, 3))


def merged(surface: Triangles) -> Triangles:
    """Vertices in one place made one."""
    span = float(np.ptp(surface.vertices, axis=0).max()) if len(surface.vertices) else 0.0
    cells = np.round(surface.vertices / (1e-6 * span or 1.0)).astype(np.int64)
    _, first, index = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    return without_slivers(Triangles(surface.vertices[first], index.reshape(-1)[surface.faces]))


def creased(surface: Triangles, angle: float = np.radians(40.0)) -> Triangles:
    """The surface made smooth, its vertices shared, save where a triangle turns away by more than `angle`.

    There the triangle gets a corner of its own, and the edge looks sharp.
    """
    whole = merged(surface)
    if not len(whole.faces):
        return whole
    V, F = whole.vertices, whole.faces
    normals = np.cross(V[F[:, 1]] - V[F[:, 0]], V[F[:, 2]] - V[F[:, 0]])
    mean = np.zeros_like(V)
    for k in range(3):
        np.add.at(mean, F[:, k], normals)
    mean /= np.maximum(np.linalg.norm(mean, axis=-1, keepdims=True), 1e-300)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    sharp = np.einsum("fi,fki->fk", normals, mean[F]) < np.cos(angle)
    faces = F.copy()
    faces[sharp] = len(V) + np.arange(np.count_nonzero(sharp))
    return without_slivers(Triangles(np.concatenate([V, V[F[sharp]]]), faces))


def decimated(surface: Triangles, most: int) -> Triangles:
    """A surface of about `most` triangles that looks the same from afar: edges collapsed where that changes least."""
    if len(surface.faces) <= most:
        return surface
    what = f"a mesh of {len(surface.faces)} triangles, to be made coarser, needs"
    simplifier = need("fast_simplification", what, "view")
    whole = merged(surface)
    target = min(most, len(whole.faces) - 1)
    points, faces = simplifier.simplify(whole.vertices.astype(np.float32), whole.faces, target_count=target)
    return creased(Triangles(np.asarray(points, float), np.asarray(faces, np.int64)))
