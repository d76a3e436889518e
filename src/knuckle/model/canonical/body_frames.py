"""Body frames chosen so that constants vanish (RBDA 4.3, 10.3): joint axes on z, and one child per body placed as
Denavit and Hartenberg would.

A motion that commutes with a joint, X_J(q) G = G X_J(q), can move predecessor and successor frame together without
changing what q means: for a turn about z every turn about and step along z. The frames of a body's own joint and of its
first child's share it, so that one X_tree per body becomes rotx(α) xlt(x y 0), times a turn about z that goes into the
joint's angle. Where axes meet or stand at right angles this has the zeros of RBDA 4.3's rotx(α) xlt(a 0 0), and unlike
the foot of the common perpendicular the place does not run away where axes are nearly parallel.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from knuckle.joints import (
    Continuous,
    Cylindrical,
    Helical,
    Joint,
    Planar,
    PlanarLocal,
    Prismatic,
    Revolute,
    Translational,
)
from knuckle.joints.axis import Z_AXIS, Unit, frame
from knuckle.model.edit.exact_constants import as_rotation, is_plain
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, TreeJoint
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import IDENTITY, Inertia, Transform
from knuckle.spatial.three import Mat3, matmul, matvec, neg, transpose

from .frame_reach import reaches
from .offset_joint import offset_by
from .snapping import (
    ROUNDING,
    carried,
    length,
    snapped,
    snapped_direction,
    snapped_inertia,
    snapped_rotation,
    snapped_transform,
    trivial,
    turned,
)

TURNING = {Revolute, Continuous}
AXIAL = TURNING | {Helical, Cylindrical, Prismatic}
"""Joints with an axis: a turn about it commutes with them."""
FLAT = {Planar, PlanarLocal}
SLIDING = AXIAL | FLAT
"""Joints that a step along their axis or normal commutes with."""
SHIFTING = {Prismatic, Translational}
"""Joints that any step commutes with."""
_STEEP = 0.3
"""A leaf slides along its axis only where that moves it not much farther than its joint is from its parent."""
_HALF = Transform.of(((-1, 0, 0), (0, -1, 0), (0, 0, 1)), (0, 0, 0))
"""Half a turn about z."""


def alignment(kind: Joint) -> tuple[Transform, Joint]:
    """A turn of both frames that brings the joint's axis or normal to z, and the joint as it is then."""
    if type(kind) in AXIAL:
        return Transform.rotation(frame(kind.axis)), _with_axis(kind, Z_AXIS)  # type: ignore[attr-defined]
    if type(kind) in FLAT:
        return Transform.rotation(frame(kind.normal)), type(kind)(Z_AXIS)  # type: ignore[attr-defined, call-arg]
    return IDENTITY, kind


def _with_axis(kind: Any, axis: Unit) -> Joint:
    return dataclasses.replace(kind, axis=axis)


