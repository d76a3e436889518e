"""The ends of the joints' ranges: gaps that must not become negative, and how fast they open."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.joints import Joint
from knuckle.model import Coupling, Linear, Model
from knuckle.model.coupling import described
from knuckle.scalar import Dual
from knuckle.spatial import Vector

Array = NDArray[Any]

SLACK = 1e-10
"""Gaps smaller than this part of the limit (or this many radians or metres) are closed."""


@dataclass(frozen=True)
class Bound:
    """One end of the range of one position variable: the gap is scale q[place] + offset."""

    joint: str
    end: str
    place: int
    scale: float
    offset: float
    owner: int
    """The joint whose variable it is: the joint itself, or the one that it mimics"""

    @property
    def limit(self) -> float:
        """The value of the variable where the gap is closed."""
        return -self.offset / self.scale + 0.0


def bounds_of(model: Model, joints: Iterable[str] | None) -> tuple[Bound, ...]:
    """Every finite limit of some joints, or of all; a mimic joint limits the joint that it follows."""
    chosen = None if joints is None else {model.joint_index(name) for name in joints}
    coupled, found = model.coupled, list[Bound]()
    for i, joint in enumerate(model.joints):
        if chosen is not None and i not in chosen:
            continue
        ratio, offset, owner = _leader(model, coupled[i]) if i in coupled else (1.0, 0.0, i)
        for k in range(joint.kind.nq):
            place = model.q_slices[owner].start + k
            for end, sign, limit in (("lower", 1.0, joint.limits.lower[k]), ("upper", -1.0, joint.limits.upper[k])):
                if math.isfinite(limit) and ratio:
                    bound = Bound(joint.name, end, place, sign * ratio, sign * (offset - limit), owner)
                    found.append(bound)
    return tuple(found)


def _leader(model: Model, coupling: Coupling) -> tuple[float, float, int]:
    """(ratio, offset, joint) of a joint that follows another; limits of other couplings are not one variable's."""
    law, joint = coupling.law, model.joints[coupling.joint]
    if isinstance(law, Linear) and len(coupling.sources) == 1:
        return float(law.ratios[0]), float(law.offset), coupling.sources[0]
    if not any(map(math.isfinite, (*joint.limits.lower, *joint.limits.upper))):
        return 0.0, 0.0, coupling.sources[0]
    raise ModelError(
        f"stops know limits of joints, and of joints that follow one other by a ratio; this one "
        f"{described(coupling, model.joint_names)}. Limit its sources, or leave it out of the stops' `joints`",
        element=joint.name,
    )


@dataclass(frozen=True)
class Bounds:
    """The ends of the ranges of a model, as arrays."""

    model: Model
    bounds: tuple[Bound, ...]

    @cached_property
    def place(self) -> Array:
        """Where in q."""
        return np.array([b.place for b in self.bounds], int)

    @cached_property
    def scale(self) -> Array:
        """∂gap/∂q."""
        return np.array([b.scale for b in self.bounds])

    @cached_property
    def offset(self) -> Array:
        """The gap at q = 0."""
        return np.array([b.offset for b in self.bounds])

    @cached_property
    def slack(self) -> Array:
        """How small a gap is closed."""
        return SLACK * np.maximum(1.0, np.abs(self.offset))

    def gaps(self, q: Array) -> Array:
        """How far each variable is from its limit; negative beyond it."""
        return self.scale * q[..., self.place] + self.offset

    def snapped(self, q: Array, which: Iterable[int]) -> Array:
        """The same position with some gaps closed exactly."""
        new = q.copy()
        for k in which:
            new[self.bounds[k].place] = self.bounds[k].limit
        return new

    def rows(self, q: Array, which: Iterable[int]) -> Array:
        """S: the rates of some gaps are S v."""
        if self._plain_rows is not None:
            return self._plain_rows[list(which)]
        rows = [_row(self.model, self.bounds[k], q) for k in which]
        return np.array(rows).reshape(len(rows), self.model.nv)

    def bias(self, q: Array, v: Array, which: Iterable[int]) -> Array:
        """Ṡ v: how fast the rates change without acceleration; zero where q̇ = v."""
        if self._plain_rows is not None:
            return np.zeros(len(list(which)))
        return np.array([_bias(self.model, self.bounds[k], q, v) for k in which])

    @cached_property
    def _plain_rows(self) -> Array | None:
        """S of all stops where it is always the same: where q̇ = v."""
        if not all(is_plain(self.model.joints[b.owner].kind) for b in self.bounds):
            return None
        rows = [_row(self.model, b, np.zeros(self.model.nq)) for b in self.bounds]
        return np.array(rows).reshape(len(rows), self.model.nv)


def _kind(model: Model, bound: Bound) -> tuple[Joint, slice, slice, int]:
    qs, vs = model.q_slices[bound.owner], model.v_slices[bound.owner]
    return model.joints[bound.owner].kind, qs, vs, bound.place - qs.start


def is_plain(kind: Joint) -> bool:
    """Whether v = q̇."""
    return kind.nq == kind.nv and type(kind).rate is Joint.rate


def _row(model: Model, bound: Bound, q: Array) -> Array:
    kind, qs, vs, k = _kind(model, bound)
    row = np.zeros(model.nv)
    for j in range(kind.nv):
        unit = Vector([float(i == j) for i in range(kind.nv)])
        row[vs.start + j] = bound.scale * float(kind.rate(Vector(q[qs].tolist()), unit)[k])
    return row


def _bias(model: Model, bound: Bound, q: Array, v: Array) -> float:
    kind, qs, vs, k = _kind(model, bound)
    here, velocity = Vector(q[qs].tolist()), Vector(v[vs].tolist())
    moving = Vector(map(Dual, here, kind.rate(here, velocity)))
    rate = kind.rate(moving, velocity)[k]
    return bound.scale * float(rate.derivative) if isinstance(rate, Dual) else 0.0
