"""Native code that goes through time: a text whose result is its next argument, run over and over (`feedback_loop`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.emit.llvm.feedback_loop import Feedback
from knuckle.engine.kernels.fetch_or_compile import Native, Traced, fetch_or_compile
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels
from knuckle.engine.kernels.specialization import Arguments, Specialization, UntraceableError
from knuckle.engine.native import rolled_code
from knuckle.engine.targets.base import Launched

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
    target = kernels.target

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        assert traced is not None
        if traced[0].size() > MOST:
            raise UntraceableError(f"a step of {specialization.name} is too long to be compiled in a row")
        code = target.loop(traced[0], dtype, feedback, is_single)
        if code is None:
            raise UntraceableError(f"{type(target).__name__} has no loops through time")
        return {}, code

    def load(_: Any, code: bytes) -> Launched:
        return target.load_loop(code, feedback, arguments)

    is_large = specialization.model.nb > rolled_code.BODIES
    code, _ = fetch_or_compile(
        target, specialization, arguments, dtype, (*_sorted(feedback), is_single), make, load,
        trace="in blocks" if is_large else "whole",
    )  # fmt: skip
    return Loop(code.launched.run, 1 if is_single else target.width(dtype), code.operations, code)


def _sorted(feedback: Feedback) -> tuple[Any, ...]:
    """What a loop goes by on the disk: a set says its members in any order."""
    return "loop", feedback.state, feedback.kept, feedback.clock, *sorted(feedback.moving)
