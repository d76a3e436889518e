"""The parts a model is made of: bodies, joints, frames, loops, shapes, notes. All frozen data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

from knuckle.joints import Joint
from knuckle.spatial import IDENTITY, Inertia, Transform

from .joint_position import joint_position, neutral_position

ROOT = -1
"""The number of the fixed base. Bodies count from 0, and joint i moves body i."""


@dataclass(frozen=True)
class Box:
    """A box centred at the origin, by its side lengths."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred at the origin."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with round ends; `length` is that of the cylinder between the ends' centres."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """A ball centred at the origin."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid centred at the origin, by its half axes."""

    radii: tuple[float, float, float]


@dataclass(frozen=True)
class Plane:
    """The xy plane; `size` holds half lengths, 0 for an endless one."""

    size: tuple[float, float]


@dataclass(frozen=True)
class Mesh:
    """A mesh file: its name as written, and the path it was found at, if it was.

    `hull` has the corners of its convex hull, scaled, where they were read: for contact (`knuckle.contact.with_hulls`).
    """

    uri: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    path: str | None = None
    hull: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class HeightField:
    """Ground of changing height over a grid in x and y, centred at the origin; z is up.

    `heights[i][k]` is the height at the i-th place along y and the k-th along x; `spacing` is the distance of places
    along x and along y.
    """

    heights: tuple[tuple[float, ...], ...]
    spacing: tuple[float, float]

    def __post_init__(self) -> None:
        rows = {len(row) for row in self.heights}
        if len(self.heights) < 2 or len(rows) != 1 or min(rows) < 2:
            raise ValueError("a height field needs at least two rows of two heights, and all rows of one length")
        if not all(math.isfinite(h) for row in self.heights for h in row):
            raise ValueError("the heights of a height field are finite numbers, and one of these is not")
        if len(self.spacing) != 2 or not all(0 < d < math.inf for d in self.spacing):
            raise ValueError(f"the spacing of a height field is two lengths above zero, not {self.spacing}")


Shape: TypeAlias = Box | Cylinder | Capsule | Sphere | Ellipsoid | Plane | Mesh | HeightField


@dataclass(frozen=True)
class Material:
    """A colour (red, green, blue, opacity, each 0 to 1) or a texture."""

    name: str = ""
    color: tuple[float, float, float, float] | None = None
    texture: str | None = None


@dataclass(frozen=True)
class Geometry:
    """A shape placed on a body: `X` goes from body to shape coordinates.

    A shape that collides has a `surface`, by its name in the model's contact rules. Two shapes may touch if the bits of
    one's `contact_type` and the other's `contact_affinity` have one in common, either way round, as in MJCF.
    """

    shape: Shape
    X: Transform = IDENTITY
    name: str = ""
    material: Material | None = None
    surface: str = ""
    contact_type: int = 1
    contact_affinity: int = 1


@dataclass(frozen=True)
class Body:
    """A rigid body: its inertia about its own frame, and what it looks like."""

    name: str
    inertia: Inertia
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint, one entry per variable; infinite where there is none."""

    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()

    @classmethod
    def none(cls, nq: int, nv: int) -> Limits:
        """No limits for a joint with this many variables."""
        return cls().filled(nq, nv)

    def filled(self, nq: int, nv: int) -> Limits:
        """The same limits, infinite where none was given."""
        inf = math.inf
        return Limits(
            self.lower or (-inf,) * nq,
            self.upper or (inf,) * nq,
            self.velocity or (inf,) * nv,
            self.effort or (inf,) * nv,
        )


@dataclass(frozen=True)
class TreeJoint:
    """A joint of the spanning tree: connects body `parent` to the body with this joint's number.

    `X_tree` goes from the parent's frame to the joint's predecessor frame. `damping` (force per velocity), `friction`
    (Coulomb force), `rotor_inertia` (as felt at the joint) and `stiffness` with `rest` have one entry per velocity
    variable. `start`, with one entry per position variable, is where the joint stands in `kn.neutral`: the neutral
    position of its type, if not given.
    """

    name: str
    type: Joint
    parent: int
    X_tree: Transform = IDENTITY
    limits: Limits = field(default_factory=Limits)
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    rotor_inertia: tuple[float, ...] = ()
    stiffness: tuple[float, ...] = ()
    rest: tuple[float, ...] = ()
    start: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        nq, nv = self.type.nq, self.type.nv
        object.__setattr__(self, "limits", self.limits.filled(nq, nv))
        for name in ("damping", "friction", "rotor_inertia", "stiffness", "rest"):
            value = getattr(self, name)
            value = (float(value),) * nv if isinstance(value, (int, float)) else tuple(value) or (0.0,) * nv
            if len(value) != nv:
                raise ValueError(f"joint {self.name!r}: {name} needs {nv} entries, one per velocity variable: {value}")
            object.__setattr__(self, name, value)
        start = (self.start,) if isinstance(self.start, (int, float)) else self.start
        try:
            object.__setattr__(self, "start", joint_position(self.type, start or neutral_position(self.type)))
        except ValueError as error:
            raise ValueError(f"joint {self.name!r}: start {error}") from None


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop (RBDA 4.2): between two bodies of the tree, with a frame on each (X_P, X_S)."""

    name: str
    type: Joint
    predecessor: int
    successor: int
    X_predecessor: Transform = IDENTITY
    X_successor: Transform = IDENTITY


@dataclass(frozen=True)
class Frame:
    """A named place on a body (or on the base, ROOT): `X` goes from body to frame coordinates."""

    name: str
    body: int
    X: Transform = IDENTITY


@dataclass(frozen=True)
class Keyframe:
    """A state of the mechanism that has a name: `q` and `v` in the order of its variables.

    `ctrl` holds the inputs of the file's actuators, in the file's order: actuators are no part of a model. `time` is
    in seconds.
    """

    name: str
    q: tuple[float, ...]
    v: tuple[float, ...]
    ctrl: tuple[float, ...] = ()
    time: float = 0.0


@dataclass(frozen=True)
class Note:
    """Something an engineer should know about a model: how serious, where, what."""

    level: str  # "info", "warning" or "error"
    subject: str
    text: str
    line: int | None = None


@dataclass(frozen=True)
class Provenance:
    """Where a model came from and what happened to it on the way; not part of its identity."""

    file: str | None = None
    format: str | None = None
    notes: tuple[Note, ...] = field(default=())
