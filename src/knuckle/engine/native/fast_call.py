"""One state per call: a way from Python into native code that takes about as long as making the result.

A `Way` is a function object of Python whose C function is ours (`python_entry`): it looks at the arguments where
NumPy keeps what it knows of them, makes the result with NumPy's C interface, and calls the code. What it does not take
goes on, as it came, to a general callable.

All this rests on how CPython and NumPy lay out their objects. `gate` compares every place with what Python itself says,
and then tries the way in; where anything is not as expected (another interpreter, a build without the interpreter lock,
another layout) there is no gate, and all calls go to the general callable.
"""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.emit.llvm.python_entry import MOST_ARGUMENTS, RECORD, SYMBOLS, Offsets, entry_to_llvm

from . import disk_cache, target

Array: TypeAlias = np.ndarray[Any, Any]

_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_NUMPY_ABI = 0x02000000
_VERSION, _NDARRAY, _SCALAR, _NEW = 0, 2, 60, 93
"""Places in NumPy's table of C functions, which this version of its interface fixes."""
_FLAGS = 0x0701
"""Flags that NumPy itself shows: in order in memory, aligned, native bytes, writeable."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class Gate:
    """What ways are made with: the code of `enter`, and NumPy's functions."""

    loaded: target.Loaded
    new: int
    scalar: int


class Way:
    """A way into native code for arrays of these shapes and one dtype. All other calls go to `general`.

    `call` is what Python calls. It passes everything on until `open` gives it code.
    """

    def __init__(
        self,
        gate: Gate,
        name: str,
        doc: str,
        shapes: Sequence[Shape],
        dtype: np.dtype[Any],
        general: Callable[..., Any],
    ) -> None:
        self.shapes, self.dtype = tuple(shapes), dtype
        self._record = (ctypes.c_int64 * len(RECORD))()
        numbers = [n for shape in shapes for n in (len(shape), shape[0], shape[-1])]
        table = (ctypes.c_int64 * len(numbers))(*numbers)
        definition = _MethodDef(name.encode(), gate.loaded.address("enter"), _FASTCALL_WITH_KEYWORDS, doc.encode())
        self._set(general=id(general), arguments=len(shapes), shapes=ctypes.addressof(table), ndarray=id(np.ndarray))
        self._set(dtype=id(dtype), number=dtype.num, new=gate.new, scalar=gate.scalar)
        self._kept: list[Any] = []
        self.call = _function_object(
            definition,
            (ctypes.addressof(self._record), self._record, table, definition, gate, dtype, general, self._kept),
        )

    def _set(self, **words: int) -> None:
        for name, word in words.items():
            self._record[RECORD.index(name)] = word

    @property
    def is_open(self) -> bool:
        return bool(self._record[0])

    def fits(self, args: Sequence[Any]) -> bool:
        """Whether these are arguments that an open way takes."""
        return len(args) == len(self.shapes) and all(map(self._fits, args, self.shapes))

    def _fits(self, x: Any, shape: Shape) -> bool:
        return (
            type(x) is np.ndarray
            and x.dtype is self.dtype
            and x.shape == shape
            and bool(x.flags.c_contiguous and x.flags.aligned)
        )

    def open(self, code: int, shape: Shape, *keep: Any) -> None:
        """Gives the way its code and the shape of its result. What the code needs is kept as long as `call` is."""
        lengths = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        self._kept += [lengths, *keep]
        self._set(dimensions=len(shape), shape=ctypes.addressof(lengths))
        self._set(code=code)  # last: from now on calls go there


def can_take(shapes: Sequence[Shape]) -> bool:
    """Whether a way can have arguments of these shapes."""
    return 0 < len(shapes) <= MOST_ARGUMENTS and all(len(shape) in (1, 2) for shape in shapes)


