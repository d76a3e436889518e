"""The corners of the convex hull of a mesh file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from knuckle.errors import ModelError
from knuckle.extras import need

from .files import check_regular

Corner = tuple[float, float, float]


def hull_corners(path: str, scale: tuple[float, float, float]) -> tuple[Corner, ...]:
    """The corners of the hull of all that a mesh file holds, scaled, in metres; without SciPy, all of its vertices.

    Raises:
        ModelError: the file cannot be read, or what it holds has no volume.
    """
    check_regular(path)
    vertices = np.unique(_vertices(path) * np.array(scale, float), axis=0)
    if not np.isfinite(vertices).all() or np.linalg.matrix_rank(vertices - vertices[:1], tol=_least(vertices)) < 3:
        raise ModelError("the mesh has no volume, or vertices that are no numbers", file=path)
    return tuple((float(x), float(y), float(z)) for x, y, z in _extreme(vertices))


def _least(vertices: Any) -> float:
    return 1e-9 * float(np.abs(vertices).max(initial=0.0))


def _vertices(path: str) -> Any:
    trimesh = need("trimesh", f"the mesh {path} needs", "view")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene: Any = trimesh.load_scene(path, process=False)
            number, _, unit = str(scene.units or "").partition(" * ")
            metres = float(number) if unit == "meters" else 1.0
            return metres * np.asarray(scene.to_geometry().vertices, float)
    except ImportError:
        raise
    except Exception as error:  # a reader of foreign files may fail in any way
        raise ModelError(f"cannot be read as a mesh: {type(error).__name__}: {error}", file=path) from error


def _extreme(vertices: Any) -> Any:
    try:
        from scipy.spatial import ConvexHull
    except ImportError:
        return vertices
    return vertices[np.sort(ConvexHull(vertices).vertices)]
