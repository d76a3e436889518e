"""Joint limits as stops: rigid ones, on which joints bounce and rest, and compliant ones, which push back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.scalar import ZERO, constant, less, maximum, select
from knuckle.solvers.complementarity import boxed
from knuckle.spatial import Vector

from .joint_ranges import RangeEnds, bounds_of

Array = NDArray[Any]
TURNS = 100
"""Impacts in turn at one instant; in the second half of them nothing bounces."""
ROUNDING, NOTHING = 1e-14, 1e-9
"""Speeds below this part of the terms that they are the sum of, or of the speed of rest, are none."""
PerJoint: TypeAlias = float | Mapping[str, float]
"""One number for all joints, or one for each by name."""


@dataclass(frozen=True)
class RigidStops:
    """Joint limits that nothing passes: a joint that arrives with speed leaves with e times that speed, or rests there.

    Args:
        restitution: e, from 0 (no bounce) to 1 (no loss), one for all joints or by joint name; 0 for those not named.
        joints: the joints that have stops; all that have limits, if not given.
        rest_speed: arrivals slower than this (rad/s, m/s) do not bounce, which ends the endless shrinking bounces.
    """

    restitution: PerJoint = 0.0
    joints: tuple[str, ...] | None = None
    rest_speed: float = 1e-3

    def __post_init__(self) -> None:
        for name, e in _entries(self.restitution):
            if not 0 <= e <= 1:
                raise ValueError(f"restitution{name} is {e!r}, and must be between 0 and 1")
        if not self.rest_speed > 0:
            raise ValueError(f"rest_speed={self.rest_speed!r} must be positive: bounces would never end")
        object.__setattr__(self, "joints", None if self.joints is None else tuple(self.joints))


@dataclass(frozen=True)
class CompliantStops:
    """Springs and dampers beyond the joint limits: the force k x + d ẋ at the depth x, never pulling.

    Args:
        stiffness: k, one for all joints or by joint name (N m/rad, N/m); none for those not named.
        damping: d in the same way (N m s/rad, N s/m).
        joints: the joints that have stops; all that have limits, if not given.
    """

    stiffness: PerJoint
    damping: PerJoint = 0.0
    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for what in ("stiffness", "damping"):
            for name, x in _entries(getattr(self, what)):
                if not (math.isfinite(x) and x >= 0):
                    raise ValueError(f"{what}{name} is {x!r}, and must be a number that is not negative")
        object.__setattr__(self, "joints", None if self.joints is None else tuple(self.joints))

    def force(self, model: Model, q: Any, v: Any) -> Any:
        """τ of the stops: Gᵀ f with q̇ = G v, over scalars of any kind."""
        total: list[Any] = [ZERO] * model.nv
        for bound in bounds_of(model, self.joints):
            k, d = (constant(_entry(x, bound.joint, 0.0)) for x in (self.stiffness, self.damping))
            gap = constant(bound.scale) * bound.value(model, q) + constant(bound.offset)
            slopes = bound.slopes(model, q)
            opening = sum((x * v[j] for j, x in slopes), ZERO)
            push = select(less(gap, ZERO), maximum(-(k * gap) - d * opening, ZERO), ZERO)
            for j, x in slopes:
                total[j] = total[j] + x * push
        return Vector(total)


Stops: TypeAlias = RigidStops | CompliantStops | None


def stops_from(stops: Stops | str, model: Model) -> Stops:
    """The argument `joint_limits` of `simulate`, its joints looked up."""
    if stops is None or stops == "none":
        return None
    if stops == "rigid":
        return RigidStops()
    if isinstance(stops, RigidStops | CompliantStops):
        values = (stops.restitution,) if isinstance(stops, RigidStops) else (stops.stiffness, stops.damping)
        named = [name for value in values if isinstance(value, Mapping) for name in value]
        for name in (*(stops.joints or ()), *named):
            model.joint_index(name)  # says which there are
        return stops
    raise TypeError(f'joint_limits is None, "rigid", RigidStops(...) or CompliantStops(...), not {stops!r}')


def _entries(value: PerJoint) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [(f" of joint {name!r}", float(x)) for name, x in value.items()]
    return [("", float(value))]


def _entry(value: PerJoint, joint: str, default: float) -> float:
    return float(value.get(joint, default) if isinstance(value, Mapping) else value)


# Impacts and rest (all of it on floats: one state)


def restitutions(stops: RigidStops, bounds: RangeEnds) -> Array:
    """e of each end of a range."""
    return np.array([_entry(stops.restitution, b.joint, 0.0) for b in bounds.bounds])


def impact(N: Array, S: Array, v: Array, e: Array, rest_speed: float = 0.0) -> tuple[Array, Array]:
    """The velocity after an impact at stops whose gaps open with S v, and the impulses there; N is H⁻¹Sᵀ.

    One stop: v⁺ = v − (1 + e) H⁻¹Sᵀ (S H⁻¹Sᵀ)⁻¹ S v. Several that approach: the impulses λ ≥ 0 with S v⁺ ≥ −e S v, each
    stop pushing only if it has to (Moreau's form of Newton's law), which gives no energy for one e. A stop that was
    opening and is closed by what the others do is hit in turn. Arrivals slower than `rest_speed` do not bounce.
    """
    A, total = S @ N, np.zeros(len(S))
    sizes, weights = np.abs(S) @ np.abs(v), np.abs(S) @ np.abs(N)
    for turn in range(TURNS):
        rate = S @ v
        if not np.any(rate < (-ROUNDING * (sizes + weights @ total) - NOTHING * rest_speed if turn else 0.0)):
            break
        closing = np.flatnonzero(rate < 0 if turn else rate <= 0)
        bounce = np.where((-rate > rest_speed) & (turn < TURNS // 2), e, 0.0)[closing]
        impulses = complementary(A[np.ix_(closing, closing)], (1 + bounce) * rate[closing])
        total[closing] += impulses
        v = v + N[:, closing] @ impulses
    return v, total


def complementary(A: Array, b: Array) -> Array:
    """λ ≥ 0 with A λ + b ≥ 0 and λ·(A λ + b) = 0, for a positive definite A."""
    n = len(b)
    return np.maximum(0.0, -b / A[0]) if n == 1 else boxed(A, b, np.zeros(n), np.full(n, np.inf))
