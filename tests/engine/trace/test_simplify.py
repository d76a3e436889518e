"""The simplifier: each rule, the fixed point, the same function, never more operations, linear cost (RBDA 10.4)."""

import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.trace import OPERATIONS, Program, record, simplify, trace
from knuckle.engine.trace.simplify import rearranged
from knuckle.scalar import cos, sin
from knuckle.testing.counting import Tally

from ...seeds import seeds

Text = Callable[..., Any]


def recorded(text: Text, n: int = 6) -> Program:
    return record(lambda x: text(*(x[k] for k in range(n))), {"x": (n,)}, lambda r: (list(r), (len(r),)))


def total(program: Program) -> int:
    return program.count().total


RULES: dict[str, tuple[Text, int, int]] = {
    "a b + a c": (lambda a, b, c, d, e, f: [a * b + a * c], 3, 2),
    "a b − a c": (lambda a, b, c, d, e, f: [a * b - a * c], 3, 2),
    "a b + a": (lambda a, b, c, d, e, f: [a * b + a], 2, 2),
    "2 a + 2 b": (lambda a, b, c, d, e, f: [2 * a + 2 * b], 3, 2),
    "2 a − 2 b": (lambda a, b, c, d, e, f: [2 * a + b * -2], 3, 2),
    "(2 a)(3 b)": (lambda a, b, c, d, e, f: [(2 * a) * (3 * b)], 3, 2),
    "(2 a)(b / 2)": (lambda a, b, c, d, e, f: [(2 * a) * (b / 2)], 3, 1),
    "(2 a) b − 3 (a b)": (lambda a, b, c, d, e, f: [(2 * a) * b - 3 * (b * a)], 5, 1),
    "(a b) c − a (b c)": (lambda a, b, c, d, e, f: [(a * b) * c - a * (b * c)], 5, 0),
    "a + b − a": (lambda a, b, c, d, e, f: [a + b - a], 2, 0),
    "a b + a c + a d": (lambda a, b, c, d, e, f: [a * b + a * c + a * d], 5, 3),
    "a b + c d + a e": (lambda a, b, c, d, e, f: [a * b + c * d + a * e], 5, 4),
    "a b c + a b d": (lambda a, b, c, d, e, f: [(a * c) * b + (a * d) * b], 5, 3),
    "a a + a b": (lambda a, b, c, d, e, f: [a * a + a * b], 3, 2),
    "−a b − a c": (lambda a, b, c, d, e, f: [-(a * b) - a * c], 3, 2),
    "the factor of most terms": (lambda a, b, c, d, e, f: [a * b + b * c + b * d + a * e], 7, 5),
    "a shared product stays": (lambda a, b, c, d, e, f: [a * b + a * c, a * b], 3, 3),
    "a shared sum stays": (lambda a, b, c, d, e, f: [(a + b) + c, (a + b) * d], 3, 3),
    "sin is an atom": (lambda a, b, c, d, e, f: [sin(a) * b + sin(a) * cos(a)], 5, 4),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name: str):
    text, before, after = RULES[name]
    program = recorded(text)
    assert total(program) == before
    assert total(simplify(program)) == after
    x = [0.3, -1.7, 2.9, 0.11, 5.3, -0.77]
    for wanted, got in zip(text(*x), simplify(program).evaluate(x), strict=True):
        assert abs(got - wanted) <= 20 * 2.0**-52 * 10  # a handful of terms below 10


def some_program(seed: int, operations: int = 60) -> Program:
    """A random program of exact arithmetic: sums and products of few symbols and small numbers."""
    rng = random.Random(seed)

    def text(*x: Any) -> list[Any]:
        pool: list[Any] = [*x, *(rng.choice((-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)) for _ in range(3))]
        degree = dict.fromkeys(range(len(pool)), 1)
        while len(pool) < operations:
            i, j = rng.choices(range(len(pool)), k=2)
            op = rng.choice("+-**n")
            if op == "*" and degree[i] + degree[j] > 8:
                continue
            a, b = pool[i], pool[j]
            degree[len(pool)] = degree[i] + degree[j] if op == "*" else max(degree[i], degree[j])
            pool.append(a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else -a)
        return rng.sample(pool, 5)

    return recorded(text)


def exactly(program: Program, values: list[Fraction]) -> list[Fraction]:
    """The outputs in rational numbers."""
    done: list[Fraction] = []
    for node in program.nodes:
        if node.op == "input":
            done.append(values[node.a])
        elif node.op == "constant":
            done.append(Fraction(node.a))
        else:
            done.append(OPERATIONS[node.op].value(*(done[k] for k in node[1:] if k is not None)))
    return [done[i] for i in program.outputs]


@pytest.mark.parametrize("seed", seeds(150, quick=20))
def test_the_function_stays_the_same(seed: int):
    """Exactly, in rational numbers: the constants are such that folding them does not round."""
    program = some_program(seed)
    values = [Fraction(random.Random(seed).randint(-9, 9), 7 + k) for k in range(6)]
    better = simplify(program)
    assert exactly(better, values) == exactly(program, values)
    assert total(better) <= total(program)


