"""Environments of reinforcement learning: knuckle's beside Gymnasium's own on MuJoCo, the same robot on both sides.

    python benchmarks/environments.py [--quick] [--out folder]

The robot is the Ant of `gymnasium[mujoco]`: its file ant.xml is loaded by both, both take actions of 0.05 s, and give
the same 27 observations, the same reward and the same end of an episode. Gymnasium's takes five steps of RK4 with soft
contacts; knuckle five contact steps as long, or twenty of a quarter. Then our own quadruped on a floor, with all of its
shapes and with four feet only. Prints a table; with --out also writes environments.json, and with
--out benchmarks/results fills docs/environments.md. Actions are random.
Times are processor time on one thread, best of some repetitions in turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import machine
import numpy as np
from report import ROOT, filled
from table import digits, grid

import knuckle as kn

ANT = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "ant.xml"
RESULTS, PAGE = ROOT / "benchmarks" / "results", ROOT / "docs" / "environments.md"
STEP, PARTS = 0.01, 5
"""Those of Gymnasium's Ant."""
STOPS = kn.simulation.CompliantStops(stiffness=2500.0, damping=100.0)
"""At the limits of joints, which in MuJoCo are soft as well."""


@kn.kernel
def ant_observation(model: Any, q: Any, v: Any) -> Any:
    """Height, attitude, joints; velocities of the base, linear first, and of the joints."""
    return np.concatenate([q[6:7], q[:4], q[7:], v[3:6], v[:3], v[6:]])


@kn.kernel
def ant_reward(model: Any, q: Any, v: Any, u: Any, q_before: Any) -> Any:
    """Forward by so much a second, one for being on its legs, less the effort."""
    return (q[4] - q_before[4]) / (STEP * PARTS) + kn.where((q[6] > 0.2) & (q[6] < 1.0), 1.0, 0.0) - 0.5 * np.dot(u, u)


@kn.kernel
def ant_fell(model: Any, q: Any) -> Any:
    return (q[6] < 0.2) | (q[6] > 1.0)


def ant(parts: int = 1) -> kn.environments.Task:
    """The Ant, with contact steps a part as long as Gymnasium's."""
    model = kn.load(ANT)
    q = kn.neutral(model)

    def start(rng: np.random.Generator, count: int) -> Any:
        moved = kn.integrate(model, np.tile(q, (count, 1)), rng.uniform(-0.1, 0.1, (count, model.nv)))
        return moved, 0.1 * rng.standard_normal((count, model.nv))

    return kn.environments.Task(
        model, ant_observation, ant_reward, ant_fell, dt=STEP / parts, substeps=PARTS * parts, start=start,
        options={"joint_limits": STOPS},
    )  # fmt: skip


@kn.kernel
def observation(model: Any, q: Any, v: Any) -> Any:
    return np.concatenate([q[:4], q[6:], v])


@kn.kernel
def reward(model: Any, v: Any, u: Any) -> Any:
    return v[3] - 0.001 * np.dot(u, u)


@kn.kernel
def fell(model: Any, q: Any) -> Any:
    return q[6] < 0.15


def quadruped(feet_only: bool, substeps: int = 1) -> kn.environments.Task:
    """Our quadruped with servos at its joints, on a floor."""
    model = kn.model.edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
    if feet_only:
        model = kn.model.edit.keep_collisions(model, lambda body, shape: isinstance(shape.shape, kn.model.Sphere))
    servos = tuple(
        kn.actuators.position_servo(f"{joint.name} servo", joint.name, kp=200.0, kv=6.0, control_range=(-0.3, 0.3))
        for joint in model.joints[1:]
    )
    model = model.replace(actuators=servos)
    q = kn.neutral(model)
    q[6] = 0.4

    def start(rng: np.random.Generator, count: int) -> Any:
        return kn.integrate(model, np.tile(q, (count, 1)), 0.02 * rng.standard_normal((count, model.nv))), np.zeros(
            model.nv
        )

    return kn.environments.Task(model, observation, reward, fell, dt=2e-3, substeps=substeps, start=start)


class Stepped:
    """An environment under random actions, which are drawn beforehand; episodes begin anew where they end."""

    def __init__(self, env: Any, count: int, each: int = 1) -> None:
        self.env, self.each = env, each
        env.reset(seed=0)
        env.action_space.seed(0)
        self.actions = [env.action_space.sample() for _ in range(count)]
        self.is_single = isinstance(env, gymnasium.Env)

    def __call__(self) -> None:
        for action in self.actions:
            _, _, ended, cut, _ = self.env.step(action)
            if self.is_single and (ended or cut):
                self.env.reset()

    def seconds(self) -> float:
        """Processor time of a step of one environment."""
        begun = time.process_time()
        self()
        return (time.process_time() - begun) / (len(self.actions) * self.each)


