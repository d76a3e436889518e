"""An impact as a process: impulses grow until every contact that closed has opened as far as its law says.

u' = A f while the parameter s runs (Routh, Darboux, Keller): the normal velocities of all contacts that close go to
zero together, as the forces of contacts that only push can make them, friction opposes the sliding of each moment, and
what stands sticks or begins to slide. Without friction and with one restitution e the way is straight, and
its end is Moreau's: λ ≥ 0 just where u⁺ + e u⁻ = 0.

A contact is through when its law is fulfilled: Newton's when u_n = −e u_n⁻, Poisson's when the impulse of opening is e
times that of closing, the energetic one (Stronge) when the work of opening is e² times that of closing. Friction takes
energy at every moment, so that only the energetic law never gives any.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .contact_forces import Grip, forces_of

Array: TypeAlias = NDArray[Any]
RestitutionLaw = Literal["newton", "poisson", "energetic"]

STEPS, PIECES = 200, 25
"""Steps of the process and changes of what contacts do, at most; after that what still closes is stopped at once."""
ACCURACY = 1e-9
"""What a step may leave, as a part of the largest velocity."""
STILL = 1e-10
"""Velocities below this part of the largest are none."""
LONGEST = 4.0
"""The longest step of s; contacts have closed at s = 1."""
WEDGED = 0.1
"""Below this part of its response the normal impulse of a contact that slides grows by itself, not by its effect."""
SLOW, FRESH = 1e-6, 1e-4
"""What slides slower than this part of the largest velocity stands; what begins to slide goes straight up to that."""
CLOSES, OPENS, THROUGH = range(3)
"""What the law has to say of a contact."""


@dataclass(frozen=True)
class Impulses:
    """Where a process stands: velocities (m, 3), impulses (m, 3), and what normal forces did in each phase.

    `work` and `normal` (m, 2) are the work and the impulse while the contact closed, and while it opened.
    """

    u: Array
    P: Array
    work: Array
    normal: Array

    def plus(self, *steps: tuple[float, Impulses]) -> Impulses:
        """The sum with multiples of rates."""
        u, P, work, normal = self.u, self.P, self.work, self.normal
        for h, k in steps:
            u, P, work, normal = u + h * k.u, P + h * k.P, work + h * k.work, normal + h * k.normal
        return Impulses(u, P, work, normal)


@dataclass(frozen=True)
class Stretch:
    """A part of the process in which all contacts do the same: f follows from u."""

    A: Array
    mu: Array
    drive: Array
    phase: Array
    grip: Grip
    is_wedged: bool
    fresh: Array
    """The speeds up to which contacts slide straight ahead, since they have just begun to"""
    start: Array
    """Forces at the beginning: where they are not unique, those after stay near"""

    def forces(self, u: Array) -> Array:
        """f (m, 3); the directions of sliding turn with u."""
        f = np.zeros((len(self.drive), 3))
        if len(f) == 1 and self.is_wedged:
            f[0, 0] = self.drive[0] / self.A[0, 0]
            size = math.hypot(u[0, 1], u[0, 2])
            is_ahead = size > self.fresh[0] and u[0, 1] * self.grip.way[0, 0] + u[0, 2] * self.grip.way[0, 1] > 0
            f[0, 1:] = -self.mu[0] * f[0, 0] * (u[0, 1:] / size if is_ahead else self.grip.way[0])
            return f
        grip = self.turned(u).grip
        if not self.is_wedged:
            f[:, 0] = -self.drive
            return grip.forces(self.A, f.ravel(), self.mu, self.start).reshape(-1, 3)
        f[:, 0] = self.drive / np.diag(self.A)[::3]
        f[:, 1:] = -(self.mu * f[:, 0])[:, None] * grip.way
        rows = [row for row in grip.rows(self.mu) if row % 3]
        if rows:
            f.ravel()[rows] = -np.linalg.lstsq(self.A[np.ix_(rows, rows)], (self.A @ f.ravel())[rows])[0]
        return f

    def turned(self, u: Array) -> Stretch:
        """The same with the directions in which contacts slide now."""
        size = np.linalg.norm(u[:, 1:], axis=1)
        turns = self.grip.slides & (np.einsum("ki,ki->k", u[:, 1:], self.grip.way) > 0) & (size > self.fresh)
        way = np.where(turns[:, None], u[:, 1:] / np.where(turns, size, 1.0)[:, None], self.grip.way)
        return replace(self, grip=Grip(self.grip.pushes, way))

    def rate(self, at: Impulses) -> Impulses:
        f = self.forces(at.u)
        now = self.phase[:, None] == np.array([CLOSES, OPENS])
        work, normal = now * (at.u[:, :1] * f[:, :1]), now * f[:, :1]
        return Impulses((self.A @ f.ravel()).reshape(-1, 3), f, work, normal)

    def stepped(self, at: Impulses, h: float) -> Impulses:
        """A step of Runge and Kutta's method of the fourth order."""
        k1 = self.rate(at)
        k2 = self.rate(at.plus((h / 2, k1)))
        k3 = self.rate(at.plus((h / 2, k2)))
        k4 = self.rate(at.plus((h, k3)))
        return at.plus((h / 6, k1), (h / 3, k2), (h / 3, k3), (h / 6, k4))

    def accurate(self, at: Impulses, h: float, size: float) -> tuple[float, float, Impulses]:
        """A step of h at most that two halves of it confirm, and how many times as long it could have been."""
        while True:
            whole, half = self.stepped(at, h), self.stepped(self.stepped(at, h / 2), h / 2)
            allowed = ACCURACY * max(size, float(np.abs(half.u).max()))
            part = (allowed / max(float(np.abs(whole.u - half.u).max()), 1e-6 * allowed)) ** 0.2
            part = min(part, 0.5) if self._turns_far(half.u) else part
            if part >= 1 or h <= ACCURACY:
                return h, max(part, 1.0), half
            h *= max(0.1, 0.8 * part)

    def _turns_far(self, u: Array) -> bool:
        """Whether a direction of sliding has turned by more than an acute angle: back by a straight way is no turn."""
        ahead = np.einsum("ki,ki->k", u[:, 1:], self.grip.way)
        aside = np.linalg.norm(u[:, 1:] - ahead[:, None] * self.grip.way, axis=1)
        size = np.linalg.norm(u[:, 1:], axis=1)
        return bool(np.any(self.grip.slides & self.grip.pushes & (size > self.fresh) & (aside > 0.5 * np.abs(ahead))))