@pytest.mark.parametrize("seed", seeds(150, quick=20))
def test_the_fixed_point_is_one(seed: int):
    better = simplify(some_program(seed, 90))
    assert simplify(better) == better
    assert total(rearranged(better)) >= total(better)


def test_a_gain_that_is_asked_for_ends_earlier():
    program = some_program(3, 2000)
    once, fully = simplify(program, gain=1.0), simplify(program)
    assert total(program) > total(once) >= total(fully)
    assert once == rearranged(program)


def test_the_fixed_point_of_a_robot():
    model = kn.testing.general_chain(6)
    shapes = {name: (6,) for name in ("q", "v", "tau")}
    program = record(lambda **s: kn.forward_dynamics.reference(model, **s), shapes, lambda r: (list(r), (6,)))
    better = simplify(program)
    assert total(better) < total(program)
    assert simplify(better) == better
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.uniform(-1, 1, 18).tolist()
        a, b = np.array(program.evaluate(x)), np.array(better.evaluate(x))
        H = np.array(kn.mass_matrix(model, np.array(x[:6])))
        assert np.abs(a - b).max() <= 50 * np.linalg.cond(H) * 2.0**-52 * np.abs(a).max()


def cross_inertia_axis(v: Any) -> list[Any]:
    """RBDA table 10.3: p = v × I v, τ = p · s with matrices in full."""
    I, s = ((1.5, 0.0, 0.0), (0.0, 1.6, 0.0), (0.0, 0.0, 1.7)), (0.0, 0.0, 1.0)
    h = [r[0] * v[0] + r[1] * v[1] + r[2] * v[2] for r in I]
    p = [v[1] * h[2] - v[2] * h[1], v[2] * h[0] - v[0] * h[2], v[0] * h[1] - v[1] * h[0]]
    return [p[0] * s[0] + p[1] * s[1] + p[2] * s[2]]


def test_table_10_3():
    """29 operations; 5 are left when they are recorded; the optimum, 0.1 v1 v2, has 2."""
    tally = Tally()
    cross_inertia_axis([tally.scalar(0.3), tally.scalar(0.4), tally.scalar(0.5)])
    assert sum(tally.operations) == 29
    shapes, unpack = {"v": (3,)}, lambda r: (r, (1,))
    program = record(cross_inertia_axis, shapes, unpack)
    assert total(program) == 5
    best = trace(cross_inertia_axis, shapes, unpack)
    assert total(best) == 2
    assert abs(best.evaluate([3.0, 7.0, 11.0])[0] - 2.1) < 1e-14


def _lines(text: Text, n: int) -> int:
    """How many lines of Python it takes to trace and simplify a text."""
    count = 0

    def step(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return step

    others = sys.gettrace()
    sys.settrace(step)
    try:
        trace(lambda x: text(x, n), {"x": (50,)}, lambda r: (r, (len(r),)), gain=0.0)
    finally:
        sys.settrace(others)
    return count


def chain(x: Any, n: int) -> list[Any]:
    """About n operations, each on recent ones, as recursions over bodies make them."""
    recent = [x[k] for k in range(50)]
    for k in range(n // 4):
        a, b, c = recent[k % 50], recent[(k * 7 + 3) % 50], recent[(k * 13 + 5) % 50]
        recent[k % 50] = a * b + c * b - 0.75 * a
    return recent


def long_sum(x: Any, n: int) -> list[Any]:
    """One sum of n / 2 terms, with many factors to take out."""
    result = x[0]
    for k in range(n // 2):
        result = result + x[k % 50] * sin(x[(k * 7 + 1) % 50] + float(k))
    return [result]


def long_product(x: Any, n: int) -> list[Any]:
    result = x[0]
    for k in range(n):
        result = result * (x[k % 50] + float(k))
    return [result]


@pytest.mark.parametrize("text", [chain, long_sum, long_product])
def test_the_cost_is_linear(text: Text):
    """Ten times the operations in about ten times the lines run, and no depth that recursion would not bear."""
    small, large = _lines(text, 200), _lines(text, 2_000)
    assert large <= 12 * small


@pytest.mark.slow
def test_a_hundred_thousand_operations():
    program = record(lambda x: chain(x, 100_000), {"x": (50,)}, lambda r: (r, (50,)))
    assert total(program) > 90_000
    assert total(rearranged(program)) <= total(program)


def test_a_long_sum_is_added_up_by_halves():
    """With as many additions, each term goes through a few of them; one after the other, through all."""

    def text(x: Any) -> Any:
        result: Any = 0
        for k in range(64):
            result = result + x[k] * x[64 + k] if k % 3 else result - x[k] * x[64 + k]
        return result

    program = rearranged(record(text, {"x": (128,)}, lambda y: ([y], (1,))))
    assert total(program) == 64 + 63
    through = [0] * len(program.nodes)
    for i, node in enumerate(program.nodes):
        if node.op in ("add", "sub"):
            through[i] = 1 + max(through[k] for k in node.operands)
        elif node.op == "neg":
            through[i] = through[node.a]
    assert max(through) <= 7 + 3
