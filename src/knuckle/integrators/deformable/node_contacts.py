"""Nodes of deformable bodies on shapes, which may move: Signorini's and Coulomb's laws in an implicit step.

Impulses p of the nodes that touch are part of the equations of a step, by multipliers and penalties (Alart and Curnier
1991): along the normal p = λ − ρ (n·u + gap/h) where that is positive, across it λ − ρ u where a node sticks, and
−μ p_n u/|u| where it slides. ρ is so large that one solution is all but exact; rounds go on until nodes neither close,
open, begin to slide nor stick, and what slides is rubbed as it should be. u is how a node moves beside the body that it
touches, u_node − J v; the body receives −Jᵀ p.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.contact.detection import Detector
from knuckle.elements.deformables.carrier_terms import MovingFrames
from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.errors import ConvergenceError
from knuckle.solvers.coupled_gradients import Touching
from knuckle.spatial import IDENTITY, Transform

from .touched_shapes import POINT, STILL, TouchedShape

Array: TypeAlias = NDArray[Any]
Solve: TypeAlias = Callable[[Array, Array], tuple[int, Array, Array]]

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


class NodeContacts:
    """The contacts of free nodes within one step: where they are, in which mode, and their impulses."""

    def __init__(self, bodies: SoftBodies, shapes: list[TouchedShape], moving: tuple[str, ...]) -> None:
        self._bodies, self._shapes = bodies, shapes
        self._free = np.flatnonzero(bodies.is_free)
        self._detector = Detector()
        self._nv = bodies.rigid.nv
        self._frames = MovingFrames(bodies.rigid, moving)
        self.touching = Touching.nothing(self._nv)
        """How nodes touch what moves, in the equations of the last solution"""

    def begin(self, t: float, q: Array, v: Array, x: Array, u: Array, push: Array, dt: float) -> None:
        """A step of nodes at x with u that receive the impulses `push`: which could touch, and what is expected."""
        at = self._free
        self._here = frames = self._frames(t, q, v)
        placed = [Transform(_rows(T[:, :3].T), tuple(T[:, 3])) for T in frames.T]
        r: Any = tuple(x[at].T)
        gaps, normals, friction, bodies = list[Array](), list[Array](), list[Array](), list[Array]()
        for touched in self._shapes:
            X = touched.X if touched.body == STILL else touched.X @ placed[touched.body]
            for place in self._detector.places(POINT, Transform(IDENTITY.E, r), touched.shape, X):
                gaps.append(np.where(touched.meets[at], place.gap, FAR))
                normals.append(np.stack([np.broadcast_to(np.asarray(k, float), at.shape) for k in place.normal], -1))
                friction.append(touched.friction[at])
                bodies.append(np.full(at.shape, touched.body))
        gap, self._n, self._mu = np.concatenate(gaps), np.concatenate(normals), np.concatenate(friction)
        self.node, self._body = np.tile(at, len(gaps)), np.concatenate(bodies)
        self._moves = self._body != STILL
        origins = np.concatenate([frames.T[:, :, 3], np.zeros((1, 3))])
        self._arm = x[self.node] - origins[self._body]
        self._bias = np.where(gap > 0, gap, RECOVERED * gap) / dt
        expected = u + push / self._bodies.masses[:, None]
        closing = self._along(expected[self.node] - self._carried(np.zeros(self._nv))) + self._bias < 0
        self._mode = np.where(closing, self._closed, OPEN)
        self._was_back, self._has_opened = np.zeros(len(gap), bool), np.zeros(len(gap), bool)
        self._lambda, self._way = np.zeros((len(gap), 3)), np.zeros((len(gap), 3))
        self._turning, self._speed, self._normal = np.zeros(len(gap)), np.zeros(len(gap)), np.zeros(len(gap))
        self._impulse = np.zeros((len(gap), 3))

    def _carried(self, change: Array) -> Array:
        """(contacts, 3): how what nodes may touch moves there, after a change of the joints' velocities."""
        if not self._moves.any():
            return np.zeros(self._arm.shape)
        V = np.concatenate([self._here.V + self._here.J @ change, np.zeros((1, 6))])[self._body]
        return V[:, 3:] + np.cross(V[:, :3], self._arm)

    def _jacobian(self, which: Array) -> Array:
        """(n, 3, nv) of points on bodies that move, where these contacts are."""
        return self._here.at(self._body[which]).rows(self._arm[which])

    @property
    def _closed(self) -> Array:
        """The mode in which a node begins to touch."""
        return np.where(self._mu > 0, STUCK, SLIDING)

    @property
    def is_open(self) -> bool:
        """Whether nothing touches."""
        return not self._mode.any()

    @property
    def impulses(self) -> tuple[Array, Array]:
        """(nv,) at the joints, and (nodes, 3): those of the last solution."""
        total = np.zeros((self._bodies.count, 3))
        np.add.at(total, self.node, self._impulse)
        pushed = np.flatnonzero(self._moves & self._impulse.any(axis=1))
        return -np.einsum("cik,ci->k", self._jacobian(pushed), self._impulse[pushed]), total

    def solved(self, u: Array, change: Array, right: tuple[Array, Array], solve: Solve) -> int:
        """Solves the equations of a change of velocities with contacts, from nodes that move with u.

        `change` is that of the joints' velocities since the beginning of the step. `solve` does so for right sides of
        joints (nv,) and nodes (n, 3), and returns what it took and the changes of both. The matrix is that of the
        bodies without contact.
        """
        diagonal = self._bodies.matrix.blocks.reshape(-1, 9)
        first = self._bodies.matrix.first[:-1]
        plain = diagonal[first].copy()
        hard = HARD * plain[self.node][:, [0, 4, 8]].sum(axis=1) / 3
        before = u[self.node] - self._carried(change)
        try:
            for k in range(ROUNDS):
                self.rounds = k
                C, constant = self._law(hard)
                blocks = plain.copy()
                np.add.at(blocks, self.node, C.reshape(-1, 9))
                diagonal[first] = blocks
                joints, nodes = right[0].copy(), right[1].copy()
                more = constant - np.einsum("cij,cj->ci", C, before)
                np.add.at(nodes, self.node, more)
                closed = np.flatnonzero(self._moves & (self._mode != OPEN))
                J, self.touching = self._jacobian(closed), Touching.nothing(self._nv)
                if len(closed) and self._nv:
                    joints -= np.einsum("cik,ci->k", J, more[closed])
                    node = self.node[closed]
                    self.touching = Touching.of(node, C[closed], J, blocks[node].reshape(-1, 3, 3))
                taken, dv, du = solve(joints, nodes)
                if taken < 0:
                    return taken
                moving = u[self.node] + du[self.node] - self._carried(change + dv)
                self._impulse = constant - np.einsum("cij,cj->ci", C, moving)
                if self._settled(moving, hard) or (k > PATIENT and self.off <= NEARLY):
                    return taken
        finally:
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


def _rows(matrix: Array) -> Any:
    return tuple(tuple(float(x) for x in row) for row in matrix)
