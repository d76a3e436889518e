"""Operator expressions: products, sums and adjoints of symbols, put together and not computed.

An expression belongs to no mechanism. `application.apply` gives its value on a vector, at a configuration, by the
recursions of its symbols; nothing here forms a matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from knuckle.spatial import Matrix

from .spaces import Space


@dataclass(frozen=True)
class OperatorExpression:
    """A linear map from `domain` to `codomain`."""

    @property
    def domain(self) -> Space | None:
        """Where its arguments are; None for an identity that takes whatever stands beside it."""
        raise NotImplementedError

    @property
    def codomain(self) -> Space | None:
        """Where its values are."""
        raise NotImplementedError

    @property
    def T(self) -> OperatorExpression:
        """The adjoint, the paper's superscript *."""
        return Adjoint(self)

    @property
    def inverse(self) -> OperatorExpression:
        """The inverse, where the paper knows one that is applied in O(n)."""
        from .identities import inverse

        return inverse(self)

    def __matmul__(self, other: OperatorExpression) -> OperatorExpression:
        return product((self, other))

    def __add__(self, other: OperatorExpression) -> OperatorExpression:
        return total((self, other))

    def __sub__(self, other: OperatorExpression) -> OperatorExpression:
        return total((self, -other))

    def __neg__(self) -> OperatorExpression:
        return self * -1.0

    def __mul__(self, factor: float) -> OperatorExpression:
        return scaled(float(factor), self)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Symbol(OperatorExpression):
    """An operator with a name. With a definition it is applied as that; without one it has a recursion of its own."""

    name: str
    of: Space
    to: Space
    symmetric: bool = False
    definition: OperatorExpression | None = None

    @property
    def domain(self) -> Space:
        return self.of

    @property
    def codomain(self) -> Space:
        return self.to

    @property
    def T(self) -> OperatorExpression:
        return self if self.symmetric else Adjoint(self)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Constant(OperatorExpression):
    """A matrix of numbers, such as A of the closure constraints (0.20)."""

    name: str
    matrix: Matrix
    of: Space
    to: Space

    @property
    def domain(self) -> Space:
        return self.of

    @property
    def codomain(self) -> Space:
        return self.to

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Identity(OperatorExpression):
    """I, in a space or in any."""

    space: Space | None = None

    @property
    def domain(self) -> Space | None:
        return self.space

    @property
    def codomain(self) -> Space | None:
        return self.space

    @property
    def T(self) -> OperatorExpression:
        return Identity(self.space.dual if self.space else None)

    def __str__(self) -> str:
        return "I"


@dataclass(frozen=True)
class Adjoint(OperatorExpression):
    """x*, of a symbol."""

    x: OperatorExpression

    @property
    def domain(self) -> Space | None:
        return self.x.codomain.dual if self.x.codomain else None

    @property
    def codomain(self) -> Space | None:
        return self.x.domain.dual if self.x.domain else None

    @property
    def T(self) -> OperatorExpression:
        return self.x

    def __str__(self) -> str:
        return f"{self.x}.T"


@dataclass(frozen=True)
class Scaled(OperatorExpression):
    """A number times an operator."""

    factor: float
    x: OperatorExpression

    @property
    def domain(self) -> Space | None:
        return self.x.domain

    @property
    def codomain(self) -> Space | None:
        return self.x.codomain

    @property
    def T(self) -> OperatorExpression:
        return scaled(self.factor, self.x.T)

    def __str__(self) -> str:
        return f"{self.factor:g} * {_inside(self.x)}"


@dataclass(frozen=True)
class Product(OperatorExpression):
    """Operators one after the other, the last first."""

    factors: tuple[OperatorExpression, ...]

    @property
    def domain(self) -> Space | None:
        return self.factors[-1].domain

    @property
    def codomain(self) -> Space | None:
        return self.factors[0].codomain

    @property
    def T(self) -> OperatorExpression:
        return Product(tuple(x.T for x in reversed(self.factors)))

    def __str__(self) -> str:
        return " @ ".join(map(_inside, self.factors))


@dataclass(frozen=True)
class Sum(OperatorExpression):
    """Operators side by side."""

    terms: tuple[OperatorExpression, ...]

    @property
    def domain(self) -> Space | None:
        return self.terms[0].domain

    @property
    def codomain(self) -> Space | None:
        return self.terms[0].codomain

    @property
    def T(self) -> OperatorExpression:
        return Sum(tuple(x.T for x in self.terms))

    def __str__(self) -> str:
        text = str(self.terms[0])
        for x in self.terms[1:]:
            minus = isinstance(x, Scaled) and x.factor == -1
            text += f" - {_inside(x.x)}" if minus and isinstance(x, Scaled) else f" + {_inside(x)}"
        return text


def _inside(x: OperatorExpression) -> str:
    return f"({x})" if isinstance(x, Sum) else str(x)


def product(factors: Iterable[OperatorExpression]) -> OperatorExpression:
    """The product, without identities and brackets; an error where spaces do not fit."""
    flat = [y for x in factors for y in (x.factors if isinstance(x, Product) else (x,))]
    number, plain = 1.0, list[OperatorExpression]()
    for x in flat:
        number, x = (number * x.factor, x.x) if isinstance(x, Scaled) else (number, x)
        plain += x.factors if isinstance(x, Product) else (x,)
    kept = [x for x in plain if not isinstance(x, Identity)]
    if not kept:
        return scaled(number, plain[0])
    for left, right in pairwise(kept):
        if left.domain != right.codomain:
            raise TypeError(
                f"{left} @ {right} has no meaning: {right} gives {_named(right.codomain)}, "
                f"and {left} takes {_named(left.domain)}"
            )
    return scaled(number, kept[0] if len(kept) == 1 else Product(tuple(kept)))


def total(terms: Iterable[OperatorExpression]) -> OperatorExpression:
    """The sum, without brackets; identities take the space of the others."""
    flat = [y for x in terms for y in (x.terms if isinstance(x, Sum) else (x,))]
    space = next(((x.domain, x.codomain) for x in flat if x.domain), (None, None))
    filled = [_placed(x, space[0]) for x in flat]
    for x in filled[1:]:
        if (x.domain, x.codomain) != (filled[0].domain, filled[0].codomain):
            raise TypeError(
                f"{filled[0]} + {x} has no meaning: the first maps {_named(filled[0].domain)} to "
                f"{_named(filled[0].codomain)}, the second {_named(x.domain)} to {_named(x.codomain)}"
            )
    return Sum(tuple(filled))


def scaled(factor: float, x: OperatorExpression) -> OperatorExpression:
    """factor · x, numbers gathered."""
    if isinstance(x, Scaled):
        factor, x = factor * x.factor, x.x
    if isinstance(x, Sum):
        return Sum(tuple(scaled(factor, term) for term in x.terms))
    return x if factor == 1 else Scaled(factor, x)


def _placed(x: OperatorExpression, space: Space | None) -> OperatorExpression:
    """x, an identity in the given space if it has none."""
    if isinstance(x, Scaled):
        return Scaled(x.factor, _placed(x.x, space))
    return Identity(space) if isinstance(x, Identity) and x.space is None else x


def _named(space: Space | None) -> Any:
    return space.name if space else "anything"
