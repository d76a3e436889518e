"""Kernels: native code that is called with arrays, and when it is made."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.result_layout import Layout
from knuckle.engine.native import fast_call, result_memory
from knuckle.engine.native.fast_call import FastCall, Form
from knuckle.engine.native.threads import in_parallel
from knuckle.engine.targets.base import Target
from knuckle.engine.targets.cpu import CPU
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.warning import line_of, warn

from . import one_state
from .batch_code import batch_code
from .captured_values import Surroundings
from .fetch_or_compile import Native
from .one_state import OneState
from .per_model import PerModel
from .specialization import Arguments, Specialization, UntraceableError

Array: TypeAlias = np.ndarray[Any, Any]

DTYPES = {np.dtype(np.float64): "f64", np.dtype(np.float32): "f32"}
CALLS, STATES = 24, 256
"""When a text is worth compiling: after so many calls on one model with one state, or with batches, or for so many
states at once. What is compiled for the one does for the other until then."""


@dataclass(frozen=True)
class Kernel:
    """Native code of a text for batches: the shapes of its arguments and how its results go together."""

    arguments: tuple[Shape, ...]
    code: Native
    layout: Layout
    dtype: np.dtype[Any]
    width: int

    @classmethod
    def build(
        cls, target: Target, specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any]
    ) -> Kernel:
        """The kernel of a specialization for arguments of these shapes."""
        code, layout = batch_code(target, specialization, arguments, DTYPES[dtype])
        return cls(tuple(arguments.values()), code, layout, dtype, target.width(DTYPES[dtype]))

    @cached_property
    def most_straight(self) -> int:
        """The largest batch that may go straight here."""
        return fast_call.most_states(self.code.operations, math.prod(self.code.shape) * self.dtype.itemsize)

    @property
    def address(self) -> int:
        """Where the code is that takes the arrays of a batch and nothing else; 0 if there is more to it."""
        return self.code.launched.address

    def __call__(self, arrays: list[Array], batch: Shape) -> Array:
        """The scalars of the results on the last axis or axes, for arrays of `batch` and this kernel's shapes."""
        states, shape = math.prod(batch), self.code.shape
        out = result_memory.empty((states, math.prod(shape)), self.dtype)
        if not out.size:
            return out.reshape(batch + shape)
        laid = [laid_out(array, batch, shape) for array, shape in zip(arrays, self.arguments, strict=True)]
        inputs = [x for flat, stride in laid for x in (flat.ctypes.data, stride)]
        place = out.ctypes.data

        def work(start: int, end: int, _alive: Any = (laid, out)) -> None:
            self.code.launched.run(start, end, *inputs, place)

        in_parallel(states, self.width, work)
        return out.reshape(batch + shape)


def laid_out(array: Array, batch: Shape, shape: Shape) -> tuple[Array, int]:
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


@dataclass(eq=False)
class Slot:
    """A place for the code of one specialization: how often it was called, the code, or why there is none.

    `kernel` is for batches, or a loop through time; `one` is for one state. `forms` are the calls of function objects
    that go to this code by themselves.
    """

    lock: Any = field(default_factory=threading.Lock)
    singles: int = 0
    batches: int = 0
    kernel: Any = None
    one: OneState | None = None
    around: Surroundings | None = None
    refused: str | None = None
    has_no_one: bool = False
    warned: bool = False
    forms: dict[Any, tuple[weakref.ref[FastCall], Form]] = field(default_factory=dict[Any, Any])

    def has_changed(self) -> bool:
        """Whether there is code, and something has changed that it was made of."""
        return self.around is not None and not self.around.is_same()

    def clear(self) -> None:
        """Forgets all code: no call goes there any more."""
        self.kernel = self.one = self.around = None
        self.has_no_one = False
        self.close()

    def close(self) -> None:
        """No function object goes to this code by itself any more."""
        while self.forms:
            with contextlib.suppress(KeyError):  # another thread was faster
                _, (fast_call, form) = self.forms.popitem()
                form.close()
                owner = fast_call()
                if owner is not None:
                    owner.remove(form)


