"""Machine code in this process: LLVM text to object code, object code to a function that can be called."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

from .object_file import stands_alone

llvm: Any = llvmlite.binding  # which has no types

_LOCK = threading.RLock()
"""LLVM compiles, loads and disposes for one thread at a time. A fork waits for it, so that no process inherits half a
work, nor a lock of llvmlite's that nobody is left to open: llvmlite is called under this lock only."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)

_OUTSIDE = re.compile(r"^declare [^@]*(@(?!llvm\.(?!mem))[^(]*\()", re.MULTILINE)
"""Functions from outside that a text declares: of C, or to copy memory."""

LEVEL, LEVEL_OF_LONG, LONG = 2, 1, 1_500_000
"""How hard LLVM works on code, from 0 (a quarter of the time, for slower code) to 3; and on texts of so many characters
and more, which take seconds, and are no faster for more work."""

_engines: dict[int, Any] = {}
"""The engines of the code in memory, by number. Nothing else refers to them, so that no collector finalizes one: it
would do so without the lock, and a second time."""

_disused: list[int] = []
"""Engines to close when the lock is free. Lists change in one step, so that finalizers need no lock."""


@contextlib.contextmanager
def _llvm() -> Generator[None]:
    """The right to call llvmlite. What it gives must not be left to die after it: work in a function of its own."""
    with _LOCK:
        try:
            yield
        finally:
            _dispose()


def _dispose() -> None:
    """Gives the memory of disused engines back; under the lock."""
    while _disused:
        with contextlib.suppress(IndexError):  # a finalizer that ran meanwhile was faster
            _engines.pop(_disused.pop()).close()


@dataclass(frozen=True)
class Host:
    """The processor that code is made for, and the bits of its vector registers."""

    cpu: str
    features: str
    vector_bits: int
    llvm: str
    near: bool
    """Whether code may have its constants near it, where it reaches for nothing else (`object_file`)"""

    def lanes(self, dtype: str) -> int:
        """How many numbers of this type one vector holds."""
        return max(1, self.vector_bits // (64 if dtype == "f64" else 32))


@cache
def host() -> Host:
    """This machine."""
    with _llvm():
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features, cpu = llvm.get_host_cpu_features(), llvm.get_host_cpu_name()
        triple = llvm.get_default_triple()
    bits = 512 if features.get("avx512f") else 256 if features.get("avx") else 128
    version = ".".join(map(str, llvm.llvm_version_info))
    near = triple.startswith("x86_64-") and sys.platform == "linux"
    return Host(cpu, features.flatten(), bits, version, near)


def _machine(level: int, *, near: bool) -> Any:
    """What compiles code whose constants lie near it, or may lie anywhere."""
    h = host()
    target = llvm.Target.from_default_triple()
    where = {"codemodel": "small", "reloc": "pic"} if near else {}
    return target.create_target_machine(cpu=h.cpu, features=h.features, opt=level, jit=True, **where)


def compile_text(text: str, *, simplify: bool = False) -> bytes:
    """Object code of LLVM text. Where it is simplified already, only instructions are chosen here."""
    level = LEVEL if len(text) < LONG else min(LEVEL, LEVEL_OF_LONG)
    with _llvm():
        if host().near and not _calls_others(text):
            code = _compiled(text, level, simplify, near=True)
            if stands_alone(code):
                return code
        return _compiled(text, level, simplify, near=False)


def _calls_others(text: str) -> bool:
    """Whether a text calls functions of C, or copies memory."""
    return any(text.count(name) > 1 for name in _OUTSIDE.findall(text))


def _compiled(text: str, level: int, simplify: bool, near: bool) -> bytes:
    module = machine = None
    try:
        machine = _machine(level, near=near)
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        if simplify:
            _simplify(module, machine)
        return machine.emit_object(module)
    finally:
        del module, machine  # an error would carry them out of here


def _simplify(module: Any, machine: Any) -> None:
    """Variables to registers, calls in place. Loops here are short: over vectors they take longer, and to compile."""
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_interleaving = options.loop_unrolling = False
    options.inlining_threshold = 100
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def add_symbol(name: str, address: int) -> None:
    """Tells code that is loaded from now on where a function is."""
    with _llvm():
        llvm.add_symbol(name, address)


class Loaded:
    """Object code in memory, for as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        self._number: int | None = None
        with _llvm():
            engine = _loaded(code)
            self._number = id(engine)
            _engines[self._number] = engine
            del engine

    def address(self, name: str) -> int:
        """Where a function begins."""
        with _llvm():
            assert self._number is not None
            return _engines[self._number].get_function_address(name)

    def __del__(self, disused: list[int] = _disused, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._number is None:
            return
        disused.append(self._number)
        if not is_ending() and _LOCK.acquire(blocking=False):  # else whoever has it will see to the engine
            try:
                _dispose()
            finally:
                _LOCK.release()


def _loaded(code: bytes) -> Any:
    near = stands_alone(code)
    together = {"use_lmm": True} if near else {}  # the manager that puts all of it in one block of memory
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(2, near=near), **together)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def entry(loaded: Loaded, name: str, arguments: int) -> Callable[..., None]:
    """The kernel as a Python callable: start, end, (pointer, stride) per argument, output. Runs without the GIL."""
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * arguments, ctypes.c_void_p
    )
    call: Any = kind(loaded.address(name))
    call.keeps = loaded
    return call
