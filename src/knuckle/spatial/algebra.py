"""The two algebras an algorithm can run in, and the map from space to the plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ZERO

from .articulated import ArticulatedInertia
from .inertia import BodyCoriolis, Inertia
from .planar.planar_inertia import PlanarArticulatedInertia, PlanarCoriolis, PlanarInertia
from .planar.planar_vectors import PlanarForce, PlanarMotion, PlanarTransform
from .subspace import Subspace
from .three import IDENTITY3
from .transform import Transform
from .vectors import Force, Motion


@dataclass(frozen=True, slots=True)
class Algebra:
    """The types of one algebra."""

    name: str
    dimension: int
    Motion: Any
    Force: Any
    Transform: Any
    Inertia: Any
    ArticulatedInertia: Any
    BodyCoriolis: Any
    to_space: Callable[[Any], Any]
    """A transform or motion as one in space"""
    from_space: Callable[[Any], Any]
    """What there is of a force in space"""

    def __reduce__(self) -> str:
        return self.name.upper()


def _itself(x: Any) -> Any:
    return x


def embed(x: Any) -> Any:
    """A planar transform or motion as a spatial one: `project(embed(x))` is x."""
    if isinstance(x, PlanarMotion):
        return Motion((ZERO, ZERO, x.angular), (*x.linear, ZERO))
    return Transform(((x.c, x.s, ZERO), (-x.s, x.c, ZERO), IDENTITY3[2]), (x.x, x.y, ZERO))


def project(x: Any) -> Any:
    """A spatial quantity as its planar twin: coordinates 3, 4 and 5 (RBDA 2.16). Out-of-plane parts are dropped."""
    if isinstance(x, Motion):
        return PlanarMotion(x.angular[2], x.linear[0], x.linear[1])
    if isinstance(x, Force):
        return PlanarForce(x.angular[2], x.linear[0], x.linear[1])
    if isinstance(x, Transform):
        return PlanarTransform(x.E[0][0], x.E[0][1], x.r[0], x.r[1])
    if isinstance(x, Inertia):
        return PlanarInertia(x.mass, x.h[0], x.h[1], x.I.zz)
    if isinstance(x, Subspace):
        return Subspace(project(x.vector.zero()).__class__, map(project, x.columns))
    raise TypeError(f"{type(x).__name__} has no planar twin")


SPATIAL = Algebra(
    "spatial", 6, Motion, Force, Transform, Inertia, ArticulatedInertia, BodyCoriolis, _itself, _itself
)  # fmt: skip
PLANAR = Algebra(
    "planar", 3, PlanarMotion, PlanarForce, PlanarTransform, PlanarInertia, PlanarArticulatedInertia, PlanarCoriolis,
    embed, project,
)  # fmt: skip
