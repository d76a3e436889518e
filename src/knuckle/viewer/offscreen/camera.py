"""From places in a scene to pixels: a camera, and the sun's view for shadows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knuckle.viewer.scene.triangles import Array

FIELD_OF_VIEW = 0.62
_NEAREST = 0.02
"""Of what is drawn, in parts of the distance to the middle of the scene."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole at `eye` that looks at `target`, with z upwards, and a picture of so many pixels."""

    eye: Array
    target: Array
    width: int
    height: int

    @property
    def axes(self) -> Array:
        """Rows: to the right, downwards, away from the camera."""
        ahead = self.target - self.eye
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(ahead, right), ahead])

    @property
    def _scale(self) -> float:
        return self.height / (2 * np.tan(FIELD_OF_VIEW / 2))

    def project(self, points: Array) -> Array:
        """(n, 3): pixels to the right and downwards, and nearness; nearness 0 for what is behind the camera."""
        local = (points - self.eye) @ self.axes.T
        depth = local[:, 2]
        there = depth > _NEAREST * np.linalg.norm(self.target - self.eye)
        safe = np.where(there, depth, 1.0)
        middle = np.array([self.width, self.height]) / 2
        return np.column_stack([middle + self._scale * local[:, :2] / safe[:, None], there / safe])

    def rays(self) -> Array:
        """(height, width, 3): the direction through the middle of each pixel, of length one along the view."""
        y, x = np.mgrid[0 : self.height, 0 : self.width] + 0.5
        local = np.stack([(x - self.width / 2) / self._scale, (y - self.height / 2) / self._scale, np.ones_like(x)], -1)
        return local @ self.axes


@dataclass(frozen=True, eq=False)
class SunView:
    """The scene as the sun sees it: a square of `size` pixels about a ball."""

    sun: Array
    """towards the sun, of length one"""
    centre: Array
    radius: float
    size: int

    def project(self, points: Array) -> Array:
        """(n, 3): pixels, and nearness to the sun, from 0 to 2 within the ball."""
        right = np.cross([0.0, 0.0, 1.0], self.sun)
        right /= np.linalg.norm(right)
        local = (points - self.centre) @ np.array([right, np.cross(self.sun, right), self.sun]).T / self.radius
        return np.column_stack([(local[:, :2] + 1) * self.size / 2, local[:, 2] + 1])
