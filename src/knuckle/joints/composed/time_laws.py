"""Laws of time for driven joints: position, velocity and acceleration at a time, exact over any scalar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any, Protocol

from knuckle.joints.axis import finite
from knuckle.scalar import ZERO, cos, sin


class Law(Protocol):
    """Gives q, v and v̇ of a joint at time t, each with one entry per variable."""

    def __call__(self, t: Any) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]: ...


@dataclass(frozen=True)
class Polynomial:
    """c₀ + c₁ t + c₂ t² + …, for one variable."""

    coefficients: tuple[float, ...]

    def __init__(self, coefficients: Sequence[float]) -> None:
        object.__setattr__(self, "coefficients", tuple(finite(c, "coefficients") for c in coefficients))

    def __call__(self, t: Any) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        q = v = half = ZERO
        for c in reversed(self.coefficients):
            q, v, half = q * t + c, v * t + q, half * t + v
        return (q,), (v,), (2 * half,)


@dataclass(frozen=True)
class Sinusoid:
    """offset + amplitude sin(2π frequency t + phase), for one variable; frequency in hertz, phase in radians."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("amplitude", "frequency", "phase", "offset"):
            object.__setattr__(self, name, finite(getattr(self, name), name))

    def __call__(self, t: Any) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        omega = 2 * pi * self.frequency
        swing = self.amplitude * sin(omega * t + self.phase)
        rate = omega * (self.amplitude * cos(omega * t + self.phase))
        return (self.offset + swing,), (rate,), (-omega * (omega * swing),)


@dataclass(frozen=True)
class Together:
    """One law after the other, for a joint of several variables."""

    laws: tuple[Law, ...]

    def __init__(self, laws: Sequence[Law]) -> None:
        object.__setattr__(self, "laws", tuple(laws))

    def __call__(self, t: Any) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        parts = [law(t) for law in self.laws]
        q, v, a = (tuple(x for part in parts for x in part[k]) for k in range(3))
        return q, v, a
