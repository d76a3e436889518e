"""The LLVM printer: widths, remainders, shared arguments, and programs of unusual form."""

import re
import time
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.emit.llvm.batches.lane_blocks import to_lane_blocks
from knuckle.engine.emit.llvm.feedback_loop import Feedback, to_loop
from knuckle.engine.emit.llvm.node_printer import Printer
from knuckle.engine.emit.llvm.vector_lanes import PAGE
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Program
from knuckle.scalar import cos, sin

from .compiled import DTYPES, Vectors, record

WIDTHS = [1, 2, 4, 8, 16]


def mixed(x: Any, y: Any, z: Any) -> list[Any]:
    return [x[0] * y[0] + z[0], sin(x[1]) - y[4], x[2] * z[0], cos(x[2] + y[1]), y[2] / (1 + y[3] * y[3]), x[0]]


MIXED = record(mixed, x=(3,), y=(5,), z=(1,))


def answer(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    columns = mixed(x.T, y.T, z.T)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_number_of_states(dtype: str, width: int):
    """Whole vectors, remainders, and less than a vector. Nothing beyond the last state is written."""
    vectors, rng = Vectors(MIXED, dtype, width), np.random.default_rng(width)
    tolerance = 8 * float(np.finfo(DTYPES[dtype]).eps) * 10  # terms up to 10 add up
    for states in range(1, 2 * width + 2):
        x, y, z = (rng.uniform(-2, 2, (states, n)).astype(DTYPES[dtype]) for n in (3, 5, 1))
        out = vectors(x, y, z)
        assert np.abs(out - answer(x.astype(float), y.astype(float), z.astype(float))).max() <= tolerance


@pytest.mark.parametrize("width", WIDTHS)
def test_a_state_is_computed_alike_in_every_lane(width: int):
    vectors = Vectors(MIXED, "f64", width)
    rng = np.random.default_rng(0)
    row = [rng.uniform(-2, 2, (1, n)) for n in (3, 5, 1)]
    out = vectors(*(np.repeat(a, 2 * width + 1, axis=0) for a in row))
    assert np.all(out == out[0])
    assert np.array_equal(vectors(*row)[0], out[0])


@pytest.mark.sampled
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shared", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_arguments_that_all_states_share(width: int, shared: tuple[int, ...]):
    """A stride of 0."""
    vectors, rng, states = Vectors(MIXED, "f64", width), np.random.default_rng(3), width + 1
    arrays = [rng.uniform(-2, 2, (states, n)) for n in (3, 5, 1)]
    for k in shared:
        arrays[k][:] = arrays[k][0]
    whole = vectors(*arrays)
    part = vectors(*(a[0] if k in shared else a for k, a in enumerate(arrays)), states=states)
    assert np.array_equal(whole, part)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [*range(1, 20), 31, 32, 33])
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_any_length_pass_through(size: int, width: int):
    """Tiles that fit, overlap, or are narrower than the vectors."""
    copy = record(lambda x: [*reversed([x[k] for k in range(size)])], x=(size,))
    x = np.random.default_rng(size).normal(size=(width + 3, size))
    out = Vectors(copy, "f64", width)(x)
    assert np.array_equal(out, x[:, ::-1])


@pytest.mark.parametrize("width", [0, -4, 3, 12])
def test_a_width_that_is_no_power_of_two_is_refused(width: int):
    with pytest.raises(ValueError, match=f"lanes, not {width}"):
        Lanes("f64", width)
    with pytest.raises(ValueError, match="'double'"):
        Lanes("double", 4)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_arguments(width: int):
    out = Vectors(record(lambda: [1.5, -2.0, 0.0]), "f64", width)(states=width + 1)
    assert np.all(out == [1.5, -2.0, 0.0])


def test_constants_and_repeated_outputs():
    program = record(lambda x: [0.0, x[0], 0.0, 7.0, x[0] + x[1], x[0], x[0] + x[1]], x=(2,))
    x = np.arange(14.0).reshape(7, 2)
    out = Vectors(program)(x)
    total = x.sum(axis=1)
    assert np.array_equal(out, np.stack([0 * total, x[:, 0], 0 * total, 7 + 0 * total, total, x[:, 0], total], axis=1))


def test_an_argument_of_no_entries_and_one_that_is_not_used():
    program = record(lambda x, y, z: [z[1]], x=(0,), y=(3,), z=(2,))
    z = np.arange(10.0).reshape(5, 2)
    out = Vectors(program)(np.empty((5, 0)), np.zeros((5, 3)), z)
    assert np.array_equal(out[:, 0], z[:, 1])


@pytest.mark.parametrize("width", WIDTHS)
def test_no_outputs(width: int):
    """A mechanism without freedom."""
    out = Vectors(record(lambda x: [], x=(2,)), "f64", width)(np.ones((3, 2)))
    assert out.shape == (3, 0)


