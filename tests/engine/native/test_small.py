"""The entry from Python: where there is one, and what it refuses; and the code for one state."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from typing import Any

import numpy as np
import pytest

from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.engine.arrays.result_layout import Single
from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm.python_calls.call_form import Offsets
from knuckle.engine.emit.llvm.single_state import to_one_state
from knuckle.engine.native import fast_call, machine_code, python_abi
from knuckle.engine.native.fast_call import ArrayInput, FastCall, Form, Option
from knuckle.engine.trace import Program, trace
from knuckle.scalar import absolute, arctan2, cos, less, maximum, minimum, select, sin, sqrt

HAS_GATE = (
    sys.implementation.name == "cpython" and sys.platform == "linux" and not sysconfig.get_config_var("Py_GIL_DISABLED")
)


@pytest.mark.skipif(not HAS_GATE, reason="another interpreter")
def test_there_is_an_entry() -> None:
    assert python_abi.python_abi() is not None


@pytest.mark.skipif(not HAS_GATE, reason="another interpreter")
@pytest.mark.parametrize("header", [8, 24, 32])
def test_another_layout_is_refused(header: int) -> None:
    assert python_abi._is_laid_out(Offsets.after(object.__basicsize__))
    assert not python_abi._is_laid_out(Offsets.after(header))


@pytest.mark.skipif(not HAS_GATE, reason="another interpreter")
@pytest.mark.parametrize("place", [(python_abi, "_python"), (python_abi, "_loaded"), (fast_call, "works")])
def test_where_something_fails_there_is_no_entry(place: tuple[Any, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> Any:
        raise OSError("not here")

    monkeypatch.setattr(*place, fails)
    assert python_abi._python_abi.__wrapped__() is None


def _everything(x: Any) -> Any:
    """Angles known at the start, angles that need other angles, and every other operation."""
    early = [sin(x[k] * (k + 1)) for k in range(11)] + [cos(x[0] - x[1])]
    late = sin(early[3] * 3 + cos(x[4])) / (2 + cos(sin(early[0])))
    other = select(less(x[2], x[3]), sqrt(x[5] * x[5] + 1), -x[6]) + arctan2(x[7], x[8])
    return [*early, late, other, absolute(late), minimum(x[0], x[1]), maximum(x[0], x[1]), 3.0, x[9]]


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_one_state_printer(dtype: str, width: int) -> None:
    program: Program = trace(_everything, {"x": (11,)}, lambda r: (scalars_of(r), shape_of(r)))
    loaded = machine_code.Loaded(machine_code.compile_text(to_one_state(program, Lanes(dtype, width))))
    code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("one_state"))
    kind, eps = (np.float64, 2.3e-16) if dtype == "f64" else (np.float32, 1.2e-7)
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=11).astype(kind)
        out = np.full(len(program.outputs) + 1, 99, kind)
        inputs = (ctypes.c_void_p * 1)(x.ctypes.data)
        code(inputs, out.ctypes.data)
        assert np.allclose(out[:-1], program.evaluate(x.astype(float)), rtol=50 * eps, atol=50 * eps)
        assert out[-1] == 99


@pytest.mark.skipif(not HAS_GATE, reason="another interpreter")
def test_the_form_of_the_last_call_is_no_shortcut_past_the_others() -> None:
    """Calls of several forms in turn, and after a form has gone: each gets what its own form gives."""
    abi = python_abi.python_abi()
    assert abi is not None
    elsewhere = object()
    fast = FastCall(abi, "trial", "", lambda *args, **names: elsewhere, always=True)
    x, y = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    pair = ArrayInput(0, (2,)), ArrayInput(1, (2,))
    two, wide, number = Form(pair, [], x.dtype), Form([*pair, Option("wide")], [], x.dtype), Form(
        [*pair, Option(7)], [], x.dtype
    )  # fmt: skip
    for form in (two, wide):
        form.lead_to(Single((2,)), one=abi.loaded.address("trial"), batch=abi.loaded.address("trial_batch"))
    number.lead_to(Single(()), one=abi.loaded.address("trial_number"))
    for form in (two, wide, number):
        fast.add(form)
    calls = {"two": (x, y), "wide": (x, y, "wide"), "number": (x, y, 7), "batch": (np.stack([x, y]), y)}
    expected = {"two": [11.0, 22.0], "wide": [11.0, 22.0], "number": 11.0, "batch": [[11.0, 22.0], [20.0, 40.0]]}
    for first in calls:
        for then in calls:
            assert fast.call(*calls[first]).tolist() == expected[first]
            assert fast.call(*calls[then]).tolist() == expected[then]
    assert fast.call(x, y).tolist() == expected["two"]
    fast.remove(two)
    assert fast.call(x, y) is elsewhere
    wide.close()
    assert fast.call(x, y, "wide") is elsewhere
