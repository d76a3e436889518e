"""The operations of an expression graph: one row each, read by the simplifier, the evaluator and every printer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    """An operation on scalars: how many it takes, what it does to numbers, and how it counts.

    `min` and `max` are NaN if either argument is; of equal arguments (0 and −0) they may give either. Comparisons give
    a condition, which only `select` takes; none of them holds for NaN.
    """

    name: str
    arity: int
    value: Callable[..., Any]
    counts_as: str  # "mul", "add", "div", "sqrt", "trig" or "" for what costs next to nothing
    commutes: bool = False


def _divide(x: float, y: float) -> float:
    if y == 0:
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


def _sine(x: float) -> float:
    return math.sin(x) if math.isfinite(x) else math.nan


def _cosine(x: float) -> float:
    return math.cos(x) if math.isfinite(x) else math.nan


def _smaller(x: float, y: float) -> float:
    return x if x < y or x != x else y


def _larger(x: float, y: float) -> float:
    return x if y < x or x != x else y


TABLE = (
    Operation("add", 2, lambda x, y: x + y, "add", commutes=True),
    Operation("sub", 2, lambda x, y: x - y, "add"),
    Operation("mul", 2, lambda x, y: x * y, "mul", commutes=True),
    Operation("div", 2, _divide, "div"),
    Operation("neg", 1, lambda x: -x, ""),
    Operation("sqrt", 1, _root, "sqrt"),
    Operation("sin", 1, _sine, "trig"),
    Operation("cos", 1, _cosine, "trig"),
    Operation("arctan2", 2, math.atan2, "trig"),
    Operation("abs", 1, abs, ""),
    Operation("min", 2, _smaller, "", commutes=True),
    Operation("max", 2, _larger, "", commutes=True),
    Operation("less", 2, lambda x, y: x < y, ""),
    Operation("at_most", 2, lambda x, y: x <= y, ""),
    Operation("equal", 2, lambda x, y: x == y, "", commutes=True),
    Operation("select", 3, lambda c, x, y: x if c else y, ""),
)
OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in TABLE}
CONDITIONS = frozenset(("less", "at_most", "equal"))
"""The operations that give a condition."""
