"""Rules: what a piece of text states about its own derivatives (`spatial.with_rule`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.engine.trace import Program
from knuckle.engine.trace.execute import record
from knuckle.spatial import Vector

from .sweep import Columns, Sweep


class DerivativeRule(ABC):
    """The derivatives of a piece, over scalars of any kind, from its inputs and its results in a row."""

    @abstractmethod
    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        """The derivatives of the results, by those of the inputs."""

    @abstractmethod
    def pulled(self, inputs: list[Any], results: Sequence[Any], weights: list[Any]) -> Mapping[int, Any]:
        """The derivatives of the sum of the results, each times a weight, by the inputs."""


@dataclass(frozen=True)
class Implicit(DerivativeRule):
    """Results y that solve r(x, y) = 0 for the inputs x: ∂r/∂y ẏ = −∂r/∂x ẋ, with a symmetric ∂r/∂y.

    Attributes:
        residual: r of the inputs and the results in a row.
        solve: the solutions of ∂r/∂y z = b for the inputs and some b.
    """

    residual: Callable[[Vector, Vector], Vector]
    solve: Callable[[Vector, list[Vector]], list[Vector]]

    def _program(self, inputs: int, results: int) -> Program:
        sizes = {"x": (inputs,), "y": (results,)}
        return record(self.residual, sizes, lambda r: (list(r), (len(r),)), has_rules=True)

    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        sweep = Sweep(self._program(len(inputs), len(results)), [*inputs, *results])
        rows = sweep.pushed(dict(enumerate(rates)))
        directions = sorted(set[int]().union(*rows))
        columns = self.solve(Vector(inputs), [Vector(-row.get(c, 0) for row in rows) for c in directions])
        return [dict(zip(directions, entries, strict=True)) for entries in zip(*columns, strict=True)]

    def pulled(self, inputs: list[Any], results: Sequence[Any], weights: list[Any]) -> Mapping[int, Any]:
        (adjoint,) = self.solve(Vector(inputs), [Vector(weights)])
        sweep = Sweep(self._program(len(inputs), len(results)), [*inputs, *results])
        found = sweep.pulled([-a for a in adjoint])
        return {k: weight for k, weight in found.items() if k < len(inputs)}
