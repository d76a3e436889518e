"""What was made in this process for model objects: forgotten with its model, or when it is unused for long.

Code for one text can be made over and over, with other constants each time. So there is an end to what is kept: of too
many, those that were not used for longest are forgotten. What somebody still holds lives on, and with it its memory.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import os
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.warning import warn

V = TypeVar("V")

DEFAULT = 2048
"""Pieces of code of each kind; a small one takes 65 kB and two memory maps."""
SHARE = 8
"""One part in so many is forgotten at a time."""

_clock = itertools.count()


def _limit_of_environment() -> int:
    setting = os.environ.get("KNUCKLE_KERNEL_LIMIT") or str(DEFAULT)
    try:
        if int(setting) > 0:
            return int(setting)
    except ValueError:
        pass
    warn(f"KNUCKLE_KERNEL_LIMIT is {setting!r}, and must be a whole number from 1: taken as {DEFAULT}")
    return DEFAULT


class _Limit:
    count = _limit_of_environment()


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V
    used: int


T = TypeVar("T")


def _now(table: dict[Any, T]) -> list[T]:
    """The values at this moment; again from the beginning where some went meanwhile."""
    while True:
        with contextlib.suppress(RuntimeError):
            return list(table.values())


class PerModel(Generic[V]):
    """Values by model object and key. `forget` is called with a value that is no longer kept.

    Models may go at any moment, also while all are looked through: the collector runs where it likes.
    """

    def __init__(self, forget: Callable[[V], None] | None = None) -> None:
        self._lock, self._forget = threading.RLock(), forget
        self._of: dict[int, tuple[Any, dict[Any, _Entry[V]]]] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    def get(self, model: Model, key: Any) -> V | None:
        """A value, which counts as a use of it; None if there is none."""
        mine = self._of.get(id(model))
        entry = mine[1].get(key) if mine else None
        if entry is None:
            return None
        entry.used = next(_clock)
        return entry.value

    def setdefault(self, model: Model, key: Any, make: Callable[[], V]) -> V:
        """The value for a key, made if there is none. Of values that are made at once, one is kept for all."""
        stored = self.get(model, key)
        if stored is None:
            value = make()
            with self._lock:
                self._make_room()
                stored = self._mine(model).setdefault(key, _Entry(value, next(_clock))).value
        return stored

    def put(self, model: Model, key: Any, value: V) -> V:
        """A value in place of what there was."""
        with self._lock:
            self._make_room()
            self._mine(model)[key] = _Entry(value, next(_clock))
        return value

    def values(self, model: Model) -> list[V]:
        """All of a model."""
        _, mine = self._of.get(id(model), (None, dict[Any, _Entry[V]]()))
        return [entry.value for entry in _now(mine)]

    def all(self) -> list[V]:
        """All there are."""
        return [entry.value for _, mine in _now(self._of) for entry in _now(mine)]

    def clear(self) -> None:
        """Forgets everything."""
        self._of.clear()

    def __contains__(self, number: int) -> bool:
        """Whether there is something for the model object of this number."""
        return number in self._of

    def __len__(self) -> int:
        return sum(len(mine) for _, mine in _now(self._of))

    def _mine(self, model: Model) -> dict[Any, _Entry[V]]:
        number = id(model)
        if number not in self._of:

            def drop(_: Any, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
                if not is_ending():  # else modules are half gone, and everything goes anyway
                    self._drop(number)

            self._of[number] = weakref.ref(model, drop), {}
        return self._of[number][1]

    def _drop(self, number: int) -> None:
        """Forgets everything of a model object, which is about to go: its number may be another's at once."""
        _, mine = self._of.pop(number, (None, dict[Any, _Entry[V]]()))
        for entry in mine.values():
            self._forgotten(entry)

    def _forgotten(self, entry: _Entry[V] | None) -> None:
        if entry is not None and self._forget is not None:
            self._forget(entry.value)

    def _make_room(self) -> None:
        """Forgets what was not used for longest, if there are too many."""
        if len(self) < _Limit.count:
            return
        every = [(entry.used, mine, key) for _, mine in _now(self._of) for key, entry in mine.copy().items()]
        every.sort(key=operator.itemgetter(0))
        for _, mine, key in every[: len(every) - _Limit.count + max(1, _Limit.count // SHARE)]:
            self._forgotten(mine.pop(key, None))

    def _unlock(self) -> None:
        """In a forked process nobody is left to open what other threads had locked."""
        self._lock = threading.RLock()


R = TypeVar("R")


def per_model(function: Callable[[Model], R]) -> Callable[[Model], R]:
    """A function of a model whose results are kept: computed once for a model object, and forgotten with it."""
    known: PerModel[tuple[R]] = PerModel()

    @functools.wraps(function)
    def kept(model: Model) -> R:
        return known.setdefault(model, None, lambda: (function(model),))[0]

    return kept


@public_in("compilation")
def set_kernel_limit(count: int | None = None) -> None:
    """For how many functions a process keeps compiled code: 2048 unless said otherwise; None for that again.

    A function counts once for each model and choice of options; its code is for batches, for one state, or both, or for
    a loop through time. Beyond the limit those that were not used for longest are forgotten, and made or read from the
    disk again when they are needed. The environment variable `KNUCKLE_KERNEL_LIMIT` sets another default.
    """
    try:
        number = _limit_of_environment() if count is None else operator.index(count)
    except TypeError:
        number = 0
    if number < 1 or isinstance(count, bool):
        raise ValueError(f"the number of kernels is a whole number from 1, not {count!r}")
    _Limit.count = number
