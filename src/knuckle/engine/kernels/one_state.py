"""Code for one state: straight-line code of its own, or a call of the kernel of batches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import Shape, in_one_row
from knuckle.engine.arrays.result_layout import Layout, Single
from knuckle.engine.native import rolled_code
from knuckle.engine.native.fast_call import FEW_STATES, ArrayInput, FastCall, Form, can_give, can_have
from knuckle.engine.native.python_abi import PythonABI, python_abi
from knuckle.engine.targets.base import Launched, Target

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

    most_straight = FEW_STATES

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


def straight(
    target: Target, specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any]
) -> OneState | None:
    """Straight-line code; None for what is too long for that."""
    if specialization.model.nb > rolled_code.BODIES:
        return None
    short = "f64" if dtype == np.float64 else "f32"

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        assert traced is not None
        code = None if rolled_code.is_too_long(traced[0]) else target.one_state(traced[0], short)
        if code is None:
            raise TooLongError
        return {}, code

    try:
        native, layout = fetch_or_compile(
            target, specialization, arguments, short, ("one state",), make, lambda _, code: target.load_one_state(code)
        )
    except TooLongError:
        return None
    return _callable(specialization.name, native.launched, native, layout, arguments, dtype)


def by_kernel(
    target: Target, name: str, native: Native, layout: Layout, arguments: Arguments, dtype: np.dtype[Any]
) -> OneState | None:
    """A call of the code for batches, if there is such a thing."""
    one = target.one_of_batch(native.launched, len(arguments))
    return None if one is None else _callable(name, one, native, layout, arguments, dtype)


def _callable(
    name: str, code: Launched, keeps: Any, layout: Layout, arguments: Arguments, dtype: np.dtype[Any]
) -> OneState | None:
    abi = python_abi()
    if abi is None or not can_give(Single(layout.shape)):
        return None
    call = arrays_call(abi, name, arguments, dtype, _unsuited)
    call.form.lead_to(Single(layout.shape), one=code.address, keep=(keeps, code))
    return OneState(code.address, layout, tuple(arguments.values()), dtype, (keeps, code), call.function)


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
