"""The arrays that results are made of, one after the other, and the arguments of a call with other values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.engine.arrays.result_layout import Layout, Several, Single

from .arguments import Sorted


def together(layout: Layout, parts: list[Any]) -> Any:
    """Arrays in the place of the arrays of some results."""
    if isinstance(layout, Single):
        return parts.pop(0)
    inner = [together(part, parts) for part in layout.parts]
    return layout.collect(inner) if layout.names is None else dict(zip(layout.names, inner, strict=True))


def leaves(result: Any, layout: Layout) -> list[Any]:
    """The arrays of some results, one after the other."""
    if not isinstance(layout, Several):
        return [result]
    parts = result.values() if layout.names is not None else result
    return [leaf for part, inner in zip(parts, layout.parts, strict=True) for leaf in leaves(part, inner)]


def with_values(call: Sorted, values: Sequence[Any]) -> dict[str, Any]:
    """The arguments of a call by name, with other values: numbers without an axis of their own."""
    arrays = {
        name: value[..., 0] if name in call.numbers else value for name, value in zip(call.arrays, values, strict=True)
    }
    return {**call.options, **arrays}


def leaves_of(layout: Layout) -> list[Single]:
    """The layouts of the arrays of some results."""
    return [layout] if isinstance(layout, Single) else [leaf for part in layout.parts for leaf in leaves_of(part)]
