"""Endless ground that is not level: a chequered patch of it, as large as what moves on it needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from knuckle.model import ROOT, Plane

from .figure import Figure, Part
from .mesh_file import Color
from .poses import matrix, upright
from .triangles import Array, Triangles

_COLORS: tuple[Color, Color] = ((0.66, 0.70, 0.67, 1.0), (0.56, 0.61, 0.57, 1.0))
_FIELDS = 12
_ROOM = 1.3
"""How much larger than the motion a patch is."""


def with_slopes(figure: Figure, q: Array) -> Figure:
    """The figure with a patch for each endless plane of its base that is not level, under positions q (..., nq)."""
    up = upright(figure.model)[2, :3]
    slopes = [
        matrix(x.X)
        for x in figure.model.base.visuals
        if isinstance(x.shape, Plane) and not all(x.shape.size) and matrix(x.X)[:3, 2] @ up < 1 - 1e-9
    ]
    moving = replace(figure, parts=tuple(part for part in figure.parts if part.body != ROOT))
    if not slopes or not moving.parts:
        return figure
    low, high = moving.bounds(q)
    parts = [part for k, T in enumerate(slopes) for part in _patch(T, low, high, k)]
    return replace(figure, parts=(*figure.parts, *parts))


def _patch(T: Array, low: Array, high: Array, number: int) -> list[Part]:
    """Light and dark fields of the plane z = 0 of a frame, below a box."""
    corners = np.array(np.meshgrid(*np.array([low, high]).T)).reshape(3, -1).T
    flat = (corners - T[:3, 3]) @ T[:3, :2]
    middle = (flat.min(axis=0) + flat.max(axis=0)) / 2
    half = _ROOM / 2 * float(np.linalg.norm(high - low))
    lines = np.linspace(-half, half, _FIELDS + 1)
    fields: tuple[list[Array], list[Array]] = [], []
    for i in range(_FIELDS):
        for j in range(_FIELDS):
            x, y = lines[[i, i + 1, i + 1, i]] + middle[0], lines[[j, j, j + 1, j + 1]] + middle[1]
            fields[(i + j) % 2].append(np.stack([x, y, np.zeros(4)], axis=1))
    parts: list[Part] = []
    for squares, color in zip(fields, _COLORS, strict=True):
        first = 4 * np.arange(len(squares))[:, None, None]
        faces = (first + np.array([(0, 1, 2), (0, 2, 3)])).reshape(-1, 3)
        surface = Triangles(np.concatenate(squares), faces).moved(T)
        parts.append(Part(ROOT, f"ground{number}/{len(parts)}", surface, color))
    return parts
