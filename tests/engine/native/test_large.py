"""Rolled code for large mechanisms: the loops printed once give what the plain text gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.engine.arrays.result_layout import laid_out
from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm import streaming_stores
from knuckle.engine.kernels import batch_code
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import rolled_code
from knuckle.engine.native.rolled_code import compile_rolled, rolled_entry
from knuckle.engine.trace.regions import MarkedGraph, Rolled, marked, trace_rolled
from knuckle.functions.per_joint import as_vector
from knuckle.scalar.operations import OPERATIONS
from knuckle.testing import auto_tree, general_chain, random_state, random_tree

Call = Callable[[list[np.ndarray]], np.ndarray]


def text(function: Any, model: Any, **symbols: Any) -> Any:
    return laid_out(function.reference(model, **symbols), "", of_one_state=False)


def rolled(function: Any, model: kn.Model, names: tuple[str, ...], dtype: str = "f64", width: int = 4) -> Call:
    """The rolled kernel of a function, called with arrays of states."""
    sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv}
    lanes = Lanes(dtype, width)
    arguments = {name: (sizes[name],) for name in names}
    program = trace_rolled(lambda m, **s: text(function, m, **s), model, arguments, lambda r: (r[0], r[1].shape))
    description, payload = compile_rolled(program, lanes)
    entry = rolled_entry(description, payload, lanes, len(names))

    def call(arrays: list[np.ndarray]) -> np.ndarray:
        count = len(arrays[0])
        out = aligned((count, *description["shape"]), arrays[0].dtype)
        places = [place for array in arrays for place in (array.ctypes.data, array.shape[1])]
        entry(0, count, *places, out.ctypes.data)
        return out

    return call


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array that begins with a line of memory."""
    room = np.empty(int(np.prod(shape)) + 16, dtype)
    first = -room.ctypes.data % 64 // room.itemsize
    return room[first : first + room.size - 16].reshape(shape)


def states(model: kn.Model, count: int) -> tuple[np.ndarray, ...]:
    drawn = [random_state(model, k) for k in range(count)]
    return tuple(np.stack([getattr(s, name) for s in drawn]) for name in ("q", "v", "a"))


CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "inverse_dynamics": (kn.inverse_dynamics, ("q", "v", "a")),
    "forward_dynamics": (kn.forward_dynamics, ("q", "v", "tau")),
    "gravity_force": (kn.gravity_force, ("q",)),
    "bias_force": (kn.bias_force, ("q", "v")),
    "mass_matrix": (kn.mass_matrix, ("q",)),
    "coriolis_matrix": (kn.coriolis_matrix, ("q", "v")),
}
MODELS = [
    auto_tree(14, 1.0, 0.3, 0.99),
    auto_tree(15, 2.0, 0.3, 0.95),
    general_chain(9),
    random_tree(4, 4),
    random_tree(5, 4, floating=True),
]


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("model", MODELS, ids=["chain", "binary", "general", "mixed", "floating"])
def test_rolled_equals_plain(model: kn.Model, name: str) -> None:
    function, names = CASES[name]
    q, v, a = states(model, 9)
    given = {"q": q, "v": v, "a": a, "tau": a}
    arrays = [given[key] for key in names]
    rows = [scalars_of(function.reference(model, *map(as_vector, row))) for row in zip(*arrays, strict=True)]
    expected = np.array(rows, float)
    found = rolled(function, model, names)(arrays)
    assert np.abs(found.reshape(9, -1) - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.sampled
@pytest.mark.parametrize(("dtype", "width"), [("f64", 1), ("f64", 2), ("f64", 8), ("f32", 4), ("f32", 16)])
@pytest.mark.parametrize("count", [1, 3, 17])
def test_any_width_and_remainder(dtype: str, width: int, count: int) -> None:
    model = auto_tree(20, 1.5, 0.4, 0.95)
    real = np.float64 if dtype == "f64" else np.float32
    q, v, a = (x.astype(real) for x in states(model, count))
    found = rolled(kn.inverse_dynamics, model, ("q", "v", "a"), dtype, width)([q, v, a])
    expected = kn.inverse_dynamics(model, q.astype(float), v.astype(float), a.astype(float))
    assert found.dtype == real
    tolerance = 1e-12 if dtype == "f64" else 1e-4
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.slow
def test_patterns_do_not_grow_with_the_mechanism() -> None:
    def patterns(n: int, branching: float) -> int:
        model = auto_tree(n, branching, 0.3, 1.0)
        arguments = {"q": (n,), "v": (n,), "tau": (n,)}
        program = trace_rolled(
            lambda m, **s: kn.forward_dynamics.reference(m, **s), model, arguments, lambda r: (list(r), (len(r),))
        )
        assert len(program.instances) >= 3 * n - 2
        return len(program.patterns)

    assert patterns(60, 1.0) == patterns(30, 1.0)
    assert patterns(60, 2.0) <= patterns(30, 2.0) + 6


def test_signs_of_constants_make_no_pattern() -> None:
    """Two chains that differ in the signs of their offsets share their code."""
    graph = MarkedGraph()
    x = graph.input(0)
    product = graph.nodes[graph.mul(graph.constant(-3.0), x)]
    assert product.op == "mul"


def test_marking_leaves_the_model_as_it_is() -> None:
    model = auto_tree(3)
    graph = MarkedGraph()
    assert [step[:2] for step in marked(model, graph).outward()] == [step[:2] for step in model.outward()]
    assert graph.stretch == 4
    assert marked(model, graph).nv == model.nv


def test_steps_up_the_tree_are_loops_too() -> None:
    """The mass matrix of a chain has n² entries, and its code does not grow with them."""

    def steps(n: int) -> int:
        program = traced(kn.mass_matrix, auto_tree(n, 1.0, 0.3, 1.0), q=(n,))
        assert len(program.instances) >= n * (n - 1) // 2
        return sum(len(pattern.steps) for pattern in program.patterns)

    assert steps(40) == steps(20)


def test_without_repetition_the_text_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_code, "MOST_STEPS", 100)
    monkeypatch.setattr(rolled_code, "BODIES", 4)
    model = auto_tree(8, 1.0, 0.3, 1.0)
    q = np.random.default_rng(0).uniform(-1, 1, (300, model.nq))
    found = kn.mass_matrix(model, q)
    assert kernels.made(model) == 0
    np.testing.assert_allclose(found[7], [list(row) for row in kn.mass_matrix.reference(model, q[7]).rows], atol=1e-13)


