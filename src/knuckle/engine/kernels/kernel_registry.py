"""Kernels: native code that is called with arrays, and when it is made."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.native import result_memory
from knuckle.engine.native.threads import in_parallel
from knuckle.model import Model
from knuckle.warning import line_of, warn

from .captured_values import Surroundings
from .kept_kernels import PerModel
from .specialization import Arguments, Native, Recipe, UntraceableError

Array: TypeAlias = np.ndarray[Any, Any]

DTYPES = {np.dtype(np.float64): "f64", np.dtype(np.float32): "f32"}
CALLS, STATES = 24, 256
"""When a text is worth compiling: after so many calls on one model, or with so many states at once."""


@dataclass(frozen=True)
class Kernel:
    """Native code of a text: the shapes of its arguments and of its result, and the way in."""

    arguments: tuple[Shape, ...]
    code: Native
    dtype: np.dtype[Any]
    width: int
    entry: Callable[..., None]
    layout: Any = None

    @classmethod
    def build(cls, recipe: Recipe, arguments: Arguments, dtype: np.dtype[Any]) -> Kernel:
        """The kernel of a recipe for arguments of these shapes."""
        code, width = recipe.code(arguments, DTYPES[dtype])
        if code.entry is None:
            raise RuntimeError(f"the code of {recipe.name} has no way in")
        return cls(tuple(arguments.values()), code, dtype, width, code.entry, recipe.layout())

    def __call__(self, arrays: list[Array], batch: Shape) -> Array:
        """The result for arrays of `batch` and this kernel's shapes and dtype."""
        states, shape = math.prod(batch), self.code.shape
        out = result_memory.empty((states, math.prod(shape)), self.dtype)
        if not out.size:
            return out.reshape(batch + shape)
        laid_out = [_laid_out(array, batch, shape) for array, shape in zip(arrays, self.arguments, strict=True)]
        inputs = [x for flat, stride in laid_out for x in (flat.ctypes.data, stride)]
        target = out.ctypes.data

        def work(start: int, end: int, _alive: Any = (laid_out, out)) -> None:
            self.entry(start, end, *inputs, target)

        in_parallel(states, self.width, work)
        return out.reshape(batch + shape)


def _laid_out(array: Array, batch: Shape, shape: Shape) -> tuple[Array, int]:
    """The array as the kernel reads it, and how far apart its states are: 0 if all share one."""
    size = math.prod(shape)
    if array.size == size:
        return _in_order(array), 0
    whole = batch + shape
    return _in_order(array if array.shape == whole else np.broadcast_to(array, whole)), size


def _in_order(array: Array) -> Array:
    """Its numbers one after the other, each where a number may begin."""
    if array.flags.carray:
        return array
    return np.ascontiguousarray(array if array.flags.aligned else array.copy())


Policy: TypeAlias = Literal["auto", "always", "never"]
POLICIES = cast("tuple[Policy, ...]", get_args(Policy))


@dataclass
class Slot:
    """A place for one kernel: what was asked for so far, the kernel, or why there is none."""

    lock: Any = field(default_factory=threading.Lock)
    calls: int = 0
    kernel: Kernel | None = None
    around: Surroundings | None = None
    refused: str | None = None
    warned: bool = False

    def is_current(self) -> bool:
        """Whether there is a kernel, and nothing has changed that it was made of."""
        return self.kernel is not None and (self.around is None or self.around.is_same())


class Kernels:
    """The kernels of this process, by model object: compiled when they are worth it, forgotten with their model."""

    def __init__(self, policy: Policy) -> None:
        self.policy: Policy = policy
        self._slots: PerModel[Slot] = PerModel()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    def find(self, recipe: Recipe, arguments: Arguments, dtype: np.dtype[Any], states: int) -> Kernel | None:
        """The kernel for a call, if there is one or the call makes it worth having."""
        if self.policy == "never" or dtype not in DTYPES:
            return None
        try:
            slot = self.slot(recipe, arguments, dtype)
        except TypeError:  # options that cannot be looked up, such as a list: the text runs as it stands
            return None
        if slot.kernel is None and slot.refused is None:
            slot.calls += 1
            if self.policy == "auto" and states < STATES and slot.calls < CALLS:
                return None
        return self.filled(slot, recipe, arguments, dtype)

    def slot(self, recipe: Recipe, arguments: Arguments, dtype: np.dtype[Any]) -> Slot:
        """Where the kernel is or will be; a TypeError if options cannot be looked up."""
        return self._slots.setdefault(recipe.model, (*recipe.key(), tuple(arguments.items()), dtype), Slot)

    def filled(self, slot: Slot, recipe: Recipe, arguments: Arguments, dtype: np.dtype[Any]) -> Kernel | None:
        """The kernel, built if there is none or what it was made of has changed.

        A failure is kept too: the text runs as it stands, and gives the same results.
        """
        if slot.refused is not None or slot.is_current():
            return slot.kernel
        with slot.lock:
            if slot.refused is None and not slot.is_current():
                try:
                    slot.kernel = None
                    made = Kernel.build(recipe, arguments, dtype)
                    slot.around = recipe.surroundings()
                    slot.kernel = made
                except UntraceableError as error:
                    slot.refused = _reason(error.__cause__ or error)
                except Exception as error:
                    slot.refused = _reason(error)
                    warn_plain(slot, recipe.name)
        return slot.kernel

    def made(self, model: Model) -> int:
        """How many kernels there are for a model object."""
        return sum(slot.kernel is not None for slot in self._slots.values(model))

    def __len__(self) -> int:
        return len(self._slots)

    def _unlock(self) -> None:
        """In a forked process nobody is left to open what other threads had locked."""
        for slot in self._slots.all():
            slot.lock = threading.Lock()


def _reason(error: BaseException) -> str:
    """Why there is no native code, and where in the user's text."""
    return f"{type(error).__name__}: {error}{line_of(error)}"


def warn_plain(slot: Slot, name: str) -> None:
    """Says once that there is no native code, and why."""
    if not slot.warned:
        slot.warned = True
        warn(f"{name} runs as plain Python, which is slow: no native code ({slot.refused})")


def _policy_of_environment() -> Policy:
    said = os.environ.get("KNUCKLE_COMPILATION") or "auto"
    for policy in POLICIES:
        if policy == said:
            return policy
    warn(f"KNUCKLE_COMPILATION is {said!r}, and must be auto, always or never: taken as auto")
    return "auto"


kernels = Kernels(_policy_of_environment())


def set_compilation(policy: Policy) -> None:
    """When native code is made: "auto" (for repeated calls and large batches), "always" or "never".

    "auto", the default, is at the 24th call on one model or for 256 states at once; the environment variable
    `KNUCKLE_COMPILATION` sets another default. Native and plain code round differently: their results differ in the
    last digits. "always" and "never" give the same digits in every call.
    """
    if policy not in POLICIES:
        raise ValueError(f'the policy is "auto", "always" or "never", not {policy!r}')
    kernels.policy = policy
