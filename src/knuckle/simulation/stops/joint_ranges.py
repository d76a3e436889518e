"""The ends of the joints' ranges: gaps that must not become negative, and how fast they open."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import integrate
from knuckle.joints import Joint
from knuckle.joints.base import is_plain
from knuckle.model import Coupling, Linear, Model
from knuckle.scalar import ZERO, Dual, constant
from knuckle.spatial import Matrix, Vector

Array = NDArray[Any]

SLACK = 1e-10
"""Gaps smaller than this part of the limit (or this many radians or metres) are closed."""
STEPS, EXACT = 8, 1e-3
"""Newton's steps to close gaps, and the part of `slack` that they may leave."""


FAR = 1e3
"""Where a variable without a limit may get to, in radians or metres."""


@dataclass(frozen=True)
class RangeEnd:
    """One end of the range of one position variable x: the gap is scale x + offset.

    x is q[place] or, of a joint that follows others by more than a ratio, what its law makes of q.
    """

    joint: str
    end: str
    place: int
    scale: float
    offset: float
    owner: int
    """The joint whose variable it is: the joint itself, or one that it follows"""
    coupling: Coupling | None = None

    @property
    def limit(self) -> float:
        """The value of the variable where the gap is closed."""
        return -self.offset / self.scale + 0.0

    def value(self, model: Model, q: Any) -> Any:
        """x, over scalars of any kind."""
        return q[self.place] if self.coupling is None else self.coupling.law.value(_sources(model, self.coupling, q))

    def slopes(self, model: Model, q: Any) -> list[tuple[int, Any]]:
        """What the gap's rate has of each velocity variable, over scalars of any kind."""
        scale = constant(self.scale)
        if self.coupling is not None:
            slopes = self.coupling.law.slopes(_sources(model, self.coupling, q))
            return [(k, scale * x) for k, x in zip(model.variables(self.coupling.joint), slopes, strict=True)]
        kind, qs, vs, place = _kind(model, self)
        here, units = Vector(q[qs]), Matrix.identity(kind.nv).rows
        return [(vs.start + j, scale * kind.rate(here, Vector(e))[place]) for j, e in enumerate(units)]

    def slope_rates(self, model: Model, q: Any, v: Any) -> Any:
        """How fast the gap's rate changes without acceleration."""
        scale = constant(self.scale)
        if self.coupling is not None:
            dy = Vector(v[k] for k in model.variables(self.coupling.joint))
            return scale * (self.coupling.law.slope_rates(_sources(model, self.coupling, q), dy) @ dy)
        kind, qs, vs, place = _kind(model, self)
        here, velocity = Vector(q[qs]), Vector(v[vs])
        rate = kind.rate(Vector(map(Dual, here, kind.rate(here, velocity))), velocity)[place]
        return scale * rate.derivative if isinstance(rate, Dual) else ZERO


def bounds_of(model: Model, joints: Iterable[str] | None) -> tuple[RangeEnd, ...]:
    """Every finite limit of some joints, or of all; a joint that follows others limits these."""
    chosen = None if joints is None else {model.joint_index(name) for name in joints}
    coupled, bounds = model.coupled, list[RangeEnd]()
    for i, joint in enumerate(model.joints):
        if chosen is not None and i not in chosen:
            continue
        ratio, offset, owner, coupling = _leader(coupled[i]) if i in coupled else (1.0, 0.0, i, None)
        for k in range(joint.type.nq):
            place = model.q_slices[owner].start + k
            for end, sign, limit in (("lower", 1.0, joint.limits.lower[k]), ("upper", -1.0, joint.limits.upper[k])):
                if math.isfinite(limit) and ratio:
                    scales = sign * ratio, sign * (offset - limit)
                    bounds.append(RangeEnd(joint.name, end, place, *scales, owner, coupling))
    return tuple(bounds)


def must_keep_coordinates(model: Model, joints: Iterable[str] | None) -> None:
    """An error for limits on coordinates that begin anew within them: their charts end there."""
    chosen = set(model.joint_names if joints is None else joints)
    for joint in model.joints:
        ends = list(zip(joint.limits.lower, joint.limits.upper, strict=True))
        is_limited = any(math.isfinite(x) for pair in ends for x in pair)
        if joint.name not in chosen or not joint.type.has_charts or not is_limited:
            continue
        for corner in itertools.product(*([min(max(x, -FAR), FAR) for x in pair] for pair in ends)):
            q = Vector(map(float, corner))
            moved = joint.type.normalized(q, Vector.zero(joint.type.nv))[0] - q
            if any(abs(float(x)) > SLACK for x in moved):
                raise ValueError(
                    f"joint_limits: the limits of joint {joint.name!r} ({type(joint.type).__name__}) reach to "
                    f"{[round(float(x), 6) for x in corner]}, where its coordinates begin anew; keep them within one "
                    "chart, or name in joint_limits the joints that are to have some"
                )


