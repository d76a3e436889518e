"""The rules of a graph, one by one: what is left of an expression when it is recorded."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from knuckle.engine.trace import OPERATIONS, Expression, Graph
from knuckle.scalar import ONE, ZERO, absolute, arctan2, cos, less, maximum, minimum, select, sin, sqrt

Text = Callable[[Any, Any, Any], Any]


def recorded(text: Text) -> str:
    """The expression that is left, written out."""
    graph = Graph()
    x, y, z = (Expression(graph, graph.input(k)) for k in range(3))
    result = text(x, y, z)
    return written(graph, result.index) if isinstance(result, Expression) else repr(result)


def written(graph: Graph, i: int) -> str:
    node = graph.nodes[i]
    if node.op == "constant":
        return f"{node.a:g}"
    if node.op == "input":
        return "xyz"[node.a]
    return f"{node.op}({', '.join(written(graph, k) for k in graph.operands(i))})"


ZEROS = {
    "0 + x": (lambda x, y, z: 0 + x, "x"),
    "x + 0.0": (lambda x, y, z: x + 0.0, "x"),
    "x − 0": (lambda x, y, z: x - 0, "x"),
    "0 − x": (lambda x, y, z: 0 - x, "neg(x)"),
    "0 · x": (lambda x, y, z: 0.0 * x, "0"),
    "x · 0": (lambda x, y, z: x * 0, "0"),
    "0 / x": (lambda x, y, z: 0 / x, "0"),
    "x − x": (lambda x, y, z: x - x, "0"),
    "(x + y) − (y + x)": (lambda x, y, z: (x + y) - (y + x), "0"),
    "structural 0 · x": (lambda x, y, z: x * ZERO, "ZERO"),
    "structural 0 + x": (lambda x, y, z: x + ZERO, "x"),
}
ONES = {
    "1 · x": (lambda x, y, z: 1 * x, "x"),
    "x · 1.0": (lambda x, y, z: x * 1.0, "x"),
    "x / 1": (lambda x, y, z: x / 1, "x"),
    "x / x": (lambda x, y, z: x / x, "1"),
    "structural 1 · x": (lambda x, y, z: x * ONE, "x"),
    "−1 · x": (lambda x, y, z: -1 * x, "neg(x)"),
    "x / −1": (lambda x, y, z: x / -1, "neg(x)"),
    "−1 · −x": (lambda x, y, z: -1 * -x, "x"),
}
CONSTANTS = {
    "2 (3 x)": (lambda x, y, z: 2 * (3 * x), "mul(6, x)"),
    "(x · 2) · 0.5": (lambda x, y, z: (x * 2) * 0.5, "x"),
    "x / 4": (lambda x, y, z: x / 4, "mul(0.25, x)"),
    "x / 0 is no multiplication": (lambda x, y, z: x / 0.0, "div(x, 0)"),
    "x / tiny is no multiplication": (lambda x, y, z: x / 5e-324, "div(x, 4.94066e-324)"),
    "x + x": (lambda x, y, z: x + x, "mul(2, x)"),
    "2 x + 3 x": (lambda x, y, z: 2 * x + 3 * x, "mul(5, x)"),
    "2 x + x": (lambda x, y, z: 2 * x + x, "mul(3, x)"),
    "2 x − 3 x": (lambda x, y, z: 2 * x - 3 * x, "neg(x)"),
    "2 x − 2 x": (lambda x, y, z: 2 * x - x * 2, "0"),
    "0.5 x + 0.5 x": (lambda x, y, z: 0.5 * x + 0.5 * x, "x"),
    "(2 + 3) of constants": (lambda x, y, z: (0 * x + 2) + (0 * y + 3), "5"),
    "sin of a constant": (lambda x, y, z: sin(0 * x) + cos(0 * x), "1"),
    "sqrt of a constant": (lambda x, y, z: sqrt(0 * x + 9), "3"),
    "sqrt of a negative constant": (lambda x, y, z: sqrt(0 * x - 9), "nan"),
    "1 / 0 of constants": (lambda x, y, z: (0 * x + 1) / (0 * y), "inf"),
    "0 / 0 of constants": (lambda x, y, z: (0 * x) / (0 * y), "nan"),
    "min and max of constants": (lambda x, y, z: minimum(0 * x + 2, 3) + maximum(0 * x + 2, 7), "9"),
    "abs of a constant": (lambda x, y, z: absolute(0 * x - 2), "2"),
    "arctan2 of constants": (lambda x, y, z: arctan2(0 * x, 1.0), "0"),
}
SIGNS = {
    "−(−x)": (lambda x, y, z: -(1 * -x), "x"),
    "x + (−y)": (lambda x, y, z: x + -y, "sub(x, y)"),
    "(−x) + y": (lambda x, y, z: -x + y, "sub(y, x)"),
    "x − (−y)": (lambda x, y, z: x - -y, "add(x, y)"),
    "(−x) − y": (lambda x, y, z: -x - y, "neg(add(x, y))"),
    "(−x) − (−y)": (lambda x, y, z: -x - -y, "sub(y, x)"),
    "−(x − y)": (lambda x, y, z: -(x - y), "sub(y, x)"),
    "(−x) y": (lambda x, y, z: -x * y, "neg(mul(x, y))"),
    "(−x)(−y)": (lambda x, y, z: -x * -y, "mul(x, y)"),
    "(−x) / y": (lambda x, y, z: -x / y, "neg(div(x, y))"),
    "x / (−y)": (lambda x, y, z: x / -y, "neg(div(x, y))"),
    "−2 x": (lambda x, y, z: -2 * x, "neg(mul(2, x))"),
    "y + (−2) x": (lambda x, y, z: y + -2 * x, "sub(y, mul(2, x))"),
    "sin(−x)": (lambda x, y, z: sin(-x), "neg(sin(x))"),
    "cos(−x)": (lambda x, y, z: cos(-x), "cos(x)"),
    "|−x|": (lambda x, y, z: absolute(-x), "abs(x)"),
    "||x||": (lambda x, y, z: absolute(absolute(x)), "abs(x)"),
    "|√x|": (lambda x, y, z: absolute(sqrt(x)), "sqrt(x)"),
}
SHARED = {
    "x y and y x": (lambda x, y, z: x * y + y * x, "mul(2, mul(x, y))"),
    "min(x, y) and min(y, x)": (lambda x, y, z: minimum(x, y) - minimum(y, x), "0"),
    "max(x, x)": (lambda x, y, z: maximum(x, 1 * x), "x"),
    "x + (y − x)": (lambda x, y, z: x + (y - x), "y"),
    "(y − x) + x": (lambda x, y, z: (y - x) + x, "y"),
    "x + (x − y)": (lambda x, y, z: x + (x - y), "add(x, sub(x, y))"),
    "x ((y / x) z)": (lambda x, y, z: x * ((y / x) * z), "mul(y, z)"),
    "(z (y / x)) x": (lambda x, y, z: (z * (y / x)) * x, "mul(y, z)"),
    "x ((x / y) z)": (lambda x, y, z: x * ((x / y) * z), "mul(x, mul(z, div(x, y)))"),
    "select of the same": (lambda x, y, z: select(less(x, y), z, 1 * z), "z"),
    "select of a known condition": (lambda x, y, z: select(less(0 * x, 1.0), y, z), "y"),
    "sin(x + y) and sin(y + x)": (lambda x, y, z: sin(x + y) - sin(y + x), "0"),
}


@pytest.mark.parametrize(
    "rules", [ZEROS, ONES, CONSTANTS, SIGNS, SHARED], ids=["0", "1", "constants", "signs", "shared"]
)
def test_rules(rules: dict[str, tuple[Text, str]]):
    for name, (text, left) in rules.items():
        assert recorded(text) == left, name


@pytest.mark.parametrize("op", ["sub", "div", "arctan2", "less"])
def test_what_does_not_commute_keeps_its_order(op: str):
    graph = Graph()
    x, y = graph.input(0), graph.input(1)
    assert graph.apply(op, x, y) != graph.apply(op, y, x)


@pytest.mark.parametrize("op", [name for name, operation in OPERATIONS.items() if operation.commutes])
def test_what_commutes_is_one_node(op: str):
    graph = Graph()
    x, y = graph.input(0), graph.input(1)
    assert graph.apply(op, x, y) == graph.apply(op, y, x)


def test_equal_operations_are_one_node():
    graph = Graph()
    x, y = graph.input(0), graph.input(1)
    for op, operation in OPERATIONS.items():
        args = (x, y, x)[: operation.arity]
        first, size = graph.apply(op, *args), len(graph.nodes)
        assert graph.apply(op, *args) == first
        assert len(graph.nodes) == size


def test_there_is_one_zero_and_one_nan():
    graph = Graph()
    assert graph.constant(0.0) == graph.constant(-0.0) == graph.constant(0)
    assert graph.constant(math.nan) == graph.constant(-math.nan) == graph.constant(math.inf - math.inf)


def test_dead_code_is_left_out():
    graph = Graph()
    x, y = graph.input(0), graph.input(1)
    dead = graph.mul(graph.add(x, y), y)
    kept = graph.mul(x, graph.apply("sin", y))
    live = graph.live([kept])
    assert dead not in live
    assert live == sorted([x, y, graph.apply("sin", y), kept])


def test_nodes_come_after_what_they_use():
    graph = Graph()
    x, y, z = (Expression(graph, graph.input(k)) for k in range(3))
    sin(x * y + z) / (x - cos(y)) + absolute(minimum(x, z))
    assert all(k < i for i in range(len(graph.nodes)) for k in graph.operands(i))


def test_a_quotient_times_its_divisor_is_what_was_divided() -> None:
    """The rule by which the row of Ia along a joint's axis vanishes: (a/x)·x = a, exactly."""
    graph = Graph()
    a, x = graph.input(0), graph.input(1)
    quotient = graph.div(a, x)
    assert graph.mul(quotient, x) == a
    assert graph.mul(x, quotient) == a
    inverse = graph.div(graph.constant(1.0), x)
    assert graph.value(graph.mul(inverse, x)) == 1.0
