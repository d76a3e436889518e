"""How a line pulls: its tension as a function of its length and of how fast that grows (notes 1.9)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant, less, maximum, minimum, select

from .plain_numbers import must_be_a_number


@public_in("elements")
class TensionLaw(ABC):
    """A law of tension. One of your own is a frozen dataclass with these methods, over scalars of any kind."""

    @abstractmethod
    def tension(self, length: Any, rate: Any) -> Any:
        """The force that pulls both ends together, in newtons."""

    def energy(self, length: Any) -> Any:
        """The energy that is stored, in joules: its slope is the tension at rest."""
        return ZERO


@public_in("elements")
@dataclass(frozen=True)
class Spring(TensionLaw):
    """A spring with a damper beside it: k (l − rest) + d l̇ (notes 1.65, with the right sign of d).

    The notes count in strain: their k is `stiffness` times the rest length.
    """

    stiffness: float
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check(self, "stiffness", "rest", "damping")

    def tension(self, length: Any, rate: Any) -> Any:
        return constant(self.stiffness) * (length - constant(self.rest)) + constant(self.damping) * rate

    def energy(self, length: Any) -> Any:
        stretch = length - constant(self.rest)
        return constant(self.stiffness) * stretch * stretch / 2


@public_in("elements")
@dataclass(frozen=True)
class Cable(TensionLaw):
    """A cable: a spring with a damper where it is longer than `rest`, slack elsewhere. It never pushes."""

    stiffness: float
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check(self, "stiffness", "rest", "damping")

    def tension(self, length: Any, rate: Any) -> Any:
        stretch = length - constant(self.rest)
        pull = constant(self.stiffness) * stretch + constant(self.damping) * rate
        return select(less(0, stretch), maximum(pull, 0.0), 0.0)

    def energy(self, length: Any) -> Any:
        stretch = maximum(length - constant(self.rest), 0.0)
        return constant(self.stiffness) * stretch * stretch / 2


@public_in("elements")
@dataclass(frozen=True)
class SlackSpring(TensionLaw):
    """A spring that is slack between two lengths, pulls above and pushes below; a damper beside it acts at any length.

    It is the law of MuJoCo's tendons, whose `springlength` are the two lengths.
    """

    stiffness: float
    shortest: float
    longest: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check(self, "stiffness", "shortest", "longest", "damping")
        ends: tuple[Any, Any] = self.shortest, self.longest
        if all(isinstance(x, (int, float)) for x in ends) and ends[0] > ends[1]:
            raise ValueError(f"shortest and longest of a SlackSpring are in this order, not {ends}")

    def tension(self, length: Any, rate: Any) -> Any:
        return constant(self.stiffness) * self._stretch(length) + constant(self.damping) * rate

    def energy(self, length: Any) -> Any:
        stretch = self._stretch(length)
        return constant(self.stiffness) * stretch * stretch / 2

    def _stretch(self, length: Any) -> Any:
        return maximum(length - constant(self.longest), 0.0) + minimum(length - constant(self.shortest), 0.0)


@public_in("elements")
@dataclass(frozen=True)
class ConstantTension(TensionLaw):
    """The same tension at any length: a counterweight, a spring of constant force."""

    force: float

    def __post_init__(self) -> None:
        _check(self, signed=("force",))

    def tension(self, length: Any, rate: Any) -> Any:
        return constant(self.force)

    def energy(self, length: Any) -> Any:
        return constant(self.force) * length


def _check(law: Any, *names: str, signed: tuple[str, ...] = ()) -> None:
    for name in (*names, *signed):
        x = getattr(law, name)
        kind = "a finite number" if name in signed else "a finite number, zero or more"
        must_be_a_number(x, f"{name} of a {type(law).__name__}", kind)
        if isinstance(x, (int, float)) and x < 0 and name not in signed:
            raise ValueError(f"{name} of a {type(law).__name__} is {kind}, not {x}")
