"""Large results: whole lines past the caches, the same numbers as by the ordinary way, and nothing beside them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.emit.llvm import streaming_stores
from knuckle.engine.emit.llvm.node_printer import Printer
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Program

from .compiled import DTYPES, record

MARK = 12345.0


def outputs(x: Any, size: int) -> list[Any]:
    """Numbers, zeros alone and in runs of all lengths, constants, and outputs that are there twice."""
    runs = [k for length in range(1, 60) for k in [1] * (length % 5 + 1) + [0] * length]
    kinds = (runs * 2)[:size]
    return [(x[k % 7] * (k + 1) if k % 11 else 2.5) if kind else 0.0 for k, kind in enumerate(kinds)]


def program(size: int) -> Program:
    return record(lambda x: outputs(x, size), x=(7,))


def compiled(size: int, dtype: str, width: int, monkeypatch: pytest.MonkeyPatch, least: int = 0) -> Callable[..., int]:
    """The kernel, with every result that has at least so many bytes being large."""
    monkeypatch.setattr(streaming_stores, "BYTES", least)
    text = to_llvm(program(size), Lanes(dtype, width))
    assert "!nontemporal" in text
    return machine_code.entry(machine_code.Loaded(machine_code.compile_text(text)), "kernel", 1)


def called(
    entry: Callable[..., None], x: np.ndarray, size: int, start: int, end: int, shift: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that were written, and everything else around them. They begin `shift` numbers after a line."""
    states, n = len(x), x.dtype.itemsize
    room = np.full(64 + shift + (states + 2) * size + 64, MARK, x.dtype)
    first = (-room.ctypes.data % 64) // n + 64 // n + shift
    out = room[first : first + states * size].reshape(states, size)
    assert out.ctypes.data % 64 == shift * n % 64
    entry(start, end, x.ctypes.data, x.shape[1], out.ctypes.data)
    done = out[start:end].copy()
    out[start:end] = MARK
    return done, room


def expected(x: np.ndarray, size: int) -> np.ndarray:
    return np.stack([np.broadcast_to(column, len(x)) for column in outputs(x.T, size)], axis=1)


SIZES = [128, 135, 147, *range(256, 273), 300, 511]


@pytest.mark.sampled
@pytest.mark.parametrize(("dtype", "width"), [("f64", 4), ("f64", 8), ("f32", 8), ("f32", 16)])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", ["at once", "later", "in pairs"])
def test_rows_of_every_length(way: str, size: int, dtype: str, width: int, monkeypatch: pytest.MonkeyPatch):
    """Whole blocks, blocks that are not whole, pieces of a batch, and arrays that begin within a line.

    Results of long code are written between the segments of the next states, or by two vectors after each other.
    """
    monkeypatch.setattr(streaming_stores, "LATER", 0 if way == "later" else 1_000)
    monkeypatch.setattr(Printer, "longest", 1_000_000 if way == "at once" else 0)
    monkeypatch.setattr(Printer, "segment", 5)
    text = to_llvm(program(size), Lanes(dtype, width))
    assert ("%both = alloca" in text) == (way == "later")
    assert ("%firsts = alloca" in text) == (way == "in pairs")
    entry = compiled(size, dtype, width, monkeypatch)
    block = 64 // np.gcd(64, size * np.dtype(DTYPES[dtype]).itemsize) * width
    x = np.random.default_rng(size).integers(-99, 99, (2 * block + 3, 7)).astype(DTYPES[dtype])
    right = expected(x, size)
    for start, end, shift in ((0, len(x), 0), (0, 2 * block, 0), (width, len(x), 0), (3, len(x), 0), (0, len(x), 1)):
        found, around = called(entry, x, size, start, end, shift)
        assert np.array_equal(found, right[start:end])
        assert np.all(around == MARK), "written beside the result"


def test_small_results_go_the_ordinary_way(monkeypatch: pytest.MonkeyPatch):
    """The bound is in bytes: one state fewer, and the lines stay in the caches. The numbers are the same."""
    size, states = 256, 32
    entry = compiled(size, "f64", 8, monkeypatch, least=states * size * 8)
    x = np.random.default_rng(1).normal(size=(states, 7))
    for end in (states - 1, states):
        assert np.array_equal(called(entry, x, size, 0, end)[0], expected(x, size)[:end])


def test_short_rows_and_narrow_vectors_have_one_way(monkeypatch: pytest.MonkeyPatch):
    for size, dtype, width in (
        (streaming_stores.ENTRIES - 1, "f64", 8),
        (300, "f64", 2),
        (300, "f32", 4),
        (300, "f64", 1),
    ):
        assert "!nontemporal" not in to_llvm(program(size), Lanes(dtype, width))


def test_short_rows_of_long_code_are_written_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Printer, "longest", 0)
    for size in (streaming_stores.LATER - 1, streaming_stores.LATER):
        assert ("%both = alloca" in to_llvm(program(size), Lanes("f64", 8))) == (size >= streaming_stores.LATER)


def test_phases_go_on_from_pair_to_pair(monkeypatch: pytest.MonkeyPatch):
    """If each pair began with the first phase, the same rows would be computed again and again."""
    monkeypatch.setattr(Printer, "longest", 0)
    text = to_llvm(program(streaming_stores.LATER - 1), Lanes("f64", 8))
    assert "%phase = phi i64 [%first_phase, %begin], [%phase_next, %fill]" in text
    assert "%first_phase = phi i64 [0, %entry], [%phase_next, %filled]" in text


def test_a_nan_stays_in_its_row(monkeypatch: pytest.MonkeyPatch):
    """Also where rows share lines, which are carried over."""
    size = 257
    entry = compiled(size, "f64", 8, monkeypatch)
    x = np.random.default_rng(2).normal(size=(128, 7))
    clean, _ = called(entry, x, size, 0, len(x))
    x[41] = np.nan
    found, _ = called(entry, x, size, 0, len(x))
    others = np.arange(len(x)) != 41
    assert np.array_equal(found[others], clean[others])
    made = program(size)
    assert np.array_equal(np.isnan(found[41]), [made.nodes[i].op != "constant" for i in made.outputs])


@pytest.mark.parametrize("zeros", [[], [True], [False, True, True, False, True]])
def test_runs(zeros: list[bool]):
    runs = streaming_stores.runs(zeros)
    assert len(runs) == len(zeros)
    for k, run in enumerate(runs):
        assert all(zeros[k : k + run])
        assert k + run == len(zeros) or not zeros[k + run]
