"""The code for one state that `bind` leads to: straight-line code of its own, or a call of the kernel of batches."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.emit import Lanes
from knuckle.engine.native import disk_cache, rolled_code, target

from .kernel_registry import DTYPES, kernels
from .specialization import Announced, Arguments, Recipe, UntraceableError


@dataclass(frozen=True)
class OneState:
    """Code in memory, `i32 one_state(ptr inputs, ptr out)`, the shape of what it computes, and what it needs."""

    shape: Shape
    loaded: target.Loaded
    needs: Any = None

    @property
    def address(self) -> int:
        """Where it begins."""
        return self.loaded.address("one_state")


def code_of(recipe: Recipe, arguments: Arguments, dtype: np.dtype[Any]) -> OneState | None:
    """The code of a recipe for one state of these shapes; None if there can be none."""
    if recipe.wide and dtype != np.float64:
        return None
    try:
        return _own(recipe, arguments, DTYPES[dtype]) or _of_kernel(recipe, arguments, dtype)
    except UntraceableError:
        return None


def _own(recipe: Recipe, arguments: Arguments, dtype: str) -> OneState | None:
    """Straight-line code, from the disk if it is there; None for what is too long for that."""
    from knuckle.engine.emit.llvm.single_state import to_one_state

    if recipe.model.nb > rolled_code.BODIES:
        return None
    host = target.host()
    wide = Lanes(dtype, host.lanes(dtype))
    inputs = tuple(arguments.items())
    name = disk_cache.key(
        disk_cache.library_hash(),
        host,
        wide,
        "one state",
        recipe.name,
        recipe.options,
        inputs,
        recipe.model.content_hash,
    )
    is_named = recipe._is_ours()  # pyright: ignore[reportPrivateUsage]
    if is_named and (found := _kept(name)):
        return found
    with Announced(f"{recipe.name} for {recipe.model.name}"):
        program = recipe.program(arguments)
        if len(program.nodes) > rolled_code.NODES:
            return None
        if not is_named:
            name = disk_cache.key(disk_cache.library_hash(), host, wide, "one state", program)
            if found := _kept(name):
                return found
        code = target.compile_text(to_one_state(program, wide))
    said = {"function": recipe.name, "model": recipe.model.name, "dtype": dtype, "shape": program.shape}
    disk_cache.write(name, said, code)
    return OneState(program.shape, target.Loaded(code))


def _kept(name: str) -> OneState | None:
    """What the disk has. Code that does not load is as good as none."""
    if found := disk_cache.read(name):
        with contextlib.suppress(Exception):
            return OneState(tuple(found[0]["shape"]), target.Loaded(found[1]))
    return None


def _of_kernel(recipe: Recipe, arguments: Arguments, dtype: np.dtype[Any]) -> OneState | None:
    """A call of the kernel, which fills its vectors with the one state.

    Rolled code for single numbers would take as long again to make, and save a quarter of the time. Only the thread
    that has Python's lock calls it, so that one room for its intermediate results is enough.
    """
    from knuckle.engine.emit.llvm.single_state import kernel_to_one_state

    try:
        slot = kernels.slot(recipe, arguments, dtype)
    except TypeError:  # options that cannot be looked up, such as a list
        return None
    kernel = kernels.filled(slot, recipe, arguments, dtype)
    if kernel is None:
        return None
    code = kernel.code
    loaded = code.loaded if isinstance(code.loaded, target.Loaded) else code.loaded.keeps
    room, rest = rolled_code.words_after_output(code.entry)
    text = kernel_to_one_state(loaded.address("kernel"), len(arguments), rest)
    return OneState(code.shape, target.Loaded(target.compile_text(text)), (code, room))