def heights() -> dict[str, float]:
    """How high the Ant is, on both sides, two seconds after it was let go in the same state, without control."""
    there, here = theirs(), ant().environment()
    there.reset(seed=0)
    there.set_state(there.init_qpos, np.zeros(14))
    here.reset(seed=0)
    here.world.reset(kn.neutral(here.task.model))
    seen = {"gymnasium": np.zeros(1), "knuckle": np.zeros(1)}
    for _ in range(round(2 / (STEP * PARTS))):
        for name, env in (("gymnasium", there), ("knuckle", here)):
            seen[name] = env.step(np.zeros(8, np.float32))[0]
    return {name: float(x[0]) for name, x in seen.items()}


def best(rows: dict[str, Stepped], rounds: int) -> dict[str, float]:
    """The best times, taken in turns; what is compiled is compiled in a round before."""
    for row in rows.values():
        row.seconds()
    times: dict[str, float] = {}
    for _ in range(rounds):
        for name, row in rows.items():
            times[name] = min(row.seconds(), times.get(name, np.inf))
    return times


def theirs(**options: Any) -> Any:
    """Gymnasium's Ant without what it may see of contact forces, and without wrappers."""
    made = gymnasium.make("Ant-v5", include_cfrc_ext_in_observation=False, contact_cost_weight=0.0, **options)
    return made.unwrapped


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="few environments, few repetitions")
    options.add_argument("--out", type=Path, help="a folder for environments.json")
    asked = options.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    kn.compilation.set_threads(1)
    many, few, rounds, calls = (64, 4, 2, 20) if asked.quick else (4096, 64, 8, 400)
    high = heights()
    if abs(high["gymnasium"] - high["knuckle"]) > 0.1:
        sys.exit(f"the Ant is not the same on both sides: after two seconds it is at {high} m")
    one = best(
        {
            "Ant, Gymnasium on MuJoCo": Stepped(theirs(), calls),
            "Ant, knuckle": Stepped(ant().environment(), calls),
            "Ant, knuckle, 20 steps of 2.5 ms": Stepped(ant(4).environment(), calls),
            "quadruped on its feet, one step of 2 ms": Stepped(quadruped(True).environment(), calls),
            "quadruped, all shapes, one step of 2 ms": Stepped(quadruped(False).environment(), calls),
        },
        rounds,
    )
    vector = gymnasium.vector.SyncVectorEnv([theirs for _ in range(few)])
    together = best(
        {
            "Ant, Gymnasium on MuJoCo": Stepped(vector, max(2, calls // few), few),
            "Ant, knuckle": Stepped(ant().vector_environment(many), 2, many),
            "Ant, knuckle, 20 steps of 2.5 ms": Stepped(ant(4).vector_environment(many), 2, many),
            "quadruped on its feet, one step of 2 ms": Stepped(quadruped(True).vector_environment(many), 5, many),
            "quadruped, all shapes, one step of 2 ms": Stepped(quadruped(False).vector_environment(many), 2, many),
        },
        rounds,
    )
    results = {"machine": machine.description(), "heights": high, "many": many, "few": few, "one": one}
    results["together"] = together
    print(page(results))
    if asked.out is not None:
        (asked.out / "environments.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    if asked.out is not None and asked.out.resolve() == RESULTS:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), page(results)), "utf-8")


def page(results: dict[str, Any]) -> str:
    """What the page of environments shows."""
    one, together, high = results["one"], results["together"], results["heights"]
    theirs = next(iter(one))
    rows = [
        [name, *(f"{digits(1e6 * times[name])}{_faster(times, theirs, name)}" for times in (one, together))]
        for name in one
    ]
    table = grid(["µs per environment and action", "`env.step`", f"{results['many']} together"], rows)
    there, here = (f"{high[name]:.3f} m ({name})" for name in high)
    about = results["machine"]
    return "\n\n".join(
        [
            table,
            f"{about['date']}. {about['processor']}, one thread, load {about['load at start']} on {about['cores']} "
            f"cores. Gymnasium's vector is a SyncVectorEnv of {results['few']}. Two seconds after it was let go the "
            f"Ant is as high as {there}, {here}.",
        ]
    )


def _faster(times: dict[str, float], theirs: str, name: str) -> str:
    """How many times faster than Gymnasium's, for the same robot."""
    is_same = name.startswith("Ant") and name != theirs
    return f" ({digits(times[theirs] / times[name])}×)" if is_same else ""


if __name__ == "__main__":
    main()
