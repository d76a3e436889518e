"""Native code that goes through time: a text whose result is its next argument, run over and over (`feedback_loop`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm.feedback_loop import Feedback, to_loop
from knuckle.engine.kernels.fetch_or_compile import Native, Traced, fetch_or_compile
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels
from knuckle.engine.kernels.specialization import Arguments, Specialization, UntraceableError
from knuckle.engine.native import rolled_code, target

MOST = 100_000
"""Operations of a step; longer ones would take long to compile, and the time to call them is small beside theirs."""


@dataclass(frozen=True)
class Loop:
    """Native code for many steps of many trajectories, the numbers of trajectories side by side and of operations."""

    entry: Callable[..., None]
    width: int
    operations: int
    code: Native


def loop_for(
    specialization: Specialization,
    arguments: Arguments,
    feedback: Feedback,
    dtype: np.dtype[Any],
    is_single: bool = False,
) -> Loop | None:
    """The native loop of a step; None if the step has to be called from Python, one by one.

    A single trajectory has no others to fill vectors with, and goes by single numbers.
    """
    if kernels.policy == "never" or dtype not in DTYPES or not feedback.state:
        return None
    if specialization.needs_double and dtype != np.float64:
        return None
    slot = kernels.slot(specialization, arguments, dtype, (feedback, is_single))
    return kernels.filled(
        slot, specialization, "kernel", lambda: _loop(specialization, arguments, feedback, DTYPES[dtype], is_single)
    )


def _loop(
    specialization: Specialization, arguments: Arguments, feedback: Feedback, dtype: str, is_single: bool
) -> Loop:
    wide = Lanes(dtype, target.host().lanes(dtype))
    lanes = Lanes(dtype, 1) if is_single else wide

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        assert traced is not None
        if traced[0].size() > MOST:
            raise UntraceableError(f"a step of {specialization.name} is too long to be compiled in a row")
        return {}, target.compile_text(to_loop(traced[0], lanes, feedback, wide=wide if is_single else None))

    def load(_: Any, code: bytes) -> tuple[Any, Any]:
        entry = _entry(code, feedback, arguments)
        return entry, entry

    is_large = specialization.model.nb > rolled_code.BODIES
    code, _ = fetch_or_compile(
        specialization, arguments, lanes, _sorted(feedback), make, load, trace="in blocks" if is_large else "whole"
    )
    return Loop(code.entry, lanes.width, code.operations, code)


def _sorted(feedback: Feedback) -> tuple[Any, ...]:
    """What a loop goes by on the disk: a set says its members in any order."""
    return "loop", feedback.state, feedback.kept, feedback.clock, *sorted(feedback.moving)


def _entry(code: bytes, feedback: Feedback, arguments: Arguments) -> Callable[..., None]:
    """The loop as a Python callable. Runs without the GIL."""
    loaded = target.Loaded(code)
    size, parts = 0, 0
    for shape in arguments.values():
        parts += size < feedback.state
        size += int(np.prod(shape))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    inputs = [pointer, number, number] * (len(arguments) - parts)
    kind = ctypes.CFUNCTYPE(
        None, *[number] * 8, pointer, *inputs, *[pointer, number] * len(feedback.kept)
    )  # fmt: skip
    call: Any = kind(loaded.address("loop"))
    call.keeps = loaded
    return call
