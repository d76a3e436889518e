"""Pieces of text that are called and repeated: recorded, printed in every way, and run, against the text on numbers."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm.feedback_loop import Feedback, to_loop
from knuckle.engine.emit.llvm.single_state import to_one_state
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Called, Program, Repeated, RolledBlock
from knuckle.engine.trace.execute import record as recorded
from knuckle.engine.trace.rolled_blocks import trace_in_blocks
from knuckle.scalar import Dual, Grid, absolute, cos, less, select, sin
from knuckle.spatial import Matrix, Vector, called, repeated
from knuckle.testing import general_chain

from .compiled import C, Vectors, record


def rates(x: Any, y: Any) -> Any:
    """A piece called at four places, one within another, that takes y and a comparison from around it."""
    upward = less(0, y[0])

    @called
    def inner(a: Any) -> Any:
        return a * a + select(upward, y[1], -y[1]) * sin(a)

    @called
    def rate(u: Any, scale: Any) -> Any:
        turned = [inner(sin(a) * y[0] + b) for a, b in zip(u, reversed(tuple(u)), strict=True)]
        for k in range(4):
            turned = [cos(k * a) / (2 + b * b) + 0.1 * b for a, b in zip(u, turned, strict=True)]
        return Vector([p * q + scale * p for p, q in zip(turned, u, strict=True)])

    first = rate(x, 0.5)
    second = rate(x + 0.1 * first, 0.5)
    third = rate(x + 0.1 * second, y[1])
    return x + 0.02 * (first + second + third + rate(third, y[0]))


def roots(x: Any, y: Any) -> Any:
    """Newton's method for square roots within a loop that runs or not, each state until its own root is there."""

    def halved(_: Any, total: Any, left: Any) -> Any:
        def better(_: Any, root: Any) -> Any:
            new = (root + left / root) / 2
            return select(less(absolute(new - root), 1e-12), 0, 1), new

        _, root = repeated(better, (1, left), 60)
        return left - 1, total + root, left / 2

    _, total, left = repeated(halved, (x[0], y[0], absolute(x[0]) + 1), 9)
    return Vector([total, left, total * left])


GRID = Grid(tuple(math.sin(k) for k in range(35)), columns=7, high=2, wide=3)


def table(x: Any, y: Any) -> Any:
    """A table that is read within it, beyond its rims and, in a loop, at places that depend on what was read."""
    i, k, numbers = GRID.window(x[0], 4 * y[0] + x[1])

    def further(left: Any, row: Any, total: Any) -> Any:
        start, _, (a, b, *_) = GRID.window(row + a0, row)
        return left - 1, row + 1, total + a * start + b

    a0 = numbers[0]
    _, _, total = repeated(further, (4.5, x[2], y[1]), 9)
    return Vector([10 * i + k, sum(2**n * z for n, z in enumerate(numbers)), total])


def slopes(x: Any, y: Any) -> Any:
    """Derivatives through a loop whose state has some of them at its beginning, and others only afterwards."""

    def further(left: Any, a: Any, b: Any) -> Any:
        return left - 1, a * y[0] + b, Dual(y[1], x[2]) * b + 1

    _, a, b = repeated(further, (4.5, Dual(x[0], x[1]), 0.5), 9)
    return Vector([a.derivative, b.value, b.derivative])


def shared(x: Any, y: Any) -> Any:
    """Loops that read numbers where they lie: of loops before, of the loop around, and of the same one."""

    def grown(left: Any, a: Any, b: Any) -> Any:
        return left - 1, 0.5 * a + y[0] * b, b + 0.1 * a

    _, a, b = repeated(grown, (3, x[1], x[2]), 5)

    def around(left: Any, total: Any, last: Any) -> Any:
        def within(n: Any, part: Any) -> Any:
            return n - 1, 0.3 * part + a * total - b * y[1] + 0.01 * left

        _, more = repeated(within, (2, last), 4)
        _, again = repeated(within, (1, more), 4)
        return left - 1, 0.1 * more + cos(a) * again, again - 0.2 * total

    _, total, last = repeated(around, (x[0], a, b), 6)
    _, c, d = repeated(grown, (2, total, a), 5)
    _, last = repeated(lambda n, z: (n - 1, 0.5 * z + a * c - b), (2, last), 3)
    return Vector([c, d, last])