def _leader(coupling: Coupling) -> tuple[float, float, int, Coupling | None]:
    """(ratio, offset, joint) where one joint is followed by a ratio; else the law itself is what has limits."""
    law, source = coupling.law, coupling.sources[0]
    if isinstance(law, Linear) and len(coupling.sources) == 1:
        return float(law.ratios[0]), float(law.offset), source, None
    return 1.0, 0.0, source, coupling


def _sources(model: Model, coupling: Coupling, q: Any) -> Vector:
    return Vector(q[model.q_slices[s].start] for s in coupling.sources)


@dataclass(frozen=True)
class RangeEnds:
    """The ends of the ranges of a model, as arrays."""

    model: Model
    bounds: tuple[RangeEnd, ...]

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
        x = q[..., self.place]
        for k in self._curved:
            x[..., k] = self.bounds[k].value(self.model, np.moveaxis(q, -1, 0))
        return self.scale * x + self.offset

    def snapped(self, q: Array, which: Iterable[int]) -> Array:
        """The same position with some gaps closed exactly; those of laws by the shortest way, in Newton's steps."""
        new, chosen = q.copy(), list(which)
        for _ in range(STEPS):
            for k in chosen:
                if k in self._curved:
                    S = _row(self.model, self.bounds[k], new)
                    miss = float(self.gaps(new)[k])
                    new = np.asarray(integrate(self.model, new, -miss * S / (S @ S))) if S @ S else new
                else:
                    new[self.bounds[k].place] = self.bounds[k].limit
            if not self._curved or np.all(np.abs(self.gaps(new)[chosen]) <= EXACT * self.slack[chosen]):
                break
        return new

    @cached_property
    def _curved(self) -> tuple[int, ...]:
        """The ends of ranges of joints that follow others by more than a ratio."""
        return tuple(k for k, bound in enumerate(self.bounds) if bound.coupling is not None)

    def rows(self, q: Array, which: Iterable[int]) -> Array:
        """S: the rates of some gaps are S v."""
        if self._plain_rows is not None:
            return self._plain_rows[list(which)]
        rows = [_row(self.model, self.bounds[k], q) for k in which]
        return np.array(rows).reshape(len(rows), self.model.nv)

    def rates(self, q: Array, v: Array, chosen: Array) -> Array:
        """S v of all gaps in states (n, nq) and (n, nv), at least of the `chosen` ones; 0 of others."""
        if self._plain_rows is not None:
            return v @ self._plain_rows.T
        rates, every = np.zeros((len(q), len(self.bounds))), range(len(self.bounds))
        for k in np.flatnonzero(chosen):
            rates[k] = self.rows(q[k], every) @ v[k]
        return rates

    def bias(self, q: Array, v: Array, which: Iterable[int]) -> Array:
        """Ṡ v: how fast the rates change without acceleration; zero where q̇ = v."""
        if self._plain_rows is not None:
            return np.zeros(len(list(which)))
        return np.array([float(self.bounds[k].slope_rates(self.model, q.tolist(), v.tolist())) for k in which])

    @cached_property
    def alone(self) -> Array | None:
        """The velocity variable of each gap, where each has one and is where that is: q̇ = v; else None."""
        rows = self._plain_rows
        if rows is None or np.any(np.count_nonzero(rows, axis=1) != 1):
            return None
        return np.argmax(rows != 0, axis=1)

    @cached_property
    def _plain_rows(self) -> Array | None:
        """S of all stops where it is always the same: where q̇ = v."""
        if self._curved or not all(is_plain(self.model.joints[b.owner].type) for b in self.bounds):
            return None
        rows = [_row(self.model, b, np.zeros(self.model.nq)) for b in self.bounds]
        return np.array(rows).reshape(len(rows), self.model.nv)


def _kind(model: Model, bound: RangeEnd) -> tuple[Joint, slice, slice, int]:
    qs, vs = model.q_slices[bound.owner], model.v_slices[bound.owner]
    return model.joints[bound.owner].type, qs, vs, bound.place - qs.start


def _row(model: Model, bound: RangeEnd, q: Array) -> Array:
    row = np.zeros(model.nv)
    for k, x in bound.slopes(model, q.tolist()):
        row[k] = float(x)
    return row
