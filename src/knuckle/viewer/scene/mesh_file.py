"""Mesh files (STL, OBJ, DAE and what else trimesh reads) as coloured surfaces."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from knuckle.extras import need
from knuckle.formats.files import check_regular

from .triangles import Triangles, creased

Color: TypeAlias = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""

_UNSAID = (0.4, 0.4, 0.4)
"""The grey that trimesh gives to a material without a colour."""


class UnreadableMeshError(ValueError):
    """A mesh file that is not there or that cannot be read; the message names it."""


@lru_cache(maxsize=512)
def read(path: str) -> tuple[tuple[Triangles, Color | None], ...]:
    """The surfaces of a mesh file in metres, each with its colour, or None where the file gives none."""
    trimesh = need("trimesh", f"the mesh {path} needs", "view")
    try:
        check_regular(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = trimesh.load_scene(path, process=False)
            parts = [(*scene.graph.get(node)[:1], scene.geometry[scene.graph.get(node)[1]]) for node in nodes(scene)]
    except ImportError:
        raise
    except Exception as error:  # a reader of foreign files may fail in any way
        raise UnreadableMeshError(f"{path}: {type(error).__name__}: {error}") from error
    found: list[tuple[Triangles, Color | None]] = []
    for T, part in parts:
        if len(getattr(part, "faces", ())):
            metres = np.diag([*[_metres(scene)] * 3, 1.0]) @ np.asarray(T, float)
            surface = Triangles(np.asarray(part.vertices, float), np.asarray(part.faces))
            found.append((creased(surface.moved(metres)), _color(part.visual)))
    if not found:
        raise UnreadableMeshError(f"{path}: no triangles in it")
    return tuple(found)


def nodes(scene: Any) -> list[str]:
    """The nodes of a scene that hold geometry, in the file's order."""
    return list(scene.graph.nodes_geometry)


def _metres(scene: Any) -> float:
    """A file that states its unit, as COLLADA does, is scaled by it; others are in metres."""
    units = str(scene.units or "")
    number, _, unit = units.partition(" * ")
    return float(number) if unit == "meters" else 1.0


def _color(visual: Any) -> Color | None:
    """One colour for a surface: its material's, or the mean of what is painted on it."""
    material = getattr(visual, "material", None)
    if material is None:
        if getattr(visual, "defined", False) and visual.kind in ("vertex", "face"):
            return _rgba(np.mean(visual.face_colors, axis=0))
        return None
    image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    if image is not None:
        return _rgba(np.asarray(image.convert("RGBA").resize((1, 1)))[0, 0])
    color = _rgba(material.main_color)
    return None if np.allclose(color[:3], _UNSAID, atol=2e-3) else color


def _rgba(bytes_: Any) -> Color:
    r, g, b, a = (float(x) / 255 for x in bytes_)
    return r, g, b, a if a > 0 else 1.0