class Placing:
    """The search for the frames of one model.

    `moves` leads from each body's old frame to its new one; `joints` stand between the new frames.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.children = _children(model)
        self.main = _main_children(model)
        free = [self._is_free(i) for i in range(model.nb)]
        aligned = [alignment(j.type) if free[i] else (IDENTITY, j.type) for i, j in enumerate(model.joints)]
        self.kinds = [kind for _, kind in aligned]
        self.free = free
        self.reach = self._reach()
        self.moves: dict[int, Transform] = {ROOT: IDENTITY, **{i: X for i, (X, _) in enumerate(aligned)}}
        for i in reversed(range(model.nb)):
            if free[i]:
                self._place(i)
        for i in range(model.nb):
            if free[i] and self.main[i] is None:
                self._finish(i)
        self.joints = tuple(self._settle(i) for i in range(model.nb))

    def _is_free(self, i: int) -> bool:
        """Whether the constants that a move of body i would change can be looked at: symbols stay where they are."""
        model = self.model
        parts = (model.X_tree[i], model.I[i], *(model.X_tree[j] for j in self.children[i]))
        return type(model.joints[i].type) in SLIDING | SHIFTING and all(map(is_plain, parts))

    def between(self, i: int) -> Transform:
        """X_tree of joint i between the frames as they are now."""
        model, p = self.model, self.model.parents[i]
        X, to, back = model.X_tree[i], self.moves[i], self.moves[p].inverse()
        new = to @ X @ back
        moved = to != IDENTITY or back != IDENTITY
        return snapped_transform(new, _size(X, to, back)) if moved and is_plain(new) else new

    def _move(self, i: int, G: Transform) -> None:
        M = G @ self.moves[i]
        self.moves[i] = snapped_transform(M, _size(G, self.moves[i]))

    def _step(self, i: int, G: Transform) -> None:
        """Moves body i, unless that costs digits."""
        if self._is_near(i, G):
            self._move(i, G)

    def _reach(self) -> list[float]:
        """How far the frame of each body may go. Towards its main child it comes nearer to all that hangs there."""
        own, beyond = reaches(self.model)
        return [min((own[i], *(far for j, far in beyond[i].items() if j != main))) for i, main in enumerate(self.main)]

    def _is_near(self, i: int, G: Transform) -> bool:
        """Whether a move of body i costs no digits."""
        return length((G @ self.moves[i]).r) <= self.reach[i]

    def _cost(self, i: int, G: Transform) -> tuple[int, int]:
        """How many constants a move of body i would leave of the transforms from and to it; distances stand twice.

        And of how many axes the direction is turned round: what turns about an axis is to leave that axis alone.
        """
        before = self.moves[i]
        self._move(i, G)
        links = [X for X in (self._factored(k)[0] for k in (i, *self.children[i])) if is_plain(X)]
        self.moves[i] = before
        constants = (2 * (3 - _zeros(X.r)) + 9 - trivial(X.E[0] + X.E[1] + X.E[2]) for X in links)
        return sum(constants), sum(float(X.E[k][k]) == -1.0 for X in links for k in range(3))

    def _place(self, i: int) -> None:
        """Moves body i to suit its main child; a leaf to where the common perpendicular from its parent ends."""
        j, p = self.main[i], self.model.parents[i]
        if j is not None:
            step, turn = _towards(self.between(j), self.kinds[i], self.kinds[j])
            turns = (turn, _HALF @ turn, IDENTITY) if type(self.kinds[i]) in AXIAL else (IDENTITY,)
            moves = [G @ way for way in (step, IDENTITY) for G in turns]
            self._move(i, min((G for G in moves if self._is_near(i, G)), key=lambda G: self._cost(i, G)))
        elif p != ROOT and self.free[p] and self.main[p] == i and type(self.kinds[i]) in AXIAL - SHIFTING:
            K = self.between(i)
            x, y, _ = K.E[2]
            if type(self.kinds[p]) in AXIAL - SHIFTING and math.hypot(x, y) > _STEEP:
                t = (K.r[0] * x + K.r[1] * y) / (x * x + y * y)
                self._step(i, Transform.translation((0.0, 0.0, -float(t))))

    def _finish(self, i: int) -> None:
        """Uses what freedom is left to a leaf: for its X_tree, and for its inertia where the joint's angle allows."""
        kind, K = type(self.kinds[i]), self.between(i)
        if kind in SHIFTING:
            self._step(i, Transform.translation(neg(matvec(K.E, K.r))))
        elif kind in SLIDING and _zeros(K.r) < 2:
            steps = (-float(r) / float(u) for r, u in zip(K.r, K.E[2], strict=True) if abs(u) > _STEEP)
            best = max((0.0, *steps), key=lambda d: _zeros(Transform.translation((0.0, 0.0, d)) @ K, length(K.r)))
            self._step(i, Transform.translation((0.0, 0.0, best)))
        if kind in TURNING:
            self._move(i, Transform.rotation(_turn_for_inertia(self.inertia(i))))
        elif kind in AXIAL:
            c, s = _turn_for_rotation(self.between(i).E)
            self._move(i, Transform.rotation(_about_z(c, -s)))

    def _factored(self, i: int) -> tuple[Transform, tuple[Any, Any] | None]:
        """X_tree of joint i as it is now, a turn about the joint's axis taken out where that helps, and that turn."""
        X = self.between(i)
        if self.free[i] and type(self.kinds[i]) in TURNING and is_plain(X):
            c, s = _turn_for_rotation(X.E)
            if s is not ZERO and c is not ZERO:
                return Transform(snapped_rotation(matmul(_about_z(c, -s), X.E)), X.r), (c, s)
        return X, None

    def _settle(self, i: int) -> TreeJoint:
        """Joint i between the frames chosen.

        Where only right angles lie between body i and its parent, it is turned to be parallel to its parent: the
        joint's axis is x or y then, and X_J alone has the turn. The base does not move, so nothing is gained there.
        """
        X, turn = self._factored(i)
        kind = self.kinds[i]
        turns = self.free[i] and self.model.parents[i] != ROOT and type(kind) in AXIAL
        if turns and is_plain(X) and trivial(X.E[0] + X.E[1] + X.E[2]) == 9:
            Q = Transform.rotation(transpose(X.E))
            self._move(i, Q)
            axis = float(Q.E[0][2]), float(Q.E[1][2]), float(Q.E[2][2])
            return self._between(i, _with_axis(kind, axis), turn, Q @ X)
        return self._between(i, kind, turn, X)

    def _between(self, i: int, kind: Joint, turn: tuple[Any, Any] | None, X_tree: Transform) -> TreeJoint:
        turned = kind if turn is None else offset_by(kind, *turn)
        exact = as_rotation(X_tree) if is_plain(X_tree) else X_tree
        return dataclasses.replace(self.model.joints[i], type=turned, X_tree=exact)

    def inertia(self, i: int) -> Inertia:
        """The inertia of body i in its new frame."""
        return snapped_inertia(carried(self.model.I[i], self.moves[i]), length(self.moves[i].r))


