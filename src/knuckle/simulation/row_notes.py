"""What a simulation notes besides q and v at the rows that it saves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.trajectory.contacts.contact_log import ContactLog
from knuckle.trajectory.node_rows import NodeRows

from .mode_switch import Step
from .steps.native_steps import StateRows
from .steps.stepper import Stepper

Array: TypeAlias = NDArray[Any]


class RowNotes(ABC):
    """Notes of one run. A row is noted when it is saved, by the step that it belongs to."""

    needs_every_state = False
    """Whether native runs have to give the state before each row"""

    @property
    def log(self) -> ContactLog | None:
        """What was noted of contacts, if these are what is noted."""
        return None

    @abstractmethod
    def many(self, row: int, saved: Array, stepper: Stepper, starts: Array, state: State, rows: StateRows) -> None:
        """Rows from number `row` on: those `saved` of states after steps at `starts`, the first of them from `state`.

        The last of `starts` is the end of the last step.
        """

    @abstractmethod
    def one(self, row: int, t: float, q: Array, v: Array, state: State, step: Step | None) -> None:
        """A row: q and v at t. `state` is where the run stands, and `step` the one that t lies in or ends."""

    def arrays(self, row: int) -> dict[str, Array]:
        """What a checkpoint holds of rows from number `row` on, besides the log of contacts: nothing, for most."""
        return {}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """More rows, from such arrays."""
        return

    @abstractmethod
    def of_trajectory(self, model: Model) -> dict[str, Any]:
        """The fields of the trajectory that hold the notes, by name."""

    def settled(self, t: float, state: State) -> None:
        """What holds is known for the first row, which was saved before that."""
        return


class NodeNotes(RowNotes):
    """Of deformable bodies: where their nodes are and how they move."""

    def __init__(self) -> None:
        self._rows: list[tuple[Array, Array]] = []

    def many(self, row: int, saved: Array, stepper: Stepper, starts: Array, state: State, rows: StateRows) -> None:
        self._rows += [(rows.memory[0][k].copy(), rows.memory[1][k].copy()) for k in saved]

    def one(self, row: int, t: float, q: Array, v: Array, state: State, step: Step | None) -> None:
        x, u = state.memory
        if step is not None and step.t < t < step.end:
            part = (t - step.t) / step.h
            x, u = (a + part * (b - a) for a, b in zip(step.old.memory, step.new.memory, strict=True))
        self._rows.append((np.array(x), np.array(u)))

    def arrays(self, row: int) -> dict[str, Array]:
        new = self._rows[row:]
        return {f"nodes_{name}": np.array([both[k] for both in new]) for k, name in enumerate("xu")} if new else {}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        self._rows += zip(arrays["nodes_x"], arrays["nodes_u"], strict=True)

    def of_trajectory(self, model: Model) -> dict[str, Any]:
        x, u = (np.stack(part).reshape(len(self._rows), -1, 3) for part in zip(*self._rows, strict=True))
        return {"node_rows": NodeRows(x, u)}
