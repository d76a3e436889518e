"""Code for batches of states: straight-line code, or rolled code for large mechanisms and long texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knuckle.engine.arrays.result_layout import Layout, described
from knuckle.engine.native import rolled_code
from knuckle.engine.targets.base import Launched, Target
from knuckle.engine.trace.regions import Rolled, trace_rolled
from knuckle.model import Model

from .fetch_or_compile import Native, Traced, fetch_or_compile
from .specialization import Arguments, Result, Specialization, UntraceableError

MOST_STEPS = 40_000
"""Operations in all patterns together; with more there is no repetition to speak of, and the text runs as it stands."""


def batch_code(
    target: Target, specialization: Specialization, arguments: Arguments, dtype: str
) -> tuple[Native, Layout]:
    """The code, and how its results go together."""
    is_large = specialization.model.nb > rolled_code.BODIES

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        if traced is None or rolled_code.is_too_long(traced[0]):
            program, layout = _rolled(specialization, arguments)
            made = None if program is None else target.rolled(program, dtype)
            if made is not None:
                is_named = specialization.is_named
                return made[0] | {"layout": described(layout) if is_named else layout}, made[1]
            if traced is None:
                raise UntraceableError(f"{specialization.name} has no repetition")
        return {}, target.batch(traced[0], dtype)

    def load(description: Mapping[str, Any], code: bytes) -> Launched:
        if "parts" in description:
            return target.load_rolled(description, code, dtype, len(arguments))
        return target.load_batch(code, len(arguments))

    return fetch_or_compile(
        target, specialization, arguments, dtype, ("batch", is_large), make, load, trace=None if is_large else "whole"
    )


def _rolled(specialization: Specialization, arguments: Arguments) -> tuple[Rolled | None, Layout]:
    """The rolled program of a text, and how its results go together; None where there is little repetition."""
    layouts: list[Layout] = []

    def text(model: Model, **symbols: Any) -> Result:
        result = specialization.on_model(model, **symbols)
        layouts.append(result[1])
        return result

    program = trace_rolled(text, specialization.model, arguments, lambda result: (result[0], result[1].shape))
    is_short = sum(len(pattern.steps) for pattern in program.patterns) <= MOST_STEPS
    return program if is_short else None, layouts[-1]
