"""Routines: Python over arrays that is compiled as it stands, and called with arrays that stay where they are."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.kernels.compile_notice import CompileNotice
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import disk_cache
from knuckle.engine.native import machine_code as native

from .to_llvm import (
    CODE,
    CODES,
    REAL,
    REALS,
    RECORD,
    TRUTH,
    WHOLE,
    WHOLES,
    Source,
    fields_of,
    module_text,
)

KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Routine:
    """A function over numbers and arrays of one axis, all of it in a language that is compiled (`to_llvm`).

    It does the same as plain Python, which is what runs where nothing is to be compiled. `bind` gives a call without
    arguments, for arrays that stay where they are.
    """

    def __init__(self, python: Callable[..., Any]) -> None:
        functools.update_wrapper(self, python)
        self.python = python

    def __call__(self, *args: Any) -> Any:
        return self.bind(*args)()

    def bind(self, *args: Any) -> BoundRoutine:
        """A call with these arguments. Arrays are held, and read and written where they are."""
        return BoundRoutine(self, args)

    @functools.cached_property
    def source(self) -> Source:
        return Source.of(self.python)

    @functools.cached_property
    def text(self) -> str:
        """The LLVM text, before anything is simplified."""
        return module_text(self.source, lambda x: x.source if isinstance(x, Routine) else None)

    @property
    def _identity(self) -> tuple[str, ...]:
        """What tells it from others in any process: those of the library go by name, as its texts do."""
        if self.python.__module__.startswith("knuckle."):
            return disk_cache.library_hash(), self.python.__module__, self.python.__qualname__
        return (self.text,)

    @functools.cached_property
    def code(self) -> Any:
        """The compiled code in memory: from this process, the disk, or new."""
        name = disk_cache.key("routine", native.host(), *self._identity)
        kept = disk_cache.read(name)
        if kept is None:
            about = {"function": self.python.__name__, "model": "any", "dtype": "f64", "shape": []}
            with CompileNotice(self.python.__name__):
                object_code = native.compile_text(self.text, simplify=True)
            disk_cache.write(name, about, object_code)
        else:
            object_code = kept[1]
        loaded = native.Loaded(object_code)
        call: Any = KIND(loaded.address("entry"))
        call.keeps = loaded
        return call


class BoundRoutine:
    """A routine with its arguments. Where nothing is to be compiled, or a text has no code, it is the Python itself."""

    def __init__(self, routine: Routine, args: tuple[Any, ...]) -> None:
        self._routine, self._args, self._keeps = routine, args, list[Any]()
        declared = routine.source.arguments
        if len(args) != len(declared):
            raise TypeError(f"{routine.python.__name__} takes {len(declared)} arguments, not {len(args)}")
        self._is_plain = kernels.policy == "never"
        self._table = self._words([(name, kind, x) for (name, kind), x in zip(declared, args, strict=True)])
        self._result = np.zeros(1)
        self._read: Any = None
        dtype = {REAL: np.float64, WHOLE: np.int64, TRUTH: np.bool_}.get(routine.source.result)
        if dtype is not None:
            self._read = functools.partial(self._result.view(dtype).item, 0)
        self._places = self._table.ctypes.data, self._result.ctypes.data

    def __call__(self) -> Any:
        if self._is_plain:
            return self._routine.python(*self._args)
        self._routine.code(*self._places)
        return None if self._read is None else self._read()

    def _words(self, arguments: list[tuple[str, str, Any]]) -> NDArray[np.int64]:
        """Arguments, or fields of a record, as a table of words."""
        table = np.zeros(max(1, len(arguments)), np.int64)
        for k, (name, kind, x) in enumerate(arguments):
            table[k] = self._word(name, kind, x)
        self._keeps.append(table)
        return table

    def _word(self, name: str, kind: str, x: Any) -> int:
        if kind in (REALS, WHOLES):
            dtype = np.float64 if kind == REALS else np.int64
            if not isinstance(x, np.ndarray) or x.dtype != dtype or x.ndim != 1 or not x.flags.carray:
                where = f"{self._routine.python.__name__}: {name}"
                raise TypeError(f"{where} is an array of {np.dtype(dtype)} with one axis, in order, not {x!r}")
            return x.__array_interface__["data"][0]
        if kind == CODE:
            self._is_plain |= not x.address
            return int(x.address)
        if kind == CODES:
            return int(self._words([(name, CODE, code) for code in x]).ctypes.data)
        if kind.startswith(RECORD):
            fields = fields_of(type(x))
            return int(self._words([(f"{name}.{f}", fields[f], getattr(x, f)) for f in fields]).ctypes.data)
        return struct.unpack("<q", struct.pack("<d", x))[0] if kind == REAL else int(x)


def routine(python: Callable[..., Any]) -> Routine:
    """Makes a routine of a Python function."""
    return Routine(python)
