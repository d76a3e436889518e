"""The C printer: strict C99 that agrees with the reference."""

import ctypes
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit import c_code as printer
from knuckle.engine.emit import to_c
from knuckle.engine.emit.c_code import TYPES
from knuckle.scalar import cos, less, select, sin

from .compiled import DTYPES, C, record

MODEL = kn.testing.general_chain(4)
FUNCTIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "inverse dynamics": (kn.inverse_dynamics, ("q", "v", "a")),
    "forward dynamics": (kn.forward_dynamics, ("q", "v", "tau")),
    "mass matrix": (kn.mass_matrix, ("q",)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dynamics_agree_with_the_reference(name: str, dtype: str, tmp_path: Path):
    function, arguments = FUNCTIONS[name]
    program = record(lambda **s: function.reference(MODEL, **s), **{n: (4,) for n in arguments})
    compiled, rng = C(program, tmp_path, dtype), np.random.default_rng(7)
    condition = np.linalg.cond(kn.mass_matrix(MODEL, np.zeros(4))) if function is kn.forward_dynamics else 1.0
    for _ in range(5):
        state = [rng.uniform(-1, 1, 4).astype(DTYPES[dtype]) for _ in arguments]
        exact = np.asarray(function(MODEL, *(x.astype(float) for x in state)), float).ravel()
        error = np.abs(compiled(*state) - exact).max() / np.abs(exact).max()
        assert error <= 100 * condition * float(np.finfo(DTYPES[dtype]).eps)  # some hundred roundings


def test_the_text_is_what_it_says():
    text = to_c(record(lambda q, v: [q[0] * v[1] + 0.5], q=(2,), v=(2,)), "torque", about="a product */ of two")
    assert "void torque(const double *q, const double *v, double *out)" in text
    assert re.search(r"q\[2\]\n.*v\[2\]\n.*out\[1\]", text)
    assert text.count("*/") == 1
    assert "0x1p-1" in text
    assert "1 multiplications, 1 additions" in text
    assert text.isascii()
    assert re.findall("#.*", text) == ["#include <math.h>"]


def test_sine_and_cosine_are_called_once_each():
    text = to_c(record(lambda q: [sin(q[0]), cos(q[0]), sin(q[0]) * cos(-q[0]), sin(-q[0])], q=(1,)))
    assert len(re.findall(r"\bsin\(", text)) == 1
    assert len(re.findall(r"\bcos\(", text)) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_literals_are_exact(dtype: str, tmp_path: Path):
    numbers = [
        0.1, -1 / 3, 1.0, 0.0, 5e-324, -1.7976931348623157e308, 1e-300, 2.0**60, math.pi, 1e-45, 3.4e38, math.inf,
        -math.inf, math.nan,
    ]  # fmt: skip
    out = C(record(lambda: numbers), tmp_path, dtype)()
    with np.errstate(over="ignore"):
        assert np.array_equal(out, np.array(numbers).astype(DTYPES[dtype]), equal_nan=True)


def test_negative_constants_in_every_place(tmp_path: Path):
    def text(x: Any) -> list[Any]:
        return [
            x[0] - (-2.0),
            -3.0 - x[0],
            x[0] / x[1] * -2.5,
            -x[0],
            -(x[0] * -0.5),
            select(less(x[0], -1.0), -1.0, x[1]),
        ]

    program = record(text, x=(2,))
    assert C(program, tmp_path)([-2.0, 4.0]).tolist() == program.evaluate([-2.0, 4.0])


@pytest.mark.parametrize("name", ["", "2x", "a b", "while", "sin", "a-b", "é"])
def test_a_name_that_is_none_in_c_is_refused(name: str):
    with pytest.raises(ValueError, match="cannot be the name of a C function"):
        to_c(record(lambda x: [x[0]], x=(1,)), name)


def test_a_dtype_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'float64'"):
        to_c(record(lambda x: [x[0]], x=(1,)), dtype="float64")


def test_arguments_with_names_that_c_uses(tmp_path: Path):
    """Python allows names that are words of C, of the printer, or not ASCII."""
    names = ["double", "out", "t0", "work", "sin", "τ", "kernel_", "t", "α"]
    program = record(lambda **s: [sin(s["double"][0]) + sum(s[n][0] for n in names[1:])], **{n: (1,) for n in names})
    values = [[0.25 * k] for k in range(len(names))]
    out = C(program, tmp_path)(*values)
    assert abs(out[0] - (math.sin(0) + sum(v[0] for v in values[1:]))) <= 1e-15 * 9


def test_programs_of_unusual_form(tmp_path: Path):
    """No arguments, unused arguments, no outputs: all without a warning."""
    assert C(record(lambda: [1.5, 1.5, 0.0]), tmp_path)().tolist() == [1.5, 1.5, 0.0]
    for folder, program in (
        ("unused", record(lambda x, y: [y[1]], x=(3,), y=(2,))),
        ("empty", record(lambda x: [], x=(3,))),
    ):
        (tmp_path / folder).mkdir()
        compiled = C(program, tmp_path / folder)
        arguments = [np.arange(float(size)) for _, size in program.arguments]
        assert compiled(*arguments).tolist() == ([1.0] if folder == "unused" else [])


def test_the_result_may_go_where_an_argument_was(tmp_path: Path):
    compiled = C(record(lambda x: [x[1], x[2], x[0]], x=(3,)), tmp_path)
    x = np.array([1.0, 2.0, 3.0])
    compiled._entry(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(x.ctypes.data))
    assert x.tolist() == [2.0, 3.0, 1.0]


@pytest.mark.sampled
@pytest.mark.parametrize("longest", [1, 7, 150])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_long_program_in_parts_is_the_same(longest: int, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Values, conditions and outputs that cross from part to part."""

    def text(x: Any, y: Any) -> list[Any]:
        small, total, kept = less(x[0], x[1]), x[0], []
        for k in range(60):
            total = sin(total) * x[k % 3] + y[k % 2] * 0.5
            kept.append(select(small, total, x[2]))
        return [total, *kept, 0.25, x[1]]

    program = record(text, x=(3,), y=(2,))
    whole = C(program, tmp_path, dtype)
    monkeypatch.setattr(printer, "LONGEST", longest)
    (tmp_path / "parts").mkdir()
    parts = C(program, tmp_path / "parts", dtype)
    assert parts.text.count("static void") == -(-sum(node.op != "constant" for node in program.nodes) // longest)
    for x, y in (([0.1, 0.7, -0.3], [1.0, 2.0]), ([0.9, -0.7, 0.3], [-1.0, 0.5])):
        assert np.array_equal(parts(x, y), whole(x, y))


def test_types_are_those_of_the_printers():
    assert set(TYPES) == set(DTYPES)
