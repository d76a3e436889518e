"""Machine code of a specialization: what runs already in this process, what is on the disk, or new."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.result_layout import Layout, described, from_description
from knuckle.engine.native import disk_cache
from knuckle.engine.targets.base import Launched, Target
from knuckle.engine.trace import Program

from .compile_notice import CompileNotice
from .specialization import Arguments, Specialization

Traced: TypeAlias = tuple[Program, Layout]
Tracing: TypeAlias = Literal["whole", "in blocks"] | None
"""Every operation of a text, or with the loops of the pieces that it calls."""
TOO_LONG = "too long"
"""Says in a description that there is no code."""


class TooLongError(Exception):
    """A text of more operations than are worth compiling in this way."""


@dataclass(frozen=True)
class Native:
    """Code in memory, and the shape of what it computes."""

    shape: Shape
    launched: Launched
    layout: Layout | None = None
    operations: int = 0


_in_use: weakref.WeakValueDictionary[str, Native] = weakref.WeakValueDictionary()
"""The code in use in this process, by the name it is kept under: equal models share it."""

Load: TypeAlias = Callable[[Mapping[str, Any], bytes], Launched]
"""From a description and code to code in memory."""
Make: TypeAlias = Callable[[Traced | None], tuple[dict[str, Any], bytes]]
"""From the operations to a description and code. Where operations are not traced, the description has the layout."""


def fetch_or_compile(
    target: Target,
    specialization: Specialization,
    arguments: Arguments,
    dtype: str,
    purpose: tuple[Any, ...],
    make: Make,
    load: Load,
    *,
    trace: Tracing = "whole",
) -> tuple[Native, Layout]:
    """The code of a specialization for arguments of these shapes, and how its results go together.

    Args:
        target: what the code is for.
        specialization: the text for a model.
        arguments: the shapes of the arguments for one state.
        dtype: the numbers that it computes with, "f64" or "f32".
        purpose: what tells this code from other code of the same text.
        make: compiles.
        load: puts code into memory.
        trace: how `make` needs the operations; without them code goes by names, or is not kept.
    """
    parts = disk_cache.library_hash(), target.key, dtype, purpose
    name, traced = None, None
    if specialization.is_named:
        text, model = specialization.text, specialization.model
        made_from = text.__module__, specialization.name, specialization.options, tuple(arguments.items())
        name = disk_cache.key(*parts, made_from, model.content_hash)
    elif trace is not None:
        traced = specialization.traced(arguments, trace == "in blocks")
        name = disk_cache.key(*parts, traced[0])
    native = (_in_use.get(name) or _from_disk(name, load)) if name else None
    if native is None:
        about = {"function": specialization.name, "model": specialization.model.name, "dtype": dtype}
        with CompileNotice(f"{specialization.name} for {specialization.model.name}"):
            traced = traced or (specialization.traced(arguments, trace == "in blocks") if trace else None)
            try:
                description, code = make(traced)
            except TooLongError:
                if name:
                    disk_cache.write(name, {**about, "shape": [], TOO_LONG: True}, b"")
                raise
            if traced is not None:
                description |= {"shape": traced[0].shape, "layout": described(traced[1]), "operations": traced[0].work}
            native = _loaded(description, code, load)
        if name:
            disk_cache.write(name, {**about, **description}, code)
    layout = traced[1] if traced else native.layout
    if layout is None:
        raise RuntimeError(f"how the results of {specialization.name} go together is not known")
    return (_in_use.setdefault(name, native) if name else native), layout


def _from_disk(name: str, load: Load) -> Native | None:
    """What the disk has. Code that does not load is as good as none."""
    kept = disk_cache.read(name)
    if kept is None:
        return None
    if TOO_LONG in kept[0]:
        raise TooLongError
    with contextlib.suppress(Exception):
        return _loaded(*kept, load)
    return None


def _loaded(description: Mapping[str, Any], code: bytes, load: Load) -> Native:
    layout = description["layout"]
    return Native(
        tuple(int(n) for n in description["shape"]),
        load(description, code),
        layout if layout is None or isinstance(layout, Layout) else from_description(layout),
        int(description.get("operations", 0)),
    )
