"""Random mechanisms with closed loops, with their freedoms known by how they are drawn.

Each is drawn in world coordinates, turned and scaled at random, with body frames of any direction and joints that are
not at zero. So rows that should be zero, and rows that depend on others, are so to rounding only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from knuckle.functions import pose
from knuckle.joints import Cylindrical, Free, Joint, Prismatic, Revolute, Spherical
from knuckle.model import Builder, Model, solid_box
from knuckle.spatial import Transform, Vector

from .linkages import bennett

Array: TypeAlias = NDArray[np.float64]
Y = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class ClosedMechanism:
    """Mechanisms side by side, a position (nq,) that closes their loops, and how many freedoms they have there."""

    model: Model
    q: Array
    names: tuple[str, ...]
    blocks: tuple[tuple[slice, int], ...]
    """The velocity variables of each of the mechanisms side by side, and its freedoms."""

    @property
    def freedoms(self) -> int:
        """All of them together."""
        return sum(freedoms for _, freedoms in self.blocks)


class Drawing:
    """Several mechanisms side by side in one model, each in its own place, direction and size."""

    def __init__(self, rng: Generator, name: str) -> None:
        self.rng, self.builder = rng, Builder(name)
        self.frames: dict[str, tuple[Array, Array]] = {"base": (np.eye(3), np.zeros(3))}
        self.positions: list[Array] = []
        self.blocks: list[tuple[slice, int]] = []
        self.variables = 0
        self.freedoms = 0
        self.turn, self.shift, self.size, self.ground = np.eye(3), np.zeros(3), 1.0, "base"

    def begin(self, size: float, carrier: Joint | None) -> None:
        """The next mechanism: how large it is, and the joint of what carries it, if not the base."""
        self.turn, self.size, self.ground = _rotation(self.rng), size, "base"
        self.shift = size * self.rng.normal(size=3)
        if carrier is not None:
            self.ground = self.body("base", carrier, (0.0, 0.0, 0.0))
            self.freedoms += carrier.nv

    def body(self, on: str, joint: Joint, at: Any) -> str:
        """A body on a joint at a point; the joint's axis is one of the drawing."""
        name, E = f"body{len(self.frames)}", _rotation(self.rng)
        joint = _turned(joint, E @ self.turn)
        X = self._between(on, E, self._place(at))
        start = np.asarray(self.rng.uniform(-1, 1, joint.nv)) * [self.size if u == "m" else 1.0 for u in joint.v_units]
        q = joint.integrate(joint.neutral(), Vector(start.tolist()))
        mass, s = self.rng.uniform(0.5, 2.0) * 1e3 * self.size**3, self.size
        box = solid_box(
            mass,
            tuple((s * self.rng.uniform(0.1, 0.4, 3)).tolist()),
            at=tuple((0.3 * s * self.rng.normal(size=3)).tolist()),
        )
        self.builder.body(name, on=on, joint=joint, at=joint.transform(q).inverse() @ X, inertia=box)
        self.frames[name] = E, self._place(at)
        self.positions.append(np.array([float(x) for x in q]))
        self.variables += joint.nv
        return name

    def close(self, joint: Joint, predecessor: str, successor: str, at: Any) -> None:
        """A loop joint at a point."""
        E = _rotation(self.rng)
        places = [self._between(body, E, self._place(at)) for body in (predecessor, successor)]
        self.builder.close_loop(
            f"loop{self.rng.integers(10**9)}", _turned(joint, E @ self.turn), predecessor, successor, *places
        )

    def end(self) -> None:
        """The mechanism is drawn."""
        start = self.blocks[-1][0].stop if self.blocks else 0
        self.blocks.append((slice(start, self.variables), self.freedoms))
        self.freedoms = 0

    def done(self, names: tuple[str, ...]) -> ClosedMechanism:
        model = self.builder.build()
        return ClosedMechanism(model, np.concatenate(self.positions), names, tuple(self.blocks))

    def _place(self, at: Any) -> Array:
        return self.shift + self.size * (self.turn @ np.asarray(at, float))

    def _between(self, body: str, E: Array, place: Array) -> Transform:
        """From a body's frame to one with the axes E at a place of the world."""
        axes, origin = self.frames[body]
        return Transform.of((E @ axes.T).tolist(), (axes @ (place - origin)).tolist())


