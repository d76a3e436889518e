"""Pieces whose derivatives by positions and velocities have equations of their own, and the chain rule with these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.engine.trace import Expression
from knuckle.engine.trace.regions import MarkedModel
from knuckle.joints import Joint
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector
from knuckle.spatial.linear.sparse_rows import rows_of

from .derivative_rules import Implicit, OfModel, add_to, chained, only
from .direction_count import WORTH
from .sweep import Columns

Solve = Callable[[Model, Vector, Sequence[Columns], Sequence[Columns], Sequence[Columns]], Sequence[Columns]]
"""The derivatives of an acceleration, of the model, all arguments in a row, and the derivatives of q along the velocity
variables, v and τ."""


@dataclass(frozen=True)
class OwnSlopes(OfModel):
    """y(q, v, x, …) with known ∂y/∂q along the velocity variables, ∂y/∂v and ∂y/∂x: ẏ = ∂y/∂q u + ∂y/∂v v̇ + ∂y/∂x ẋ.

    Attributes:
        slopes: the derivatives by q, v and, if it is an argument, x, of the model and all arguments in a row.
        count: how many velocity-like arguments there are: v, or v and x.
    """

    slopes: Callable[[Model, Vector], Sequence[Matrix]]
    count: int

    def directions(self, inputs: list[Any], rates: list[Columns]) -> set[int]:
        return of_motion(self.apart(self.model, inputs)[0], self.count, inputs, rates)

    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        found: list[dict[int, Any]] = [{} for _ in results]
        model, x = self.apart(self.model, inputs)
        changes = of_arguments(model, self.count, inputs, rates)
        for slopes, change in zip(self.slopes(model, x), changes, strict=True):
            if any(change):
                add_to(found, chained(rows_of(slopes), change))
        return found


@dataclass(frozen=True)
class OwnResponse(Implicit):
    """An acceleration a(q, v, τ, …), whose derivatives in many directions have equations of their own too.

    Attributes:
        rates: these derivatives.
    """

    rates: Solve

    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        directions = set[int]().union(*rates)
        model, x = self.apart(self.model, inputs)
        known = set[int]() if isinstance(model, MarkedModel) else of_motion(model, 2, inputs, rates)
        found: list[dict[int, Any]] = [{} for _ in results]
        if known:
            add_to(found, self.rates(model, x, *of_arguments(model, 2, inputs, only(rates, known))))
        if known != directions:
            add_to(found, super().pushed(inputs, results, only(rates, directions - known)))
        return found


def of_motion(model: Model, count: int, inputs: Sequence[Any], rates: list[Columns]) -> set[int]:
    """The directions in which q and velocity-like arguments change, and nothing else does; none where they are few, or
    where it is not known which velocity a change of q is."""
    first = model.nq + count * model.nv
    known = set[int]().union(*rates[:first]) - set[int]().union(*rates[first:])
    is_own = len(known) >= WORTH and along_velocities(model, inputs, only(rates, known)) is not None
    return known if is_own else set()


def of_arguments(model: Model, count: int, inputs: Sequence[Any], rates: list[Columns]) -> list[list[Columns]]:
    """The derivatives of q along the velocity variables, and of each velocity-like argument."""
    nq, nv = model.nq, model.nv
    along = along_velocities(model, inputs, rates)
    assert along is not None
    return [along, *(rates[nq + k * nv : nq + (k + 1) * nv] for k in range(count))]


def along_velocities(model: Model, inputs: Sequence[Any], rates: Sequence[Columns]) -> list[Columns] | None:
    """The derivatives of q along the velocity variables, from those of its entries; None where that is not known."""
    found: list[Columns] = [{} for _ in range(model.nv)]
    for joint, qs, vs in zip(model.joints, model.q_slices, model.v_slices, strict=True):
        if any(rates[qs]):
            own = _along(joint.type, Vector(inputs[qs]), rates[qs])
            if own is None:
                return None
            found[vs] = own
    return found


def _along(joint: Joint, q: Vector, rates: Sequence[Columns]) -> Sequence[Columns] | None:
    """Those of a joint. Directions that are the joint's own are seen as such."""
    units = [Vector(ONE if i == k else ZERO for i in range(joint.nv)) for k in range(joint.nv)]
    columns = [joint.rate(q, unit) for unit in units]
    if all(all(map(_is_same, column, unit)) for column, unit in zip(columns, units, strict=True)):
        return rates
    found: list[dict[int, Any]] = [{} for _ in units]
    for c in sorted(set[int]().union(*rates)):
        change = Vector(rate.get(c, ZERO) for rate in rates)
        own = (unit for unit, column in zip(units, columns, strict=True) if all(map(_is_same, column, change)))
        velocity = next(own, None)
        if velocity is None and (velocity := joint.velocity(q, change)) is None:
            return None
        for row, x in zip(found, velocity, strict=True):
            if x is not ZERO:
                row[c] = x
    return found


def _is_same(a: Any, b: Any) -> bool:
    """Whether scalars are known to be equal: numbers, or the same node of a graph."""
    if isinstance(a, Expression) and isinstance(b, Expression):
        return a.graph is b.graph and a.index == b.index
    return a is b or (type(a) is type(b) is float and a == b)