@pytest.mark.slow
def test_slots_are_used_again() -> None:
    """What a step up the tree needs is gone with the next: room is left for the result and for a few bodies' values."""
    n = 40
    program = traced(kn.mass_matrix, auto_tree(n, 1.0, 0.3, 1.0), q=(n,))
    distinct = len(set(program.outputs))
    assert distinct >= n * (n + 1) // 2 - n  # the matrix is symmetric
    assert program.slots <= distinct + 20 * n  # X of every body, and I of the composite bodies


@pytest.mark.parametrize("name", ["mass_matrix", "forward_dynamics"])
def test_no_slot_is_written_while_its_value_is_needed(name: str) -> None:
    """Run by hand, with every value known by the instance that made it."""
    function, names = CASES[name]
    model = random_tree(5, 9, floating=True)
    sizes = {"q": model.nq, "v": model.nv, "tau": model.nv}
    program = traced(function, model, **{key: (sizes[key],) for key in names})
    state = random_state(model, 3)
    given = {"q": state.q, "v": state.v, "tau": state.a}
    slots: list[Any] = [None] * program.slots
    slots[: sum(sizes[key] for key in names)] = [float(x) for key in names for x in given[key]]
    for instance in program.instances:
        values = [slots[k] for k in instance.slots]
        done: list[Any] = []
        for op, operands in program.patterns[instance.pattern].steps:
            of = {"local": done, "slot": values, "constant": instance.constants}
            args = [of[kind][k] for kind, k in operands]
            done.append(args[0] if op == "constant" else OPERATIONS[op].value(*args))
        for place, k in zip(instance.kept, program.patterns[instance.pattern].kept, strict=True):
            slots[place] = done[k]
    found = np.array([slots[k] for k in program.outputs])
    expected = np.array(scalars_of(function.reference(model, *(as_vector(given[key]) for key in names))), float)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    assert all(x == 0 for x, is_zero in zip(found, program.zeros, strict=True) if is_zero)
    assert name != "mass_matrix" or sum(program.zeros) > 0


def traced(function: Any, model: kn.Model, **arguments: tuple[int, ...]) -> Rolled:
    return trace_rolled(
        lambda m, **s: function.reference(m, **s), model, arguments, lambda r: (scalars_of(r), shape_of(r))
    )


@pytest.mark.parametrize(("dtype", "width"), [("f64", 8), ("f32", 16), pytest.param("f64", 4, marks=pytest.mark.slow)])
def test_large_results_are_streamed(dtype: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way past the caches gives the bits of the ordinary way."""
    model = auto_tree(21, 2.0, 0.3, 0.95)
    q = np.random.default_rng(0).normal(size=(150, 21)).astype(np.float64 if dtype == "f64" else np.float32)
    ordinary = rolled(kn.mass_matrix, model, ("q",), dtype, width)([q])
    monkeypatch.setattr(streaming_stores, "BYTES", 0)
    found = rolled(kn.mass_matrix, model, ("q",), dtype, width)([q])
    np.testing.assert_array_equal(found, ordinary)


def test_large_angles() -> None:
    model = auto_tree(20, 1.0, 0.3)
    q = np.full((2, 20), 3e6)
    found = rolled(kn.gravity_force, model, ("q",))([q])
    expected = [scalars_of(kn.gravity_force.reference(model, as_vector(row))) for row in q]
    np.testing.assert_allclose(found, np.array(expected, float), rtol=0, atol=1e-12)
