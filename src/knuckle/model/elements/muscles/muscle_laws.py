"""Muscles: lines that pull as much as they are activated, by their length and their velocity (notes 1.38-1.49)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from knuckle.model.elements.plain_numbers import must_be_a_number
from knuckle.model.elements.tension_laws import TensionLaw
from knuckle.public_names import public_in
from knuckle.scalar import constant, less, select

from .activation_dynamics import FALL, RISE, activation_rate, within_bounds
from .curves import HermiteCurve

_P, _R = -2.685465029349429, -0.322674853252855
_SHORTENING, _LENGTHENING = 0.9152534738643788, 0.2666486498660002

PASSIVE = HermiteCurve(((1.0, 0.0, 0.0), (1.3, 0.126110265892917, 1.07051016402631), (1.7, 1.0, 2.85714285714286)))
"""f_P of the normalized length (notes 1.41-1.42, corrected)."""
ACTIVE = HermiteCurve(
    (
        (0.4, 0.0, 0.0),
        (0.7, 0.767020368396388, -0.6 * _P + 0.27 * _R),
        (1.2, 0.89, 0.4 * _P + 0.12 * _R),
        (1.81, 0.0, 0.0),
    )
)
"""f_L of the normalized length (notes 1.43-1.44): between 0.7 and 1.2 it is 1 + P (x − 1)² + R (x − 1)³."""
VELOCITY = HermiteCurve(
    (
        (-1.0, 0.0, 0.0),
        (-0.05, _SHORTENING * 0.95**3, 3 * _SHORTENING * 0.95**2),
        (0.05, 1.4 - _LENGTHENING * 0.95**3, 3 * _LENGTHENING * 0.95**2),
        (1.0, 1.4, 0.0),
    )
)
"""f_V of the normalized velocity (notes 1.45-1.46, corrected)."""


@public_in("elements")
class MuscleLaw(TensionLaw):
    """A law of tension that depends on an activation, from 0 to 1.

    Every function of dynamics has a muscle with the `activation` of its law: at rest, if that is not given. What other
    activations add is `kn.elements.muscle_forces`. In motions with `excitations` the activation is a state.

    One of your own is a frozen dataclass with a field `activation` and the method `activated`; fields `rise` and `fall`
    or a method `activation_rate` say how it follows its excitation.
    """

    activation: float
    rise: float = RISE
    """Seconds in which the activation rises"""
    fall: float = FALL
    """Seconds in which it falls"""

    @property
    def is_elastic(self) -> bool:
        """Whether the length of the fibers, its field `fiber_length`, is a state."""
        return False

    @abstractmethod
    def activated(self, length: Any, rate: Any, activation: Any) -> Any:
        """The tension at an activation, in newtons."""

    def tension(self, length: Any, rate: Any) -> Any:
        return self.activated(length, rate, constant(self.activation))

    def activation_rate(self, excitation: Any, activation: Any) -> Any:
        """How fast the activation follows an excitation, which counts as 0 below zero and as 1 above one, in 1/s."""
        return activation_rate(within_bounds(excitation), activation, constant(self.rise), constant(self.fall))

    def fiber_rate(self, length: Any, fibers: Any, activation: Any) -> Any:
        """How fast fibers at an elastic tendon grow, in m/s, by the length of the line and their own."""
        raise NotImplementedError(f"a {type(self).__name__} has no elastic tendon")

    def equilibrium(self, length: Any, activation: Any) -> Any:
        """The length of fibers at rest that are in equilibrium with an elastic tendon."""
        raise NotImplementedError(f"a {type(self).__name__} has no elastic tendon")


@public_in("elements")
@dataclass(frozen=True)
class CubicMuscle(MuscleLaw):
    """f_opt (a f_L f_V + f_P) with a rigid tendon and curves of cubics (notes 1.38).

    Args:
        force: f_opt, the largest force at rest, in newtons.
        fiber: l_opt, the length of the fibers at which they pull best, in metres.
        tendon: the length of the tendon; the fibers have what is left of the line.
        speed: v_max, how many times their best length fibers shorten in a second, at most.
        activation: what the muscle is activated by where nothing else is said.
        rise: seconds in which the activation rises.
        fall: seconds in which it falls.
    """

    force: float
    fiber: float
    tendon: float = 0.0
    speed: float = 10.0
    activation: float = 0.0
    rise: float = RISE
    fall: float = FALL

    def __post_init__(self) -> None:
        check_numbers(self, above=("fiber", "speed", "rise", "fall"), from_zero=("force", "tendon"))

    def activated(self, length: Any, rate: Any, activation: Any) -> Any:
        fiber, speed = constant(self.fiber), constant(self.speed)
        x, u = (length - constant(self.tendon)) / fiber, rate / (fiber * speed)
        return constant(self.force) * (activation * ACTIVE(x) * VELOCITY(u) + PASSIVE(x))

    def energy(self, length: Any) -> Any:
        """That of the passive force, and of the active one at rest."""
        x = (length - constant(self.tendon)) / constant(self.fiber)
        stored = constant(self.activation) * ACTIVE.integral(x) + PASSIVE.integral(x)
        return constant(self.force) * constant(self.fiber) * stored


@public_in("elements")
@dataclass(frozen=True)
class MujocoMuscle(MuscleLaw):
    """The muscle of MuJoCo: pieces of parabolas, normalized by the range of lengths that the line has.

    Args:
        force: the largest force at rest, in newtons.
        length_range: the least and the largest length of the line, in metres.
        range: the normalized lengths of the fibers there.
        lmin: below this normalized length there is no active force.
        lmax: above this one there is none either.
        vmax: how many best lengths fibers shorten in a second, at most.
        fpmax: the passive force at lmax, as a part of `force`.
        fvmax: the active force at the fastest lengthening, likewise.
        activation: what the muscle is activated by where nothing else is said.
        rise: seconds in which the activation rises.
        fall: seconds in which it falls.
        smooth: the width in excitation − activation over which the one time goes over into the other.
    """

    force: float
    length_range: tuple[float, float]
    range: tuple[float, float] = (0.75, 1.05)
    lmin: float = 0.5
    lmax: float = 1.6
    vmax: float = 1.5
    fpmax: float = 1.3
    fvmax: float = 1.2
    activation: float = 0.0
    rise: float = RISE
    fall: float = FALL
    smooth: float = 0.0

    def __post_init__(self) -> None:
        numbers = ("force", "fpmax", "smooth")
        check_numbers(self, above=("vmax", "rise", "fall", "lmax", "fvmax"), from_zero=numbers, signed=("lmin",))
        for name in ("length_range", "range"):
            low, high = two_numbers(self, name)
            if is_number(low) and is_number(high) and not low < high:
                raise ValueError(
                    f"{name} of a {type(self).__name__} is two numbers, the smaller first, not {low, high}"
                )
        if is_number(self.lmin) and not self.lmin < 1 < self.lmax:
            raise ValueError(f"lmin and lmax of a {type(self).__name__} lie around 1: {self.lmin}, {self.lmax}")
        if is_number(self.fvmax) and not self.fvmax > 1:
            raise ValueError(f"fvmax of a {type(self).__name__} is above 1, not {self.fvmax}")

    @property
    def fiber(self) -> float:
        """The length of the fibers at which they pull best, in metres."""
        (low, high), (shortest, longest) = self.length_range, self.range
        return (high - low) / (longest - shortest)

    def activation_rate(self, excitation: Any, activation: Any) -> Any:
        times = constant(self.rise), constant(self.fall), self.smooth
        return activation_rate(within_bounds(excitation), within_bounds(activation), *times)

    def activated(self, length: Any, rate: Any, activation: Any) -> Any:
        x = self.range[0] + (length - self.length_range[0]) * (1 / self.fiber)
        active = self._by_length(x) * self._by_velocity(rate * (1 / (self.fiber * self.vmax)))
        return constant(self.force) * (activation * active + self._passive(x))

    def energy(self, length: Any) -> Any:
        """That of the passive force, and of the active one at rest."""
        x = self.range[0] + (length - self.length_range[0]) / self.fiber
        h, y = (self.lmax - 1) / 2, x - (1 + self.lmax) / 2
        bent = (x - 1) * (x - 1) * (x - 1) / (6 * h * h)
        passive = select(less(x, 1), 0.0, select(less(y, 0), bent, h / 6 + y / 2 + y * y / (2 * h)))
        stored = self.fpmax * passive + constant(self.activation) * self._active_area(x)
        return constant(self.force) * self.fiber * stored

    def _pieces(self) -> tuple[float, float, float, float]:
        """Half the widths of the two sides of the active curve, and where each is half-way."""
        return (1 - self.lmin) / 2, (self.lmax - 1) / 2, (1 + self.lmin) / 2, (1 + self.lmax) / 2

    def _by_length(self, x: Any) -> Any:
        rise, fall, a, b = self._pieces()
        steep, shallow = 1 / rise, 1 / fall

        def parabola(u: Any) -> Any:
            return u * u * 0.5

        up = select(less(x, a), parabola((x - self.lmin) * steep), 1 - parabola((1 - x) * steep))
        down = select(less(x, b), 1 - parabola((x - 1) * shallow), parabola((self.lmax - x) * shallow))
        inside = select(less(x, 1), up, down)
        return select(less(x, self.lmin), 0.0, select(less(self.lmax, x), 0.0, inside))

    def _active_area(self, x: Any) -> Any:
        """The area under the active curve from lmin to x: each side's is half its width."""
        rise, fall, a, b = self._pieces()

        def cube(u: Any) -> Any:
            return u * u * u / 6

        up = select(less(x, a), rise * cube((x - self.lmin) / rise), rise + (x - 1) + rise * cube((1 - x) / rise))
        down = rise + select(
            less(x, b), (x - 1) - fall * cube((x - 1) / fall), fall - fall * cube((self.lmax - x) / fall)
        )
        inside = select(less(x, 1), up, down)
        return select(less(x, self.lmin), 0.0, select(less(self.lmax, x), rise + fall, inside))

    def _by_velocity(self, u: Any) -> Any:
        y = self.fvmax - 1
        slow, fast = (u + 1) * (u + 1), self.fvmax - (y - u) * (y - u) * (1 / y)
        lengthening = select(less(u, y), fast, self.fvmax)
        return select(less(u, -1), 0.0, select(less(u, 0), slow, lengthening))

    def _passive(self, x: Any) -> Any:
        _, h, _, b = self._pieces()
        bent, straight = (x - 1) * (x - 1) * (1 / (2 * h * h)), 0.5 + (x - b) * (1 / h)
        return self.fpmax * select(less(x, 1), 0.0, select(less(x, b), bent, straight))


