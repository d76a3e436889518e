"""Machine code in this process: LLVM text to object code, object code to a function that can be called."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

llvm: Any = llvmlite.binding  # which has no types

_LOCK = threading.RLock()
"""LLVM compiles and loads for one thread at a time. A fork waits for it, so that no process inherits half a work."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


@dataclass(frozen=True)
class Host:
    """The processor that code is made for, and the bits of its vector registers."""

    cpu: str
    features: str
    vector_bits: int
    llvm: str

    def lanes(self, dtype: str) -> int:
        """How many numbers of this type one vector holds."""
        return max(1, self.vector_bits // (64 if dtype == "f64" else 32))


@cache
def host() -> Host:
    """This machine."""
    with _LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = llvm.get_host_cpu_features()
    bits = 512 if features.get("avx512f") else 256 if features.get("avx") else 128
    version = ".".join(map(str, llvm.llvm_version_info))
    return Host(llvm.get_host_cpu_name(), features.flatten(), bits, version)


def _machine(level: int) -> Any:
    h = host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=h.cpu, features=h.features, opt=level, jit=True)


def compile_text(text: str, level: int = 2) -> bytes:
    """Object code of LLVM text. The text is simplified already: only instructions are chosen here."""
    with _LOCK:
        machine = _machine(level)
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        return machine.emit_object(module)


class Loaded:
    """Object code in memory, for as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        with _LOCK:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(2))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function begins."""
        return self._engine.get_function_address(name)


def entry(loaded: Loaded, name: str, arguments: int) -> Callable[..., None]:
    """The kernel as a Python callable: start, end, (pointer, stride) per argument, output. Runs without the GIL."""
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * arguments, ctypes.c_void_p
    )
    call: Any = kind(loaded.address(name))
    call.keeps = loaded
    return call
