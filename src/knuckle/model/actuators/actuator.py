"""An actuator: from a control input to a force (MuJoCo's general actuator without states)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from knuckle.public_names import public_in
from knuckle.scalar import constant, maximum, minimum

from .transmissions import AlongLine, AtFrame, AtJoints, Transmission

Range: TypeAlias = tuple[float, float] | None


@public_in("actuators")
@dataclass(frozen=True)
class Actuator:
    """f = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇, with u and f within their ranges.

    A motor has a constant gain and no bias; a position servo has the gain kp and the bias −kp l − kv l̇; a velocity
    servo the gain kv and the bias −kv l̇: `motor`, `position_servo` and `velocity_servo` make them.

    Args:
        name: what it is called.
        transmission: where it acts: `AtJoints`, `AtFrame` or `AlongLine`.
        gain: g₀, g₁, g₂.
        bias: b₀, b₁, b₂.
        control_range: the smallest and the largest u; None for any.
        force_range: the smallest and the largest f; None for any.
    """

    name: str
    transmission: Transmission
    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    control_range: Range = None
    force_range: Range = None

    def __post_init__(self) -> None:
        for what in ("gain", "bias"):
            values = tuple(getattr(self, what))
            if len(values) != 3 or not all(math.isfinite(x) for x in values):
                raise ValueError(f"{what} of the actuator {self.name!r} is three finite numbers, not {values}")
            object.__setattr__(self, what, values)
        for what in ("control_range", "force_range"):
            ends = getattr(self, what)
            if ends is None:
                continue
            ends = tuple(ends)
            if len(ends) != 2 or not (math.isfinite(ends[0]) and math.isfinite(ends[1]) and ends[0] <= ends[1]):
                raise ValueError(f"{what} of the actuator {self.name!r} is (least, most), not {ends}")
            object.__setattr__(self, what, ends)

    def force(self, u: Any, length: Any, rate: Any) -> Any:
        """f of a control u where the transmission has this length and rate."""
        gain, bias = (constant(a) + constant(b) * length + constant(c) * rate for a, b, c in (self.gain, self.bias))
        return _within(gain * _within(u, self.control_range) + bias, self.force_range)

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        (g, g1, g2), (b, b1, b2) = self.gain, self.bias
        if g1 or g2 or b:
            return "general"
        if not b1 and not b2:
            return "motor"
        if b1 == -g:
            return "position"
        return "velocity" if not b1 and b2 == -g else "general"


def _within(x: Any, ends: Range) -> Any:
    return x if ends is None else minimum(maximum(x, constant(ends[0])), constant(ends[1]))


def _at(where: str | Iterable[str] | Transmission, gear: float | Iterable[float]) -> Transmission:
    if isinstance(where, (AtJoints, AtFrame, AlongLine)):
        return where
    names = (where,) if isinstance(where, str) else tuple(where)
    gears = tuple(gear) if isinstance(gear, Iterable) else (gear,) * len(names)
    return AtJoints(names, tuple(float(x) for x in gears))


@public_in("actuators")
def motor(
    name: str,
    at: str | Iterable[str] | Transmission,
    *,
    gear: float | Iterable[float] = 1.0,
    control_range: Range = None,
    force_range: Range = None,
) -> Actuator:
    """A motor: f = u.

    Args:
        name: what it is called.
        at: the name of a joint, several, or a transmission.
        gear: the gear ratio at joints: the joint force is gear times f.
        control_range: the smallest and the largest u.
        force_range: the smallest and the largest f.
    """
    return Actuator(name, _at(at, gear), control_range=control_range, force_range=force_range)


@public_in("actuators")
def position_servo(
    name: str,
    at: str | Iterable[str] | Transmission,
    *,
    kp: float,
    kv: float = 0.0,
    gear: float | Iterable[float] = 1.0,
    control_range: Range = None,
    force_range: Range = None,
) -> Actuator:
    """A position servo: f = kp (u − l) − kv l̇; arguments as for `motor`."""
    return Actuator(name, _at(at, gear), (kp, 0.0, 0.0), (0.0, -kp, -kv), control_range, force_range)


@public_in("actuators")
def velocity_servo(
    name: str,
    at: str | Iterable[str] | Transmission,
    *,
    kv: float,
    gear: float | Iterable[float] = 1.0,
    control_range: Range = None,
    force_range: Range = None,
) -> Actuator:
    """A velocity servo: f = kv (u − l̇); arguments as for `motor`."""
    return Actuator(name, _at(at, gear), (kv, 0.0, 0.0), (0.0, 0.0, -kv), control_range, force_range)