def _children(model: Model) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(model.nb)]
    for i, p in enumerate(model.parents):
        if p != ROOT:
            found[p].append(i)
    return found


def _main_children(model: Model) -> list[int | None]:
    """For each body the child with the largest subtree: most vectors go through its joint (RBDA 10.12)."""
    sizes = [1] * model.nb
    main: list[int | None] = [None] * model.nb
    for i, p, _ in model.inward():
        if p != ROOT:
            sizes[p] += sizes[i]
            best = main[p]
            if best is None or sizes[i] >= sizes[best]:
                main[p] = i
    return main


def _size(*transforms: Transform) -> float:
    return sum(length(X.r) for X in transforms)


def _zeros(X: Any, size: float = 0.0) -> int:
    r = X.r if isinstance(X, Transform) else X
    return sum(snapped(x, size) is ZERO for x in r)


def _about_z(c: Any, s: Any) -> Mat3:
    """rotz of the angle with this cosine and sine."""
    return (c, s, ZERO), (-s, c, ZERO), (ZERO, ZERO, ONE)


def _towards(K: Transform, kind: Joint, child: Joint) -> tuple[Transform, Transform]:
    """A step and a turn of a body, which commute with its joint `kind`, to simplify K: from it to its child's joint."""
    x, y, z = K.r
    step = Transform.translation((x, y, z) if type(kind) in SHIFTING else (ZERO, ZERO, z))
    if type(kind) not in AXIAL:
        return step, IDENTITY
    u, v = (float(w) for w in K.E[2][:2])
    across, aside = math.hypot(u, v), math.hypot(x, y)
    if type(child) in AXIAL and across > ROUNDING:
        direction = -v / across, u / across  # z × the child's axis
    elif type(kind) not in SHIFTING and aside > 0:
        direction = float(x) / aside, float(y) / aside
    else:
        return step, IDENTITY
    c, s = snapped_direction(direction)
    return step, Transform.rotation(_about_z(c, s))


def _turn_for_rotation(E: Mat3) -> tuple[Any, Any]:
    """(cos θ, sin θ) with E = rotz(θ) E′, where E′ has most zeros and ones; (1, 0) if that helps nothing."""
    best, found = (ONE, ZERO), trivial(E[0] + E[1])
    for p, q in zip(E[0], E[1], strict=True):
        size = math.hypot(p, q)
        if size > ROUNDING:
            c, s = snapped_direction((float(p) / size, -float(q) / size))
            a, b, _ = snapped_rotation(matmul(_about_z(c, -s), E))
            if trivial(a + b) > found:
                best, found = (c, s), trivial(a + b)
    return best


def _turn_for_inertia(I: Inertia) -> Mat3:
    """The turn about z after which the least is left of what a turning joint feels of a leaf's inertia."""
    candidates = [(ONE, ZERO)]
    hx, hy = float(I.h[0]), float(I.h[1])
    if size := math.hypot(hx, hy):
        candidates.append(snapped_direction((hx / size, hy / size)))
    twice = math.atan2(2 * float(I.I.xy), float(I.I.xx) - float(I.I.yy))
    candidates.append(snapped_direction((math.cos(twice / 2), math.sin(twice / 2))))

    def left(turn: tuple[Any, Any]) -> int:
        """First moments count twice: they stand in two places of I."""
        J = snapped_inertia(turned(I, _about_z(*turn)), 0.0)
        return 2 * sum(x is not ZERO for x in J.h[:2]) + sum(x is not ZERO for x in (J.I.xy, J.I.xz, J.I.yz))

    return _about_z(*min(candidates, key=left))