def is_number(x: Any) -> bool:
    """Whether it is one of Python's, and no symbol."""
    return isinstance(x, (int, float))


def two_numbers(law: Any, name: str) -> tuple[Any, Any]:
    """Two numbers of a law."""
    pair = getattr(law, name)
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ValueError(f"{name} of a {type(law).__name__} is two numbers, not {pair!r}") from None
    for x in (low, high):
        must_be_a_number(x, f"{name} of a {type(law).__name__}", "two finite numbers", pair)
    return low, high


def check_numbers(
    law: Any, above: tuple[str, ...], from_zero: tuple[str, ...] = (), signed: tuple[str, ...] = ()
) -> None:
    """An error unless the named numbers of a muscle are finite, and above zero or not below it."""
    for name in (*above, *from_zero, *signed):
        x, least = (
            getattr(law, name),
            "" if name in signed else ", zero or more" if name in from_zero else ", above zero",
        )
        must_be_a_number(x, f"{name} of a {type(law).__name__}", f"a finite number{least}")
        if is_number(x) and not (name in signed or x > 0 or (x == 0 and name in from_zero)):
            raise ValueError(f"{name} of a {type(law).__name__} is a finite number{least}, not {x}")
    must_be_a_number(law.activation, f"activation of a {type(law).__name__}", "a number from 0 to 1")
    if is_number(law.activation) and not 0 <= law.activation <= 1:
        raise ValueError(f"activation of a {type(law).__name__} is from 0 to 1, not {law.activation}")
