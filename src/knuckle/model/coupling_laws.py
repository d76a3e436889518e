"""Laws of couplings: the position of a joint as a function of those of others, q = γ(y) (RBDA 8.11, 9.6)."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knuckle.errors import ModelError
from knuckle.scalar import ONE, ZERO, Dual, constant
from knuckle.spatial import Vector

from .placement import finite


class CouplingLaw(ABC):
    """γ over scalars of any kind. Its row of G and that row's rate follow by exact differentiation.

    Laws that are frozen dataclasses of numbers keep a model comparable, picklable and fit for a file.
    """

    @abstractmethod
    def value(self, y: Vector) -> Any:
        """γ(y): the position of the joint that follows, for those of its sources."""

    def slopes(self, y: Vector) -> Vector:
        """∂γ/∂y: the joint's row of G (RBDA 8.42)."""
        units = (Vector(ONE if i == k else ZERO for i in range(len(y))) for k in range(len(y)))
        return Vector(_derivative(self.value(_along(y, e))) for e in units)

    def slope_rates(self, y: Vector, dy: Vector) -> Vector:
        """The joint's row of Ġ while y moves with dy; with dy it gives the joint's part of g = Ġ ẏ."""
        return Vector(map(_derivative, self.slopes(_along(y, dy))))

    @property
    def arity(self) -> int | None:
        """How many sources the law takes; None for one that takes as many as it is given."""
        return None

    def held(self, values: Mapping[int, Any]) -> CouplingLaw:
        """The law of the sources that are left when some, by place, are held at positions."""
        return Held(self, tuple(sorted(values)), tuple(values[k] for k in sorted(values)))

    def with_scalars(self, number: Callable[[Any], Any]) -> CouplingLaw:
        """The law with its coefficients as numbers of another kind."""
        return self

    def said(self, names: Sequence[str]) -> str:
        """The law in words."""
        return f"a function of {', '.join(f'q[{name}]' for name in names)}"


@dataclass(frozen=True)
class Linear(CouplingLaw):
    """Σ ratio y + offset: gears, belts, differentials, mimic joints."""

    ratios: tuple[float, ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratios", tuple(finite(r, "ratio", "coupling") for r in self.ratios))
        object.__setattr__(self, "offset", finite(self.offset, "offset", "coupling"))

    @property
    def arity(self) -> int:
        return len(self.ratios)

    def value(self, y: Vector) -> Any:
        return sum((constant(r) * x for r, x in zip(self.ratios, y, strict=True)), ZERO) + constant(self.offset)

    def slopes(self, y: Vector) -> Vector:
        return Vector(map(constant, self.ratios))

    def slope_rates(self, y: Vector, dy: Vector) -> Vector:
        return Vector.zero(len(y))

    def held(self, values: Mapping[int, Any]) -> Linear:
        rest = tuple(r for k, r in enumerate(self.ratios) if k not in values)
        return Linear(rest, self.offset + sum(self.ratios[k] * float(x) for k, x in values.items()))

    def with_scalars(self, number: Callable[[Any], Any]) -> Linear:
        ratios = tuple(number(r) if r else r for r in self.ratios)
        return replace(self, ratios=ratios, offset=number(self.offset) if self.offset else self.offset)

    def said(self, names: Sequence[str]) -> str:
        terms = [f"{r:g} q[{name}]" for r, name in zip(self.ratios, names, strict=True)]
        return " + ".join(terms) + (f" {self.offset:+g}" if self.offset else "")


@dataclass(frozen=True)
class Powers(CouplingLaw):
    """c₀ + c₁ y + c₂ y² + …, of one source: cams, linkages approximated, MuJoCo's joint equalities."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        numbers = tuple(finite(c, "coefficient", "coupling") for c in self.coefficients)
        object.__setattr__(self, "coefficients", numbers)

    @property
    def arity(self) -> int:
        return 1

    def value(self, y: Vector) -> Any:
        total: Any = ZERO
        for c in reversed(self.coefficients):
            total = total * y[0] + constant(c)
        return total

    def slopes(self, y: Vector) -> Vector:
        rates = tuple(k * c for k, c in enumerate(self.coefficients))[1:]
        return Vector((Powers(rates).value(y),))

    def slope_rates(self, y: Vector, dy: Vector) -> Vector:
        rates = tuple(k * (k - 1) * c for k, c in enumerate(self.coefficients))[2:]
        return Powers(rates).value(y) * dy

    def with_scalars(self, number: Callable[[Any], Any]) -> Powers:
        return Powers(tuple(number(c) if c else c for c in self.coefficients))

    def said(self, names: Sequence[str]) -> str:
        powers = ("", f" q[{names[0]}]", *(f" q[{names[0]}]^{k}" for k in range(2, len(self.coefficients))))
        terms = [f"{c:g}{power}" for c, power in zip(self.coefficients, powers, strict=False) if c]
        return " + ".join(terms) or "0"


@dataclass(frozen=True)
class FunctionLaw(CouplingLaw):
    """A function of your own, γ(y₁, y₂, …), written with the functions of `knuckle.scalar`.

    A function defined in a module keeps the model picklable. A file cannot hold it: make a frozen dataclass of your own
    from `CouplingLaw` for that.
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function gives a position for those of the sources, which {self.function!r} cannot")

    @property
    def arity(self) -> int | None:
        """How many arguments the function has, where that is one number."""
        try:
            given = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # a function of a package that does not say
            return None
        plain = all(x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD) and x.default is x.empty for x in given)
        return len(given) if plain else None

    def value(self, y: Vector) -> Any:
        return self.function(*y)


@dataclass(frozen=True)
class Held(CouplingLaw):
    """A law some of whose sources no longer move: those at `places` stay at `values`."""

    law: CouplingLaw
    places: tuple[int, ...]
    values: tuple[Any, ...]

    @property
    def arity(self) -> int | None:
        return None if self.law.arity is None else self.law.arity - len(self.places)

    def value(self, y: Vector) -> Any:
        at = dict(zip(self.places, map(constant, self.values), strict=True))
        moving = iter(y)
        return self.law.value(Vector(at[k] if k in at else next(moving) for k in range(len(y) + len(at))))

    def with_scalars(self, number: Callable[[Any], Any]) -> Held:
        return Held(self.law.with_scalars(number), self.places, tuple(number(x) if x else x for x in self.values))


def law_from(given: Any, offset: float, sources: int, joint: str) -> CouplingLaw:
    """A law as a person gives it: a ratio, a ratio for each source, a function or a `CouplingLaw`."""
    if isinstance(given, CouplingLaw) or callable(given):
        if offset:
            raise ModelError("a law has its offset inside: offset= goes with ratios only", element=joint)
        return given if isinstance(given, CouplingLaw) else FunctionLaw(given)
    ratios = tuple(given) if hasattr(given, "__len__") else (given,)
    if len(ratios) != sources:
        raise ModelError(f"it follows {sources} joints and has {len(ratios)} ratios: one for each", element=joint)
    numbers = tuple(finite(r, "ratio", joint) for r in ratios)
    return Linear(numbers, finite(offset, "offset", joint))


def _along(y: Vector, direction: Vector) -> Vector:
    return Vector(Dual(x, dx) for x, dx in zip(y, direction, strict=True))


def _derivative(x: Any) -> Any:
    return x.derivative if isinstance(x, Dual) else ZERO
