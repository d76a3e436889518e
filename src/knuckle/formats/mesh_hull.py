"""The corners of the convex hull of a mesh file, and how much of it the mesh fills."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from knuckle.errors import ModelError
from knuckle.extras import need

from .files import check_regular

Corner = tuple[float, float, float]


class MeshHull(NamedTuple):
    """The corners of a hull, scaled, in metres, and the part of its volume that the mesh fills.

    A mesh that is not closed has no volume: it counts as full, and so does every one without SciPy.
    """

    corners: tuple[Corner, ...]
    filled: float


def mesh_hull(path: str, scale: tuple[float, float, float]) -> MeshHull:
    """The hull of all that a mesh file holds; without SciPy its corners are all vertices.

    Raises:
        ModelError: the file cannot be read, or what it holds has no volume.
    """
    check_regular(path)
    mesh, metres = _read(path)
    vertices = np.unique(metres * np.asarray(mesh.vertices, float) * np.array(scale, float), axis=0)
    if not np.isfinite(vertices).all() or np.linalg.matrix_rank(vertices - vertices[:1], tol=_least(vertices)) < 3:
        raise ModelError("the mesh has no volume, or vertices that are no numbers", file=path)
    extreme, volume = _hull(vertices)
    filled = 1.0 if volume is None else _volume(mesh) * abs(metres**3 * float(np.prod(scale))) / volume
    return MeshHull(tuple((float(x), float(y), float(z)) for x, y, z in extreme), min(filled or 1.0, 1.0))


def _least(vertices: Any) -> float:
    return 1e-9 * float(np.abs(vertices).max(initial=0.0))


def _read(path: str) -> tuple[Any, float]:
    """The mesh in its own units, and how long one of these is."""
    trimesh = need("trimesh", f"the mesh {path} needs", "view")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene: Any = trimesh.load_scene(path, process=False)
            number, _, unit = str(scene.units or "").partition(" * ")
            metres = float(number) if unit == "meters" else 1.0
            return scene.to_geometry(), metres
    except ImportError:
        raise
    except Exception as error:  # a reader of foreign files may fail in any way
        raise ModelError(f"cannot be read as a mesh: {type(error).__name__}: {error}", file=path) from error


def _volume(mesh: Any) -> float:
    """The volume of a closed mesh; 0 of others."""
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return abs(float(mesh.volume)) if mesh.is_watertight and mesh.is_winding_consistent else 0.0


def _hull(vertices: Any) -> tuple[Any, float | None]:
    """The corners of the hull, and its volume."""
    try:
        from scipy.spatial import ConvexHull
    except ImportError:
        return vertices, None
    hull = ConvexHull(vertices)
    return vertices[np.sort(hull.vertices)], float(hull.volume)
