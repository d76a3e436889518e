"""Batches of trajectories: native code where there can be some, else step by step.

The batch is cut into pieces, which threads share. A piece goes through its steps in calls of some hundredths of a
second, between which Python has its turn: an interrupt is raised then, and nothing is written to the results after it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.emit.llvm.feedback_loop import Feedback
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native import threads

from .numpy_arrays import NumPyArrays
from .time_loop import Loop, loop_for

Array: TypeAlias = np.ndarray[Any, Any]

CALL = 100_000_000
"""Vector operations in one call; a processor does some billions of them in a second."""
WORTH = 1_000_000
"""Vector operations that make a thread worth its while."""


@dataclass(frozen=True)
class Input:
    """An argument of every step: an array (*batch, steps, *shape). Axes of length 1 stand for any length."""

    array: Array
    shape: Shape

    @property
    def batch(self) -> Shape:
        return self.array.shape[: -1 - len(self.shape)]

    @property
    def is_moving(self) -> bool:
        """Whether it has a value of its own at every step."""
        return self.array.shape[len(self.batch)] > 1

    def rows(self, batch: Shape, start: int, end: int) -> tuple[Array, int, int]:
        """Trajectories `start` to `end` in order, how far apart they are (0: all share one), and their steps."""
        size = math.prod(self.shape)
        stride = self.array.shape[len(self.batch)] * size
        if math.prod(self.batch) == 1:
            return np.ascontiguousarray(self.array), 0, size
        if self.batch == batch:
            return np.ascontiguousarray(self.array.reshape(-1, stride)[start:end]), stride, size
        full = np.broadcast_to(self.array, batch + self.array.shape[len(self.batch) :])
        return np.ascontiguousarray(full[np.unravel_index(np.arange(start, end), batch)]), stride, size

    def at(self, step: int) -> Array:
        """The value at a step, with the batch axes before it."""
        return np.take(self.array, step if self.is_moving else 0, len(self.batch))


@dataclass(frozen=True)
class Backward:
    """An argument of every step that is read backward in time: at step s it is the row `last` − s of another."""

    of: Input
    last: int

    @property
    def array(self) -> Array:
        return self.of.array

    @property
    def shape(self) -> Shape:
        return self.of.shape

    @property
    def batch(self) -> Shape:
        return self.of.batch

    @property
    def is_moving(self) -> bool:
        return self.of.is_moving

    def rows(self, batch: Shape, start: int, end: int) -> tuple[Array, int, int]:
        """As those of an input: they begin with the last row, and go back."""
        array, stride, size = self.of.rows(batch, start, end)
        if not self.is_moving:
            return array, stride, size
        one_each = array.reshape(-1, stride) if stride else array.reshape(1, -1)
        return one_each[:, self.last * size :], stride, -size

    def at(self, step: int) -> Array:
        return self.of.at(self.last - step)


@dataclass(frozen=True)
class Clock:
    """The time as an argument of every step: t₀ + step · dt, in the precision of the others."""

    first: float
    dt: float
    dtype: np.dtype[Any]
    shape: Shape = (1,)
    batch: Shape = ()
    is_moving: bool = False

    def rows(self, batch: Shape, start: int, end: int) -> tuple[Array, int, int]:
        """What the loop computes the time from."""
        return np.array([self.first, self.dt]), 0, 0

    def at(self, step: int) -> Array:
        """The time of a step."""
        return np.array([self.first + self.dt * step]).astype(self.dtype)


Argument: TypeAlias = Input | Backward | Clock
Ask: TypeAlias = Callable[[Mapping[str, Array]], Mapping[str, Array]]
"""What Python says to the arguments of a step, of all trajectories: other values of some."""


@dataclass(frozen=True)
class Trajectories:
    """Trajectories under way: each step takes the parts of the state, then the inputs, and gives the parts.

    They go from step `first` to before step `steps`. Row k of a kept part, (batch, rows, size), is the state after
    k · save_every steps of them; the last row is the last state.
    """

    specialization: Specialization
    batch: Shape
    state: Array
    sizes: Mapping[str, int]
    inputs: Mapping[str, Argument]
    steps: int
    save_every: int
    kept: tuple[Array, ...]
    ask: Ask | None = None
    first: int = 0

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of all arguments of a step, in order."""
        parts = {name: (size,) for name, size in self.sizes.items()}
        return parts | {name: x.shape for name, x in self.inputs.items()}

    @property
    def feedback(self) -> Feedback:
        """How a step goes round."""
        sizes = tuple(array.shape[-1] for array in self.kept)
        moving = frozenset(name for name, x in self.inputs.items() if x.is_moving)
        clocks = [name for name, x in self.inputs.items() if isinstance(x, Clock)]
        return Feedback(sum(self.sizes.values()), sizes, moving, *clocks)

    def run(self) -> None:
        """Goes through all steps, and leaves the last state in `state`."""
        loop = None
        if not self.ask:
            is_single = len(self.state) == 1
            loop = loop_for(self.specialization, self.shapes, self.feedback, self.state.dtype, is_single)
        if loop is None:
            self._step_by_step()
        else:
            self._natively(loop)

    def _natively(self, loop: Loop) -> None:
        count = len(self.state)
        vectors = -(-count // loop.width)
        work = loop.operations * (self.steps - self.first)  # of one vector
        helpers = min(threads.get_threads(), vectors, max(1, vectors * work // WORTH))
        share = vectors // (4 * helpers) if helpers > 1 else vectors
        at_once = max(1, min(CALL // work, share)) * loop.width
        pieces = [(start, min(start + at_once, count)) for start in range(0, count, at_once)]
        threads.shared(pieces, helpers, lambda bounds, stop: Piece(self, loop, *bounds, stop).run())

    def _step_by_step(self) -> None:
        """Every step a call, of all trajectories together."""
        parts = np.split(self.state, np.cumsum([*self.sizes.values()])[:-1], axis=-1)
        now = self._of_sizes(parts)
        for step in range(self.first, self.steps):
            arguments = dict(zip(self.sizes, now, strict=True)) | {name: x.at(step) for name, x in self.inputs.items()}
            arguments |= self.ask(arguments) if self.ask else {}
            arrays = {name: (arguments[name], shape) for name, shape in self.shapes.items()}
            now = self._of_sizes(NumPyArrays().compute(self.specialization, arrays))
            if (step + 1 - self.first) % self.save_every == 0 or step + 1 == self.steps:
                for kept, part in zip(self.kept, now, strict=False):
                    kept[:, self.row(step)] = part.reshape(len(self.state), -1)
        self.state[:] = np.concatenate([part.reshape(len(self.state), -1) for part in now], axis=-1)

    def _of_sizes(self, parts: Iterable[Array]) -> list[Array]:
        """The parts of the state of all trajectories, numbers as vectors of one."""
        return [np.reshape(part, (*self.batch, size)) for part, size in zip(parts, self.sizes.values(), strict=True)]

    def row(self, step: int) -> int:
        """The first row that is written at or after a step."""
        return -(-(step + 1 - self.first) // self.save_every)


class Piece:
    """Some trajectories next to each other, by native code. Nothing more is done once `stop` is set."""

    def __init__(self, whole: Trajectories, loop: Loop, start: int, end: int, stop: threading.Event) -> None:
        self.whole, self.loop, self.count, self.stop = whole, loop, end - start, stop
        self.rows = [x.rows(whole.batch, start, end) for x in whole.inputs.values()]
        self.state = whole.state[start:end]
        self.flow = [n for array, stride, pace in self.rows for n in (array.ctypes.data, stride, pace)]
        for array in whole.kept:
            self.flow += [array[start:].ctypes.data, *(n // array.itemsize for n in array.strides[:2])]

    def run(self) -> None:
        """All steps, in calls that do not take long."""
        vectors = -(-self.count // self.loop.width)
        at_once = max(1, CALL // (self.loop.operations * vectors))
        for first in range(self.whole.first, self.whole.steps, at_once):
            if self.stop.is_set():
                return
            self._through(first, min(first + at_once, self.whole.steps))

    def _through(self, first: int, last: int) -> None:
        """Some steps in one call."""
        row, save_every, total = self.whole.row(first), self.whole.save_every, self.whole.steps
        due = min(self.whole.first + row * save_every, total)
        self.loop.entry(0, self.count, first, last, row, due, save_every, total, self.state.ctypes.data, *self.flow)


def through_time(
    specialization: Specialization,
    state: Mapping[str, Array],
    inputs: Mapping[str, Argument],
    batch: Shape,
    *,
    steps: int,
    save_every: int,
    kept: Sequence[Array],
    ask: Ask | None = None,
    first: int = 0,
) -> dict[str, Array]:
    """Writes the leading parts of a state at every `save_every`-th step and the last; returns the last state.

    Args:
        specialization: one step: from the parts of the state, by their names, and the inputs, to a tuple of the next.
        state: the parts at the beginning, (..., size) each, all of one dtype.
        inputs: what else a step takes; one of them may be a clock.
        batch: the batch axes of all together.
        steps: how many.
        save_every: every how many steps the state is kept.
        kept: where the parts go, (*batch, K, size) each, in order. Their rows may be in any order, as in x[:, ::-1].
        ask: Python's word at every step, if it has one.
        first: the number of the first step: a part of a longer motion goes by the clock and the rows of the whole.
    """
    count = math.prod(batch)
    flat = [np.broadcast_to(part, batch + part.shape[-1:]).reshape(count, part.shape[-1]) for part in state.values()]
    whole = np.ascontiguousarray(np.concatenate(flat, axis=-1))
    written = tuple(array.reshape(count, *array.shape[-2:]) for array in kept)
    for array, part in zip(written, flat, strict=False):
        array[:, 0] = part
    sizes = {name: part.shape[-1] for name, part in state.items()}
    if whole.size and steps:
        Trajectories(specialization, batch, whole, sizes, inputs, first + steps, save_every, written, ask, first).run()
    ends = np.cumsum([*sizes.values()])[:-1]
    return dict(zip(sizes, np.split(whole.reshape(*batch, whole.shape[-1]), ends, axis=-1), strict=True))
