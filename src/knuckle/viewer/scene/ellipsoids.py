"""Inertia made visible: the solid ellipsoid and the solid box that have a body's mass and inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.spatial import Inertia

from .triangles import Array


@dataclass(frozen=True, eq=False)
class Principal:
    """A body's mass, its centre, its principal axes (the columns of `axes`, right-handed) and moments about them."""

    mass: float
    com: Array
    axes: Array
    moments: Array

    @property
    def pose(self) -> Array:
        """The homogeneous matrix of the principal frame in the body's."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.axes, self.com
        return T

    def _second_moments(self) -> Array:
        """∫ x² dm / m along each axis: (I_y + I_z − I_x) / 2m, never below zero."""
        return np.maximum(self.moments.sum() / 2 - self.moments, 0.0) / self.mass

    @property
    def radii(self) -> Array:
        """Half axes of the ellipsoid of uniform density with this inertia: ∫ x² dm = m a²/5."""
        return np.sqrt(5 * self._second_moments())

    @property
    def sides(self) -> Array:
        """Side lengths of the box of uniform density with this inertia: ∫ x² dm = m a²/12."""
        return np.sqrt(12 * self._second_moments())


def principal(inertia: Any) -> Principal | None:
    """The principal axes of a body's inertia about its centre of mass; None for a body without mass.

    A body of a planar model has one moment of inertia: it is shown as a disc of that moment.
    """
    mass = float(inertia.mass)
    if not mass > 0:
        return None
    if not isinstance(inertia, Inertia):
        x, y = (float(c) for c in inertia.com)
        moment = float(inertia.I_com)
        return Principal(mass, np.array([x, y, 0.0]), np.eye(3), np.array([moment / 2, moment / 2, moment]))
    I = np.array([[float(x) for x in row] for row in inertia.I_com.matrix])
    moments, axes = np.linalg.eigh((I + I.T) / 2)
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    return Principal(mass, np.array([float(c) for c in inertia.com]), axes, np.maximum(moments, 0.0))
