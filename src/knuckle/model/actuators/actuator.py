"""An actuator: from a control input to a force (MuJoCo's general actuator)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import arctan2, constant, cos, sin

from .actuator_dynamics import ActuatorDynamics, Range, checked_range, within
from .plain_transmissions import AtJoints
from .spatial_transmissions import TRANSMISSIONS, Transmission


@public_in("actuators")
@dataclass(frozen=True)
class Actuator:
    """f = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇, with u and f within their ranges.

    A motor has a constant gain and no bias; a position servo has the gain kp and the bias −kp l − kv l̇; a velocity
    servo the gain kv and the bias −kv l̇: `motor`, `position_servo` and `velocity_servo` make them.

    Where l is an angle about which a joint turns round, as at a ball joint, a position servo takes the shorter way.
    With `dynamics` it has a state a, which follows u, within its range, and stands in the place of u.

    Args:
        name: what it is called.
        transmission: where it acts: `AtJoints`, `AtBallJoint`, `AtFreeJoint`, `AtFrame`, `BetweenFrames`, `AlongLine`.
        gain: g₀, g₁, g₂.
        bias: b₀, b₁, b₂.
        control_range: the smallest and the largest u; None for any.
        force_range: the smallest and the largest f; None for any.
        dynamics: the state, if it has one.
    """

    name: str
    transmission: Transmission
    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    control_range: Range = None
    force_range: Range = None
    dynamics: ActuatorDynamics | None = None

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
            object.__setattr__(self, what, checked_range(f"{what} of the actuator {self.name!r}", ends))

    def force(self, u: Any, length: Any, rate: Any) -> Any:
        """f of a control u, or of the state, where the transmission has this length and rate."""
        gain, bias = (constant(a) + constant(b) * length + constant(c) * rate for a, b, c in (self.gain, self.bias))
        told = self.told(u) if self.dynamics is None else self.dynamics.within(self.dynamics.state)
        return within(gain * self._nearest(told, length) + bias, self.force_range)

    def told(self, u: Any) -> Any:
        """The control u within its range."""
        return within(u, self.control_range)

    def followed(self, u: Any, a: Any) -> Any:
        """What a state a follows: the control within its range, and the shorter way round."""
        return self._nearest(self.told(u), a)

    def _nearest(self, x: Any, other: Any) -> Any:
        """A number as near to another as whole turns bring it, where the law is a servo's for an angle."""
        turn = self.transmission.period
        if not turn or self.gain != (-self.bias[1], 0.0, 0.0):
            return x
        part = constant(2 * math.pi / turn) * (x - other)
        return other + constant(turn / (2 * math.pi)) * arctan2(sin(part), cos(part))

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


def _at(where: str | Iterable[str] | Transmission, gear: float | Iterable[float]) -> Transmission:
    if isinstance(where, TRANSMISSIONS):
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
