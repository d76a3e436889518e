"""Bearings of joints, whose surfaces rub by what they carry (notes 2.11)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.joint_bearings import (
    BearingPlace,
    ball_places,
    hinge_places,
    slider_places,
    unit_wrench,
)
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.spatial import Vector

Array = NDArray[Any]
SMALL = 1e-12


@public_in("contact")
@dataclass(frozen=True)
class JointBearing:
    """A joint whose surfaces rub: a hinge, a slider or a ball joint.

    Args:
        joint: its name.
        friction: Coulomb's coefficient μ.
        radius: of the hinge's pin or the ball, or half the side of the slider's sleeve, in metres.
        length: of the pin or the sleeve, in metres; the shorter, the more it takes to carry a moment.
        points: how many places a hinge has around each end.
    """

    joint: str
    friction: float
    radius: float
    length: float = 0.1
    points: int = 4

    def __post_init__(self) -> None:
        for name, least in (("friction", 0.0), ("radius", SMALL), ("length", SMALL)):
            if not least <= getattr(self, name) < math.inf:
                raise ValueError(
                    f"bearing of {self.joint!r}: {name} is a number from {least:g} on, not {getattr(self, name)!r}"
                )
        if self.points < 3:
            raise ValueError(f"bearing of {self.joint!r}: points is a whole number from 3 on, not {self.points!r}")


@dataclass(frozen=True)
class PlacedBearing:
    """A bearing in a position: rows over the velocity variables, and what spreads a wrench over its places."""

    joint: int
    friction: float
    T: Array
    """The velocity at each place, along each way in which it slips (m, nv)"""
    wrenches: Array
    """The wrenches of unit forces there (m, 6)"""
    sizes: tuple[int, ...]
    spread: Array
    """From a wrench to the least normal forces (n, 6)"""
    S: Array
    """The joint's motion (6, k)"""


def bearing_of(model: Model, q: Array, bearing: JointBearing) -> PlacedBearing:
    """A bearing of a mechanism in a position."""
    i = model.joint_index(bearing.joint)
    if model.couplings:
        raise ModelError(f"bearings take no joints that follow others yet, and {model.name!r} has some")
    joint, at = model.joints[i].type, model.positions(Vector(q.tolist()))[i]
    S = _columns(joint.subspace(at), joint.nv)
    places = _places(bearing, S)
    normal = np.array([unit_wrench(x.point, x.normal) for x in places], float)
    wrenches = np.array([unit_wrench(x.point, way) for x in places for way in x.ways], float)
    T = np.zeros((len(wrenches), model.nv))
    T[:, model.v_slices[i]] = wrenches @ S
    sizes = tuple(len(x.ways) for x in places)
    return PlacedBearing(i, bearing.friction, T, wrenches, sizes, np.linalg.pinv(normal.T), S)


def _columns(subspace: Any, n: int) -> Array:
    units = np.eye(n).tolist()
    return np.array([[float(x) for x in (subspace @ Vector(e)).components] for e in units]).T.reshape(6, n)


def _places(bearing: JointBearing, S: Array) -> list[BearingPlace]:
    turn, way = S[:3], S[3:]
    if S.shape[1] == 1:
        a, size = turn[:, 0], float(np.linalg.norm(turn))
        if size <= SMALL:
            axes = axes_at(tuple((way[:, 0] / np.linalg.norm(way)).tolist()))
            return slider_places((0.0, 0.0, 0.0), axes, bearing.radius, bearing.length)
        middle = np.cross(a, way[:, 0]) / size**2
        if abs(a @ way[:, 0]) <= SMALL * size:
            axes = axes_at(tuple((a / size).tolist()))
            return hinge_places(tuple(middle.tolist()), axes, bearing.radius, bearing.length, bearing.points)
    if S.shape[1] == 3 and np.linalg.matrix_rank(turn) == 3 and not way.any():
        return ball_places((0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), bearing.radius)
    raise ModelError(f"joint {bearing.joint!r} is no hinge, slider or ball joint: a bearing needs one of these")
