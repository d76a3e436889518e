"""Code that reaches for nothing outside itself lies together with its constants; other code may lie anywhere."""

from __future__ import annotations

import ctypes
import math

import pytest

from knuckle.engine.native import machine_code
from knuckle.engine.native.object_file import stands_alone

ALONE = """
define internal double @third(double %x) noinline {
  %y = fmul double %x, 0x3FD5555555555555
  ret double %y
}

define double @f(double %x) {
  %y = call double @third(double %x)
  %z = fadd double %y, 2.5
  ret double %z
}
"""
OUTSIDE = {
    "a function of C": """
declare double @exp(double)
define double @f(double %x) {
  %y = call double @exp(double %x)
  ret double %y
}
""",
    "a variable that others may see": """
@table = global [2 x double] [double 1.25, double 2.5]
define double @f(double %x) {
  %y = load double, ptr getelementptr (double, ptr @table, i64 1)
  %z = fadd double %x, %y
  ret double %z
}
""",
    "a copy of memory": """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define double @f(double %x) {
  %from = alloca [900 x double]
  %to = alloca [900 x double]
  %last = getelementptr double, ptr %from, i64 899
  %copied = getelementptr double, ptr %to, i64 899
  store volatile double %x, ptr %last
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 7200, i1 true)
  %y = load volatile double, ptr %copied
  ret double %y
}
""",
}
EXPECTED = {
    "a function of C": math.exp(0.5),
    "a variable that others may see": 3.0,
    "a copy of memory": 0.5,
}

near = pytest.mark.skipif(not machine_code.host().near, reason="another system")


def called(code: bytes, x: float) -> float:
    loaded = machine_code.Loaded(code)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(loaded.address("f"))(x)


@near
def test_code_alone() -> None:
    code = machine_code.compile_text(ALONE)
    assert stands_alone(code)
    assert called(code, 0.75) == 2.75


@pytest.mark.parametrize("what", OUTSIDE)
def test_code_that_needs_others(what: str) -> None:
    code = machine_code.compile_text(OUTSIDE[what])
    assert not stands_alone(code) or what == "a variable that others may see"  # far code has its address in full
    assert called(code, 0.5) == EXPECTED[what]


@near
def test_what_is_found_only_in_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the text does not say so, the object code does."""
    text = OUTSIDE["a variable that others may see"]
    assert not machine_code._calls_others(text)
    tried: list[bool] = []
    compiled = machine_code._compiled
    monkeypatch.setattr(machine_code, "_compiled", lambda *args, near: tried.append(near) or compiled(*args, near=near))
    machine_code.compile_text(text)
    assert tried == [True, False]


def test_other_files() -> None:
    assert not stands_alone(b"")
    assert not stands_alone(b"MZ" + bytes(200))
    assert not stands_alone(b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\x00" + bytes(44))  # of another processor
