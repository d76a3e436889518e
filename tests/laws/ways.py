"""Ways to compute the library's functions, for the laws to run on: native kernels in batches, and printed C.

A law calls functions of one state, in float64. A stand-in for each function takes the call, rounds it to the precision
in question, has it computed, and gives the result back.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from knuckle.engine.calls import numpy_arrays
from knuckle.engine.calls.arguments import ARGUMENTS
from knuckle.engine.calls.function import Function
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.kernels.specialization import Arguments, Specialization
from knuckle.engine.trace import Program
from knuckle.model import Model
from knuckle.testing import laws, random_state

Array: TypeAlias = np.ndarray[Any, Any]
Shape: TypeAlias = tuple[int, ...]
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "-shared", "-fPIC")


@dataclass(frozen=True)
class Call:
    """A call of a function with real numbers: its arrays and options by name."""

    function: Function[..., Any]
    model: Model
    arrays: Mapping[str, Array]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, function: Function[..., Any], model: Model, *args: Any, **kwargs: Any) -> Call:
        call = function._arguments.sort(model, args, kwargs)
        arrays = {name: np.asarray(value) for name, (value, _) in call.arrays.items()}
        kinds = function._arguments.kinds
        return cls(function, model, arrays, {k: v for k, v in call.options.items() if k not in kinds})

    @property
    def key(self) -> tuple[Any, ...]:
        """What its code depends on."""
        return self.function.__name__, id(self.model), tuple(self.arrays), tuple(self.options.items())

    def shape(self, name: str) -> Shape:
        """The shape of one state of an array."""
        return ARGUMENTS[self.function._arguments.kinds[name]](self.model)

    def on(self, model: Model) -> Call:
        """The same call on another mechanism."""
        return dataclasses.replace(self, model=model)

    def said(self) -> dict[str, Any]:
        """The options as `program` and `source` take them, which have to be told of arrays that may be left out."""
        parameters = self.function.__signature__.parameters
        return {**self.options, **{name: True for name in self.arrays if parameters[name].default is None}}

    def program(self) -> Program:
        """The operations of its code."""
        return self.function.program(self.model, **self.said())


Way: TypeAlias = Callable[[Call], Array]


@contextlib.contextmanager
def computed_by(way: Way) -> Generator[None]:
    """While it lasts, the laws compute every function of real numbers that way. Complex steps go by the text."""

    def stand_in(function: Function[..., Any]) -> Callable[..., Any]:
        def compute(model: Model, *args: Any, **kwargs: Any) -> Any:
            call = Call.of(function, model, *args, **kwargs)
            if any(x.dtype.kind == "c" for x in call.arrays.values()):
                return function(model, *args, **kwargs)
            return np.asarray(way(call), float)[()]

        return compute

    with pytest.MonkeyPatch.context() as patch:
        for name, value in vars(laws).copy().items():
            if isinstance(value, Function):
                patch.setattr(laws, name, stand_in(value))
        yield


@contextlib.contextmanager
def traced_once() -> Generator[None]:
    """While it lasts, a text is traced once for all precisions and languages."""
    known: dict[Any, Any] = {}
    trace = Specialization.traced

    def traced(self: Specialization, arguments: Arguments, in_blocks: bool = False) -> Any:
        key = self.text, frozenset(self.options), id(self.model), tuple(arguments.items()), in_blocks
        if key not in known:
            known[key] = trace(self, arguments, in_blocks)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Specialization, "traced", traced)
        yield


class InBatches:
    """Native code for batches of one shape: the state in question is at another place in every call, among others."""

    def __init__(self, dtype: type[np.floating[Any]], batch: Shape) -> None:
        self.dtype, self.batch, self._calls = dtype, batch, count()
        self._others: dict[tuple[int, str], Array] = {}

    def __call__(self, call: Call) -> Array:
        place = np.unravel_index(next(self._calls) % math.prod(self.batch), self.batch)
        arrays = {name: self._among_others(call, name, place) for name in call.arrays}
        with _only_native():
            result = call.function(call.model, **arrays, **call.options)
        assert result.dtype == self.dtype
        assert result.shape[: len(self.batch)] == self.batch
        return result[place]

    def _among_others(self, call: Call, name: str, place: tuple[Any, ...]) -> Array:
        kind = call.function._arguments.kinds[name]
        key = id(call.model), kind
        if key not in self._others:
            states = [random_state(call.model, 50 + k) for k in range(math.prod(self.batch))]
            field = {"q": "q", "v": "v", "f": "f_ext", "w": "f_ext"}[kind]
            rows = [getattr(s, field)[0 if kind == "w" else ...] for s in states]
            self._others[key] = np.array(rows, self.dtype).reshape(self.batch + call.shape(name))
        arrays = self._others[key].copy()
        arrays[place] = call.arrays[name]
        return arrays


@contextlib.contextmanager
def _only_native() -> Generator[None]:
    """An error where the text itself would run instead of native code."""

    def refuse(text: Any, *args: Any) -> Any:
        raise AssertionError(f"{text.name} has no native code")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "policy", "always")
        patch.setattr(numpy_arrays, "_plain", refuse)
        yield


class InC:
    """The C code of functions, in one library."""

    def __init__(self, calls: Sequence[Call], dtype: type[np.floating[Any]], folder: Path) -> None:
        self.dtype, self._names = dtype, {call.key: f"function{k}" for k, call in enumerate(calls)}
        texts = [_source(call, self._names[call.key], np.dtype(dtype).name) for call in calls]
        self._library = ctypes.CDLL(str(_compiled(texts, folder)))

    def __call__(self, call: Call) -> Array:
        inputs = [np.ascontiguousarray(x, self.dtype) for x in call.arrays.values()]
        out = np.full(call.program().shape, np.nan, self.dtype)
        run = getattr(self._library, self._names[call.key])
        run(*(ctypes.c_void_p(x.ctypes.data) for x in [*inputs, out]))
        return out


def _source(call: Call, name: str, dtype: Any) -> str:
    """The text that a user gets, with another name for the function, as a library can have a name only once."""
    text = call.function.source(call.model, language="c", dtype=dtype, **call.said())
    return re.sub(rf"\b{call.function.__name__}(?=\(|_part)", name, text)


def _compiled(texts: Sequence[str], folder: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("the printed C is compiled here, and no C compiler is on the path (cc)")
    source, library = folder / "functions.c", folder / "functions.so"
    source.write_text("\n".join(texts), encoding="ascii")
    done = subprocess.run([compiler, *FLAGS, str(source), "-o", str(library), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return library


class Mistaken:
    """A way with a mistake: one function is computed by the code of another mechanism."""

    def __init__(self, way: Way, function: str, other: Model) -> None:
        self._way, self._function, self._other = way, function, other

    def __call__(self, call: Call) -> Array:
        return self._way(call.on(self._other) if call.function.__name__ == self._function else call)


def calls_of(check: Callable[[], Any]) -> list[Call]:
    """Every different call that some laws make, computed as the library does it."""
    found: dict[tuple[Any, ...], Call] = {}

    def note(call: Call) -> Array:
        found.setdefault(call.key, call)
        return call.function(call.model, **call.arrays, **call.options)

    with computed_by(note):
        check()
    return list(found.values())
