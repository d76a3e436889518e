"""A muscle after Hill, with an elastic tendon and fibers at an angle to it, and curves whose inverses have formulas.

Normalized are lengths by l_opt (the tendon's by its own), velocities by v_max l_opt, forces by f_opt. The fibers keep
their thickness l_opt sin α_opt, so that their angle α grows as they shorten (Millard et al. 2013, 2.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import Dual, absolute, constant, less, maximum, minimum, select, sin, sqrt
from knuckle.spatial import repeated

from .activation_dynamics import FALL, RISE
from .muscle_laws import MuscleLaw, check_numbers, is_number

CURVED, TOE = 1.5, (0.5454545454545454, 0.375)
"""How much f_V is bent on the side of shortening; and where, in parts of the strain at f_opt, and at which force the
curve of the tendon goes over into a straight line, so that its slope there is 1.375 / strain (Millard et al. 2013)."""
SHORTEST = 0.01
"""Fibers along the tendon are never shorter than this part of l_opt."""
HALVINGS = 52


@public_in("elements")
@dataclass(frozen=True)
class HillMuscle(MuscleLaw):
    """f_T(l_T) = (a f_L(l_M) f_V(v_M) + f_P(l_M) + β v_M) cos α, where the line is tendon and fibers, l_T + l_M cos α.

    With an elastic tendon the length of the fibers is a state: `kn.simulate` and `kn.rollout` integrate it, from where
    tendon and fibers at rest are in equilibrium. Functions of one instant have fibers of the length `fiber_length`, and
    where that is not given, those in equilibrium. With a rigid tendon the fibers have what is left of the line.

    Args:
        force: f_opt, the largest force at rest, in newtons.
        fiber: l_opt, the length of the fibers at which they pull best, in metres.
        tendon: the length at which the tendon begins to pull.
        speed: v_max, how many times their best length fibers shorten in a second, at most.
        pennation: α_opt, the angle of the fibers to the tendon at their best length, in radians.
        rigid_tendon: whether the tendon keeps its length.
        damping: β, the damping of the fibers at v_max, in parts of f_opt.
        tendon_strain: by which part of its length the tendon is longer at f_opt.
        passive_strain: by which part of their best length fibers that are not activated are longer at f_opt.
        width: how far from 1 the normalized length is where f_L vanishes.
        lengthening: f_V of fibers that are lengthened fast.
        activation: what the muscle is activated by where nothing else is said.
        fiber_length: the length of the fibers, in metres.
        rise: seconds in which the activation rises.
        fall: seconds in which it falls.
    """

    force: float
    fiber: float
    tendon: float
    speed: float = 10.0
    pennation: float = 0.0
    rigid_tendon: bool = False
    damping: float = 0.1
    tendon_strain: float = 0.049
    passive_strain: float = 0.7
    width: float = 0.8
    lengthening: float = 1.4
    activation: float = 0.0
    fiber_length: float | None = None
    rise: float = RISE
    fall: float = FALL

    def __post_init__(self) -> None:
        if not isinstance(self.rigid_tendon, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"rigid_tendon of a HillMuscle is True or False, not {self.rigid_tendon!r}")
        above = ("fiber", "speed", "tendon_strain", "passive_strain", "width", "rise", "fall")
        elastic = () if self.rigid_tendon else ("tendon", "damping")
        zero = ("force", "pennation", *(() if elastic else ("tendon", "damping")))
        check_numbers(self, (*above, *elastic, *(() if self.fiber_length is None else ("fiber_length",))), zero)
        if is_number(self.pennation) and not self.pennation < math.pi / 2:
            raise ValueError(f"pennation of a HillMuscle is below a right angle, in radians, not {self.pennation}")
        check_numbers(self, ("lengthening",))
        if is_number(self.lengthening) and not self.lengthening > 1:
            raise ValueError(f"lengthening of a HillMuscle is above 1, not {self.lengthening}")
        if self.rigid_tendon and self.fiber_length is not None:
            raise ValueError("fiber_length of a HillMuscle is for an elastic tendon: this one is rigid")

    @property
    def is_elastic(self) -> bool:
        return not self.rigid_tendon

    def activated(self, length: Any, rate: Any, activation: Any) -> Any:
        if self.rigid_tendon:
            return self._rigid(length, rate, activation)
        fibers = self.equilibrium(length, activation) if self.fiber_length is None else constant(self.fiber_length)
        return constant(self.force) * self._tendon_force(length, self._along(fibers))

    def energy(self, length: Any) -> Any:
        """That of tendon and fibers; with a rigid tendon, or in equilibrium, also that of the active force at rest."""
        is_state = self.fiber_length is not None
        fibers: Any = constant(self.fiber_length) if is_state else self._at_rest(length)
        x = fibers / constant(self.fiber)
        stored = _area(x - 1, self.passive_strain, (1.0, 1.0))
        if not is_state:
            stored = stored + constant(self.activation) * self._active_area(x)
        total = constant(self.fiber) * stored
        if self.is_elastic:
            strain = (length - self._along(fibers)) / constant(self.tendon) - 1
            total = total + constant(self.tendon) * _area(strain, self.tendon_strain, TOE)
        return constant(self.force) * total

    # elastic tendons

    def fiber_rate(self, length: Any, fibers: Any, activation: Any) -> Any:
        """v_M, in m/s: A f_V(v) + β v = f_T / cos α − f_P, with A = a f_L, solved piece by piece.

        Lengthening fibers and shortening ones have quadratic equations; those that shorten faster than v_max have
        their damping alone.
        """
        x, along = fibers / constant(self.fiber), self._along(fibers)
        rest = self._tendon_force(length, along) * fibers / along - _toe(x - 1, self.passive_strain, (1.0, 1.0))
        most, beta = activation * self._active(x), constant(self.damping)
        m, slope = constant(self.lengthening) - 1, 2 + CURVED
        r = maximum(rest, most)
        growing = _root(beta * slope, (most * (m + 1) - r) * slope + beta * m, m * (most - r))
        r = minimum(maximum(rest, -beta), most)
        shrinking = _root(most - CURVED * beta, 2 * most + beta + CURVED * r, most - r)
        u = select(less(most, rest), growing, select(less(rest, -beta), rest / beta, shrinking))
        return u * (constant(self.fiber) * constant(self.speed))

    def equilibrium(self, length: Any, activation: Any) -> Any:
        """The length of fibers at rest that pull as much as their tendon, by halving where it must be.

        A step of Newton's at the end has the right slopes.
        """
        least = SHORTEST * constant(self.fiber)

        def missing(along: Any) -> Any:
            fibers = sqrt(along * along + self._thick2)
            x = fibers / constant(self.fiber)
            own = activation * self._active(x) + _toe(x - 1, self.passive_strain, (1.0, 1.0))
            return self._tendon_force(length, along) - own * along / fibers

        def halved(_: Any, low: Any, high: Any) -> Any:
            middle = (low + high) / 2
            is_longer = less(0, missing(middle))
            return 1, select(is_longer, middle, low), select(is_longer, high, middle)

        first = 0 * (length + activation)
        longest = maximum(length - constant(self.tendon), least)
        _, low, high = repeated(halved, (1, first + least, first + longest), HALVINGS)
        along = (low + high) / 2
        moving: Any = missing(Dual(along, 1.0))
        slope = moving.derivative
        is_sloped = less(1e-9, absolute(slope))
        better = along - select(is_sloped, missing(along) / select(is_sloped, slope, 1.0), 0.0)
        along = maximum(better, least)
        return sqrt(along * along + self._thick2)

    # the parts of the law

    @property
    def _thick2(self) -> Any:
        """The square of the thickness, which stays."""
        thickness = constant(self.fiber) * sin(constant(self.pennation))
        return thickness * thickness

    def _along(self, fibers: Any) -> Any:
        """l_M cos α."""
        least = SHORTEST * constant(self.fiber)
        return sqrt(maximum(fibers * fibers - self._thick2, least * least))

    def _at_rest(self, length: Any) -> Any:
        """The length of the fibers where it follows from that of the line."""
        if self.is_elastic:
            return self.equilibrium(length, constant(self.activation))
        along = maximum(length - constant(self.tendon), SHORTEST * constant(self.fiber))
        return sqrt(along * along + self._thick2)

    def _rigid(self, length: Any, rate: Any, activation: Any) -> Any:
        best = constant(self.fiber)
        fibers = self._at_rest(length)
        along = length - constant(self.tendon)
        x, cosine = fibers / best, along / fibers
        u = rate * cosine / (best * constant(self.speed))
        own = activation * self._active(x) * self._by_velocity(u) + _toe(x - 1, self.passive_strain, (1.0, 1.0))
        total = maximum(constant(self.force) * cosine * (own + constant(self.damping) * u), 0.0)
        return select(less(along, SHORTEST * best), 0.0, total)

    def _tendon_force(self, length: Any, along: Any) -> Any:
        return _toe((length - along) / constant(self.tendon) - 1, self.tendon_strain, TOE)

    def _active(self, x: Any) -> Any:
        """f_L: (1 − s²)³ for s = (x − 1) / width between −1 and 1."""
        s = (x - 1) / constant(self.width)
        y = maximum(1 - s * s, 0.0)
        return y * y * y

    def _active_area(self, x: Any) -> Any:
        """The area under f_L up to x."""
        s = maximum(minimum((x - 1) / constant(self.width), 1.0), -1.0)
        s2 = s * s
        return constant(self.width) * (16 / 35 + s * (1 - s2 * (1 - s2 * (3 / 5 - s2 / 7))))

    def _by_velocity(self, u: Any) -> Any:
        """f_V: (1 + u)² / (1 − k u) where fibers shorten, a hyperbola up to `lengthening` where they lengthen."""
        m = constant(self.lengthening) - 1
        slow, fast = minimum(u, 0.0), maximum(u, 0.0)
        shrinking = (1 + slow) * (1 + slow) / (1 - CURVED * slow)
        growing = m + 1 - m * m / (m + (2 + CURVED) * fast)
        return select(less(u, -1), 0.0, select(less(u, 0), shrinking, growing))


def _toe(strain: Any, at_one: Any, toe: tuple[float, float]) -> Any:
    """A force that begins with y (2x³ − x⁴) and goes over into a straight line, with two slopes that are continuous.

    `toe` is where it does so, in parts of the strain `at_one`, and y.
    """
    end, y = constant(at_one) * toe[0], toe[1]
    x = strain / end
    z = maximum(x, 0.0)
    return select(less(x, 1), y * (z * z * z * (2 - z)), y * (2 * x - 1))


def _area(strain: Any, at_one: Any, toe: tuple[float, float]) -> Any:
    """The area under `_toe`."""
    end, y = constant(at_one) * toe[0], toe[1]
    x = strain / end
    z = maximum(x, 0.0)
    bent = z * z * z * z * (1 / 2 - z / 5)
    return end * y * select(less(x, 1), bent, 3 / 10 + (x - 1) * x)


def _root(a: Any, b: Any, c: Any) -> Any:
    """−2c / (b + √(b² − 4ac)), written without cancellation."""
    s = sqrt(maximum(b * b - 4 * a * c, 0.0))
    is_forward = less(0, b)
    return select(is_forward, -2 * c / select(is_forward, b + s, 1.0), (s - b) / select(is_forward, 1.0, 2 * a))
