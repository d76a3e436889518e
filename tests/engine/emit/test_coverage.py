"""One function that holds every operation goes through every printer, also where numbers end."""

import ctypes
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle.engine.emit.llvm.node_printer import BINARY, Printer
from knuckle.engine.emit.llvm.single_state import to_one_state
from knuckle.engine.emit.llvm.vector_lanes import Lanes
from knuckle.engine.native import machine_code
from knuckle.engine.native.rolled_code import compile_rolled, rolled_entry
from knuckle.engine.trace import OPERATIONS
from knuckle.engine.trace.regions import trace_rolled
from knuckle.scalar import (
    absolute,
    arctan2,
    cos,
    cosh,
    exp,
    floor,
    less,
    log,
    maximum,
    minimum,
    select,
    sin,
    sinh,
    sqrt,
    tanh,
)
from knuckle.testing import auto_tree

from .compiled import DTYPES, C, Vectors, record


def every_operation(x: Any, y: Any) -> list[Any]:
    """Each operation alone, then some of them together."""
    a, b = x[0], y[0]
    alone = [
        a + b, a - b, a * b, a / b, -a, sqrt(a), sin(a), cos(a), arctan2(a, b), exp(a), log(a), tanh(a),
        absolute(a), minimum(a, b), maximum(a, b), select(less(a, b), a, b), select(less(b, a), 2.0, b),
        select(a <= b, a, b), select(a == b, 2.0, 3.0), select(a != b, 2.0, 3.0), select(a >= b, 2.0, 3.0),
        sinh(a), cosh(a), floor(a),
    ]  # fmt: skip
    together = [
        minimum(a, 0.25) * maximum(b, -0.25) + absolute(a - b),
        select(less(sqrt(a), b), sin(a) * cos(b), arctan2(a * b, 1.5)) / (a * a + 1.0),
        select(less(a, a * 3.0 - b), 1.0, 0.0),
    ]
    return [*alone, *together, 0.125, x[0]]


PROGRAM = record(every_operation, x=(1,), y=(1,))
SPECIAL = (-math.inf, -2.5, -1.0, -0.0, 0.0, 1e-3, 1.0, 3.5, math.inf, math.nan)
STATES = [*itertools.product(SPECIAL, SPECIAL), *np.random.default_rng(0).normal(size=(40, 2)).tolist()]


def expected(dtype: str) -> np.ndarray:
    rounded = np.array(STATES, DTYPES[dtype]).astype(float)
    return np.array([PROGRAM.evaluate(state) for state in rounded.tolist()])


def agree(computed: np.ndarray, dtype: str) -> None:
    """The same NaNs and infinities, the same numbers to a few roundings; scaled by 3.5² where terms may cancel."""
    wanted, eps = expected(dtype), float(np.finfo(DTYPES[dtype]).eps)
    for (x, y), got, want in zip(STATES, computed.astype(float), wanted, strict=True):
        finite = np.isfinite(want)
        assert np.array_equal(got[~finite], want[~finite], equal_nan=True), (x, y, got, want)
        assert np.all(np.abs(got[finite] - want[finite]) <= 4 * eps * np.maximum(np.abs(want[finite]), 1)), (x, y)


def test_the_function_holds_every_operation():
    assert {node.op for node in PROGRAM.nodes} == {*OPERATIONS, "input", "constant"}


def test_every_printer_has_every_operation():
    in_llvm = {*BINARY, *Printer.OTHERS}
    assert in_llvm <= set(OPERATIONS)
    assert all(operation.library for name, operation in OPERATIONS.items() if name not in in_llvm)
    assert all(operation.c or operation.library for operation in OPERATIONS.values())


def test_the_evaluator_ends_numbers_as_ieee_does():
    def at(x: float, y: float) -> dict[str, float]:
        names = (
            "+",
            "-",
            "*",
            "/",
            "neg",
            "sqrt",
            "sin",
            "cos",
            "arctan2",
            "exp",
            "log",
            "tanh",
            "abs",
            "min",
            "max",
            "select",
        )
        return dict(zip(names, PROGRAM.evaluate([x, y]), strict=False))

    assert at(1.0, 0.0)["/"] == math.inf
    assert at(1.0, -0.0)["/"] == -math.inf
    assert math.isnan(at(0.0, 0.0)["/"])
    assert math.isnan(at(-2.5, 1.0)["sqrt"])
    assert math.isnan(at(math.inf, 1.0)["sin"])
    for pair in ((math.nan, 1.0), (1.0, math.nan)):
        assert math.isnan(at(*pair)["min"])
        assert math.isnan(at(*pair)["max"])
    assert at(math.nan, 1.0)["select"] == 1.0, "nothing is less than NaN, and NaN than nothing"
    assert at(-math.inf, math.inf)["min"] == -math.inf


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("dtype", DTYPES)
def test_llvm(dtype: str, width: int):
    x, y = np.array(STATES).T[:, :, None]
    out = Vectors(PROGRAM, dtype, width)(x, y)
    agree(out, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rolled(dtype: str):
    """In a loop over bodies, printed once."""
    x, y = np.array(STATES, DTYPES[dtype]).T[:, :, None].copy()

    def text(model: Any, x: Any, y: Any) -> list[Any]:
        return [z for i, *_ in model.outward() for z in every_operation([x[0] + i], y)]

    bodies, n = 9, len(PROGRAM.outputs)
    program = trace_rolled(text, auto_tree(bodies), {"x": (1,), "y": (1,)}, lambda r: (r, (len(r),)))
    lanes = Lanes(dtype, 4)
    description, payload = compile_rolled(program, lanes)
    out = np.empty((len(STATES), bodies * n), DTYPES[dtype])
    entry = rolled_entry(description, payload, lanes, 2)
    entry(0, len(STATES), x.ctypes.data, 1, y.ctypes.data, 1, out.ctypes.data)
    agree(out[:, :n], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_c(dtype: str, tmp_path: Path):
    compiled = C(PROGRAM, tmp_path, dtype)
    agree(np.array([compiled([x], [y]) for x, y in STATES]), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_state(dtype: str):
    loaded = machine_code.Loaded(machine_code.compile_text(to_one_state(PROGRAM, Lanes(dtype, 4))))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("one_state"))
    rows = []
    for state in STATES:
        numbers, out = np.array(state, DTYPES[dtype]), np.empty(len(PROGRAM.outputs), DTYPES[dtype])
        size = numbers.itemsize
        places = (ctypes.c_void_p * 2)(numbers.ctypes.data, numbers.ctypes.data + size)
        call(ctypes.addressof(places), out.ctypes.data)
        rows.append(out)
    agree(np.array(rows), dtype)