class Kernels:
    """The kernels of this process, by model object: compiled when they are worth it, forgotten with their model."""

    def __init__(self, policy: Policy, target: Target) -> None:
        self._slots: PerModel[Slot] = PerModel(Slot.close)
        self.policy = policy
        self.target = target
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    @property
    def policy(self) -> Policy:
        """When native code is made."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        self._policy: Policy = policy
        fast_call.allowed.value = policy != "never"

    @property
    def target(self) -> Target:
        """What code is made for."""
        return self._target

    @target.setter
    def target(self, target: Target) -> None:
        self._target = target
        for slot in self._slots.all():
            slot.close()

    def find(
        self,
        specialization: Specialization,
        arguments: Arguments,
        dtype: np.dtype[Any],
        batch: Shape,
        *,
        eager: bool = False,
    ) -> Kernel | OneState | None:
        """The code for a call, if there is some or the call makes it worth having.

        Code for one state is made at once for calls that are `eager`.
        """
        if self.policy == "never" or dtype not in DTYPES:
            return None
        try:
            slot = self.slot(specialization, arguments, dtype)
        except TypeError:  # options that cannot be looked up, such as a list: the text runs as it stands
            return None
        if slot.refused is not None:
            return None
        kernel: Callable[[], Kernel | None] = lambda: self.kernel(slot, specialization, arguments, dtype)  # noqa: E731
        one: Callable[[], OneState | None] = lambda: self.one(slot, specialization, arguments, dtype)  # noqa: E731
        is_large = math.prod(batch) >= STATES
        if batch:
            slot.batches += 1
            if slot.kernel is not None or is_large or slot.batches >= CALLS or self.policy == "always":
                return kernel()
            return one() if slot.one is not None else kernel() if specialization.is_users else None
        slot.singles += 1
        if eager or slot.one is not None or slot.singles >= CALLS:
            return one() or kernel()
        if slot.kernel is not None:
            return kernel()
        return (one() or kernel()) if self.policy == "always" or specialization.is_users else None

    def slot(
        self, specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any], purpose: Any = None
    ) -> Slot:
        """Where the code is or will be; a TypeError if options cannot be looked up."""
        key = (*specialization.key(), tuple(arguments.items()), dtype, purpose, self.target)
        return self._slots.setdefault(specialization.model, key, Slot)

    def kernel(
        self, slot: Slot, specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any]
    ) -> Kernel | None:
        """The kernel for batches, built if there is none or what it was made of has changed."""
        return self.filled(
            slot, specialization, "kernel", lambda: Kernel.build(self.target, specialization, arguments, dtype)
        )

    def one(
        self, slot: Slot, specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any]
    ) -> OneState | None:
        """The code for one state; None where there is none besides that for batches."""
        if slot.has_no_one or not one_state.can_be(arguments, dtype):
            return None

        def build() -> OneState | None:
            own = one_state.straight(self.target, specialization, arguments, dtype)
            if own is None:
                if slot.kernel is None:
                    slot.kernel = Kernel.build(self.target, specialization, arguments, dtype)
                code, layout = slot.kernel.code, slot.kernel.layout
                own = one_state.by_kernel(self.target, specialization.name, code, layout, arguments, dtype)
            slot.has_no_one = own is None
            return own

        return self.filled(slot, specialization, "one", build)

    def filled(self, slot: Slot, specialization: Specialization, which: str, build: Callable[[], Any]) -> Any:
        """What a slot has, built if there is nothing or what it was made of has changed.

        A failure is kept too: the text runs as it stands, and gives the same results.
        """
        if slot.refused is not None or (getattr(slot, which) is not None and not slot.has_changed()):
            return getattr(slot, which)
        with slot.lock:
            if slot.has_changed():
                slot.clear()
            if slot.refused is None and getattr(slot, which) is None:
                try:
                    code = build()
                    slot.around = specialization.surroundings()
                    setattr(slot, which, code)
                except UntraceableError as error:
                    slot.refused = _reason(error.__cause__ or error)
                except Exception as error:
                    slot.refused = _reason(error)
                    warn_plain(slot, specialization.name)
        return getattr(slot, which)

    def warn_if_refused(self, specialization: Specialization, arguments: Arguments, dtype: np.dtype[Any]) -> None:
        """Says once that there can be no native code, and why."""
        slot = self.slot(specialization, arguments, dtype)
        if slot.refused is not None:
            warn_plain(slot, specialization.name)

    def made(self, model: Model) -> int:
        """For how many specializations to a model object there is code."""
        return sum(slot.kernel is not None or slot.one is not None for slot in self._slots.values(model))

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
    value = os.environ.get("KNUCKLE_COMPILATION") or "auto"
    for policy in POLICIES:
        if policy == value:
            return policy
    warn(f"KNUCKLE_COMPILATION is {value!r}, and must be auto, always or never: taken as auto")
    return "auto"


kernels = Kernels(_policy_of_environment(), CPU())


@public_in("compilation")
def set_policy(policy: Policy) -> None:
    """When native code is made: "auto" (for repeated calls and large batches), "always" or "never".

    "auto", the default, is at the 24th call on one model or for 256 states at once; the environment variable
    `KNUCKLE_COMPILATION` sets another default. Native and plain code round differently: their results differ in the
    last digits. "always" and "never" give the same digits in every call.
    """
    if policy not in POLICIES:
        raise ValueError(f'the policy is "auto", "always" or "never", not {policy!r}')
    kernels.policy = policy
