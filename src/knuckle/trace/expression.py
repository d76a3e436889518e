"""Symbols: scalars that record what is done to them."""

from __future__ import annotations

from typing import Any

from knuckle.scalar import ONE, ZERO, Kind

from .graph import Graph


class Expression:
    """A node of a graph, as a scalar. Arithmetic with it adds nodes."""

    __slots__ = ("graph", "index")
    __array_ufunc__ = None

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    def __repr__(self) -> str:
        return f"Expression({self.graph.nodes[self.index].op} #{self.index})"

    def _with(self, op: Any, other: Any, reflected: bool = False) -> Any:
        j = index_of(self.graph, other)
        if j is None:
            return NotImplemented
        return Expression(self.graph, op(j, self.index) if reflected else op(self.index, j))

    def __add__(self, other: Any) -> Any:
        return self._with(self.graph.add, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(self.graph.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(self.graph.sub, other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return ZERO if other is ZERO else self._with(self.graph.mul, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(self.graph.div, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(self.graph.div, other, reflected=True)

    def __neg__(self) -> Any:
        return Expression(self.graph, self.graph.neg(self.index))

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no truth value: a text may branch on values only with `select`")

    @staticmethod
    def scalar_kind() -> Kind:
        return KIND


def index_of(graph: Graph, x: Any) -> int | None:
    """The node of a scalar in `graph`; None if it is not one."""
    if isinstance(x, Expression):
        if x.graph is not graph:
            raise ValueError("symbols of two different traces do not mix")
        return x.index
    if isinstance(x, (int, float)) or x is ZERO or x is ONE:
        return graph.constant(float(x))
    return None


class Condition:
    """A comparison of symbols: only `select` can use it."""

    __slots__ = ("graph", "index")
    __array_ufunc__ = None

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    def __bool__(self) -> bool:
        raise TypeError("a comparison of symbols has no truth value: a text may branch on values only with `select`")

    @staticmethod
    def scalar_kind() -> Kind:
        return KIND


def _numbers(*args: Any) -> tuple[Graph, list[int]]:
    """The graph of some scalars, of which one at least is a symbol, and their nodes."""
    graph = next(x.graph for x in args if isinstance(x, (Expression, Condition)))
    return graph, [_number(graph, x) for x in args]


def _number(graph: Graph, x: Any) -> int:
    if isinstance(x, Condition):
        return x.index
    i = index_of(graph, x)
    if i is None:
        raise TypeError(f"a {type(x).__name__} does not mix with symbols")
    return i


def _apply(op: str) -> Any:
    def apply(*args: Any) -> Any:
        graph, numbers = _numbers(*args)
        return Expression(graph, graph.apply(op, *numbers))

    return apply


def _less(x: Any, y: Any) -> Any:
    graph, (i, j) = _numbers(x, y)
    a, b = graph.value(i), graph.value(j)
    if a is not None and b is not None:
        return a < b
    return Condition(graph, graph.apply("less", i, j))


def _select(condition: Any, x: Any, y: Any) -> Any:
    if not isinstance(condition, Condition):
        return x if condition else y
    graph, numbers = _numbers(condition, x, y)
    return Expression(graph, graph.apply("select", *numbers))


KIND = Kind(
    "expression", 8, _apply("sin"), _apply("cos"), _apply("sqrt"), _apply("arctan2"), _less, _select, lambda x: x,
    absolute=_apply("abs"), minimum=_apply("min"), maximum=_apply("max"),
)  # fmt: skip