def test_constants_beyond_single_precision_are_infinite():
    out = Vectors(record(lambda x: [x[0] * 1e300, x[0] * 1e-300], x=(1,)), "f32")([[2.0]])
    assert out.tolist() == [[np.inf, 0.0]]


def test_a_nan_stays_in_its_state():
    vectors, rng = Vectors(MIXED), np.random.default_rng(5)
    arrays = [rng.uniform(-2, 2, (9, n)) for n in (3, 5, 1)]
    clean = vectors(*arrays)
    arrays[0][4] = np.nan
    out = vectors(*arrays)
    others = np.arange(9) != 4
    assert np.array_equal(out[others], clean[others])
    assert np.all(np.isnan(out[4, [0, 1, 2, 3, 5]]))


def _seconds(program: Program) -> float:
    start = time.process_time()
    Vectors(program)
    return time.process_time() - start


def test_thousands_of_outputs_cost_in_proportion():
    """A mass matrix of 60 freedoms has 3600 entries, most of them zero or twice there."""

    def matrix(n: int) -> Program:
        def text(x: Any) -> list[Any]:
            band = [x[i] * x[j] if abs(i - j) < 8 else 0.0 for i in range(n) for j in range(n)]
            return [*band, *(x[i] + x[(i * 7 + 1) % n] for i in range(n))]

        return record(text, x=(n,))

    small, large = _seconds(matrix(15)), _seconds(matrix(60))
    assert large <= 40 * small + 0.5  # 16 times the outputs


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_kernel_of_dynamics_agrees_with_the_reference(dtype: str):
    model = kn.testing.general_chain(4)
    program = record(lambda q, v, a: kn.inverse_dynamics.reference(model, q, v, a), q=(4,), v=(4,), a=(4,))
    rng = np.random.default_rng(2)
    q, v, a = (rng.uniform(-1, 1, (11, 4)).astype(DTYPES[dtype]) for _ in range(3))
    out = Vectors(program, dtype, 4)(q, v, a)
    for state in range(11):
        exact = np.array(kn.inverse_dynamics.reference(model, *(x[state].astype(float).tolist() for x in (q, v, a))))
        error = np.abs(out[state] - exact.astype(float)).max() / np.abs(exact.astype(float)).max()
        assert error <= 100 * float(np.finfo(DTYPES[dtype]).eps)  # some hundred roundings, of random sign


@pytest.mark.parametrize("width", [2, 8])
def test_blocks_of_narrow_vectors(width: int) -> None:
    """A vector that is less than a line of a cache waits for others, however large the result is."""
    program = record(lambda x: [x[0] * x[1], x[1] + 2, x[0] * x[1], x[0]], x=(2,))
    x = np.random.default_rng(0).normal(size=(4 * width, 2))
    out = np.full(3 * len(x) + 16, np.nan)
    out = out[-out.ctypes.data % 64 // 8 :][: 3 * len(x)]
    text = to_lane_blocks(program, Lanes("f64", width), is_large=True)
    assert ("%results = alloca" in text) == (width == 2)
    machine_code.entry(machine_code.Loaded(machine_code.compile_text(text)), "kernel", 1)(
        0, len(x), x.ctypes.data, 2, out.ctypes.data
    )
    found = np.moveaxis(out.reshape(-1, 3, width), 1, 2).reshape(-1, 3)
    np.testing.assert_array_equal(found, np.stack([x[:, 0] * x[:, 1], x[:, 1] + 2, x[:, 0]], axis=1))


@pytest.mark.parametrize("longest", [0, 1_000_000])
def test_what_is_stored_past_the_caches_is_there_at_the_end(longest: int, monkeypatch: pytest.MonkeyPatch):
    """Other threads see such stores only after a fence."""
    monkeypatch.setattr(Printer, "longest", longest)
    program, lanes = record(lambda x: [x[k % 2] * k for k in range(600)], x=(2,)), Lanes("f64", 8)
    blocks = [to_lane_blocks(program, lanes, is_large=is_large) for is_large in (False, True)]
    for text in (to_llvm(program, lanes), *blocks):
        assert "!nontemporal" in text
        assert re.search(r"fence seq_cst\s+ret void\s+}\s*$", text)


def test_stacks_begin_where_pages_do(monkeypatch: pytest.MonkeyPatch):
    """How fast code is must not depend on where the caller's stack ends."""
    program, lanes = record(lambda x: [x[0] + x[1], x[1]], x=(2,)), Lanes("f64", 4)
    texts = [to_llvm(program, lanes), to_lane_blocks(program, lanes)]
    texts.append(to_loop(program, lanes, Feedback(2, (), frozenset())))
    monkeypatch.setattr(Printer, "longest", 0)
    texts += [to_llvm(program, lanes), to_lane_blocks(program, lanes)]
    for text in texts:
        first = next(line for line in text.splitlines() if " = alloca " in line)
        assert first.endswith(f"align {PAGE}")
