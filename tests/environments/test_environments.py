"""Environments: Gymnasium's own checker, the vector is the single one many times, and who begins anew when."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import knuckle as kn
from knuckle.environments import Task
from knuckle.environments.task_environment import TaskEnvironment
from knuckle.joints import Revolute
from knuckle.model import Model, point_mass


@kn.kernel
def observation(model: Model, q: Any, v: Any, goal: Any) -> Any:
    return np.concatenate([np.cos(q), np.sin(q), v, q - goal])


@kn.kernel
def reward(model: Model, q: Any, u: Any, goal: Any, v_before: Any) -> Any:
    return -((q[0] - goal) ** 2) - 0.1 * u[0] ** 2 + v_before[0]


@kn.kernel
def done(model: Model, q: Any) -> Any:
    return abs(q[0]) > 0.5


def heavier(model: Model, mass: Any) -> Model:
    return model.replace(bodies=(kn.model.Body("bob", point_mass(mass, at=(0, 0, -1.0))),))


def start(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    return rng.uniform(-0.3, 0.3, (count, 1)), rng.uniform(-1.0, 1.0, (count, 1))


def randomize(rng: np.random.Generator, count: int) -> dict[str, Any]:
    return {"goal": rng.uniform(-0.2, 0.2, count), "mass": rng.uniform(0.5, 2.0, count)}


def pendulum() -> Model:
    b = kn.Builder("pendulum")
    b.body("bob", joint=Revolute("y"), joint_name="pivot", inertia=point_mass(1.0, at=(0, 0, -1.0)))
    return b.build().replace(actuators=(kn.actuators.motor("drive", "pivot", gear=5.0, control_range=(-1.0, 1.0)),))


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(
        pendulum(), observation, reward, done, dt=0.01, substeps=2, episode=20, start=start,
        parameters={"goal": 0.1, "mass": 1.0}, randomize=randomize, model_fn=heavier,
    )  # fmt: skip


@pytest.fixture(scope="module")
def env(task: Task) -> Any:
    return task.environment()


@pytest.fixture(scope="module")
def envs(task: Task) -> Any:
    return task.vector_environment(6)


def test_gymnasium_finds_nothing_wrong(task: Task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(?s).*(Box observation space|not having a spec)")
        check_env(task.environment())


@pytest.mark.slow
def test_gymnasium_finds_nothing_wrong_with_pictures(task: Task):
    env = task.environment(render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*WARN")
        check_env(env)
    first = env.render()
    env.world.reset([1.0])
    assert np.abs(env.render().astype(int) - first).max() > 50  # it is the pendulum that is drawn, where it stands


def test_an_environment_is_its_kernels_and_steps(task: Task, env: Any):
    seen, _ = env.reset(seed=3)
    q, v, goal = env.world.q, env.world.v, float(seen[0] * 0 + env.world.q[0] - seen[3])
    action = np.array([0.7], np.float32)
    after, gained, ended, cut, _ = env.step(action)
    new_q, new_v = env.world.q, env.world.v
    assert after == pytest.approx([np.cos(new_q[0]), np.sin(new_q[0]), new_v[0], new_q[0] - goal], abs=1e-14)
    u = float(action[0])
    assert gained == pytest.approx(-((new_q[0] - goal) ** 2) - 0.1 * u**2 + v[0], abs=1e-14)
    assert (ended, cut) == (abs(new_q[0]) > 0.5, False)
    drawn = randomize(gymnasium.utils.seeding.np_random(3)[0], 1)
    moving = heavier(task.model, drawn["mass"][0])
    rolled = kn.rollout(moving, q, v, 5.0 * u * np.ones((1, 1)), 0.01, steps=2)
    assert new_q == pytest.approx(rolled.q[-1], abs=1e-14)


def test_an_episode_is_cut_off_after_its_length(env: Any):
    env.reset(seed=0)
    env.world.set_parameters({"goal": 0.0})
    env.world.reset([0.0])
    assert [env.step(np.zeros(1, np.float32))[3] for _ in range(20)] == [False] * 19 + [True]


def test_many_are_one_many_times(task: Task, env: Any, envs: Any):
    """Every environment of a vector takes the steps that a single one takes from its state with its parameters."""
    envs.reset(seed=5)
    rng = gymnasium.utils.seeding.np_random(5)[0]
    drawn = task.drawn_parameters(rng, 6)
    q, v = task.drawn_start(rng, 6)
    actions = np.linspace(-1, 1, 6, dtype=np.float32)[:, None]
    seen, gained, ended, _, _ = envs.step(actions)
    for k in range(6):
        env.world.set_parameters({name: x[k] for name, x in drawn.items()})
        env.world.reset(q[k], v[k])
        alone, reward, is_over, *_ = env.step(actions[k])
        assert np.array_equal(alone, seen[k])
        assert (reward, is_over) == (gained[k], ended[k])


def play(envs: Any, steps: int) -> list[tuple[Any, ...]]:
    envs.reset(seed=1)
    return [envs.step(np.ones((envs.num_envs, 1), np.float32)) for _ in range(steps)]


def test_those_whose_episode_ended_begin_anew_with_the_next_step(envs: Any):
    rows = play(envs, 40)
    over = np.array([ended | cut for _, _, ended, cut, _ in rows])
    assert over.any(axis=0).all()
    assert not (over[1:] & over[:-1]).any()
    for k, (before, (seen, gained, *_)) in enumerate(zip(over, rows[1:], strict=False)):
        angle = np.arctan2(seen[:, 1], seen[:, 0])
        assert (np.abs(angle[before]) <= 0.3).all(), k
        assert (gained[before] == 0).all()
        ended = rows[k][2]
        last = np.arctan2(rows[k][0][:, 1], rows[k][0][:, 0])
        assert (np.abs(last[ended]) > 0.5).all()  # what is seen where an episode ends is how it ended


def test_those_whose_episode_ended_begin_anew_in_the_same_step(task: Task):
    for seen, _, ended, cut, infos in play(task.vector_environment(6, "same_step"), 30):
        over = ended | cut
        assert (np.abs(np.arctan2(seen[over, 1], seen[over, 0])) <= 0.3).all()
        assert over.any() == ("final_obs" in infos)
        if over.any():
            assert np.array_equal(infos["_final_obs"], over)
            last = infos["final_obs"][ended]
            assert (np.abs(np.arctan2(last[:, 1], last[:, 0])) > 0.5).all()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_vector_is_gymnasiums_own_vector_of_single_ones(task: Task, mode: Any):
    """All that is returned, of sixty steps with many ends, is what `SyncVectorEnv` makes of single environments."""
    same = dataclasses.replace(task, start=(np.array([0.2]), np.array([0.5])), randomize=None)
    autoreset = gymnasium.vector.AutoresetMode[mode.upper()]
    theirs = gymnasium.vector.SyncVectorEnv([same.environment] * 3, autoreset_mode=autoreset)
    ours = same.vector_environment(3, mode)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    assert np.array_equal(ours.reset(seed=0)[0], theirs.reset(seed=0)[0])
    rng, ends = np.random.default_rng(0), 0
    for _ in range(60):
        actions = rng.uniform(-1, 1, (3, 1)).astype(np.float32)
        mine, other = ours.step(actions), theirs.step(actions)
        for x, y in zip(mine[:4], other[:4], strict=True):
            assert np.array_equal(x, y)
        over = mine[2] | mine[3]
        ends += int(over.sum())
        if mode == "same_step" and over.any():
            assert np.array_equal(np.stack(list(other[4]["final_obs"][over])), mine[4]["final_obs"][over])
    assert ends > 5


def test_gymnasium_makes_what_is_registered(task: Task):
    gymnasium.register(
        "Pendulum-of-ours", entry_point=task.environment, vector_entry_point=task.vector_environment,
        disable_env_checker=True,
    )  # fmt: skip
    try:
        one, many = gymnasium.make("Pendulum-of-ours"), gymnasium.make_vec("Pendulum-of-ours", num_envs=3)
    finally:
        del gymnasium.registry["Pendulum-of-ours"]
    one.reset(seed=0)
    assert isinstance(one.unwrapped, TaskEnvironment)
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(many)
    counted.reset(seed=0)
    infos = [counted.step(np.ones((3, 1), np.float32))[4] for _ in range(30)]
    assert any("episode" in info for info in infos)


def test_nobody_begins_anew_by_himself(task: Task):
    still = task.vector_environment(6, "disabled")
    still.reset(seed=1)
    ended = np.zeros(6, bool)
    while not ended.any():
        _, _, ended, cut, _ = still.step(np.ones((6, 1), np.float32))
        ended = ended | cut
    with pytest.raises(RuntimeError, match="reset_mask"):
        still.step(np.ones((6, 1), np.float32))
    before = still.world.q
    seen, _ = still.reset(options={"reset_mask": ended})
    assert np.array_equal(still.world.q[~ended], before[~ended])
    assert (np.abs(still.world.q[ended]) <= 0.3).all()
    assert np.cos(still.world.q[:, 0]) == pytest.approx(seen[:, 0])
    still.step(np.ones((6, 1), np.float32))


def test_the_spaces_of_a_vector_are_those_of_one(env: Any, envs: Any):
    assert envs.single_observation_space == env.observation_space
    assert envs.single_action_space == env.action_space
    seen, infos = envs.reset(seed=2)
    assert infos == {}
    assert seen in envs.observation_space
    assert np.array_equal(seen, envs.reset(seed=2)[0])
    results = envs.step(envs.action_space.sample())
    assert [x.dtype for x in results[:4]] == [np.float64, np.float64, np.bool_, np.bool_]
    assert [x.shape for x in results[:4]] == [(6, 4), (6,), (6,), (6,)]
    assert not np.shares_memory(results[0], envs.step(envs.action_space.sample())[0])


def test_where_nothing_is_finite_any_more_an_episode_ends(env: Any, envs: Any):
    env.reset(seed=0)
    env.world.reset([0.0], [1e300])
    seen, gained, ended, _, info = env.step(np.zeros(1, np.float32))
    assert (ended, info, gained) == (True, {"diverged": True}, 0.0)
    assert np.array_equal(seen, np.zeros(4))
    envs.reset(seed=0)
    envs.world.reset([0.0], [1e300], which=[2])
    seen, gained, ended, _, infos = envs.step(np.zeros((6, 1), np.float32))
    assert np.array_equal(infos["diverged"], np.arange(6) == 2)
    assert ended[2]
    assert np.isfinite(seen).all()
    assert np.isfinite(gained).all()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"model": kn.robots.load("pendulum")}, "has no actuators"),
        ({"episode": 0}, "episode is a whole number"),
        ({"dtype": int}, "dtype of observations"),
        ({"done": lambda model, q: q[0] > 1}, "is no kernel"),
        ({"parameters": {"goal": 0.1}}, "model_fn"),
        ({"parameters": {"goal": 0.1, "mass": 1.0, "colour": 1.0}}, "colour"),
        ({"reward": observation}, r"reward returns shape \(4,\), and must return a number"),
        ({"start": lambda rng, count: np.zeros(3)}, r"a pair \(q, v\)"),
        ({"start": lambda rng, count: (np.zeros((count, 3)), None)}, "q of start has shape"),
        ({"randomize": lambda rng, count: {"goal": 0.1}}, "goal of randomize has shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:readings runs as plain Python")
def test_what_does_not_fit_is_said(task: Task, changes: dict[str, Any], complaint: str):
    with pytest.raises((ValueError, TypeError), match=complaint):
        dataclasses.replace(task, **changes).environment().reset(seed=0)


def test_without_gymnasium_it_is_named(task: Task, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "gymnasium", None)
    with pytest.raises(ImportError, match="environments need gymnasium, which is not installed"):
        task.environment()


@pytest.mark.slow
def test_quadrupeds_on_a_floor_are_one_many_times():
    """Each environment of a vector with contacts takes the steps of a single one, and those that fall begin anew."""
    model = kn.model.edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
    model = kn.actuators.with_motors(model)
    q = kn.neutral(model)

    @kn.kernel
    def height(model: Model, q: Any) -> Any:
        return q[6:7]

    @kn.kernel
    def upright(model: Model, q: Any) -> Any:
        return q[0]

    @kn.kernel
    def low(model: Model, q: Any) -> Any:
        return q[6] < 0.2

    def above(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
        states = np.tile(q, (count, 1))
        states[:, 6] = rng.uniform(0.35, 0.6, count)
        return states, np.zeros(model.nv)

    walking = Task(model, height, upright, low, dt=2e-3, substeps=5, start=above)
    envs, env = walking.vector_environment(8), walking.environment()
    check_env(env, skip_render_check=True)
    envs.reset(seed=0)
    first = envs.world.q
    env.reset(seed=0)
    env.world.reset(first[3])
    is_over = False
    for _ in range(60):
        seen, _, ended, _, _ = envs.step(np.zeros((8, 12), np.float32))
        if not is_over:
            alone, _, fell, _, _ = env.step(np.zeros(12, np.float32))
            assert np.array_equal(alone, seen[3])
            assert fell == ended[3]
        is_over |= bool(ended[3])
    assert is_over
    assert (envs.world.q[:, 6] > 0.15).all()
