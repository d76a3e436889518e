"""One environment of a task, with Gymnasium's interface."""

from __future__ import annotations

from math import isfinite
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from knuckle.simulation.stepping import Stepping

from .task import Task

Array: TypeAlias = NDArray[Any]

DIVERGED = "diverged"
"""In the info of a step after which the state was no longer finite: the episode ends, and nothing is seen."""


class TaskEnvironment(gymnasium.Env[Array, Array]):
    """A `gymnasium.Env`: `reset`, `step` and, with pictures, `render`. `world` is the `kn.Stepping` inside."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012  # as Gymnasium's class states it

    def __init__(self, task: Task, render_mode: Literal["rgb_array"] | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is 'rgb_array' or None, not {render_mode!r}")
        self.task, self.render_mode, self.world = task, render_mode, task.world()
        self.metadata = {**self.metadata, "render_fps": max(1, round(1 / (task.dt * task.substeps)))}
        self.observation_space, self.action_space = spaces_of(task, self.world)
        self._is_double, self._count = np.dtype(task.dtype) == np.float64, 0
        self._limit = task.episode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """The first observation of an episode."""
        super().reset(seed=seed)
        if values := self.task.drawn_parameters(self.np_random, 1):
            self.world.set_parameters({name: x[0] for name, x in values.items()})
        q, v = self.task.drawn_start(self.np_random, 1)
        self.world.reset(q[0], v[0])
        self._count = 0
        return self._seen(self.world.values[0]), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """(observation, reward, terminated, truncated, info) after an action that is held for `substeps` steps."""
        self.world.step(action)
        observation, reward, done, size = self.world.values
        self._count += 1
        is_late = self._limit is not None and self._count >= self._limit
        if not isfinite(size):
            return np.zeros(len(observation), self.task.dtype), 0.0, True, is_late, {DIVERGED: True}
        return self._seen(observation), float(reward), bool(done), is_late, {}

    def _seen(self, observation: Array) -> Array:
        return observation if self._is_double else observation.astype(self.task.dtype)

    def render(self) -> Array | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A picture (height, width, 3) of where it stands."""
        if self.render_mode is None:
            return None
        from knuckle.viewer import picture

        return picture(self.task.model, q=self.world.q)

    def __repr__(self) -> str:
        return f"<TaskEnvironment of {self.task.model.name}, {self.task.dt * self.task.substeps:g} s per action>"


def spaces_of(task: Task, world: Stepping) -> tuple[spaces.Box, spaces.Box]:
    """The spaces of observations and of actions of one environment."""
    size, (low, high) = task.observation_size(world), task.action_range
    seen = spaces.Box(-np.inf, np.inf, (size,), np.dtype(task.dtype).type)
    return seen, spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