def seldom(x: Any, y: Any) -> Any:
    """Rounds that few states run, and many numbers from around them, stored for those only; one in another."""
    many = [sin(k * x[1] + y[0]) for k in range(12)]

    def rare(left: Any, total: Any) -> Any:
        own = [a * total + y[1] for a in many]

        def rarer(n: Any, part: Any) -> Any:
            return n - 1, 0.5 * part + sum(a * b for a, b in zip(own, many, strict=True))

        _, more = repeated(rarer, (left - 4, total), 3)
        return left - 1, 0.1 * more + own[3]

    _, total = repeated(rare, (x[0] - 3, x[2]), 2)
    _, again = repeated(rare, (x[0] - 9, total), 2)
    return Vector([total, again, sum(many) + again])


TEXTS = {"slopes": slopes, "seldom": seldom, "called": rates, "repeated": roots, "table": table, "shared": shared}
PROGRAMS = {name: record(text, x=(3,), y=(2,)) for name, text in TEXTS.items()}
each = pytest.mark.parametrize("name", sorted(TEXTS))


def states(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-3, 3, (count, 3)), rng.uniform(-1, 1, (count, 2))
    x[::3, 0] = rng.uniform(-3, 20, len(x[::3]))
    return x, y


def expected(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The text itself, state by state."""
    text = TEXTS[name]
    return np.array([list(text(Vector(a), Vector(b))) for a, b in zip(x.tolist(), y.tolist(), strict=True)])


def test_what_they_are_made_of():
    blocks = PROGRAMS["called"].blocks
    assert {type(block) for block in blocks} == {Called}
    assert len({block.inputs for block in blocks}) == 2  # where the scale is 0.5, that is no input
    assert sum(node.op == "call" for node in PROGRAMS["called"].nodes) == 4
    (outer,) = PROGRAMS["repeated"].blocks
    assert isinstance(outer, Repeated)
    assert [type(block) for block in outer.body.blocks] == [Repeated]


@each
def test_evaluation(name: str):
    x, y = states(40)
    found = [PROGRAMS[name].evaluate([*a, *b]) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(found, expected(name, x, y), rtol=1e-12, atol=1e-13)


@each
@pytest.mark.parametrize("width", [1, 2, 8])
def test_vectors(name: str, width: int):
    """Lanes stop by themselves: what a state gives does not depend on its neighbours."""
    x, y = states(37)
    code = Vectors(PROGRAMS[name], width=width)
    found = code(x, y)
    np.testing.assert_allclose(found, expected(name, x, y), rtol=1e-12, atol=1e-13)
    order = np.random.default_rng(1).permutation(37)
    np.testing.assert_array_equal(code(x[order], y[order]), found[order])


def test_rounds_that_few_states_run():
    """Vectors of which no lane, some and all run them; what is skipped leaves the state as it is."""
    x, y = states(24)
    x[:8, 0], x[8:16, 0], x[16:, 0] = 0.5, [3.5, 0, 8, 2, 12, 4.5, 0, 1], 11.5
    np.testing.assert_array_equal(expected("seldom", x[:8], y[:8])[:, 0], x[:8, 2])
    found = Vectors(PROGRAMS["seldom"], width=8)(x, y)
    np.testing.assert_allclose(found, expected("seldom", x, y), rtol=1e-12, atol=1e-13)


@each
def test_single_precision(name: str):
    x, y = states(20)
    found = Vectors(PROGRAMS[name], "f32", 4)(x, y)
    np.testing.assert_allclose(found, expected(name, x, y), rtol=3e-5, atol=3e-5)


@each
def test_one_state(name: str):
    program = PROGRAMS[name]
    loaded = machine_code.Loaded(machine_code.compile_text(to_one_state(program, Lanes("f64", 4))))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("one_state"))
    for x, y in zip(*states(12), strict=True):
        places, out = (ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data), np.zeros(3)
        call(ctypes.addressof(places), out.ctypes.data)
        np.testing.assert_allclose(out, expected(name, x[None], y[None])[0], rtol=1e-12, atol=1e-13)


@each
def test_c(name: str, tmp_path: Path):
    code = C(PROGRAMS[name], tmp_path)
    for x, y in zip(*states(12), strict=True):
        np.testing.assert_allclose(code(x, y), expected(name, x[None], y[None])[0], rtol=1e-12, atol=1e-13)


@each
@pytest.mark.parametrize("wide", [None, Lanes("f64", 4)], ids=["side by side", "one by one"])
def test_through_time(name: str, wide: Lanes | None):
    """A program with blocks fed back into itself, in vectors of trajectories and one trajectory at a time."""
    text = to_loop(PROGRAMS[name], Lanes("f64", 4), Feedback(3, (), frozenset()), wide=wide)
    loaded = machine_code.Loaded(machine_code.compile_text(text))
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    call = ctypes.CFUNCTYPE(None, *[number] * 8, pointer, pointer, number, number)(loaded.address("loop"))
    x, y = states(7)
    state = x.copy()
    call(0, 7, 0, 2, 0, 9, 9, 9, state.ctypes.data, y.ctypes.data, 2, 0)
    for _ in range(2):
        x = expected(name, x, y)
    np.testing.assert_allclose(state, x, rtol=1e-10, atol=1e-11)


def test_arrays_of_many_states():
    """On arrays as scalars, states stop by themselves too."""
    x, y = states(25)
    found = roots(Vector(x.T), Vector(y.T))
    np.testing.assert_allclose(np.stack(list(found), -1), expected("repeated", x, y), rtol=1e-12, atol=1e-13)


def test_derivatives():
    """Tangents go through blocks with the values."""

    def slope(x: Any, y: Any) -> Any:
        moved = rates(Vector(Dual(a, 1) for a in x), y)
        return Vector(a.derivative for a in moved)

    program = record(slope, x=(3,), y=(2,))
    assert program.blocks
    (x,), (y,) = states(1)
    h = 1e-6
    numeric = (expected("called", x[None] + h, y[None]) - expected("called", x[None] - h, y[None]))[0] / (2 * h)
    np.testing.assert_allclose(program.evaluate([*x, *y]), numeric, rtol=1e-7, atol=1e-8)


def test_small_and_single_pieces_are_put_in_place():
    """A block costs a call: one called once, or shorter than that, leaves no trace."""
    once = record(lambda x: called(lambda a: Vector([sin(b) * c for b in a for c in a]))(x), x=(6,))
    plain = record(lambda x: Vector([sin(b) * c for b in x for c in x]), x=(6,))
    assert once == plain
    square = called(lambda a: a * a)
    assert not record(lambda x: Vector([square(a) for a in x]), x=(6,)).blocks


def test_a_symbol_does_not_leave_its_block():
    kept: list[Any] = []

    def leaks(x: Any) -> Any:
        called(lambda a: kept.append(a) or Vector([a[0] * a[1] * sin(a[2])]))(x)
        return Vector([kept[0][0] + x[0]])

    with pytest.raises(ValueError, match="two different traces"):
        recorded(leaks, {"x": (3,)}, lambda r: (scalars_of(r), shape_of(r)))


def test_matrices_and_tuples():
    def text(x: Any) -> Any:
        @called
        def product(A: Any, b: Any) -> Any:
            return A @ b, (sin(b[0]), A.T)

        A = Matrix([[x[0], x[1]], [x[2], 1.0]], 2)
        b, (s, B) = product(A, Vector([x[0], x[1]]))
        c, (t, _) = product(B, b)
        return Vector([*b, *c, s, t])

    x = [0.3, -1.1, 0.7]
    np.testing.assert_allclose(record(text, x=(3,)).evaluate(x), list(text(Vector(x))), rtol=1e-14)


@pytest.fixture(scope="module")
def rolled() -> Program:
    """A piece with the loops of an algorithm, called twice."""
    model = general_chain(70)

    def text(model: Any, q: Any, v: Any, tau: Any) -> Any:
        fall = called(lambda q, v: kn.forward_dynamics.reference(model, q, v, tau))
        return fall(q + 0.01 * v, v) - fall(q, v)

    shapes = {name: (model.nv,) for name in ("q", "v", "tau")}
    return trace_in_blocks(text, model, shapes, lambda r: (scalars_of(r), shape_of(r)))


@pytest.mark.slow
def test_rolled_pieces(rolled: Program):
    """The loops of a large mechanism are kept within a block, and give what the mechanism's own kernel gives."""
    (block,) = rolled.blocks
    assert isinstance(block, RolledBlock)
    assert block.size() < block.work() / 5
    model, rng = general_chain(70), np.random.default_rng(2)
    q, v, tau = rng.uniform(-1, 1, (3, 5, model.nv))
    wanted = kn.forward_dynamics(model, q + 0.01 * v, v, tau) - kn.forward_dynamics(model, q, v, tau)
    for width in (1, 4):
        found = Vectors(rolled, width=width)(q, v, tau)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    one = rolled.evaluate([*q[0], *v[0], *tau[0]])
    np.testing.assert_allclose(one, wanted[0], rtol=0, atol=1e-9 * np.abs(wanted).max())
    assert rolled.count().total > 2 * 70 * 300
