"""Code for batches of states: straight-line code, or rolled code for large mechanisms and long texts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from knuckle.engine.arrays.result_layout import Layout, described
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.native import rolled_code, target
from knuckle.model import Model

from .fetch_or_compile import Native, Traced, fetch_or_compile
from .specialization import Arguments, Result, Specialization, UntraceableError


def batch_code(specialization: Specialization, arguments: Arguments, dtype: str) -> tuple[Native, Layout, int]:
    """The code, how its results go together, and the width of its vectors."""
    lanes = Lanes(dtype, target.host().lanes(dtype))
    is_large = specialization.model.nb > rolled_code.BODIES

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        if traced is None:
            return _rolled(specialization, arguments, lanes)
        program, _ = traced
        if program.size() > rolled_code.NODES:
            with contextlib.suppress(rolled_code.NothingToRollError):
                return rolled_code.compile_rolled(specialization.on_model, specialization.model, arguments, lanes)
        return {}, target.compile_text(to_llvm(program, lanes))

    def load(description: Mapping[str, Any], code: bytes) -> tuple[Any, Any]:
        if "parts" in description:
            entry = rolled_code.rolled_entry(description, code, lanes, len(arguments))
            return entry, entry
        loaded = target.Loaded(code)
        return loaded, target.entry(loaded, "kernel", len(arguments))

    native, layout = fetch_or_compile(
        specialization, arguments, lanes, ("batch", is_large), make, load, trace=None if is_large else "whole"
    )
    return native, layout, lanes.width


def _rolled(specialization: Specialization, arguments: Arguments, lanes: Lanes) -> tuple[dict[str, Any], bytes]:
    """Code with the loops of the text, and its tables."""
    layouts: list[Layout] = []

    def text(model: Model, **symbols: Any) -> Result:
        result = specialization.on_model(model, **symbols)
        layouts.append(result[1])
        return result

    try:
        description, code = rolled_code.compile_rolled(text, specialization.model, arguments, lanes)
    except rolled_code.NothingToRollError as error:
        raise UntraceableError(f"{specialization.name} has no repetition") from error
    is_named = specialization.is_named
    return description | {"layout": described(layouts[-1]) if is_named else layouts[-1]}, code