def _rotation(rng: Generator) -> Array:
    """Any direction."""
    w, x, y, z = (lambda p: p / np.linalg.norm(p))(rng.normal(size=4))
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _turned(joint: Joint, E: Array) -> Joint:
    """A joint with its axis, given in the drawing, in other coordinates."""
    axis: Any = getattr(joint, "axis", None)
    return joint if axis is None else type(joint)(tuple((E @ np.array([float(x) for x in axis])).tolist()))  # type: ignore[call-arg]


HINGE = Revolute(tuple(Y.tolist()))


def _chain(d: Drawing, points: Array, joint: Joint = HINGE) -> None:
    """Bars between points of a plane, in a loop that begins and ends on the ground; the tree comes from both ends."""
    split = int(d.rng.integers(1, len(points)))
    left, right = d.ground, d.ground
    for p in points[:split]:
        left = d.body(left, HINGE, p)
    for p in points[:split:-1]:
        right = d.body(right, HINGE, p)
    d.close(joint, left, right, points[split])


def _in_plane(rng: Generator, n: int, flat: float = 1.0) -> Array:
    """Corners in the plane, no three of them in a line; `flat` draws them together towards a line."""
    angles = np.sort(rng.uniform(0, 2 * math.pi / n, n) * 0.6) + 2 * math.pi * np.arange(n) / n
    radii = rng.uniform(0.5, 1.0, n)
    points = np.stack([radii * np.cos(angles), 0 * angles, flat * radii * np.sin(angles)], axis=1)
    return rng.permutation(points) if flat < 1 else points


def four_bar(d: Drawing) -> None:
    """A planar four-bar in space: one freedom, three forces undetermined."""
    _chain(d, _in_plane(d.rng, 4))
    d.freedoms += 1


def polygon(d: Drawing) -> None:
    """Five to seven bars in a plane, closed by a hinge or a ball."""
    n = int(d.rng.integers(5, 8))
    _chain(d, _in_plane(d.rng, n), HINGE if d.rng.random() < 0.5 else Spherical())
    d.freedoms += n - 3


def slider(d: Drawing) -> None:
    """A crank, a rod and a slider in a plane."""
    p = _in_plane(d.rng, 3)
    rod = d.body(d.body(d.ground, HINGE, p[0]), HINGE, p[1])
    way = (lambda x: x / np.linalg.norm(x))(d.rng.normal(size=3) * [1, 0, 1])
    d.close(HINGE, rod, d.body(d.ground, Prismatic(tuple(way.tolist())), p[2]), p[2])
    d.freedoms += 1


def spherical(d: Drawing) -> None:
    """Four hinges whose axes meet in a point: one freedom."""
    _spherical(d, 1.0)


def _spherical(d: Drawing, flat: float) -> None:
    axes = _in_plane(d.rng, 4, flat) + 0.7 * Y
    axes[:, 1] *= flat if flat < 1 else 1.0
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    hinges = [Revolute(tuple(a.tolist())) for a in axes]
    places = axes * d.rng.uniform(0.3, 1.0, (4, 1))
    first = d.body(d.body(d.ground, hinges[0], places[0]), hinges[1], places[1])
    d.close(hinges[2], first, d.body(d.ground, hinges[3], places[3]), places[2])
    d.freedoms += 1


