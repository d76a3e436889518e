"""The loops of a gradient: there with the states held, and back with their adjoints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.base import Shape
from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.calls.trajectory_batches import Backward, Clock, Input, through_time
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native import result_memory as memory

from .adjoint_texts import ADJOINT, GIVEN, ROW, SUM
from .curvature_texts import RATE
from .loss_texts import NOTED, TOTAL
from .redundant_contacts import SharedLoads

Array: TypeAlias = NDArray[Any]
Parts: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True)
class ThereAndBack:
    """The texts of a gradient for the inputs of a rollout, and the names of what they differentiate by.

    Attributes:
        there: a step and its loss.
        back: the adjoints before a step from those after it.
        at_end: the loss of the last state, with its derivatives by the state and by `end_wrt`; None if there is none.
        parts: the sizes of the parts of the state.
        others: what steps take besides.
        moving: the inputs with a value of their own at every step that it differentiates by.
        held: those that stay.
        end_takes: those that the loss of the last state takes.
        end_wrt: those of them that it differentiates by.
        steps: how many.
        part: every how many steps a state is kept.
        orders: what names begin with: nothing for the rollout and its gradient, and `RATE` for derivatives along a
            direction of these, if they go with them.
        shared: contacts whose impulses may not be unique, to look for.
    """

    there: Specialization
    back: Specialization
    at_end: Specialization | None
    parts: Mapping[str, int]
    others: Mapping[str, Input | Clock]
    moving: tuple[str, ...]
    held: tuple[str, ...]
    end_takes: tuple[str, ...]
    end_wrt: tuple[str, ...]
    steps: int
    part: int
    orders: tuple[str, ...] = ("",)
    shared: SharedLoads | None = None

    @property
    def cuts(self) -> list[int]:
        """The steps between which states are held at a time."""
        return [*range(0, self.steps, self.part), self.steps]

    def room(self, n: int, dtype: Any) -> tuple[dict[str, Array], dict[str, Array]]:
        """Memory for states of n trajectories: those that are kept on the way there, and those of a part."""
        shapes = (len(self.cuts) - 1 if len(self.cuts) > 2 else 0), self.part + 1
        kept, held = (
            {name: memory.empty((n, rows, size), dtype) for name, size in self.parts.items()} for rows in shapes
        )
        return kept, held

    def run(
        self, state: Parts, rows: Mapping[str, Array], room: tuple[Mapping[str, Array], Mapping[str, Array]]
    ) -> dict[str, Array]:
        """The total loss and the derivatives at the beginning of some trajectories; the state has (n, size) each.

        The derivatives by moving inputs are written to `rows`, (n, steps + 1, size) each.
        """
        n, dtype, cuts = len(state["q"]), state["q"].dtype, self.cuts
        kept, held = ({name: x[:n] for name, x in some.items()} for some in room)
        now = {**state, **{order + TOTAL: np.zeros((n, 1), dtype) for order in self.orders}}
        if len(cuts) > 2:
            now = self._go(now, 0, cuts[-2], self.part, kept)
        last = self._go(now, cuts[-2], cuts[-1], 1, held) if self.steps else now
        unclear = self._unclear(held, cuts[-1] - cuts[-2]) if self.steps else np.zeros(n, bool)
        final, adjoints = self._ended(last)
        for k in range(len(cuts) - 2, -1, -1):
            first, end = cuts[k], cuts[k + 1]
            if end < self.steps:
                totals = {order + TOTAL: now[order + TOTAL] for order in self.orders}
                self._go({**{name: x[:, k] for name, x in kept.items()}, **totals}, first, end, 1, held)
                unclear |= self._unclear(held, end - first)
            adjoints = self._return(adjoints, first, end, held, rows)
        losses = {f"{order}loss": last[order + TOTAL][:, 0] + final[order] for order in self.orders}
        return {**adjoints, **losses, "last q": last["q"], "last v": last["v"], "unclear": unclear}

    def _unclear(self, held: Parts, steps: int) -> NDArray[np.bool_]:
        """Whether impulses of contact in the states of some steps are not unique, of each trajectory."""
        if self.shared is None:
            return np.zeros(len(held["q"]), bool)
        return self.shared.unclear(held["memory0"][:, 1 : steps + 1])

    def _go(self, state: Parts, first: int, end: int, save_every: int, kept: Parts) -> dict[str, Array]:
        """The state after some steps; those on the way are kept."""
        n = len(state["q"])
        return through_time(
            self.there, state, self.others, (n,),
            steps=end - first, save_every=save_every, kept=tuple(kept.values()), first=first,
        )  # fmt: skip

    def _ended(self, last: Parts) -> tuple[dict[str, Any], dict[str, Array]]:
        """The loss of the last state, and the adjoints there, of each order."""
        n, dtype, orders = len(last["q"]), last["q"].dtype, self.orders
        size_of = {name: math.prod(self.others[name].shape) for name in (*self.moving, *self.held)}
        sizes = {order + ROW + name: size_of[name] for order in orders for name in self.moving}
        for order in orders:
            own = {name: size for name, size in self.parts.items() if not name.startswith((RATE, NOTED))}
            sizes |= {order + ADJOINT + name: size for name, size in own.items()}
            sizes |= {order + SUM + name: size_of[name] for name in self.held}
            sizes[order + GIVEN] = 1
        found = {name: np.zeros((n, size), dtype) for name, size in sizes.items()}
        if self.at_end is None:
            return dict.fromkeys(orders, 0.0), found
        arrays: dict[str, tuple[Array, Shape]] = {"t": (self.others["t"].at(self.steps), (1,))}
        for order in orders:
            arrays |= {order + name: (last[order + name], (self.parts[name],)) for name in ("q", "v")}
            takes = [order + name for name in self.end_takes if order + name in self.others]
            arrays |= {name: (self.others[name].at(0), self.others[name].shape) for name in takes}
        results, losses = NumPyArrays().compute(self.at_end, arrays), dict[str, Any]()
        each = len(results) // len(orders)
        for k, order in enumerate(orders):
            losses[order], q, v, *others = results[k * each : (k + 1) * each]
            found[order + ADJOINT + "q"], found[order + ADJOINT + "v"] = q, v
            found |= {order + SUM + name: x for name, x in zip(self.end_wrt, others, strict=True)}
        given = np.concatenate([found[ADJOINT + name] for name in ("q", "v")], axis=-1)
        found[GIVEN] = np.abs(given).sum(-1, keepdims=True)
        return losses, found

    def _return(self, after: Parts, first: int, end: int, held: Parts, rows: Mapping[str, Array]) -> dict[str, Array]:
        """The adjoints before some steps from those after them."""
        last = end - 1
        inputs: dict[str, Input | Backward | Clock] = {
            name: Backward(Input(x, x.shape[2:]), last - first) for name, x in held.items() if name != NOTED
        }
        if NOTED in held:  # which is there with the state that a step ends with
            inputs[NOTED] = Backward(Input(held[NOTED][:, 1:], held[NOTED].shape[2:]), last - first)
        for name, x in self.others.items():
            inputs[name] = Backward(x if isinstance(x, Input) else self._times(x), last)
        names = (order + name for order in self.orders for name in self.moving)
        written = tuple(rows[name][:, first : end + 1][:, ::-1] for name in names)
        return through_time(self.back, after, inputs, (len(held["q"]),), steps=end - first, save_every=1, kept=written)

    def _times(self, clock: Clock) -> Input:
        times = clock.first + clock.dt * np.arange(self.steps)
        return Input(times.astype(clock.dtype)[:, None], (1,))
