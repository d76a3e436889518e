"""A target: what prints, compiles, loads and launches programs, and tells its code from that of others.

Kernels know targets, and no target by its name. A target makes code in three forms. Only the first has to be there:
what has no code for one state is called as a batch of one, and what has no loop through time is called at every step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from knuckle.engine.arrays.base import Shape
from knuckle.engine.emit.llvm.feedback_loop import Feedback
from knuckle.engine.trace import Program, Rolled

Arguments: TypeAlias = Mapping[str, Shape]
"""The shapes of the arguments for one state, in order."""


@dataclass(frozen=True)
class Launched:
    """Code that can be called, and what keeps it alive.

    `run(start, end, place, stride, …, result)` computes the states from `start` to before `end`, for the place of each
    argument and how far its states are apart. `address` is where machine code of this process with just these arguments
    is; 0 where there is none.
    """

    run: Callable[..., None]
    keeps: Any
    address: int = 0


class Target(ABC):
    """Something that programs can be compiled for."""

    @property
    @abstractmethod
    def key(self) -> Any:
        """What tells code for this target from code for others."""

    @abstractmethod
    def width(self, dtype: str) -> int:
        """How many states of this type of number, "f64" or "f32", are computed side by side."""

    @abstractmethod
    def batch(self, program: Program, dtype: str) -> bytes:
        """The code of a program for batches of states."""

    @abstractmethod
    def load_batch(self, code: bytes, arguments: int) -> Launched:
        """Such code in memory, for a program with so many arguments."""

    def lane_blocks(self, program: Program, dtype: str, is_large: bool) -> bytes | None:
        """Code for batches whose results are in blocks of states; None if there is none. It is loaded like others.

        A large result begins at a line of a cache, of 64 bytes, and may be written past the caches.
        """
        return None

    def rolled(self, program: Rolled, dtype: str) -> tuple[dict[str, Any], bytes] | None:
        """A description and the code of a rolled program for batches; None if there is no such code."""
        return None

    def load_rolled(self, description: Mapping[str, Any], code: bytes, dtype: str, arguments: int) -> Launched:
        """Such code in memory."""
        raise NotImplementedError(f"{type(self).__name__} has no rolled programs")

    def one_state(self, program: Program, dtype: str) -> bytes | None:
        """Code for one state, `void one_state(ptr inputs, ptr out)`, in this process; None if there is none."""
        return None

    def load_one_state(self, code: bytes) -> Launched:
        """Such code in memory, of which only the address counts."""
        raise NotImplementedError(f"{type(self).__name__} has no code for one state")

    def one_of_batch(self, batch: Launched, arguments: int) -> Launched | None:
        """Code for one state that calls code for batches; None if there is none."""
        return None

    def loop(self, program: Program, dtype: str, feedback: Feedback, is_single: bool) -> bytes | None:
        """The code of a program that is fed back into itself, for one or many trajectories; None if there is none."""
        return None

    def load_loop(self, code: bytes, feedback: Feedback, arguments: Arguments) -> Launched:
        """Such code in memory (`emit.llvm.feedback_loop` says with which arguments)."""
        raise NotImplementedError(f"{type(self).__name__} has no loops through time")
