"""How CPython and NumPy lay out their objects: what an entry from Python into native code rests on.

`python_abi` compares every place with what Python itself says, and then tries the entry (`emit.llvm.python_calls`);
where anything is not as expected (another interpreter, a build without the interpreter lock, another layout) there is
no such entry, and all calls go through Python.
"""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from knuckle.engine.emit.llvm.python_calls.call_form import Offsets
from knuckle.engine.emit.llvm.python_calls.python_entry import SYMBOLS, entry_to_llvm

from . import disk_cache, machine_code

_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_NUMPY_ABI = 0x02000000
_VERSION, _NDARRAY, _SCALAR, _NEW, _BASED = 0, 2, 60, 93, 282
"""Places in NumPy's table of C functions, which this version of its interface fixes."""
_FLAGS = 0x0701
"""Flags that NumPy itself shows: in order in memory, aligned, native bytes, writeable."""

LOCK = threading.RLock()
"""Held while something is made, which is done once. A fork waits for it, so that no process inherits half a work."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class PythonABI:
    """What function objects with native code behind them are made with: the code of `enter`, and NumPy's functions."""

    loaded: machine_code.Loaded
    new: int
    based: int
    scalar: int

    def function_object(self, name: str, doc: str, own: tuple[Any, ...], of: str) -> Callable[..., Any]:
        """Python's function object for `enter`. It holds `own`, which begins with the words of a record as an array.

        `of` is what it says of itself that it belongs to: the name of the class of tuples that holds `own`.
        """
        definition = _MethodDef(name.encode(), self.loaded.address("enter"), _FASTCALL_WITH_KEYWORDS, doc.encode())
        make = _python("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        held: Any = type(of, (tuple,), {"__slots__": ()})
        return make(ctypes.addressof(definition), held((*own, self, definition)), None)


def python_abi() -> PythonABI | None:
    """What there is in this process; None where the entry does not work."""
    with LOCK:
        return _python_abi()


@cache
def _python_abi() -> PythonABI | None:
    try:
        return _tried()
    except Exception:  # whatever is unusual here, the general path does not need it
        return None


def _tried() -> PythonABI | None:
    from .fast_call import works

    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.platform not in ("linux", "darwin", "win32"):
        return None
    offsets, functions = Offsets.after(object.__basicsize__), _numpy_functions()
    if not functions or not _is_laid_out(offsets):
        return None
    abi = PythonABI(_loaded(offsets), functions[_NEW], functions[_BASED], functions[_SCALAR])
    return abi if works(abi) else None


def _numpy_functions() -> dict[int, int] | None:
    """NumPy's C functions by their place in its table, if the table is the one we know."""
    capsule: Any = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]  # pyright: ignore
    pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(capsule, None)
    table = (ctypes.c_void_p * (_BASED + 1)).from_address(pointer)
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[_VERSION] or 0)
    if table[_NDARRAY] != id(np.ndarray) or version() != _NUMPY_ABI:
        return None
    return {place: table[place] or 0 for place in (_SCALAR, _NEW, _BASED)}


def _at(kind: Any, place: int) -> Any:
    """What is in memory."""
    return kind.from_address(place).value or 0


def _is_laid_out(offsets: Offsets) -> bool:
    """Whether arrays, floats, lists and tuples have their fields where we shall look for them."""
    number, three = 1 / 3, [None] * 3
    both, references = (number, three), _at(ctypes.c_uint32, id(three))
    if (
        _at(ctypes.c_double, id(number) + offsets.data) != number
        or _at(ctypes.c_ssize_t, id(three) + offsets.length) != 3
        or _at(ctypes.c_void_p, _at(ctypes.c_void_p, id(three) + offsets.items)) != id(None)
        or _at(ctypes.c_void_p, id(both) + offsets.tuple) != id(number)
        or references != 2  # the name and the tuple
        or np.ndarray.__basicsize__ < offsets.weak + 8
        or np.ndarray.__weakrefoffset__ != offsets.weak
    ):
        return False
    examples = np.arange(6.0).reshape(2, 3), np.arange(4, dtype=np.float32)[::2], np.zeros((2, 1, 5)).T, np.ones(3)
    return all(_array_is_laid_out(array, offsets) for array in examples)


def _array_is_laid_out(array: np.ndarray[Any, Any], offsets: Offsets) -> bool:
    pointer, place = ctypes.c_void_p, id(array)
    found = (
        _at(pointer, place + offsets.type), _at(pointer, place + offsets.data), _at(ctypes.c_int, place + offsets.axes),
        _at(pointer, place + offsets.base), _at(pointer, place + offsets.dtype),
        _at(ctypes.c_int, place + offsets.flags) & _FLAGS,
    )  # fmt: skip
    base = 0 if array.base is None else id(array.base)
    if found != (id(np.ndarray), array.ctypes.data, array.ndim, base, id(array.dtype), array.flags.num & _FLAGS):
        return False
    lengths = _at(pointer, place + offsets.lengths)
    return bool(lengths) and tuple((ctypes.c_ssize_t * array.ndim).from_address(lengths)) == array.shape


def _loaded(offsets: Offsets) -> machine_code.Loaded:
    """The code of `enter`, from the disk if it is there."""
    for symbol in SYMBOLS:
        address = ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value
        machine_code.add_symbol(symbol, address or 0)
    name = disk_cache.key(disk_cache.library_hash(), machine_code.host(), machine_code.LEVEL, "python entry", offsets)
    kept = disk_cache.read(name)
    if kept is None:
        description = {"function": "the entry from Python", "model": "", "dtype": "", "shape": ()}
        kept = description, machine_code.compile_text(entry_to_llvm(offsets))
        disk_cache.write(name, *kept)
    return machine_code.Loaded(kept[1])


def _python(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of Python's C interface."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
