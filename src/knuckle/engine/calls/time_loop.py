"""Native code that goes through time: a text whose result is its next argument, run over and over (`feedback_loop`)."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm.feedback_loop import Feedback, to_loop
from knuckle.engine.kernels.captured_values import Surroundings
from knuckle.engine.kernels.kept_kernels import PerModel
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels
from knuckle.engine.kernels.specialization import Announced, Arguments, UntraceableError
from knuckle.engine.native import disk_cache, rolled_code, target
from knuckle.model import Model
from knuckle.warning import warn

from .user_specialization import UserRecipe

MOST = 100_000
"""Operations of a step; longer ones would take long to compile, and the time to call them is small beside theirs."""


@dataclass(frozen=True)
class Loop:
    """Native code for many steps of many trajectories, the numbers of trajectories side by side and of operations."""

    entry: Callable[..., None]
    width: int
    operations: int


@dataclass(frozen=True)
class _Made:
    """A loop, or None where there can be no native code, and what it was made of besides its text."""

    loop: Loop | None
    around: Surroundings | None


_loops: PerModel[_Made] = PerModel()
"""The loops of this process, by model object."""


def loop_for(
    recipe: UserRecipe, arguments: Arguments, feedback: Feedback, dtype: np.dtype[Any], is_single: bool = False
) -> Loop | None:
    """The native loop of a step; None if the step has to be called from Python, one by one.

    A single trajectory has no others to fill vectors with, and goes by single numbers.
    """
    if kernels.policy == "never" or dtype not in DTYPES or not feedback.state:
        return None
    if recipe.wide and dtype != np.float64:
        return None
    key = (*recipe.key(), tuple(arguments.items()), feedback, dtype, is_single)
    return _kept(recipe, key, lambda: _made(recipe, arguments, feedback, DTYPES[dtype], is_single))


def _kept(recipe: UserRecipe, key: Any, make: Callable[[], Loop | None]) -> Loop | None:
    """What there is for a key, made if there is nothing or what it was made of has changed."""
    known = _loops.get(recipe.model, key)
    if known is None or not (known.around is None or known.around.is_same()):
        loop = make()
        known = _loops.put(recipe.model, key, _Made(loop, recipe.surroundings()))
    return known.loop


def loops_of(model: Model) -> list[Loop | None]:
    """The loops that there are for a model object."""
    return [made.loop for made in _loops.values(model)]


def _made(recipe: UserRecipe, arguments: Arguments, feedback: Feedback, dtype: str, is_single: bool) -> Loop | None:
    """The code, or None: the text then runs step by step, or says why it cannot."""
    try:
        return _code(recipe, arguments, feedback, dtype, is_single)
    except (UntraceableError, _TooLongError):
        return None
    except Exception as error:
        warn(f"{recipe.name} is called from Python at every step, which is slow: {type(error).__name__}: {error}")
        return None


class _TooLongError(Exception):
    """A step of more operations than are worth compiling in a row."""


def _code(recipe: UserRecipe, arguments: Arguments, feedback: Feedback, dtype: str, is_single: bool) -> Loop:
    """The code, from the disk if it is there."""
    host = target.host()
    wide = Lanes(dtype, host.lanes(dtype))
    lanes = Lanes(dtype, 1) if is_single else wide
    with Announced(f"{recipe.name} for {recipe.model.name}"):
        is_large = recipe.model.nb > rolled_code.BODIES
        program = recipe.program_in_blocks(arguments) if is_large else recipe.program(arguments)
        if program.size() > MOST:
            raise _TooLongError
        name = disk_cache.key(disk_cache.library_hash(), host, lanes, _sorted(feedback), program)
        if found := disk_cache.read(name):
            with contextlib.suppress(Exception):  # code that does not load is as good as none
                return Loop(_entry(found[1], feedback, arguments), lanes.width, program.work)
        code = target.compile_text(to_loop(program, lanes, feedback, wide=wide if is_single else None))
        loop = Loop(_entry(code, feedback, arguments), lanes.width, program.work)
    said = {"function": recipe.name, "model": recipe.model.name, "dtype": dtype, "shape": program.shape}
    disk_cache.write(name, said, code)
    return loop


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
