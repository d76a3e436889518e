"""Bilateral staggered projections as RedMax takes them (notes, algorithm 8), in maximal coordinates.

What joints pass on follows from the difference between the velocity with joints and that without (2.113). It is spread
over the places of each bearing (2.114), which bounds friction there; friction is what leaves the least kinetic energy
while the joints pass on the same (2.110). This goes on until the forces of joints change by less than a thousandth. It
is not how the library does it (`kn.contact.bilateral_staggered_projections` solves for friction with the joints kept).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.algorithms.contact.joint_bearings import unit_wrench
from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.model import ROOT
from knuckle.solvers.complementarity import boxed
from knuckle.spatial import Force, Motion, Vector
from knuckle.spatial.three import Vec3

from .rubbing_scenes import RubbingJoint, RubbingScene, X, Y, Z
from .steps import energy

Array: TypeAlias = NDArray[Any]
ROUNDS, CHANGE, SPREAD, LEAST = 100, 1e-3, 1e-6, 1e-10
"""Rounds at most; the square of the part by which forces may still change; what is added to the diagonal where wrenches
are spread; the least impulse of a place that can rub."""
SAME = 1e-10
"""The part of the response of places that chooses among frictions that do the same."""


@dataclass(frozen=True)
class Rules:
    """How faithfully steps follow RedMax.

    Attributes:
        has_faults: whether M J̇q̇ is left out (2.113), and wrenches go to the body before instead of the carrier.
        change: the square of the part by which forces may still change.
        spread: what is added to the diagonal where wrenches are spread over places; with zero they are the least.
        ends_at_the_step: whether friction slows what slips at the end of the step, J q̇⁺, and not J q̇⁺ + h J̇q̇.
    """

    has_faults: bool = False
    change: float = CHANGE
    spread: float = SPREAD
    ends_at_the_step: bool = False


CORRECTED, AS_PUBLISHED = Rules(), Rules(has_faults=True)
CONVERGED = Rules(change=1e-20, spread=0.0, ends_at_the_step=True)


def rubbing_energy(scene: RubbingScene, rules: Rules = CORRECTED) -> float:
    """H at the end of a scene."""
    model, h, q, v = scene.model, scene.step, np.array(scene.q), np.zeros(scene.model.nv)
    before, friction = float(kn.potential_energy(model, q)), np.zeros(6 * model.nb)
    for _ in range(round(scene.duration / h)):
        v, friction = rubbing_step(scene, q, v, friction, rules)
        q = kn.integrate(model, q, h * v)
    return energy(model, q, v) - before


def rubbing_step(scene: RubbingScene, q: Array, v: Array, friction: Array, rules: Rules) -> tuple[Array, Array]:
    """q̇⁺, and the friction on the bodies that the next step begins with."""
    s, h = _Bodies(scene, q, v), scene.step
    bend = np.zeros(len(s.f)) if rules.has_faults else h * s.dJv
    H, W = s.J.T @ s.M @ s.J, np.linalg.inv(s.M)
    pushed = s.M @ s.J @ v + h * s.f
    tau = H @ v + h * s.J.T @ (s.f - s.M @ s.dJv)
    rows, least, is_one_sided = s.constraints()
    bearings = [_Bearing(s, joint) for joint in scene.joints]
    touching = [_Touch(s, ball) for ball in s.touching]
    T = np.concatenate([*(x.T for x in bearings), *(x.T for x in touching)])
    before, loads, n = np.zeros(len(s.f)), np.zeros(len(s.f)), 0
    while True:
        apart, _ = _kept(s.M, pushed + h * friction, rows, least, is_one_sided)
        new, pushes = _kept(H, tau + h * s.J.T @ friction, rows @ s.J, least, is_one_sided)
        loads, n = s.M @ (s.J @ new + bend - apart) / h, n + 1
        change = loads - before
        if change @ W @ change < rules.change * (loads @ W @ loads) or n == ROUNDS:
            break
        before = loads
        on = s.passed_on(loads, to_the_one_before=rules.has_faults)
        closing = -rows[: s.pinned].T @ pushes[: s.pinned] / h
        most = [x.reach(W, on, closing, h, rules.spread, scene.friction) for x in bearings]
        most += [np.full(2, scene.floor_friction * push) for push in pushes[len(rows) - len(touching) :]]
        bound = np.concatenate(most)
        rubs = bound > LEAST * scene.friction
        slip = T @ (W @ (pushed + h * loads) - (bend if rules.ends_at_the_step else 0.0))
        A = (T @ W @ T.T)[np.ix_(rubs, rubs)]
        A += SAME * np.max(np.diag(A), initial=0.0) * np.eye(len(A))
        friction = -T[rubs].T @ boxed(A, -slip[rubs], -bound[rubs], bound[rubs]) / h
    return _kept(H, tau + h * s.J.T @ (loads + friction), rows @ s.J, least, is_one_sided)[0], friction


def _kept(A: Array, b: Array, rows: Array, least: Array, is_one_sided: Array) -> tuple[Array, Array]:
    """x with A x = b − Rᵀλ and R x = r, or R x ≤ r with λ ≥ 0 where that is one-sided, and λ."""
    Z = np.linalg.solve(A, np.column_stack([b, rows.T]))
    x, Z = Z[:, 0], Z[:, 1:]
    force = boxed(rows @ Z, least - rows @ x, np.where(is_one_sided, 0.0, -np.inf), np.full(len(rows), np.inf))
    return x - Z @ force, force


class _Bodies:
    """All bodies in a state: J, J̇q̇, M and the forces on them, in body coordinates one below the other."""

    def __init__(self, scene: RubbingScene, q: Array, v: Array) -> None:
        self.scene, self.model = scene, scene.model
        model, self.size = scene.model, 6 * scene.model.nb
        self.J = np.asarray(kn.jacobian_products.body_jacobian(model, q))
        self.dJv = np.asarray(kn.jacobian_products.body_jacobian_rate(model, q, v)) @ v
        self.X0 = positions(model, model.positions(Vector(q.tolist())))
        self.M, self.f = np.zeros((self.size, self.size)), np.zeros(self.size)
        down = Motion((0.0, 0.0, 0.0), model.gravity)
        for i, body in enumerate(model.bodies):
            own, I = slice(6 * i, 6 * i + 6), body.inertia
            V = Motion.of((self.J @ v)[own].tolist())
            self.M[own, own] = np.array(I.matrix.rows, float)
            self.f[own] = _numbers(I @ self._turned(i, down) - V.cross(I @ V))
        self.pinned = 0 if scene.pin is None else 2
        self.touching = [ball for ball in scene.balls if self.place(ball, (0.0, 0.0, 0.0))[2] < scene.floor + 1]

    def place(self, body: int, point: Vec3) -> Vec3:
        """A point of a body in base coordinates."""
        return self.X0[body].inv.point(point)

    def way(self, body: int, axis: Vec3) -> Vec3:
        """An axis of a body in base coordinates."""
        return tuple(a - b for a, b in zip(self.place(body, axis), self.place(body, (0.0, 0.0, 0.0)), strict=True))  # pyright: ignore[reportReturnType]

    def _turned(self, body: int, motion: Motion) -> Motion:
        return Motion(motion.angular, self.X0[body].turned(motion.linear))

    def row(self, body: int, other: int, point: Vec3, way: Vec3) -> Array:
        """The rate at which a point of a body moves along an axis against another body, both in base coordinates."""
        row, unit = np.zeros(self.size), Force.of(unit_wrench(point, way))
        for i, sign in ((body, 1.0), (other, -1.0)):
            if i != ROOT:
                row[6 * i : 6 * i + 6] = sign * np.array(_numbers(self.X0[i] @ unit))
        return row

    def constraints(self) -> tuple[Array, Array, Array]:
        """Rows R with R φ = r, those of the floor last, with R φ ≤ r."""
        scene, rows, least = self.scene, list[Array](), list[float]()
        if scene.pin is not None:
            pin = scene.pin
            at, there = np.array(self.place(pin.body, pin.point)), np.array(self.place(pin.other, pin.at))
            for way in (X, Z):
                on, back = (self.row(i, ROOT, tuple(p), way) for i, p in ((pin.body, at), (pin.other, there)))  # pyright: ignore[reportArgumentType]
                rows.append(on - back)
                least.append(-scene.pull * float(np.dot(way, at - there)))
        if scene.driven is not None:
            body, speed = scene.driven
            axis = Force(self.way(body, Y), (0.0, 0.0, 0.0))
            row = np.zeros(self.size)
            for i, sign in ((body, 1.0), (self.model.parents[body], -1.0)):
                row[6 * i : 6 * i + 6] = sign * np.array(_numbers(self.X0[i] @ axis))
            rows.append(row)
            least.append(speed)
        equal = len(rows)
        for ball in self.touching:
            x, y, z = self.place(ball, (0.0, 0.0, 0.0))
            rows.append(self.row(ball, ROOT, (x, y, z - 1), (0.0, 0.0, -1.0)))
            least.append(-scene.pull * (1 - (z - scene.floor)))
        one_sided = np.arange(len(rows)) >= equal
        return np.array(rows).reshape(-1, self.size), np.array(least), one_sided

    def passed_on(self, loads: Array, *, to_the_one_before: bool) -> Array:
        """What each joint passes on to its body, of the sums on the bodies."""
        loads, parents = loads.copy(), self.model.parents
        for i in reversed(range(self.model.nb)):
            p = parents[i]
            if p != ROOT:
                on = self.X0[p] @ (self.X0[i].inv @ Force.of(loads[6 * i : 6 * i + 6].tolist()))
                to = i - 1 if to_the_one_before else p
                if to != p and self.scene.centres:
                    on = self.scene.centres[to].inv @ (self.scene.centres[p] @ on)
                loads[6 * to : 6 * to + 6] += _numbers(on)
        return loads


class _Bearing:
    """The rows of a bearing: its normals, and its ways with those of their normals that they rub by."""

    def __init__(self, s: _Bodies, joint: RubbingJoint) -> None:
        self._s, self._joint = s, joint
        self._other = s.model.parents[joint.body] if joint.closes is None else joint.closes
        normals, ways, self._of = list[Array](), list[Array](), list[list[int]]()
        for place in joint.places:
            point = s.place(joint.body, place.point)
            own = [len(normals) + k for k in range(len(place.normals))]
            normals += [s.row(joint.body, self._other, point, s.way(joint.body, x)) for x in place.normals]
            ways += [s.row(joint.body, self._other, point, s.way(joint.body, x)) for x in place.ways]
            self._of += [own] * len(place.ways)
        self._N, self.T = np.array(normals), np.array(ways)

    def reach(self, W: Array, on: Array, closing: Array, h: float, spread: float, friction: float) -> Array:
        """μ |α| of each way: α are the least impulses at the places that make the wrench of the joint (2.114)."""
        N, i, p = self._N, self._joint.body, self._other
        wrench = np.zeros(len(on))
        if self._joint.closes is None:
            wrench[6 * i : 6 * i + 6] = on[6 * i : 6 * i + 6]
            if p != ROOT:
                back = self._s.X0[p] @ (self._s.X0[i].inv @ Force.of(on[6 * i : 6 * i + 6].tolist()))
                wrench[6 * p : 6 * p + 6] = -np.array(_numbers(back))
        else:
            for k in (i, p):
                wrench[6 * k : 6 * k + 6] = closing[6 * k : 6 * k + 6]
        A, b = N @ W @ N.T + spread * np.eye(len(N)), N @ W @ wrench * h
        alpha = np.linalg.solve(A, b) if spread else np.linalg.pinv(A, 1e-10, hermitian=True) @ b
        return friction * np.array([np.abs(alpha[own]).sum() for own in self._of])


class _Touch:
    """Where a ball touches the floor: its two ways."""

    def __init__(self, s: _Bodies, ball: int) -> None:
        x, y, z = s.place(ball, (0.0, 0.0, 0.0))
        self.T = np.array([s.row(ball, ROOT, (x, y, z - 1), way) for way in (X, Y)])


def _numbers(x: Any) -> list[float]:
    return [float(c) for c in x.components]
