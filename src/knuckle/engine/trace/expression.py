"""Symbols: scalars that record what is done to them."""

from __future__ import annotations

from fractions import Fraction
from numbers import Real
from typing import Any, NoReturn

from knuckle.scalar import ONE, ZERO, Dual, Kind, MadeOfScalars, absolute, is_of_one_state, power, remainder
from knuckle.scalar.arrays.numpy_operand import NumPyOperand
from knuckle.scalar.operations import FUNCTIONS, OPERATIONS
from knuckle.scalar.refusals import INSTEAD, NO_FLOAT, NO_INTEGER, NO_NUMBER

from .expression_graph import Graph


class Expression(NumPyOperand):
    """A node of a graph, as a scalar. Arithmetic with it adds nodes, and so do comparisons, which give conditions."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    def __repr__(self) -> str:
        return f"Expression({self.graph.nodes[self.index].op} #{self.index})"

    def _with(self, op: Any, other: Any, reflected: bool = False) -> Any:
        graph, i = self.graph.open[-1], self.index
        if type(other) is Expression and other.graph.open is not self.graph.open and _value(self) is not None:
            graph = other.graph.open[-1]
        if graph is not self.graph:
            i = _inside(graph, self)
        j = index_of(graph, other)
        if j is None:
            return NotImplemented
        return Expression(graph, op(graph, j, i) if reflected else op(graph, i, j))

    def __add__(self, other: Any) -> Any:
        graph = self.graph
        if type(other) is Expression and other.graph is graph is graph.open[-1]:
            return Expression(graph, graph.add(self.index, other.index))
        return self._with(Graph.add, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        graph = self.graph
        if type(other) is Expression and other.graph is graph is graph.open[-1]:
            return Expression(graph, graph.sub(self.index, other.index))
        return self._with(Graph.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(Graph.sub, other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        graph = self.graph
        if type(other) is Expression and other.graph is graph is graph.open[-1]:
            return Expression(graph, graph.mul(self.index, other.index))
        return ZERO if other is ZERO else self._with(Graph.mul, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(Graph.div, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(Graph.div, other, reflected=True)

    def __neg__(self) -> Any:
        graph = self.graph.open[-1]
        return Expression(graph, graph.neg(_inside(graph, self)))

    def __lt__(self, other: Any) -> Any:
        return self._compared("less", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("at_most", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("less", other, reflected=True)

    def __ge__(self, other: Any) -> Any:
        return self._compared("at_most", other, reflected=True)

    def __eq__(self, other: object) -> Any:
        return NotImplemented if _is_no_number(other) else self._compared("equal", other)

    def __ne__(self, other: object) -> Any:
        return NotImplemented if _is_no_number(other) else self._compared("equal", other, negated=True)

    def __hash__(self) -> int:
        raise TypeError(f"a symbol cannot be a member of a set or the key of a dictionary: {INSTEAD}")

    def _compared(self, op: str, other: Any, reflected: bool = False, negated: bool = False) -> Any:
        if isinstance(other, (Dual, MadeOfScalars)) or (getattr(other, "ndim", 0) and is_of_one_state()):
            return NotImplemented
        graph = self.graph.open[-1]
        i, j = _inside(graph, self), index_of(graph, other)
        if j is None:
            raise TypeError(f"a symbol, which stands for one number, does not compare with a {type(other).__name__}")
        return _comparison(graph, op, *((j, i) if reflected else (i, j)), negated)

    def __bool__(self) -> bool:
        raise TypeError(f"a symbol has no truth value: {INSTEAD}")

    def __float__(self) -> NoReturn:
        raise TypeError(NO_FLOAT)

    __complex__ = __float__

    def __index__(self) -> NoReturn:
        raise TypeError(NO_INTEGER)

    __int__ = __index__

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return absolute(self)

    def __pow__(self, n: Any) -> Any:
        return NotImplemented if _is_composed(n) else power(self, n)

    def __rpow__(self, x: Any) -> Any:
        return power(x, self)

    def __mod__(self, y: Any) -> Any:
        return NotImplemented if _is_composed(y) else remainder(self, y)

    def __rmod__(self, x: Any) -> Any:
        return remainder(x, self)

    @staticmethod
    def scalar_kind() -> Kind:
        return KIND


def _is_composed(x: Any) -> bool:
    """Whether `x` computes a mixed expression by itself."""
    return isinstance(x, MadeOfScalars) or bool(getattr(x, "ndim", 0))


def _is_no_number(x: object) -> bool:
    """Whether `x` is plainly something else than a number, so that no number is equal to it."""
    return x is None or isinstance(x, (str, bytes, type))


def index_of(graph: Graph, x: Any) -> int | None:
    """The node of a scalar in `graph`; None if it is not one."""
    if isinstance(x, Expression):
        return x.index if x.graph is graph else _inside(graph, x)
    if isinstance(x, (int, float)) or x is ZERO or x is ONE:
        return graph.constant(float(x))
    if (isinstance(x, Real) and not isinstance(x, Fraction)) or getattr(x, "shape", None) == ():  # NumPy's
        return graph.constant(float(x))
    return None


def _inside(graph: Graph, x: Expression) -> int:
    """The node of a symbol in `graph`, which may be within that of the symbol. What is a number is one everywhere."""
    if x.graph is graph:
        return x.index
    if (value := _value(x)) is not None:
        return graph.constant(value)
    if graph.depth <= x.graph.depth or graph.parent is None:
        raise ValueError("symbols of two different traces do not mix")
    return graph.captured(_inside(graph.parent, x))


def _value(x: Expression) -> float | None:
    """What a symbol is, if that is known."""
    return x.graph.value(x.index)


class Condition(NumPyOperand):
    """A comparison of symbols, or what holds where it does not: for `where`, and for &, | and ~."""

    __slots__ = ("graph", "index", "negated")
    is_condition = True

    def __init__(self, graph: Graph, index: int, negated: bool = False) -> None:
        self.graph, self.index, self.negated = graph, index, negated

    def _has_no_value(self, *_: object) -> NoReturn:
        raise TypeError(
            f"a comparison of symbols has no truth value: {INSTEAD}; & and | join two, np.max is max, "
            "and of np.stack([x, y]), not of np.array([x, y]), NumPy's functions have operations"
        )

    __bool__ = __eq__ = __ne__ = __hash__ = _has_no_value  # pyright: ignore[reportAssignmentType]

    def __invert__(self) -> Condition:
        return Condition(self.graph, self.index, not self.negated)

    def __and__(self, other: Any) -> Any:
        if not isinstance(other, Condition):
            return NotImplemented if _is_composed(other) else self if other else False
        return _select(self, _one_if(other), 0.0) > 0.0

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Condition):
            return NotImplemented if _is_composed(other) else True if other else self
        return _select(self, 1.0, _one_if(other)) > 0.0

    __rand__, __ror__ = __and__, __or__

    def _is_no_number(self, *_: object) -> NoReturn:
        raise TypeError(NO_NUMBER)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = __float__ = _is_no_number

    @staticmethod
    def scalar_kind() -> Kind:
        return KIND


def _comparison(graph: Graph, op: str, i: int, j: int, negated: bool = False) -> Any:
    """A condition on two nodes; of constants it is known."""
    a, b = graph.value(i), graph.value(j)
    if a is not None and b is not None:
        return OPERATIONS[op].value(a, b) != negated
    return Condition(graph, graph.apply(op, i, j), negated)


def _numbers(*args: Any) -> tuple[Graph, list[int]]:
    """The graph of some scalars, of which one at least is a symbol, and their nodes."""
    graph = next(x.graph for x in args if isinstance(x, (Expression, Condition))).open[-1]
    return graph, [_number(graph, x) for x in args]


def _number(graph: Graph, x: Any) -> int:
    if isinstance(x, Condition):
        if x.graph is graph:
            return x.index
        plain = Condition(x.graph, x.index)  # whoever takes the number minds the negation
        return graph.apply("less", graph.constant(0.0), _inside(graph, _one_if(plain)))
    i = index_of(graph, x)
    if i is None:
        raise TypeError(f"a {type(x).__name__} does not mix with symbols")
    return i


def _one_if(condition: Condition) -> Expression:
    """1 where a condition holds and 0 elsewhere: a number that blocks can take."""
    graph = condition.graph
    holds, else_ = graph.constant(0.0 if condition.negated else 1.0), graph.constant(1.0 if condition.negated else 0.0)
    return Expression(graph, graph.apply("select", condition.index, holds, else_))


def _apply(op: str) -> Any:
    def apply(*args: Any) -> Any:
        graph, numbers = _numbers(*args)
        return Expression(graph, graph.apply(op, *numbers))

    return apply


def _less(x: Any, y: Any) -> Any:
    graph, (i, j) = _numbers(x, y)
    return _comparison(graph, "less", i, j)


def _select(condition: Any, x: Any, y: Any) -> Any:
    if not isinstance(condition, Condition):
        return x if condition else y
    graph, numbers = _numbers(condition, *((y, x) if condition.negated else (x, y)))
    return Expression(graph, graph.apply("select", *numbers))


def _called(memory: dict[Any, Any], text: Any, arguments: list[Any], is_general: bool, is_single: bool) -> list[Any]:
    from .block_recording import called

    return called(memory, text, arguments, is_general, is_single)


def _repeated(text: Any, state: list[Any], rounds: int, settles: bool) -> list[Any] | None:
    from .block_recording import repeated

    return repeated(text, state, rounds, settles)


def _ruled(text: Any, arguments: list[Any], rule: Any) -> list[Any] | None:
    from .block_recording import ruled

    return ruled(text, arguments, rule)


def _looped(name: str, n: int, numbers: list[Any]) -> list[Any]:
    from .block_recording import looped

    return looped(name, n, numbers)


def _looked_up(grid: Any, row: Any, column: Any) -> list[Any]:
    from .block_recording import looked_up

    return looked_up(grid, row, column)


def _multiplied(rows: Any, x: Any) -> list[Any] | None:
    from .block_recording import multiplied

    return multiplied(rows, x)


def _sparse_product(A: Any, B: Any, is_half: bool) -> list[dict[int, Any]] | None:
    from .block_recording import sparse_product

    return sparse_product(A, B, is_half)


KIND = Kind(
    "expression", 8, {f.name: _apply(f.name) for f in FUNCTIONS}, _less, _select, lambda x: x,
    absolute=_apply("abs"), minimum=_apply("min"), maximum=_apply("max"),
    called=_called, repeated=_repeated, ruled=_ruled, looped=_looped, looked_up=_looked_up, multiplied=_multiplied,
    sparse_product=_sparse_product,
)  # fmt: skip
