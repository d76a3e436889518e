"""Nodes of deformable bodies on what the base has to touch: Signorini's and Coulomb's laws in an implicit step.

Impulses p of the nodes that touch are part of the equations of a step, by multipliers and penalties (Alart and Curnier
1991): along the normal p = λ − ρ (n·u + gap/h) where that is positive, across it λ − ρ u where a node sticks, and
−μ p_n u/|u| where it slides. ρ is so large that one solution is all but exact; rounds go on until nodes neither close,
open, begin to slide nor stick, and what slides is rubbed as it should be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.contact.detection import Detector, is_known
from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.errors import ConvergenceError
from knuckle.model import ROOT, Model
from knuckle.model.contact.contact_candidates import welds
from knuckle.model.deformables import Deformable
from knuckle.model.parts import Geometry, Shape, Sphere
from knuckle.spatial import IDENTITY, Transform
from knuckle.warning import warn

Array: TypeAlias = NDArray[Any]

POINT = Sphere(0.0)
HARD = 1e4
"""The penalty ρ, in parts of what a node has on the diagonal of the equations."""
RECOVERED = 0.2
"""The part of an overlap that a step takes away."""
ROUNDS = 30
"""How often modes and friction may change within a step."""
LAWFUL, NEARLY = 1e-3, 1e-2
"""How far a solution may be from the laws, as a part of the largest impulse; and after so many rounds."""
SLOW = 1e-3
"""Slip below so much of the fastest node's speed is none, for nodes on the edge between sticking and sliding."""
PATIENT = 10
"""Rounds after which all friction is that of dampers."""
TINY, FAR = 1e-200, 1e6

OPEN, STUCK, SLIDING, RUBBING = 0, 1, 2, 3
"""Modes. A node that slides receives friction by Newton's method; one that did and stuck again, and slides once more,
by a damper that would give the friction of its last slip: slower, and it never turns back."""


class UnsettledError(ConvergenceError):
    """Which nodes touch, stick and slide was not found: a shorter step may find it."""


@dataclass(frozen=True)
class GroundShape:
    """A shape that stands still, where it is, which nodes may touch it, and their friction."""

    shape: Shape
    X: Transform
    meets: Array
    friction: Array


def ground_shapes(model: Model) -> list[tuple[Geometry, Transform]]:
    """What the base, and bodies that are fixed to it, have to touch, and where it is."""
    weld = welds(model)
    still = [i for i in range(model.nb) if weld[i] == ROOT]
    X0: Any = positions(model, model.positions(model.start)) if still else {ROOT: IDENTITY}
    every = [(model.base, IDENTITY), *((model.bodies[i], X0[i]) for i in still)]
    return [
        (x, x.X @ X) for body, X in every for x in body.collisions if any(_may_touch(x, y) for y in model.deformables)
    ]


def _may_touch(shape: Geometry, soft: Deformable) -> bool:
    """Whether the bits of a shape and a deformable body say so."""
    return bool(shape.contact_type & soft.contact_affinity or shape.contact_affinity & soft.contact_type)


def touched(bodies: SoftBodies) -> list[GroundShape]:
    """The shapes that nodes can touch; a warning for those of which the way is not known."""
    model, shapes, unknown = bodies.model, list[GroundShape](), set[str]()
    for geometry, X in ground_shapes(model):
        if not is_known(POINT, geometry.shape):
            unknown.add(type(geometry.shape).__name__.lower())
            continue
        friction, meets = np.zeros(bodies.count), np.zeros(bodies.count, bool)
        for soft in model.deformables:
            friction[bodies.part(soft.name)] = model.contact.between(soft.surface, geometry.surface).friction
            meets[bodies.part(soft.name)] = _may_touch(geometry, soft)
        shapes.append(GroundShape(geometry.shape, X, meets, friction))
    if unknown:
        kinds = ", ".join(sorted(unknown))
        warn(f"nodes of deformable bodies pass through a {kinds} of the base of {model.name}: they touch planes, "
             "terrain, balls, boxes and capsules")  # fmt: skip
    return shapes


