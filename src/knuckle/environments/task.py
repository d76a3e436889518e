"""A task for a mechanism: what is seen, what is rewarded, when it ends. Environments are made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from knuckle.engine.calls.function import kernel
from knuckle.extras import need
from knuckle.integrators.starting_state import start_of
from knuckle.model import Model
from knuckle.simulation.rollout.rollout_inputs import finite, whole
from knuckle.simulation.stepping import Stepping

if TYPE_CHECKING:
    from .task_environment import TaskEnvironment
    from .vector_environment import VectorTaskEnvironment

Array: TypeAlias = NDArray[Any]
Autoreset: TypeAlias = Literal["next_step", "same_step", "disabled"]

OBSERVATION, REWARD, DONE, SIZE = "observation", "reward", "done", "size"
"""What is read after each step."""


@kernel
def state_size(model: Model, q: Any, v: Any) -> Any:
    """The sum of all variables: it is not finite where one of them is not."""
    return sum(q) + sum(v)


@kernel
def never(model: Model) -> Any:
    """Nothing ends an episode but its length."""
    return 0.0


@dataclass(frozen=True, eq=False)
class Task:
    """What a learner is to do with a mechanism whose actuators it controls.

        task = kn.environments.Task(model, observation, reward, done, dt=2e-3, substeps=5, episode=1000)
        env = task.environment()                       # a gymnasium.Env
        envs = task.vector_environment(4096)           # a gymnasium.vector.VectorEnv: one native call for all

    `observation`, `reward` and `done` are kernels (`kn.kernel`) and part of the native code of a step. Their arguments
    called t, q and v receive time and state after it, `u` the controls of the step, `q_before` and `v_before` the state
    before it, all others the `parameters` of their names.

    Args:
        model: the mechanism, with actuators; their ranges of control are the space of actions.
        observation: observation(model, …) → a vector.
        reward: reward(model, …) → a number.
        done: done(model, …) → a number, or a comparison: an episode ends where it is not zero. None if nothing ends it
            but its length.
        dt: the length of a step of the simulation in seconds.
        substeps: how many of them an action is held for.
        episode: the number of actions after which an episode is cut off (`truncated`); None for no limit.
        start: start(rng, n) → (q, v), n states to begin with, or such a pair; neutral and at rest, if not given.
        parameters: what kernels ask for, by name.
        randomize: randomize(rng, n) → values of some parameters for n episodes, by name, (n, …) each.
        model_fn: model_fn(model, …) → the mechanism of some parameters: masses or friction of each episode.
        dtype: of observations.
        options: what `kn.Stepping` takes besides: integrator, contacts, controller, external_forces, joint_limits,
            stabilization.
    """

    model: Model
    observation: Callable[..., Any]
    reward: Callable[..., Any]
    done: Callable[..., Any] | None = None
    dt: float = 2e-3
    substeps: int = 5
    episode: int | None = 1000
    start: Callable[[np.random.Generator, int], tuple[ArrayLike, ArrayLike]] | tuple[ArrayLike, ArrayLike] | None = None
    parameters: Mapping[str, ArrayLike] = field(default_factory=dict[str, Any])
    randomize: Callable[[np.random.Generator, int], Mapping[str, ArrayLike]] | None = None
    model_fn: Callable[..., Model] | None = None
    dtype: DTypeLike = np.float64
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Task needs a knuckle.Model first, not {type(self.model).__name__}")
        if not self.model.actuators:
            raise ValueError(
                f"{self.model.name} has no actuators for actions: kn.actuators.with_motors(model) has a motor at every "
                "joint"
            )
        finite("dt", self.dt)
        whole("substeps", self.substeps, 1)
        if self.episode is not None:
            whole("episode", self.episode, 1)
        if np.dtype(self.dtype).kind != "f":
            raise TypeError(f"dtype of observations is float32 or float64, not {self.dtype!r}")

    def environment(self, render_mode: Literal["rgb_array"] | None = None) -> TaskEnvironment:
        """One environment, a `gymnasium.Env`. `render_mode="rgb_array"` draws pictures of it without a browser."""
        need("gymnasium", "environments need", "gym")
        from .task_environment import TaskEnvironment

        return TaskEnvironment(self, render_mode)

    def vector_environment(self, num_envs: int, autoreset: Autoreset = "next_step") -> VectorTaskEnvironment:
        """So many environments that are stepped together, a `gymnasium.vector.VectorEnv`.

        Args:
            num_envs: how many.
            autoreset: when those begin anew whose episode ended: with the next step, which ignores their action then;
                in the same one, whose last observation is in `infos["final_obs"]`; or never by themselves: `reset` with
                `options={"reset_mask": mask}` does it.
        """
        need("gymnasium", "environments need", "gym")
        from .vector_environment import VectorTaskEnvironment

        return VectorTaskEnvironment(self, whole("num_envs", num_envs, 1), autoreset)

    # what environments are made of

    def world(self, batch: tuple[int, ...] = ()) -> Stepping:
        """The mechanism that is stepped, once or in a batch."""
        q, v = (np.asarray(x, float) for x in start_of(self.model, None, None))
        readings = {OBSERVATION: self.observation, REWARD: self.reward, DONE: self.done or never, SIZE: state_size}
        return Stepping(
            self.model, np.broadcast_to(q, (*batch, len(q))), np.broadcast_to(v, (*batch, len(v))), dt=self.dt,
            substeps=self.substeps, controls=True, parameters=dict(self.parameters), model_fn=self.model_fn,
            readings=readings, **self.options,
        )  # fmt: skip

    def drawn_start(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """States (count, nq) and (count, nv) to begin with."""
        pair = self.start(rng, count) if callable(self.start) else self.start
        if pair is None:
            pair = start_of(self.model, None, None)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"start is, or returns, a pair (q, v), not {type(pair).__name__}")
        q, v = (np.asarray(x, float) for x in start_of(self.model, *pair))
        for name, x, n in (("q", q, self.model.nq), ("v", v, self.model.nv)):
            if x.shape not in ((n,), (count, n)):
                raise ValueError(f"{name} of start has shape {x.shape}, and must have shape {(count, n)} or {(n,)}")
        return np.broadcast_to(q, (count, self.model.nq)), np.broadcast_to(v, (count, self.model.nv))

    def drawn_parameters(self, rng: np.random.Generator, count: int) -> dict[str, Array]:
        """Values of parameters for so many episodes."""
        if self.randomize is None:
            return {}
        drawn: Any = self.randomize(rng, count)
        if not isinstance(drawn, Mapping):
            raise TypeError(f"randomize returns a {type(drawn).__name__}, and must return a mapping of parameters")
        values = {name: np.asarray(x, float) for name, x in drawn.items()}
        for name, x in values.items():
            if x.shape[:1] != (count,):
                raise ValueError(f"{name} of randomize has shape {x.shape}, and its first axis must have {count}")
        return values

    def observation_size(self, world: Stepping) -> int:
        """How many numbers are seen; an error where readings have other shapes than those of a task."""
        read = {name: np.shape(x)[len(world.batch) :] for name, x in world.readings.items()}
        if len(read[OBSERVATION]) != 1:
            raise ValueError(f"observation returns shape {read[OBSERVATION]}, and must return a vector")
        for name in (REWARD, DONE):
            if read[name]:
                raise ValueError(f"{name} returns shape {read[name]}, and must return a number")
        return read[OBSERVATION][0]

    @property
    def action_range(self) -> tuple[Array, Array]:
        """The least and largest controls of actuators; infinite where they have no range."""
        ranges = [actuator.control_range or (-np.inf, np.inf) for actuator in self.model.actuators]
        low, high = np.array(ranges, float).reshape(-1, 2).T
        return low, high