LOCK = threading.RLock()
"""Held while something is made, which is done once. A fork waits for it, so that no process inherits half a work."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


def gate() -> Gate | None:
    """The gate of this process; None where the way in does not work."""
    with LOCK:
        return _gate()


@cache
def _gate() -> Gate | None:
    try:
        return _opened()
    except Exception:  # whatever is unusual here, the general path does not need it
        return None


def _opened() -> Gate | None:
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.platform not in ("linux", "darwin", "win32"):
        return None
    offsets, functions = Offsets.after(object.__basicsize__), _numpy_functions()
    if not functions or not _is_laid_out(offsets):
        return None
    found = Gate(_loaded(offsets), functions[_NEW], functions[_SCALAR])
    return found if _works(found) else None


def _numpy_functions() -> dict[int, int] | None:
    """NumPy's C functions by their place in its table, if the table is the one we know."""
    capsule: Any = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]  # pyright: ignore
    pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(capsule, None)
    table = (ctypes.c_void_p * (_NEW + 1)).from_address(pointer)
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[_VERSION] or 0)
    if table[_NDARRAY] != id(np.ndarray) or version() != _NUMPY_ABI:
        return None
    return {place: table[place] or 0 for place in (_SCALAR, _NEW)}


def _is_laid_out(offsets: Offsets) -> bool:
    """Whether arrays have their fields where we shall look for them."""
    if np.ndarray.__basicsize__ < offsets.flags + 4:
        return False
    for array in (np.arange(6.0).reshape(2, 3), np.arange(4, dtype=np.float32)[::2], np.zeros((2, 1, 5)).T):
        place = id(array)

        def at(kind: Any, offset: int, start: int = place) -> int:
            return kind.from_address(start + offset).value or 0

        found = (
            at(ctypes.c_void_p, offsets.type), at(ctypes.c_void_p, offsets.data), at(ctypes.c_int, offsets.axes),
            at(ctypes.c_void_p, offsets.dtype), at(ctypes.c_int, offsets.flags) & _FLAGS,
        )  # fmt: skip
        if found != (id(np.ndarray), array.ctypes.data, array.ndim, id(array.dtype), array.flags.num & _FLAGS):
            return False
        lengths = at(ctypes.c_void_p, offsets.lengths)
        if not lengths or tuple((ctypes.c_ssize_t * array.ndim).from_address(lengths)) != array.shape:
            return False
    return True


def _loaded(offsets: Offsets) -> target.Loaded:
    """The code of `enter`, from the disk if it is there."""
    for symbol in SYMBOLS:
        address = ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value
        target.add_symbol(symbol, address or 0)
    name = disk_cache.key(disk_cache.library_hash(), target.host(), "python entry", offsets)
    found = disk_cache.read(name)
    if found is None:
        description = {"function": "the way in from Python", "model": "", "dtype": "", "shape": ()}
        found = description, target.compile_text(entry_to_llvm(offsets))
        disk_cache.write(name, *found)
    return target.Loaded(found[1])


def _works(gate: Gate) -> bool:
    """Whether a trial way gives what it should, and passes on what it should."""
    passed_on = object()
    way = Way(gate, "trial", "", [(2,), (2,)], np.dtype(np.float64), lambda *args, **names: passed_on)
    number = Way(gate, "trial", "", [(2,), (2,)], np.dtype(np.float64), lambda *args, **names: passed_on)
    x, y = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    if way.call(x, y) is not passed_on:
        return False
    way.open(gate.loaded.address("trial"), (2,))
    number.open(gate.loaded.address("trial"), ())
    before = sys.getrefcount(x), sys.getrefcount(y)
    result, single = way.call(x, y), number.call(x, y)
    if (sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(result)) != (*before, 2):
        return False
    others = [
        (x, y, y), (x,), (), ([1.0, 2.0], y), (x, y[:1]), (x, np.arange(4.0)[::2]), (x, y.reshape(1, 2)),
        (x.astype(np.float32), y), (x, y.astype(">f8")),
    ]  # fmt: skip
    return (
        type(result) is np.ndarray and result.tolist() == [11.0, 22.0]
        and type(single) is np.float64 and single == 11.0
        and all(way.call(*args) is passed_on for args in others) and way.call(x, y=y) is passed_on
    )  # fmt: skip


def _python(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of Python's C interface."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


def _function_object(definition: _MethodDef, own: tuple[Any, ...]) -> Callable[..., Any]:
    """Python's function object for a C function. It holds `own`, and gives it to the function first."""
    make = _python("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(definition), own, None)
