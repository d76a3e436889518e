"""Crews: who computes chunks. A crew takes chunks while it has room, and says what became of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

from .work_order import Receipt, WorkOrder


@dataclass(frozen=True)
class Lost:
    """A chunk whose worker is gone, and how it went."""

    chunk: int
    why: str


Outcome: TypeAlias = Receipt | Lost


class Crew(ABC):
    """Workers. What a chunk raises is raised by `wait`."""

    @property
    @abstractmethod
    def room(self) -> int:
        """How many more chunks it takes now."""

    @abstractmethod
    def submit(self, chunk: int) -> None:
        """Takes a chunk."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Outcome]:
        """What became of chunks, after so many seconds at most."""

    @abstractmethod
    def close(self) -> None:
        """Sends the workers home, whatever they are doing."""

    @property
    def workers(self) -> int:
        """How many there are."""
        return 1


class InProcess(Crew):
    """This process: one chunk after the other, each with all threads."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._chunks: list[int] = []

    @property
    def room(self) -> int:
        return 1 - len(self._chunks)

    def submit(self, chunk: int) -> None:
        self._chunks.append(chunk)

    def wait(self, seconds: float) -> list[Outcome]:
        return [self._order.carry_out(self._chunks.pop())] if self._chunks else []

    def close(self) -> None:
        self._chunks.clear()
