"""The operations on scalars: one row each, read by every kind of scalar, the trace, its evaluator and every printer.

To add a function: a row here, and its face in `elementary`. All kinds, derivatives, C and native code have it then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .elementary import cos, cosh, less, select, sin, sinh
from .structural import ONE, ZERO

Scalars = Sequence[Any]


@dataclass(frozen=True)
class Operation:
    """An operation on scalars.

    `min` and `max` are NaN if either argument is; of equal arguments (0 and −0) they may give either. Comparisons give
    a condition, which only `select` takes; none of them holds for NaN.
    """

    name: str
    arity: int
    value: Callable[..., Any]
    """What it does to floats: NaN and infinities as IEEE 754 has them, and no error."""
    tangent: Callable[[Any, Scalars, Scalars], Any]
    """Its derivative, over scalars of any kind: of the result, the arguments and their derivatives. Linear in these."""
    counts_as: str = ""
    """ "mul", "add", "div", "sqrt", "trig" (any function of the C library), or "" for what costs next to nothing."""
    c: str = ""
    """How C writes it, where it is no function of math.h."""
    library: str = ""
    """The function's name in math.h, in `math`, mpmath, SymPy and CasADi."""
    commutes: bool = False
    slopes: Callable[[Any, Scalars], tuple[Any, ...]] | None = None
    """The derivative by each argument, of the result and the arguments, where these have parts in common."""

    @property
    def is_curved(self) -> bool:
        """Whether its derivatives by the arguments are worth computing once for all directions."""
        return self.counts_as in ("div", "sqrt", "trig")

    @property
    def may_be_infinite(self) -> bool:
        """Whether it, or its derivative, may be infinite for finite arguments."""
        return self.name in ("div", "sqrt", "log", "exp", "arctan2")

    def in_c(self, suffix: str, *args: str) -> str:
        """The text of C, for names or literals; `suffix` is that of the functions for a type of numbers."""
        return self.c.format(*args) if self.c else f"{self.library}{suffix}({', '.join(args)})"

    def partials(self, result: Any, *args: Any) -> tuple[Any, ...]:
        """The derivative by each argument."""
        if self.slopes is not None:
            return self.slopes(result, args)
        units = [[ONE if i == k else ZERO for i in range(self.arity)] for k in range(self.arity)]
        return tuple(self.tangent(result, args, unit) for unit in units)


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


def _exponential(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _logarithm(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _sine_hyperbolic(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _cosine_hyperbolic(x: float) -> float:
    try:
        return math.cosh(x)
    except OverflowError:
        return math.inf


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


def _smaller(x: float, y: float) -> float:
    return x if x < y or x != x else y


def _larger(x: float, y: float) -> float:
    return x if y < x or x != x else y


def _of_quotient(z: Any, args: Scalars) -> tuple[Any, ...]:
    per_unit = 1 / args[1]
    return per_unit, -(z * per_unit)


def _of_angle(_: Any, point: Scalars, rate: Scalars) -> Any:
    (y, x), (dy, dx) = point, rate
    return (x * dy - y * dx) / (x * x + y * y)


def _of_smaller(_: Any, args: Scalars, rates: Scalars) -> Any:
    """Where both are equal, the mean of their derivatives."""
    (x, y), (dx, dy) = args, rates
    return select(less(x, y), dx, select(less(y, x), dy, (dx + dy) / 2))


def _of_larger(_: Any, args: Scalars, rates: Scalars) -> Any:
    (x, y), (dx, dy) = args, rates
    return select(less(y, x), dx, select(less(x, y), dy, (dx + dy) / 2))


def _of_step(_: Any, __: Scalars, ___: Scalars) -> Any:
    """That of a step is zero, also where it jumps."""
    return ZERO


def _of_condition(_: Any, __: Scalars, ___: Scalars) -> Any:
    return ZERO


TABLE = (
    Operation("add", 2, lambda x, y: x + y, lambda _, x, d: d[0] + d[1], "add", "{} + {}", commutes=True),
    Operation("sub", 2, lambda x, y: x - y, lambda _, x, d: d[0] - d[1], "add", "{} - {}"),
    Operation("mul", 2, lambda x, y: x * y, lambda _, x, d: d[0] * x[1] + x[0] * d[1], "mul", "{} * {}", commutes=True),
    Operation("div", 2, _divide, lambda z, x, d: (d[0] - z * d[1]) / x[1], "div", "{} / {}",
              slopes=_of_quotient),
    Operation("neg", 1, lambda x: -x, lambda _, x, d: -d[0], c="-{}"),
    Operation("sqrt", 1, _root, lambda z, x, d: d[0] / (2 * z), "sqrt", library="sqrt"),
    Operation("sin", 1, _sine, lambda _, x, d: cos(x[0]) * d[0], "trig", library="sin"),
    Operation("cos", 1, _cosine, lambda _, x, d: -(sin(x[0]) * d[0]), "trig", library="cos"),
    Operation("arctan2", 2, math.atan2, _of_angle, "trig", library="atan2"),
    Operation("exp", 1, _exponential, lambda z, x, d: z * d[0], "trig", library="exp"),
    Operation("log", 1, _logarithm, lambda _, x, d: d[0] / x[0], "trig", library="log"),
    Operation("tanh", 1, math.tanh, lambda z, x, d: (1 - z * z) * d[0], "trig", library="tanh"),
    Operation("sinh", 1, _sine_hyperbolic, lambda _, x, d: cosh(x[0]) * d[0], "trig", library="sinh"),
    Operation("cosh", 1, _cosine_hyperbolic, lambda _, x, d: sinh(x[0]) * d[0], "trig", library="cosh"),
    Operation("floor", 1, _floor, _of_step, library="floor"),
    Operation("abs", 1, abs, lambda _, x, d: select(less(x[0], 0), -d[0], d[0]), library="fabs"),
    Operation("min", 2, _smaller, _of_smaller, c="({0} < {1} || {0} != {0}) ? {0} : {1}", commutes=True),
    Operation("max", 2, _larger, _of_larger, c="({1} < {0} || {0} != {0}) ? {0} : {1}", commutes=True),
    Operation("less", 2, lambda x, y: x < y, _of_condition, c="{} < {}"),
    Operation("at_most", 2, lambda x, y: x <= y, _of_condition, c="{} <= {}"),
    Operation("equal", 2, lambda x, y: x == y, _of_condition, c="{} == {}", commutes=True),
    Operation("select", 3, lambda c, x, y: x if c else y, lambda _, x, d: select(x[0], d[1], d[2]), c="{} ? {} : {}"),
)  # fmt: skip
OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in TABLE}
CONDITIONS = frozenset(("less", "at_most", "equal"))
"""The operations that give a condition."""
FUNCTIONS = tuple(operation for operation in TABLE if operation.library and operation.name != "abs")
"""The functions that every kind of scalar brings along."""