def skew(d: Drawing) -> None:
    """Bennett's linkage: four skew hinges that move although counting says they cannot."""
    length = d.rng.uniform(0.2, 0.4)
    made = bennett(length, length * d.rng.uniform(1.1, 1.6), d.rng.uniform(0.3, 0.6))
    poses = [np.asarray(pose(made.model, made.q, body)) for body in made.model.body_names]
    loop = made.model.loops[0]
    X = loop.X_successor
    end = np.array([float(x) for x in X.r]), np.array([float(x) for x in X.E[2]])
    places = [*((P[:3, 3], P[:3, 2]) for P in poses), end]
    hinges = [Revolute(tuple(axis.tolist())) for _, axis in places]
    on = d.ground
    for (point, _), hinge in zip(places[:3], hinges, strict=False):
        on = d.body(on, hinge, point)
    d.close(hinges[3], on, d.ground, places[3][0])
    d.freedoms += 1


def vacuous(d: Drawing) -> None:
    """A door on two hinges, a drawer on two rails, a shaft in two bearings: the second joint constrains nothing."""
    which = int(d.rng.integers(4))
    first: Joint = Prismatic(tuple(Y.tolist())) if which == 1 else HINGE
    second: Joint = (Spherical(), Prismatic(tuple(Y.tolist())), HINGE, Cylindrical(tuple(Y.tolist())))[which]
    at = d.rng.normal(size=3)
    on = d.body(d.ground, first, at)
    where = d.rng.normal(size=3) if which == 1 else at + d.rng.uniform(0.3, 1.0) * Y
    d.close(second, d.ground, on, where)
    d.freedoms += 1
    if d.rng.random() < 0.5:
        d.body(on, Revolute(tuple(d.rng.normal(size=3).tolist())), d.rng.normal(size=3))
        d.freedoms += 1


def redundant(d: Drawing) -> None:
    """A parallelogram with more cranks than it needs, or a loop that is closed twice: one freedom."""
    if d.rng.random() < 0.5:
        p = _in_plane(d.rng, 4)
        left = d.body(d.body(d.ground, HINGE, p[0]), HINGE, p[1])
        right = d.body(d.ground, HINGE, p[3])
        for k in range(2):
            d.close(HINGE if k else Spherical(), left, right, p[2] + 0.2 * k * Y)
    else:
        crank = d.rng.normal(size=3) * [1, 0, 1]
        feet = [x * d.rng.normal(size=3) * [1, 0, 1] for x in (1.0, 1.0, 1.5)]
        table = d.body(d.body(d.ground, HINGE, feet[0]), HINGE, feet[0] + crank)
        for foot in feet[1:]:
            d.close(HINGE, table, d.body(d.ground, HINGE, foot), foot + crank)
    d.freedoms += 1


def nearly_singular(d: Drawing) -> None:
    """A four-bar drawn together towards a line, or a spherical one towards a plane: nearly one freedom more."""
    flat = float(10 ** -d.rng.uniform(2, 7))
    if d.rng.random() < 0.7:
        _chain(d, _in_plane(d.rng, 4, flat))
        d.freedoms += 1
    else:
        _spherical(d, flat)


FAMILIES: dict[str, Callable[[Drawing], None]] = {
    "planar four-bar": four_bar,
    "planar polygon": polygon,
    "crank and slider": slider,
    "spherical": spherical,
    "Bennett": skew,
    "vacuous": vacuous,
    "redundant": redundant,
    "nearly singular": nearly_singular,
}


def random_closed(rng: Generator | int, names: tuple[str, ...]) -> ClosedMechanism:
    """Mechanisms of these families side by side, of a millimetre to a kilometre each, some of them on a carrier."""
    g = np.random.default_rng(rng)
    d = Drawing(g, ", ".join(names))
    for name in names:
        carriers: list[Joint | None] = [None, None, None, Revolute(tuple(g.normal(size=3).tolist())), Free()]
        d.begin(float(10 ** g.uniform(-3, 3)), carriers[int(g.integers(len(carriers)))])
        FAMILIES[name](d)
        d.end()
    return d.done(names)