class NodeContacts:
    """The contacts of free nodes within one step: where they are, in which mode, and their impulses."""

    def __init__(self, bodies: SoftBodies, shapes: list[GroundShape]) -> None:
        self._bodies, self._shapes = bodies, shapes
        self._free = np.flatnonzero(bodies.is_free)
        self._detector = Detector()

    def begin(self, x: Array, u: Array, push: Array, dt: float) -> None:
        """A step of nodes at x with u that receive the impulses `push`: which could touch, and what is expected."""
        at = self._free
        r: Any = tuple(x[at].T)
        gaps, normals, friction = list[Array](), list[Array](), list[Array]()
        for ground in self._shapes:
            for place in self._detector.places(POINT, Transform(IDENTITY.E, r), ground.shape, ground.X):
                gaps.append(np.where(ground.meets[at], place.gap, FAR))
                normals.append(np.stack([np.broadcast_to(np.asarray(k, float), at.shape) for k in place.normal], -1))
                friction.append(ground.friction[at])
        gap, self._n, self._mu = np.concatenate(gaps), np.concatenate(normals), np.concatenate(friction)
        self.node = np.tile(at, len(gaps))
        self._bias = np.where(gap > 0, gap, RECOVERED * gap) / dt
        expected = u + push / self._bodies.masses[:, None]
        closing = self._along(expected[self.node]) + self._bias < 0
        self._mode = np.where(closing, self._closed, OPEN)
        self._was_back, self._has_opened = np.zeros(len(gap), bool), np.zeros(len(gap), bool)
        self._lambda, self._way = np.zeros((len(gap), 3)), np.zeros((len(gap), 3))
        self._turning, self._speed, self._normal = np.zeros(len(gap)), np.zeros(len(gap)), np.zeros(len(gap))
        self._impulse = np.zeros((len(gap), 3))

    @property
    def _closed(self) -> Array:
        """The mode in which a node begins to touch."""
        return np.where(self._mu > 0, STUCK, SLIDING)

    @property
    def is_open(self) -> bool:
        """Whether nothing touches."""
        return not self._mode.any()

    @property
    def impulses(self) -> Array:
        """(nodes, 3): those of the last solution."""
        total = np.zeros((self._bodies.count, 3))
        np.add.at(total, self.node, self._impulse)
        return total

    def solved(self, u: Array, right: Array, solve: Callable[[Array], tuple[int, Array]]) -> int:
        """Solves the equations of a change of velocities with contacts, from nodes that move with u.

        `solve` does so for a right side of the nodes (n, 3), and returns what it took and the changes (n, 3). The
        matrix is that of the bodies without contact.
        """
        diagonal = self._bodies.matrix.blocks.reshape(-1, 9)
        first = self._bodies.matrix.first[:-1]
        plain = diagonal[first].copy()
        hard = HARD * plain[self.node][:, [0, 4, 8]].sum(axis=1) / 3
        for k in range(ROUNDS):
            self.rounds = k
            C, constant = self._law(hard)
            blocks = plain.copy()
            np.add.at(blocks, self.node, C.reshape(-1, 9))
            diagonal[first] = blocks
            more = right.copy()
            np.add.at(more, self.node, constant - np.einsum("cij,cj->ci", C, u[self.node]))
            taken, change = solve(more)
            if taken < 0:
                diagonal[first] = plain
                return taken
            moving = (u + change)[self.node]
            self._impulse = constant - np.einsum("cij,cj->ci", C, moving)
            if self._settled(moving, hard) or (k > PATIENT and self.off <= NEARLY):
                diagonal[first] = plain
                return taken
        diagonal[first] = plain
        raise UnsettledError(f"contacts of deformable bodies did not settle within {ROUNDS} rounds: take smaller steps")

    def _law(self, hard: Array) -> tuple[Array, Array]:
        """C and c of impulses p = c − C u, in the present modes."""
        n, d, mode = self._n, self._way, self._mode
        normal = n[:, :, None] * n[:, None, :]
        across = np.eye(3) - normal
        aside = across - d[:, :, None] * d[:, None, :]
        closed = mode != OPEN
        C = (hard * closed)[:, None, None] * normal
        C += np.where(mode == STUCK, hard, np.where(mode == RUBBING, self._turning, 0.0))[:, None, None] * across
        C += np.where(mode == SLIDING, self._turning, 0.0)[:, None, None] * aside
        return C, closed[:, None] * (self._lambda - (hard * self._bias)[:, None] * n)

    def _settled(self, moving: Array, hard: Array) -> bool:
        """The modes and multipliers for the next round; whether this one obeys the laws."""
        n, mu, mode = self._n, self._mu, self._mode
        entering = -(self._along(moving) + self._bias)
        normal = np.maximum(self._along(self._lambda) + hard * entering, 0.0)
        slip = self._across(moving)
        held = self._across(self._lambda) - hard[:, None] * slip
        size, speed = np.linalg.norm(held, axis=1), np.linalg.norm(slip, axis=1)
        fastest = np.linalg.norm(moving, axis=1).max(initial=TINY)
        self._normal = (self._normal + normal) / 2 if self.rounds > PATIENT else normal
        closed, most = normal > 0, mu * self._normal
        closes = closed & (mode == OPEN)
        begins = closed & (mode == STUCK) & (size > most)
        back = closed & (mode == SLIDING) & ((slip * self._way).sum(axis=1) < 0) & (mu > 0)
        self.off = self._wrong(normal, entering / fastest, slip, speed, speed <= SLOW * fastest)
        done = self.off <= LAWFUL and not begins.any() and not back.any()

        new = np.where(closed, np.where(closes, np.where(self._has_opened, SLIDING, self._closed), mode), OPEN)
        new = np.where(begins, np.where(self._was_back, RUBBING, SLIDING), np.where(back, STUCK, new))
        new = np.where(closed & (mu > 0), RUBBING, new) if self.rounds >= PATIENT else new
        self._has_opened |= ~closed & (mode != OPEN)
        self._was_back |= back
        rubbing, sliding = new == RUBBING, new == SLIDING
        slid = np.isin(mode, (SLIDING, RUBBING))
        self._speed = np.where(slid, speed, self._speed)
        way = np.where((mode == STUCK)[:, None], _unit(-held, size), _unit(slip, speed))
        self._way = np.where((rubbing | sliding)[:, None], way, 0.0)
        rate = most / np.where(rubbing, np.maximum(self._speed, SLOW * fastest), np.maximum(speed, TINY))
        self._turning = np.where(rubbing | (sliding & ~begins & ~closes), rate, 0.0)
        across = np.where(sliding[:, None], -most[:, None] * way, np.where((mode == STUCK)[:, None], held, 0.0))
        across = np.where(back[:, None], self._across(self._lambda), across)
        across = np.where(rubbing[:, None], 0.0, across)
        self._lambda = (closed & ~closes)[:, None] * (normal[:, None] * n + across)
        self._mode = new
        return bool(done)

    def _wrong(self, normal: Array, entering: Array, slip: Array, speed: Array, is_slow: Array) -> float:
        """How far a solution is from the laws.

        That is the largest of pulling and of friction that is not μ p_n against slip, or more than that at rest, as
        parts of the largest impulse; and of entering, as a part of the largest speed.
        """
        scale = np.linalg.norm(self._impulse, axis=1).max(initial=0.0) or 1.0
        pulling = np.maximum(-self._along(self._impulse), 0.0) / scale
        rubs, most = self._across(self._impulse), self._mu * normal
        more = np.maximum(np.linalg.norm(rubs, axis=1) - most, 0.0)
        rubbed = np.where(is_slow, more, np.linalg.norm(rubs + most[:, None] * _unit(slip, speed), axis=1)) / scale
        slides = np.isin(self._mode, (SLIDING, RUBBING))
        parts = pulling, np.where(slides, rubbed, 0.0), np.where(self._mode == OPEN, entering, 0.0)
        return float(max(part.max(initial=0.0) for part in parts))

    def _along(self, vectors: Array) -> Array:
        return (vectors * self._n).sum(axis=1)

    def _across(self, vectors: Array) -> Array:
        return vectors - self._along(vectors)[:, None] * self._n


def _unit(vectors: Array, sizes: Array) -> Array:
    return np.divide(vectors, sizes[:, None], out=np.zeros_like(vectors), where=sizes[:, None] > 0)
