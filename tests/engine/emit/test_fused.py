"""Products fused with sums, and that all code of a program has the same digits, however it is cut and compiled."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from knuckle.engine.emit import Lanes
from knuckle.engine.emit.fused_products import fused_products
from knuckle.engine.emit.llvm.node_printer import Printer
from knuckle.engine.emit.llvm.single_state import SideBySide, to_one_state
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Program
from knuckle.scalar import cos, sin
from knuckle.spatial import Vector

from .compiled import Vectors, record


def sums(x: Any) -> Any:
    """Sums of products of many kinds: taken once, several times, given, with signs, and angles among them."""
    shared = x[0] * x[1]
    total = [shared, shared + x[2] * x[3], x[0] * x[2] - x[1] * x[3], x[1] - x[2] * x[2], x[3] * x[3] - x[0]]
    for k in range(60):
        a, b, c = total[-1], total[-2], total[-3]
        total.append((a * b - x[k % 4] * c) / (2 + a * a) + sin(0.5 + x[k % 3] * x[3]) * c - 0.25 * b * cos(b - shared))
    return Vector(total)


def single(program: Program, states: Any) -> Any:
    """The results of code for one state."""
    loaded = machine_code.Loaded(machine_code.compile_text(to_one_state(program, Lanes("f64", 8))))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("one_state"))
    results = np.empty((len(states), len(program.outputs)))
    for x, out in zip(states, results, strict=True):
        place = ctypes.c_void_p(x.ctypes.data)
        call(ctypes.addressof(place), out.ctypes.data)
    return results


@pytest.fixture(scope="module")
def states() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=(24, 4))


def test_digits_do_not_depend_on_how_code_is_made(states: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut anywhere or nowhere, for any number of states at a time, by any effort of LLVM's."""
    program = record(sums, x=(4,))
    assert len(fused_products(program)) > 50
    results = list[Any]()
    for segment, longest, level in itertools.product((1, 7, 400), (0, 10**9), (0, 2)):
        monkeypatch.setattr(machine_code, "LEVEL", level)
        for printer in (Printer, SideBySide):
            monkeypatch.setattr(printer, "segment", segment)
            monkeypatch.setattr(printer, "longest", longest)
        results += [Vectors(program, width=width)(states) for width in (2, 8)]
        results.append(single(program, states))
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])


@pytest.mark.skipif(not machine_code.host().near, reason="another system")
def test_digits_do_not_depend_on_where_constants_lie(states: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program, host = record(sums, x=(4,)), machine_code.host()
    near = single(program, states)
    monkeypatch.setattr(machine_code, "host", lambda: replace(host, near=False))
    assert np.array_equal(single(program, states), near)


def test_a_product_that_others_take_is_rounded() -> None:
    def text(x: Any) -> Any:
        shared, given, alone = x[0] * x[1], x[1] * x[2], x[0] * x[3]
        return Vector([shared + x[2], shared - x[3], given, given + x[0], alone + x[1], x[2] * x[2] + x[3] * x[3]])

    program = record(text, x=(4,))
    fused = {tuple(program.nodes[k] for k in pair) for pair in fused_products(program).items()}
    assert len(fused) == 2
    for total, product in fused:
        assert product.op == "mul"
        assert program.nodes[total.a] == product or program.nodes[total.b] == product


def test_angles_keep_both_parts() -> None:
    """A sine of c + k x knows what rounding took of the sum."""
    assert not fused_products(record(lambda x: Vector([sin(0.5 + 3.0 * x[0])]), x=(1,)))


@pytest.mark.skipif("+fma" not in machine_code.host().features, reason="a processor without fused operations")
def test_sums_are_rounded_once(states: Any) -> None:
    once = record(lambda x: Vector([x[0] * x[1] + x[2], x[0] * x[2] - x[3], x[3] - x[1] * x[2]]), x=(4,))
    for x, found in zip(states, Vectors(once)(states), strict=True):
        a, b, c, d = map(Fraction, x.tolist())
        assert found.tolist() == [float(a * b + c), float(a * c - d), float(d - b * c)]
    twice = record(lambda x: Vector([x[0] * x[1] + x[2], x[0] * x[1] - x[3]]), x=(4,))
    for x, found in zip(states, Vectors(twice)(states), strict=True):
        assert found.tolist() == [x[0] * x[1] + x[2], x[0] * x[1] - x[3]]