@dataclass(frozen=True)
class ImpactProcess:
    """A (3 m, 3 m), the velocities before (m, 3), friction, restitution, and the law of contacts that touch."""

    A: Array
    before: Array
    mu: Array
    e: Array
    law: RestitutionLaw

    def run(self) -> tuple[Array, str]:
        """The impulses (m, 3), and in words what was not to be solved."""
        m, size = len(self.mu), float(np.abs(self.before).max(initial=0.0))
        at = Impulses(self.before, np.zeros((m, 3)), np.zeros((m, 2)), np.zeros((m, 2)))
        phase = np.where(self.before[:, 0] < -STILL * size, CLOSES, THROUGH)
        stands = np.linalg.norm(at.u[:, 1:], axis=1) <= STILL * size
        h, piece, pieces = LONGEST, None, 0
        for _ in range(STEPS):
            if np.all(phase == THROUGH):
                return at.P, ""
            pieces += piece is None
            if pieces > PIECES:
                break
            piece = self._piece(at, phase, stands, size) if piece is None else piece.turned(at.u)
            h, part, new = piece.accurate(at, h, size)
            new, phase_new, stopped, is_same = self._advanced(piece, at, h, new)
            speeds = np.linalg.norm(new.u[:, 1:], axis=1)
            if h > ACCURACY and np.any(speeds[stopped] > SLOW * size):  # it has turned, and does not stand
                h /= 4
                continue
            slow = (speeds <= SLOW * size) & (piece.fresh == 0) & piece.grip.slides & piece.grip.pushes
            at, phase = self._stopped(new, stopped | slow), phase_new
            fresh = piece.grip.slides & (piece.fresh > 0)
            stands = (stands & ~fresh) | ((np.linalg.norm(at.u[:, 1:], axis=1) <= SLOW * size) & ~fresh)
            piece = piece if is_same and not (stopped | slow).any() else None
            h = min(LONGEST, 0.8 * part * h)
        rest = forces_of(self.A, at.u.ravel(), self.mu, np.zeros((m, 2)))
        return at.P + rest.forces, rest.problem

    def _piece(self, at: Impulses, phase: Array, stands: Array, largest: float) -> Stretch:
        """What contacts do from here: which of them push, stick and slide."""
        m = len(self.mu)
        drive = np.where(phase == THROUGH, 0.0, -self.before[:, 0])
        chosen = np.flatnonzero((phase != THROUGH) | (at.u[:, 0] <= STILL * largest))
        size = np.linalg.norm(at.u[:, 1:], axis=1)
        slides = ~stands & (self.mu > 0) & (size > 0)
        way = np.where(slides[:, None], at.u[:, 1:] / np.where(slides, size, 1.0)[:, None], 0.0)
        rows = (3 * chosen[:, None] + np.arange(3)).ravel()
        b = np.zeros((len(chosen), 3))
        b[:, 0] = -drive[chosen]
        if self._wedges(way, drive):
            return Stretch(self.A, self.mu, drive, phase, Grip(drive > 0, way), True, np.zeros(m), np.zeros(3 * m))
        solution = forces_of(self.A[np.ix_(rows, rows)], b.ravel(), self.mu[chosen], way[chosen])
        if solution.problem:
            return Stretch(self.A, self.mu, drive, phase, Grip(drive > 0, way), True, np.zeros(m), np.zeros(3 * m))
        pushes, ways = np.zeros(m, bool), np.zeros((m, 2))
        pushes[chosen], ways[chosen] = solution.grip.pushes, solution.grip.way
        fresh = np.where(stands & ways.any(axis=1), FRESH * largest, 0.0)
        start = np.zeros(3 * m)
        start[rows] = solution.forces.ravel()
        return Stretch(self.A, self.mu, drive, phase, Grip(pushes, ways), False, fresh, start)

    def _wedges(self, way: Array, drive: Array) -> bool:
        """Whether the friction of a contact that slides takes back most of what its normal force does, or all."""
        m = len(self.mu)
        blocks = self.A.reshape(m, 3, m, 3)[range(m), 0, range(m)]
        lift = blocks[:, 0] - self.mu * np.einsum("ki,ki->k", blocks[:, 1:], way)
        is_alone = m == 1 and bool(way.any())
        return is_alone or bool(np.any((lift < WEDGED * blocks[:, 0]) & (drive > 0)))

    def _stopped(self, at: Impulses, stopped: Array) -> Impulses:
        """The state in which contacts that have come to a stand do not slide at all."""
        rows = [row for k in np.flatnonzero(stopped) for row in (3 * k + 1, 3 * k + 2)]
        if not rows:
            return at
        more = np.zeros(3 * len(stopped))
        more[rows] = -np.linalg.lstsq(self.A[np.ix_(rows, rows)], at.u.ravel()[rows])[0]
        return Impulses(at.u + (self.A @ more).reshape(-1, 3), at.P + more.reshape(-1, 3), at.work, at.normal)

    def _advanced(self, piece: Stretch, at: Impulses, h: float, new: Impulses) -> tuple[Impulses, Array, Array, bool]:
        """The state at the next change, the phases, the contacts that came to a stand, and whether nothing changed."""
        m, phase = len(self.mu), piece.phase
        old, ends = self._changes(piece, at), self._changes(piece, new)
        crossed = np.flatnonzero((old > 0) & (ends <= 0))
        done = np.zeros(len(old), bool)
        if len(crossed):

            def value(k: int) -> Callable[[float], float]:
                return lambda x: float(self._changes(piece, piece.stepped(at, x * h))[k])

            places = np.array([_root(value(int(k))) for k in crossed])
            new = piece.stepped(at, places.min() * h)
            done[crossed[places <= places.min() * (1 + 1e-12)]] = True
        closed, ended, stopped = done[:m], done[m : 2 * m], done[2 * m : 3 * m]
        u = new.u.copy()
        u[closed, 0] = 0.0
        new = Impulses(u, new.P, new.work, new.normal)
        nothing_left = self._left(new) <= 0
        phase = np.where(closed, np.where(nothing_left, THROUGH, OPENS), np.where(ended, THROUGH, phase))
        return new, phase, stopped, not len(crossed)

    def _changes(self, piece: Stretch, at: Impulses) -> Array:
        """(6 m,) functions that fall through zero where something changes; −1 where they say nothing.

        In turn: the contact has closed; its law is fulfilled; it no longer slides; it no longer sticks; it no longer
        pushes; it had left and is back.
        """
        none, grip, phase = np.full(len(self.mu), -1.0), piece.grip, piece.phase
        f = piece.forces(at.u)
        excess = grip.excess(f.ravel(), self.mu)
        slides = grip.slides & grip.pushes
        return np.concatenate([
            np.where(phase == CLOSES, -at.u[:, 0], none),
            np.where(phase == OPENS, self._left(at), none),
            np.where(slides, np.einsum("ki,ki->k", at.u[:, 1:], grip.way), none),
            np.where(np.isfinite(excess[:, 1]) & slides.any(), -excess[:, 1], none),
            np.where(grip.pushes & slides.any(), f[:, 0], none),
            np.where((phase == THROUGH) & ~grip.pushes, at.u[:, 0], none),
        ])  # fmt: skip

    def _left(self, at: Impulses) -> Array:
        """How much is missing from what the law asks of contacts that open."""
        if self.law == "newton":
            return -self.e * self.before[:, 0] - at.u[:, 0]
        if self.law == "poisson":
            return self.e * at.normal[:, 0] - at.normal[:, 1]
        return -(self.e**2) * at.work[:, 0] - at.work[:, 1]


def _root(g: Callable[[float], float]) -> float:
    """The place between 0 and 1 where g, positive first, falls through zero: regula falsi after Illinois."""
    a, b, ga, gb, last = 0.0, 1.0, g(0.0), g(1.0), 0
    for _ in range(100):
        if b - a <= 1e-15 * b or gb == 0:
            break
        x = (a * gb - b * ga) / (gb - ga)
        x = x if a < x < b else (a + b) / 2
        gx = g(x)
        if gx > 0:
            a, ga, gb, last = x, gx, gb / 2 if last > 0 else gb, 1
        else:
            b, gb, ga, last = x, gx, ga / 2 if last < 0 else ga, -1
    return b
