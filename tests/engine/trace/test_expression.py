"""Symbols as scalars: what they mix with, and what they refuse."""

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from knuckle.engine.trace import Expression, Graph, Program, trace
from knuckle.scalar import ONE, ZERO, Dual, absolute, cos, kind_of, less, maximum, minimum, select, sin, value_of
from knuckle.spatial import Vector


def symbols(n: int = 2) -> list[Expression]:
    graph = Graph()
    return [Expression(graph, graph.input(k)) for k in range(n)]


def record(text: Any, **shapes: tuple[int, ...]) -> Program:
    return trace(text, shapes, lambda r: (list(r), (len(r),)))


def test_numbers_mix_with_symbols():
    out = record(lambda x: [x[0] + 1, 2.5 - x[0], np.float64(3) * x[0], 1 / x[0], True * x[0]], x=(1,))
    assert out.evaluate([4.0]) == [5.0, -1.5, 12.0, 0.25, 4.0]


@pytest.mark.parametrize("other", ["x", None, [1.0], 1j, Fraction(1, 3)])
def test_other_things_do_not(other: Any):
    x, _ = symbols()
    with pytest.raises(TypeError):
        x + other
    with pytest.raises(TypeError):
        minimum(x, other)


def test_symbols_of_two_traces_do_not_mix():
    with pytest.raises(ValueError, match="two different traces"):
        symbols()[0] + symbols()[0]


def test_a_symbol_has_no_truth_value():
    x, y = symbols()
    for thing in (x, less(x, y), x == y, x != 0.0, x <= np.float32(2.0), x == np.int64(0)):
        with pytest.raises(TypeError, match=r"truth value: .* kn\.where"):
            bool(thing)


@pytest.mark.parametrize(
    "look",
    [
        lambda x, y: 1 if x == y else 2,
        lambda x, y: 1 if x != 0 else 2,
        lambda x, y: 1 if x == ZERO else 2,
        lambda x, y: 1 if ONE == x else 2,  # noqa: SIM300
        lambda x, y: x in (0.0, y),
        lambda x, y: [0.0, y].index(x),
        lambda x, y: {x, y},
        lambda x, y: {x: 1},
        lambda x, y: {less(x, y)},
        lambda x, y: less(x, y) == less(y, x),
        lambda x, y: max(x, y),
        lambda x, y: sorted([x, y]),
        lambda x, y: Vector([x]) == Vector([y]),
        lambda x, y: hash(Vector([x, y])),
        lambda x, y: 1 if Dual(x, 1) == 0 else 2,
    ],
)
def test_nothing_looks_at_a_symbol_in_silence(look: Any):
    with pytest.raises(TypeError, match=r"kn\.where"):
        look(*symbols())


@pytest.mark.parametrize("other", [np.zeros(2), [0.0], 1j, Fraction(1, 3), object()])
def test_a_symbol_does_not_compare_with_what_is_no_real_number(other: Any):
    with pytest.raises(TypeError, match="does not compare"):
        symbols()[0] == other  # noqa: B015
    with pytest.raises(TypeError, match="does not compare"):
        other != symbols()[0]  # noqa: B015


@pytest.mark.parametrize("other", [None, "x", b"x", float])
def test_no_symbol_is_a_word(other: Any):
    assert (symbols()[0] == other) is False
    assert other not in (symbols()[0],)


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
@pytest.mark.parametrize("turned", [False, True])
def test_comparisons_are_conditions(op: Any, turned: bool):
    text = (lambda x: [select(op(1.5, x[0]), 1.0, 0.0)]) if turned else (lambda x: [select(op(x[0], 1.5), 1.0, 0.0)])
    program = record(text, x=(1,))
    for x in (-2.0, 1.5, 3.0, math.inf, math.nan):
        assert program.evaluate([x]) == text([x]), x
    assert op(0 * symbols()[0], 1.0) is op(0.0, 1.0)


def test_a_condition_is_no_number():
    """NumPy counts True as 1; a text that adds up comparisons has to say so with `select`."""
    x, y = symbols()
    with pytest.raises(TypeError):
        less(x, y) + 1
    with pytest.raises(TypeError):
        x * less(x, y)
    with pytest.raises(TypeError, match="returned a Condition"):
        record(lambda x: [less(x[0], 1.0)], x=(1,))


def test_a_comparison_of_constants_is_known():
    x, y = symbols()
    assert less(0 * x, 1.0) is True
    assert less(0 * x + 2, 0 * y + 1) is False
    assert select(less(0 * x, 1.0), x, y) is x


def test_select_takes_numbers_too():
    program = record(lambda x: [select(less(x[0], x[1]), 1.0, 0.0)], x=(2,))
    assert program.evaluate([1.0, 2.0]) == [1.0]
    assert program.evaluate([2.0, 1.0]) == [0.0]


@pytest.mark.parametrize("x", [-2.0, -0.5, 0.0, 0.5, 2.0, float("nan"), float("inf")])
def test_minimum_maximum_and_magnitude_are_operations(x: float):
    program = record(lambda x: [minimum(x[0], 0.5), maximum(x[0], 0.5), absolute(x[0])], x=(1,))
    assert {node.op for node in program.nodes} == {"input", "constant", "min", "max", "abs"}
    assert np.array_equal(program.evaluate([x]), [minimum(x, 0.5), maximum(x, 0.5), absolute(x)], equal_nan=True)


def test_duals_of_symbols_differentiate():
    """d/dx |sin x| + min(x, 2) at a point: cos x + 1."""
    program = record(lambda x: [(absolute(sin(Dual(x[0], 1.0))) + minimum(Dual(x[0], 1.0), 2.0)).derivative], x=(1,))
    assert abs(program.evaluate([0.7])[0] - (np.cos(0.7) + 1)) < 1e-15


def test_a_symbol_is_its_own_kind():
    x, y = symbols()
    assert kind_of(x, 1.0).name == kind_of(less(x, y)).name == "expression"
    assert value_of(x) is x


def test_matrices_and_empty_arguments():
    program = record(lambda f, e: [f[1][0] - cos(f[0][1])], f=(2, 3), e=(0,))
    assert program.arguments == (("f", 6), ("e", 0))
    assert program.evaluate([0, 0, 0, 5.0, 0, 0]) == [4.0]


def test_a_result_that_is_no_scalar_is_refused():
    with pytest.raises(TypeError, match="returned a str, which is no number and no symbol"):
        record(lambda x: ["a"], x=(1,))
