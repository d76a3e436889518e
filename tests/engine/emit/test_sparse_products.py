"""Products of matrices with known zeros, in tiles: the same numbers as by dense ones, in every form of code."""

import ctypes
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import state_blocks
from knuckle.engine.differentiate.sweep import Sweep
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.emit.llvm import streaming_stores
from knuckle.engine.emit.llvm.batches import batch_loop
from knuckle.engine.emit.llvm.batches.lane_blocks import places_of
from knuckle.engine.emit.llvm.node_printer import Printer
from knuckle.engine.emit.llvm.single_state import to_one_state
from knuckle.engine.native import machine_code
from knuckle.engine.targets.cpu import CPU
from knuckle.engine.trace import Program, SparseProduct
from knuckle.engine.trace.inline import without_sparse_products
from knuckle.engine.trace.product_block import column_panels
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix
from knuckle.spatial.linear.sparse_rows import SparseRow, product, symmetric_product, transposed
from knuckle.testing import auto_tree

from .compiled import C, LaneBlocks, Vectors, record

N = 26


def ancestors(seed: int) -> list[list[int]]:
    """The way to each variable of a tree, limbs of which are chains."""
    rng, ways = np.random.default_rng(seed), list[list[int]]()
    for i in range(N):
        parent = int(rng.choice([i - 1, i - 1, i - 1, int(rng.integers(0, max(1, i)))])) if i else -1
        ways.append([*(ways[parent] if i else []), i])
    return ways


def patterns(seed: int) -> tuple[list[list[int]], list[list[int]]]:
    """Where A and B have entries: A those of a tree, B besides in columns of their own kind."""
    ways = ancestors(seed)
    rows: list[list[int]] = [[] for _ in range(N)]
    for j in range(2 * N):
        for k in {*ways[j % N], *(i for i in range(N) if j % N in ways[i])} if j % 5 else {j % N, 3, 7}:
            rows[k].append(j)
    return ways, rows


def read(x: Any, pattern: list[list[int]]) -> list[SparseRow]:
    """The rows of a matrix whose entries come in a row."""
    entries = iter(x)
    return [{k: next(entries) for k in row} for row in pattern]


def dense(x: Any, pattern: list[list[int]], columns: int) -> Any:
    matrix = np.zeros((len(x), N, columns))
    places = [(i, k) for i, row in enumerate(pattern) for k in row]
    for place, (i, k) in enumerate(places):
        matrix[:, i, k] = x[:, place]
    return matrix


def as_matrix(rows: list[SparseRow], columns: int) -> Matrix:
    return Matrix(([row.get(k, ZERO) for k in range(columns)] for row in rows), columns)


def program_of(seed: int) -> tuple[Program, int, int]:
    """A (A B) and A Aᵀ, with something added to the first, and how many entries A and B have."""
    A, B = patterns(seed)

    def text(x: Any, y: Any) -> Matrix:
        a = read([*x], A)
        twice = product(a, product(a, read([*y], B)))
        twice[2] = {k: z + x[0] for k, z in twice[2].items()}
        square = symmetric_product(a, transposed(a, N))
        return Matrix([*as_matrix(twice, 2 * N).rows, *zip_halves(as_matrix(square, N))], 2 * N)

    sizes = tuple(sum(map(len, rows)) for rows in (A, B))
    return record(text, 0.01, x=(sizes[0],), y=(sizes[1],)), *sizes


def zip_halves(A: Matrix) -> list[list[Any]]:
    """The rows of a square matrix beside themselves."""
    return [[*row, *row] for row in A.rows]


def expected(seed: int, x: Any, y: Any) -> Any:
    patterns_of = patterns(seed)
    A, B = dense(x, patterns_of[0], N), dense(y, patterns_of[1], 2 * N)
    twice = A @ (A @ B)
    there = A[0] @ (A[0] @ (B[0] != 0)) != 0
    twice[:, 2] += np.where(there[2], x[:, :1], 0.0)
    square = A @ np.swapaxes(A, 1, 2)
    return np.concatenate([twice, np.concatenate([square, square], axis=2)], axis=1).reshape(len(x), -1)


def arguments(seed: int, states: int, sizes: tuple[int, int]) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, size=(states, sizes[0])), rng.uniform(0.5, 1.5, size=(states, sizes[1]))


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize("seed", range(2))
def test_batches(seed: int, width: int):
    program, *sizes = program_of(seed)
    assert {type(block) for block in program.blocks} == {SparseProduct}
    assert len(program.blocks) >= 2
    x, y = arguments(seed, 11, (sizes[0], sizes[1]))
    np.testing.assert_allclose(Vectors(program, width=width)(x, y), expected(seed, x, y), rtol=1e-12)
    np.testing.assert_allclose(program.evaluate([*x[0], *y[0]]), expected(seed, x, y)[0], rtol=1e-12)


