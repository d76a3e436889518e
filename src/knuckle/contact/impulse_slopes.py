"""Derivatives of the impulses of contact, by the implicit function theorem on what each contact does.

Impulses solve F(p, λ) = λ − Π(λ − ρ u) = 0 with u = A λ + b (Alart and Curnier). While every contact stays open,
sticking or sliding, F is smooth, and λ̇ = −F'⁻¹ ∂F/∂p ṗ: what one step of Newton's method makes of a change of p, from
the impulses that were found. Where a contact opens, closes, begins to slide or to stick, these are the derivatives of
one side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from knuckle.algorithms.contact.cone_problem import ConeProblem
from knuckle.algorithms.contact.cone_rounds import solved
from knuckle.algorithms.contact.friction_discs import Scalars
from knuckle.algorithms.contact.impulse_newton import newton
from knuckle.engine.differentiate.derivative_rules import DerivativeRule
from knuckle.engine.differentiate.sweep import Columns, Sweep
from knuckle.engine.trace.execute import record
from knuckle.scalar import ZERO, kind_of
from knuckle.spatial import Vector, with_rule

Make = Callable[[Iterator[Any]], ConeProblem]


@dataclass(frozen=True)
class SettledImpulses(DerivativeRule):
    """The derivatives of impulses by the numbers of their problem; a guess has no part in them.

    Attributes:
        make: the problem of some numbers.
        size: how many these are.
        count: how many impulses.
    """

    is_solving = True

    make: Make
    size: int
    count: int

    def _sweep(self, inputs: list[Any], results: Sequence[Any]) -> Sweep:
        """A step of Newton's method from the results, with slopes of a second copy of the problem, which stays."""
        sizes = {"x": (self.size,), "at": (self.size,), "y": (self.count,)}

        def text(x: Vector, at: Vector, y: Vector) -> Vector:
            return Vector(newton(self.make(iter(x)), list(y), slopes_of=self.make(iter(at))))

        def unpack(r: Vector) -> tuple[list[Any], tuple[int, ...]]:
            return list(r), (len(r),)

        own = inputs[: self.size]
        return Sweep(record(text, sizes, unpack, has_rules=True), [*own, *own, *results[: self.count]])

    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        rows = self._sweep(inputs, results).pushed(dict(enumerate(rates[: self.size])))
        return [*rows, {}]

    def pulled(self, inputs: list[Any], results: Sequence[Any], weights: list[Any]) -> Mapping[int, Any]:
        found = self._sweep(inputs, results).pulled(weights[: self.count])
        return {k: weight for k, weight in found.items() if k < self.size}


def with_slopes(problem: ConeProblem, start: Scalars, rounds: int, tolerance: float) -> tuple[Scalars, Any]:
    """Impulses and the residual that is left, as `solved` has them, with derivatives."""
    leaves, make = taken(problem)
    n = len(start)

    def text(numbers: Vector, guess: Vector) -> tuple[Vector, Any]:
        is_same = all(a is b for a, b in zip(numbers, leaves, strict=True))
        own = problem if is_same else make(iter(numbers))
        found, residual = solved(own, list(guess), rounds, tolerance)
        return Vector(found), residual

    if not leaves:
        return solved(problem, start, rounds, tolerance)
    found, residual = with_rule(text, SettledImpulses(make, len(leaves), n))(Vector(leaves), Vector(start))
    return list(found), residual


def taken(problem: ConeProblem) -> tuple[list[Any], Make]:
    """The numbers of a problem that are no constants, in a row, and how a problem is made of others."""
    leaves: list[Any] = []

    def note(x: Any) -> Callable[[Iterator[Any]], Any]:
        if x is None or kind_of(x).called is None:
            return lambda _: x
        leaves.append(x)
        return next

    n = range(len(problem.G))
    G = [[note(row.get(k, ZERO)) for k in n] for row in problem.G]
    J = [{k: note(x) for k, x in row.items()} for row in problem.J]
    b = [note(x) for x in problem.b]
    laws = [
        (block.law, {f.name: note(getattr(block.law, f.name)) for f in fields(block.law)}) for block in problem.blocks
    ]

    def make(numbers: Iterator[Any]) -> ConeProblem:
        response = [[x(numbers) for x in row] for row in G]
        parts = [{k: x(numbers) for k, x in row.items()} for row in J]
        free = [x(numbers) for x in b]
        own = [replace(law, **{name: x(numbers) for name, x in values.items()}) for law, values in laws]
        return ConeProblem.along(response, parts, free, own)

    return leaves, make
