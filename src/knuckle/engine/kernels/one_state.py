"""Code for one state: straight-line code of its own, or a call of the kernel of batches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import Shape, in_one_row
from knuckle.engine.arrays.result_layout import Layout, Single
from knuckle.engine.emit import Lanes
from knuckle.engine.native import rolled_code, target
from knuckle.engine.native.fast_call import ArrayInput, FastCall, Form, can_give, can_have
from knuckle.engine.native.python_abi import PythonABI, python_abi

from .fetch_or_compile import Native, TooLongError, Traced, fetch_or_compile
from .specialization import Arguments, Specialization

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True)
class OneState:
    """Code in memory, `void one_state(ptr inputs, ptr out)`, and how its results go together.

    `call` takes arrays of the dtype and the shapes for one state, in order in memory.
    """

    address: int
    layout: Layout
    shapes: tuple[Shape, ...]
    dtype: np.dtype[Any]
    keeps: Any
    call: Any = field(repr=False)

    def __call__(self, arrays: list[Array], batch: tuple[int, ...]) -> Any:
        """The scalars of the results, of one state after the other."""
        if not batch:
            return self.call(*map(_in_order, arrays))
        rows = [_in_order(in_one_row(x, batch, shape)) for x, shape in zip(arrays, self.shapes, strict=True)]
        out = np.empty((math.prod(batch), *self.layout.shape), self.dtype)
        for k in range(len(out)):
            out[k] = self.call(*[row[k] for row in rows])
        return out.reshape(batch + self.layout.shape)


def _in_order(x: Array) -> Array:
    return x if x.flags.carray else np.require(x, requirements=["C", "A"])


def can_be(arguments: Arguments, dtype: np.dtype[Any]) -> bool:
    """Whether there can be code for one state that is called with arrays of these shapes."""
    inputs = [ArrayInput(k, shape) for k, shape in enumerate(arguments.values())]
    return python_abi() is not None and can_have(inputs, dtype)


def straight(specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any]) -> OneState | None:
    """Straight-line code; None for what is too long for that."""
    from knuckle.engine.emit.llvm.single_state import to_one_state

    if specialization.model.nb > rolled_code.BODIES:
        return None
    short = "f64" if dtype == np.float64 else "f32"
    lanes = Lanes(short, target.host().lanes(short))

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        assert traced is not None
        if len(traced[0].nodes) > rolled_code.NODES:
            raise TooLongError
        return {}, target.compile_text(to_one_state(traced[0], lanes))

    try:
        native, layout = fetch_or_compile(
            specialization, arguments, lanes, ("one state",), make, lambda _, code: (target.Loaded(code), None)
        )
    except TooLongError:
        return None
    return _callable(specialization.name, native.loaded, native, layout, arguments, dtype)


def by_kernel(name: str, native: Native, layout: Layout, arguments: Arguments, dtype: np.dtype[Any]) -> OneState | None:
    """A call of the kernel, which fills its vectors with the one state.

    Rolled code for single numbers would take as long again to make, and save a quarter of the time. Only the thread
    that has Python's lock calls it, so that one room for its intermediate results is enough.
    """
    from knuckle.engine.emit.llvm.single_state import kernel_to_one_state

    kernel = native.loaded if isinstance(native.loaded, target.Loaded) else native.loaded.keeps
    room, rest = rolled_code.words_after_output(native.entry)
    text = kernel_to_one_state(kernel.address("kernel"), len(arguments), rest)
    loaded = target.Loaded(target.compile_text(text))
    return _callable(name, loaded, (native, room, loaded), layout, arguments, dtype)


def _callable(
    name: str, loaded: target.Loaded, keeps: Any, layout: Layout, arguments: Arguments, dtype: np.dtype[Any]
) -> OneState | None:
    abi = python_abi()
    if abi is None or not can_give(Single(layout.shape)):
        return None
    address = loaded.address("one_state")
    call = arrays_call(abi, name, arguments, dtype, _unsuited)
    call.form.lead_to(Single(layout.shape), one=address, keep=(keeps, loaded))
    return OneState(address, layout, tuple(arguments.values()), dtype, (keeps, loaded), call.function)


@dataclass(frozen=True)
class ArraysCall:
    """A function object that takes arrays, and the form of its calls."""

    function: Any
    form: Form


def arrays_call(abi: PythonABI, name: str, arguments: Arguments, dtype: np.dtype[Any], general: Any) -> ArraysCall:
    """A function object for arrays of these shapes and this dtype, in order; all other calls go to `general`."""
    fast = FastCall(abi, name, name, general, always=True)
    form = Form([ArrayInput(k, shape) for k, shape in enumerate(arguments.values())], (), dtype)
    fast.add(form)
    return ArraysCall(fast.call, form)


def _unsuited(*_: Any) -> Any:
    raise RuntimeError("code for one state was called with other arrays than it takes")
