"""Many environments of a task in one native call, with Gymnasium's interface."""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .task import Autoreset, Task
from .task_environment import DIVERGED, spaces_of

Array: TypeAlias = NDArray[Any]


class VectorTaskEnvironment(VectorEnv[Array, Array, Array]):
    """A `gymnasium.vector.VectorEnv`. `world` is the `kn.Stepping` of all environments."""

    def __init__(self, task: Task, num_envs: int, autoreset: Autoreset = "next_step") -> None:
        if autoreset not in get_args(Autoreset):
            raise ValueError(f"autoreset is one of {', '.join(get_args(Autoreset))}, not {autoreset!r}")
        self.task, self.num_envs, self.world = task, num_envs, task.world((num_envs,))
        self.metadata = {"autoreset_mode": AutoresetMode[autoreset.upper()], "render_modes": []}
        self.render_mode = None
        self.single_observation_space, self.single_action_space = spaces_of(task, self.world)
        self.observation_space, self.action_space = (
            batch_space(space, num_envs) for space in (self.single_observation_space, self.single_action_space)
        )
        self._autoreset, self._counts = autoreset, np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The first observations: of all environments, or of those in `options["reset_mask"]`."""
        if seed is not None and not isinstance(seed, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"seed is one whole number for all environments, or None, not {seed!r}")
        super().reset(seed=seed)
        mask: Any = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(f"reset_mask is a mask of shape {(self.num_envs,)}, not {mask!r}")
        self._begin(mask)
        return self._seen(self.world.values[0]), {}

    def _begin(self, mask: Array) -> None:
        """New episodes where the mask says so."""
        where = np.flatnonzero(mask)
        if not len(where):
            return
        values = self.task.drawn_parameters(self.np_random, len(where))
        q, v = self.task.drawn_start(self.np_random, len(where))
        if values:
            self.world.set_parameters(values, where)
        if len(where) == self.num_envs:
            self.world.reset(q, v)
        else:
            self.world.reset(q, v, where, time_anew=True)
        self._counts[where], self._over[where] = 0, False

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """(observations, rewards, terminations, truncations, infos) after actions (num_envs, n)."""
        if self._autoreset == "disabled" and self._over.any():
            raise RuntimeError("some episodes are over: reset them with options={'reset_mask': mask} first")
        self.world.step(actions)
        observations, rewards, done, size = self.world.values
        self._counts += 1
        terminated, infos = done != 0, dict[str, Any]()
        truncated = np.zeros(self.num_envs, bool)
        if self.task.episode is not None:
            truncated = self._counts >= self.task.episode
        lost = ~np.isfinite(size)
        if lost.any():
            observations, rewards = (np.where(_wide(lost, x), 0.0, x) for x in (observations, rewards))
            terminated = terminated | lost
            infos |= {DIVERGED: lost, f"_{DIVERGED}": lost}
        anew, over = self._over.copy(), terminated | truncated
        if self._autoreset == "next_step" and anew.any():
            rewards = np.where(anew, 0.0, rewards)
            terminated, truncated, over = (x & ~anew for x in (terminated, truncated, over))
            observations = self._from_new(observations, anew)
        if self._autoreset == "same_step" and over.any():
            infos |= {"final_obs": self._seen(observations), "_final_obs": over, "final_info": {}, "_final_info": over}
            observations = self._from_new(observations, over)
        self._over = over if self._autoreset != "same_step" else np.zeros(self.num_envs, bool)
        return self._seen(observations), rewards, terminated, truncated, infos

    def _from_new(self, observations: Array, mask: Array) -> Array:
        """Observations, and for some environments those of the beginning of an episode."""
        self._begin(mask)
        return np.where(mask[:, None], self.world.values[0], observations)

    def _seen(self, observations: Array) -> Array:
        return observations.astype(self.task.dtype, copy=True)

    def __repr__(self) -> str:
        return f"<VectorTaskEnvironment of {self.task.model.name}: {self.num_envs} environments, {self._autoreset}>"


def _wide(mask: Array, like: Array) -> Array:
    return mask.reshape(-1, *(1,) * (like.ndim - 1))
