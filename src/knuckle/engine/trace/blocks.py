"""Blocks: operations of a graph that take many numbers and give many.

A block is printed once as a function of its own, and runs wherever a node calls it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .count import Count

if TYPE_CHECKING:
    from .program import Program


class Block(ABC):
    """An operation on `inputs` numbers with `outputs` results."""

    @property
    @abstractmethod
    def inputs(self) -> int:
        """How many numbers it takes."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many numbers it gives."""

    @property
    def has_rounds(self) -> bool:
        """Whether it is run in rounds, or a piece of it is."""
        return False

    @property
    def arrays(self) -> tuple[int, ...]:
        """The sizes of the arrays that its inputs are, one after the other: code may leave each where it is."""
        return (self.inputs,)

    @property
    def is_in_place(self) -> bool:
        """Whether it takes and gives so many numbers that each should lie in its place from the start."""
        return False

    @abstractmethod
    def evaluate(self, values: Sequence[float]) -> list[float]:
        """Its results for these inputs, plainly: an oracle for the printers."""

    @abstractmethod
    def count(self) -> Count:
        """The operations of one call; the most, where their number depends on values."""

    @abstractmethod
    def size(self) -> int:
        """How many operations its text has, when it is printed."""

    @abstractmethod
    def work(self) -> int:
        """How many operations one call runs, small ones included."""

    @abstractmethod
    def mapped(self, change: Callable[[Program], Program]) -> Block:
        """The block with what it is made of changed."""


class LoopBlock(Block):
    """A block whose text is a few loops, as long for many numbers as for few."""

    def size(self) -> int:
        return 100

    def work(self) -> int:
        return self.count().total

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self


@dataclass(frozen=True)
class _WithBody(Block):
    """A block that runs a program of its own, with one argument: all inputs."""

    body: Program

    @property
    def inputs(self) -> int:
        return sum(size for _, size in self.body.arguments)

    @property
    def outputs(self) -> int:
        return len(self.body.outputs)

    @property
    def has_rounds(self) -> bool:
        return self.body.has_rounds

    def count(self) -> Count:
        return self.body.count()

    def size(self) -> int:
        return self.body.size()

    def work(self) -> int:
        return self.body.work

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return replace(self, body=change(self.body))


@dataclass(frozen=True)
class Called(_WithBody):
    """A piece of text that is called from several places."""

    def evaluate(self, values: Sequence[float]) -> list[float]:
        return self.body.evaluate(values)


@dataclass(frozen=True, eq=False)
class Ruled(_WithBody):
    """A piece that has a rule for its derivatives (`derivative_rules`). Two are equal if they are the same.

    Its body stays as it was recorded: what the rule computes then has the same intermediate values, and shares them.
    In a graph that keeps its loops, it knows the stretch that each node of its body was made in.
    """

    rule: Any
    stretches: tuple[int, ...] = ()

    def evaluate(self, values: Sequence[float]) -> list[float]:
        return self.body.evaluate(values)

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self


@dataclass(frozen=True)
class Repeated(_WithBody):
    """A piece of text that takes its own results, at most `rounds` times.

    Its results take the place of its first inputs. The first of them tells whether there is anything left to do: the
    next round is run for as long as it is above zero. Of states that are computed side by side, each stops by itself.
    One that `settles` would leave its results as they are: that decides its derivatives.
    """

    rounds: int
    settles: bool = False

    @property
    def has_rounds(self) -> bool:
        return True

    def evaluate(self, values: Sequence[float]) -> list[float]:
        state, others = list(values[: self.outputs]), values[self.outputs :]
        for _ in range(self.rounds):
            if not state[0] > 0:
                break
            state = self.body.evaluate([*state, *others])
        return state

    def count(self) -> Count:
        return self.body.count() * self.rounds
