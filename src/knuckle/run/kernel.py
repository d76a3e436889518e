"""Kernels: a text for one model, traced, printed, compiled, and called with arrays."""

from __future__ import annotations

import math
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from knuckle.emit import Lanes, to_llvm
from knuckle.model import Model
from knuckle.trace import Program, trace

from . import native, store
from .container import Shape, scalars_of, shape_of
from .threads import in_parallel

Array: TypeAlias = np.ndarray[Any, Any]
Text: TypeAlias = Callable[..., Any]

DTYPES = {np.dtype(np.float64): "f64", np.dtype(np.float32): "f32"}
CALLS, STATES = 24, 256
"""When a text is worth compiling: after so many calls on one model, or with so many states at once."""


@dataclass(frozen=True)
class Kernel:
    """Native code of a text: the sizes of its arguments, the shape of its result, and the way in."""

    arguments: tuple[Shape, ...]
    shape: Shape
    width: int
    entry: Callable[..., int]

    def __call__(self, arrays: list[Array], batch: Shape) -> Array | None:
        """The result for arrays of `batch` and this kernel's sizes; None if a sine was asked beyond its reach."""
        states = math.prod(batch)
        out = np.empty((states, math.prod(self.shape)), arrays[0].dtype)
        if not states:
            return out.reshape(batch + self.shape)
        pointers: list[int] = []
        kept: list[Array] = []
        for array, shape in zip(arrays, self.arguments, strict=True):
            flat, stride = _laid_out(array, batch, shape)
            kept.append(flat)
            pointers += [flat.ctypes.data, stride]
        target = out.ctypes.data
        far = in_parallel(states, self.width, lambda start, end: self.entry(start, end, *pointers, target))
        return None if far else out.reshape(batch + self.shape)


def _laid_out(array: Array, batch: Shape, shape: Shape) -> tuple[Array, int]:
    """The array as the kernel reads it, and how far apart its states are: 0 if all share one."""
    if array.size == math.prod(shape):
        return np.ascontiguousarray(array), 0
    return np.ascontiguousarray(np.broadcast_to(array, batch + shape)), math.prod(shape)


@dataclass(frozen=True)
class Recipe:
    """What a kernel is made from: a public function's text for a model, with its options fixed."""

    name: str
    text: Text
    model: Model
    options: tuple[tuple[str, Any], ...]

    def __call__(self, scalars: Mapping[str, Any]) -> Any:
        return self.text(self.model, **scalars, **dict(self.options))

    def program(self, arguments: Mapping[str, Shape]) -> Program:
        """The operations that remain when the text runs on symbols."""
        return trace(lambda **symbols: self(symbols), arguments, lambda r: (scalars_of(r), shape_of(r)))

    def build(self, arguments: Mapping[str, Shape], dtype: str) -> Kernel:
        """The kernel, from the disk if it is there."""
        host = native.host()
        lanes = Lanes(dtype, host.lanes(dtype))
        name = store.key(
            store.library_hash(),
            host,
            lanes,
            self.name,
            self.options,
            tuple(arguments.items()),
            self.model.content_hash,
        )
        shapes = tuple(arguments.values())
        found = store.read(name)
        if found is None:
            with _Announced(f"knuckle: compiling {self.name} for {self.model.name}"):
                program = self.program(arguments)
                code = native.compile_text(to_llvm(program, lanes))
            description = {"function": self.name, "model": self.model.name, "dtype": dtype, "shape": program.shape}
            store.write(name, description, code)
            found = description, code
        description, code = found
        loaded = native.Loaded(code)
        return Kernel(shapes, tuple(description["shape"]), lanes.width, native.entry(loaded, "kernel", len(shapes)))


class _Announced:
    """Says in the terminal what takes longer than a second."""

    def __init__(self, what: str) -> None:
        self._timer = threading.Timer(1.0, lambda: sys.stderr.write(f"{what} …\n"))

    def __enter__(self) -> None:
        if sys.stderr.isatty():
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


Policy: TypeAlias = Literal["auto", "always", "never"]


class Kernels:
    """The kernels of this process, by model object: compiled when they are worth it, forgotten with their model."""

    def __init__(self) -> None:
        self.policy: Policy = "auto"
        self._lock = threading.RLock()
        self._of: dict[int, tuple[Any, dict[Any, Any]]] = {}

    def find(self, recipe: Recipe, arguments: Mapping[str, Shape], dtype: np.dtype[Any], states: int) -> Kernel | None:
        """The kernel for a call, if there is one or the call makes it worth having."""
        if self.policy == "never" or dtype not in DTYPES:
            return None
        mine = self._of.get(id(recipe.model))
        key = (recipe.name, recipe.options, tuple(arguments), dtype)
        known = mine[1].get(key, 0) if mine else 0
        if isinstance(known, Kernel) or known is None:
            return known
        if self.policy == "auto" and states < STATES and known + 1 < CALLS:
            self._remember(recipe.model)[key] = known + 1
            return None
        with self._lock:
            kernels = self._remember(recipe.model)
            if not isinstance(kernels.get(key), Kernel):
                try:
                    kernels[key] = recipe.build(arguments, DTYPES[dtype])
                except TypeError:  # a text that looks at values: it has to run as it stands
                    kernels[key] = None
            return kernels[key]

    def _remember(self, model: Model) -> dict[Any, Any]:
        with self._lock:
            entry = self._of.get(id(model))
            if entry is None:
                number = id(model)
                reference = weakref.ref(model, lambda _: self._of.pop(number, None))
                entry = self._of[number] = (reference, {})
            return entry[1]


kernels = Kernels()


def set_compilation(policy: Policy) -> None:
    """When native code is made: "auto" (for repeated calls and large batches), "always" or "never".

    Native and plain code differ in rounding, that is in the last digit. "always" gives the same digits in every call.
    """
    if policy not in ("auto", "always", "never"):
        raise ValueError(f'the policy is "auto", "always" or "never", not {policy!r}')
    kernels.policy = policy
