"""A scene of one or several robots: where each stands, where the ground is, where the camera looks from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knuckle.model import Plane

from .figure import Figure
from .poses import matrix, upright
from .triangles import Array

_FIELD_OF_VIEW = 0.62
ELEVATION = float(np.radians(18.0))


@dataclass(frozen=True, eq=False)
class Stage:
    """Poses (4x4) of the robots' bases with z upwards, the height of the ground, and a box that holds everything."""

    placements: tuple[Array, ...]
    ground: float
    low: Array
    high: Array

    @property
    def centre(self) -> Array:
        """The middle of the box."""
        return (self.low + self.high) / 2

    @property
    def radius(self) -> float:
        """Of the ball about the centre that holds the box."""
        return float(np.linalg.norm(self.high - self.low)) / 2

    @property
    def cell(self) -> float:
        """The width of a cell of the grid on the ground: a round number that suits the size of the scene."""
        raw = self.radius / 5
        power = 10.0 ** np.floor(np.log10(raw))
        return float(next(k * power for k in (1, 2, 5, 10) if k * power >= raw * (1 - 1e-9)))

    @property
    def azimuth(self) -> float:
        """The camera's direction seen from above, from x towards y: oblique for one robot, from the front for a row."""
        return float(np.radians(-52.0 if len(self.placements) == 1 else -24.0))

    @property
    def _back(self) -> Array:
        c = np.cos(ELEVATION)
        return np.array([c * np.cos(self.azimuth), c * np.sin(self.azimuth), np.sin(ELEVATION)])

    def distance(self, aspect: float) -> float:
        """From where a camera sees all of the box, with some room about it, in a picture of this width over height."""
        back = self._back
        right = np.cross([0.0, 0.0, 1.0], back) / np.cos(ELEVATION)
        corners = np.array(np.meshgrid(*np.array([self.low, self.high]).T)).reshape(3, -1).T - self.centre
        x, y, z = corners @ right, corners @ np.cross(back, right), corners @ back
        slope = np.tan(_FIELD_OF_VIEW / 2) / 1.12
        return float(np.max(z + np.maximum(np.abs(y), np.abs(x) / aspect) / slope))

    def eye(self, aspect: float) -> Array:
        """The camera's first place."""
        return self.centre + self.distance(aspect) * self._back


def stage(figures: Sequence[Figure], positions: Sequence[Array], spacing: float | None = None) -> Stage:
    """Robots side by side along y, upright, on one ground.

    Args:
        figures: the robots.
        positions: for each, the positions (..., nq) that it will take.
        spacing: the distance between their origins; None leaves a gap between them, 0 puts them in one place.
    """
    placements: list[Array] = []
    boxes: list[Array] = []
    edge = 0.0
    for k, (figure, q) in enumerate(zip(figures, positions, strict=True)):
        T = upright(figure.model)
        low, high = _turned(figure.bounds(np.asarray(q, float)), T)
        if spacing is not None:
            T[1, 3] = k * spacing
        elif k:
            T[1, 3] = edge - low[1]
        shift = T[:3, 3]
        edge = float(high[1] + shift[1] + 0.25 * max(high[1] - low[1], 0.2 * (high[2] - low[2])))
        placements.append(T)
        boxes.append(np.array([low + shift, high + shift]))
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    margin = 0.02 * float(np.linalg.norm(high - low))
    ground = float(low[2]) if low[2] < -margin else 0.0
    ground = max((z for figure, T in zip(figures, placements, strict=True) for z in _levels(figure, T)), default=ground)
    return Stage(tuple(placements), ground, np.minimum(low, [np.inf, np.inf, ground]), high)


def _levels(figure: Figure, T: Array) -> list[float]:
    """The heights of a model's endless planes, those that are level: the grid is drawn there."""
    planes = [v for v in figure.model.base.visuals if isinstance(v.shape, Plane) and not all(v.shape.size)]
    placed = [T @ matrix(plane.X) for plane in planes]
    return [float(P[2, 3]) for P in placed if P[2, 2] > 1 - 1e-9]


def _turned(bounds: Array, T: Array) -> tuple[Array, Array]:
    corners = np.array(np.meshgrid(*bounds.T)).reshape(3, -1).T @ T[:3, :3].T
    return corners.min(axis=0), corners.max(axis=0)