@pytest.mark.parametrize(("longest", "lines"), [(0, 400), (1_000_000, 40), (1_000_000, 1)])
def test_large_results_go_out_while_the_next_are_computed(longest: int, lines: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streaming_stores, "BYTES", 0)
    monkeypatch.setattr(batch_loop, "lines_of", lambda *_: lines)
    monkeypatch.setattr(Printer, "longest", longest)
    program, *sizes = program_of(0)
    text, size = to_llvm(program, Lanes("f64", 8)), len(program.outputs)
    assert "%both = alloca" in text
    entry = machine_code.entry(machine_code.Loaded(machine_code.compile_text(text)), "kernel", 2)
    for states in (1, 8, 45):
        x, y = arguments(states, states, (sizes[0], sizes[1]))
        room = np.full((states + 2) * size + 8, 12345.0)
        first = (-room.ctypes.data % 64) // 8
        out = room[first : first + (states + 1) * size].reshape(states + 1, size)
        for start in (0, states // 16 * 16):
            out[:] = 12345.0
            entry(start, states, x.ctypes.data, sizes[0], y.ctypes.data, sizes[1], out.ctypes.data)
            np.testing.assert_allclose(out[start:states], expected(0, x, y)[start:], rtol=1e-12)
            assert np.all(out[:start] == 12345.0)
            assert np.all(out[states:] == 12345.0)


@pytest.mark.parametrize("lanes", [Lanes("f64", 8), Lanes("f64", 4), Lanes("f32", 16)], ids=str)
@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("longest", [0, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_blocks_of_states(longest: int, is_large: bool, lanes: Lanes, monkeypatch: pytest.MonkeyPatch):
    """Products go where their results belong, past the caches; what something is added to makes room for the sum."""
    monkeypatch.setattr(Printer, "longest", longest)
    program, *sizes = program_of(0)
    blocks = LaneBlocks(program, lanes, is_large)
    goes_out = is_large and lanes.width * lanes.bytes == 64
    assert ("%sums = alloca" in blocks.text) == goes_out
    for states in (1, 21):
        x, y = arguments(0, states, (sizes[0], sizes[1]))
        tolerance = 1e-12 if lanes.dtype == "f64" else 3e-5
        np.testing.assert_allclose(blocks(x, y), expected(0, x, y), rtol=tolerance)


def test_blocks_of_what_another_product_takes(monkeypatch: pytest.MonkeyPatch):
    """What is read again stays where it was, though a result that is made of it is known before."""
    monkeypatch.setattr(Printer, "longest", 0)
    A, B = [list(range(i + 1)) for i in range(N)], [list(range(2 * N))] * N

    def text(x: Any, y: Any) -> Matrix:
        a = read([*x], A)
        first = product(a, read([*y], B))
        with_sum = [{k: z + x[0] for k, z in row.items()} if i == 2 else row for i, row in enumerate(first)]
        return Matrix([*as_matrix(with_sum, 2 * N).rows, *as_matrix(product(a, first), 2 * N).rows], 2 * N)

    sizes = [sum(map(len, rows)) for rows in (A, B)]
    program = record(text, 0.01, x=(sizes[0],), y=(sizes[1],))
    x, y = arguments(0, 9, (sizes[0], sizes[1]))
    first = dense(x, A, N) @ dense(y, B, 2 * N)
    second = dense(x, A, N) @ first
    first[:, 2] += x[:, :1]
    for is_large in (False, True):
        found = LaneBlocks(program, Lanes("f64", 8), is_large)(x, y)
        np.testing.assert_allclose(found, np.concatenate([first, second], 1).reshape(9, -1), rtol=1e-12)


@pytest.mark.parametrize("left_out", [1, 60])
@pytest.mark.parametrize("is_large", [False, True])
def test_blocks_of_some_entries(is_large: bool, left_out: int, monkeypatch: pytest.MonkeyPatch):
    """Entries that nobody asks for have no place among the results."""
    monkeypatch.setattr(Printer, "longest", 0)
    program, *sizes = program_of(0)
    some = replace(program, outputs=program.outputs[left_out:])
    x, y = arguments(0, 9, (sizes[0], sizes[1]))
    found = LaneBlocks(some, Lanes("f64", 8), is_large)(x, y)
    np.testing.assert_allclose(found, expected(0, x, y)[:, left_out:], rtol=1e-12)
    assert sorted(set(places_of(some))) == list(range(len(set(some.outputs))))


def test_segments(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Printer, "longest", 0)
    program, *sizes = program_of(0)
    x, y = arguments(0, 11, (sizes[0], sizes[1]))
    np.testing.assert_allclose(Vectors(program)(x, y), expected(0, x, y), rtol=1e-12)


def test_single_precision():
    program, *sizes = program_of(1)
    x, y = arguments(1, 20, (sizes[0], sizes[1]))
    np.testing.assert_allclose(Vectors(program, "f32", 8)(x, y), expected(1, x, y), rtol=3e-5)


@pytest.mark.parametrize("width", [1, 4, 16])
def test_one_state_has_the_digits_of_many(width: int):
    program, *sizes = program_of(2)
    x, y = arguments(2, 3, (sizes[0], sizes[1]))
    loaded = machine_code.Loaded(machine_code.compile_text(to_one_state(program, Lanes("f64", width))))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("one_state"))
    many = Vectors(program, width=8)(x, y)
    for k in range(3):
        places, out = (ctypes.c_void_p * 2)(x[k].ctypes.data, y[k].ctypes.data), np.zeros(len(program.outputs))
        call(ctypes.addressof(places), out.ctypes.data)
        np.testing.assert_array_equal(out, many[k])


def test_c(tmp_path: Path):
    program, *sizes = program_of(0)
    x, y = arguments(0, 2, (sizes[0], sizes[1]))
    np.testing.assert_allclose(C(program, tmp_path)(x[0], y[0]), expected(0, x, y)[0], rtol=1e-12)


def test_numbers_are_multiplied_plainly():
    (A, B), seed = patterns(0), 0
    _, *sizes = program_of(seed)
    x, y = arguments(seed, 1, (sizes[0], sizes[1]))
    found = as_matrix(product(read(x[0].tolist(), A), read(y[0].tolist(), B)), 2 * N)
    np.testing.assert_allclose(
        [[float(z) for z in row] for row in found.rows], (dense(x, A, N) @ dense(y, B, 2 * N))[0]
    )


def test_small_products_have_their_operations():
    program = record(lambda x: as_matrix(product([{0: x[0]}], [{0: x[1], 2: x[2]}]), 3), x=(3,))
    assert not program.blocks
    assert program.count().total == 2


def test_derivatives_forward_and_backward():
    program, *sizes = program_of(0)
    x, y = arguments(0, 1, (sizes[0], sizes[1]))
    rng = np.random.default_rng(0)
    values, way, weights = [*x[0], *y[0]], rng.normal(size=sum(sizes)), rng.normal(size=len(program.outputs))
    sweep = Sweep(program, values)
    np.testing.assert_allclose([float(z) for z in sweep.outputs], expected(0, x, y)[0], rtol=1e-12)
    slopes = [float(row.get(0, 0.0)) for row in sweep.pushed({k: {0: d} for k, d in enumerate(way)})]
    h = 1e-6
    ends = [expected(0, x + s * h * way[None, : sizes[0]], y + s * h * way[None, sizes[0] :])[0] for s in (1, -1)]
    np.testing.assert_allclose(slopes, (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-6)
    back = sweep.pulled(list(weights))
    np.testing.assert_allclose(sum(float(z) * way[k] for k, z in back.items()), np.dot(weights, slopes), rtol=1e-10)


def test_every_column_is_in_one_panel():
    A, B = patterns(1)
    panels = column_panels(A, B)
    assert sorted(j for columns, _ in panels for j in columns) == sorted({j for row in B for j in row})
    for columns, rows in panels:
        assert all(j not in row or k in rows for k, row in enumerate(B) for j in columns)
        assert columns == sorted(columns)
        assert len(columns) <= 8


def test_products_written_out():
    """What has no blocks any more gives the same."""
    program, a, b = program_of(0)
    assert any(isinstance(block, SparseProduct) for block in program.blocks)
    written = without_sparse_products(program)
    assert not written.blocks
    x = np.random.default_rng(5).normal(size=a + b).tolist()
    np.testing.assert_allclose(written.evaluate(x), program.evaluate(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("straight", "n", "states"), [(0, 13, state_blocks.MANY), (0, 14, 20), (1_000_000, 15, 20)])
def test_results_in_blocks_of_states(straight: int, n: int, states: int, monkeypatch):
    """With products as they are, and written out; of few states and of many."""
    printed, print_blocks = list[Program](), CPU.lane_blocks
    monkeypatch.setattr(CPU, "lane_blocks", lambda self, p, *args: printed.append(p) or print_blocks(self, p, *args))
    monkeypatch.setattr(state_blocks, "STRAIGHT", straight)
    model = auto_tree(n, 1, 0.3, 0.98)
    q, v, tau = np.random.default_rng(0).normal(size=(3, states, n))
    found = kn.forward_dynamics.jacobian(model, q, v, tau, wrt=("q", "v"), layout="blocks")
    assert [any(isinstance(block, SparseProduct) for block in p.blocks) for p in printed] == [straight == 0]
    expected = kn.forward_dynamics.jacobian(model, q, v, tau, wrt=("q", "v"))
    for name in ("q", "v"):
        np.testing.assert_allclose(
            found.dense(name), expected[name], rtol=1e-9, atol=1e-9 * np.abs(expected[name]).max()
        )
