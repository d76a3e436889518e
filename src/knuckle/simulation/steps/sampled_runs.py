"""Runs of native steps from sample to sample, where the law of a sampled controller is called in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.simulation.sampled_control import SampledControl

from .native_steps import StateRows

if TYPE_CHECKING:
    from .looped_steps import LoopedSteps
    from .native_steps import NativeSteps

Array = NDArray[Any]


class SampledRuns:
    """Steps that hold what a controller gave, one native call from sample to sample."""

    def __init__(
        self, steps: NativeSteps | LoopedSteps, control: SampledControl, model: Model, parameters: Mapping[str, Array]
    ) -> None:
        self._steps, self._control, self._model, self._parameters = steps, control, model, parameters

    @property
    def most(self) -> int:
        """Steps in one call at most."""
        return self._steps.most

    def run(self, times: Array, state: State, dt: float, every: int) -> StateRows:
        """The steps that begin at `times`, and the states after every so many of them and after the last."""
        runs, at, now = list[StateRows](), 0, state
        while at < len(times):
            left = self._control.period - float(now.memory[-1][0])
            count = max(1, min(len(times) - at, round(left / dt)))
            rows = self._steps.run(times[at : at + count], now, dt, 1)
            at, own = at + count, rows.memory[-1][-1]
            if self._control.is_due(own):
                end = float(times[at]) if at < len(times) else float(times[-1]) + dt
                new = rows.state(-1)
                rows.memory[-1][-1] = self._control.at_sample(
                    self._model, end, new.q, new.v, own, self._parameters
                )  # fmt: skip
            runs.append(rows)
            now = rows.state(-1)
        q, v = (np.concatenate([getattr(rows, name) for rows in runs]) for name in "qv")
        memory = tuple(np.concatenate(parts) for parts in zip(*(rows.memory for rows in runs), strict=True))
        kept = np.minimum(np.arange(every - 1, len(times) + every - 1, every), len(times) - 1)
        before = tuple(np.concatenate([first[None], x[kept[:-1]]]) for first, x in ((state.q, q), (state.v, v)))
        return StateRows(q[kept], v[kept], tuple(x[kept] for x in memory), runs[0].numbers, (before[0], before[1]))
