"""Gradients through time: what the gradient of a loss over a rollout costs, in rollouts, on one thread.

    python benchmarks/derivatives_rollout.py [--quick] [--robots xarm7 talos] [--out folder]

The loss is a running one and one at the end; its gradient is by the first state and by the forces of every step. Once
all states are held in memory, and once only half as many as that takes, so that steps are computed a second time.
Semi-implicit Euler steps. Processor time, best of several rounds, in turns. Before anything is timed, both gradients
must be the same to the last bit. Prints a table; with --out also writes derivatives_rollout.json.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rollout import Start
from subjects import SUBJECTS
from table import digits, grid

import knuckle as kn

ROBOTS = ("xarm7", "anymal", "talos")
DT = 1e-5
HEADINGS = [
    "robot",
    "steps",
    "rollout [µs]",
    "stored [µs]",
    "in rollouts",
    "checkpointed [µs]",
    "in rollouts",
    "first call [s]",
]


@dataclass(frozen=True)
class Effort:
    """Trajectories, their steps, and rounds."""

    count: int
    steps: int
    rounds: int


FULL = Effort(count=16, steps=20000, rounds=7)
QUICK = Effort(count=8, steps=40, rounds=1)


@kn.kernel
def speed(model: kn.Model, v: Any) -> Any:
    """The running loss."""
    return 1e-3 * (v @ v)


@kn.kernel
def end(model: kn.Model, q: Any, v: Any) -> Any:
    """The loss at the end."""
    return q @ q + v @ v


def measure(name: str, effort: Effort) -> dict[str, Any]:
    """The times per step of one robot, in seconds."""
    subject = SUBJECTS[name]()
    model, count, steps = subject.model, effort.count, effort.steps
    start = Start.of(model, count, steps)
    lanes, row = 8, 8 * (model.nq + model.nv)

    def rollout(out: Any = None) -> kn.simulation.Rollout:
        return kn.rollout(model, start.q, start.v, start.tau, DT, steps=steps, integrator="euler", out=out)

    def gradient(memory: int) -> kn.simulation.RolloutGradient:
        return kn.simulation.rollout_gradient(
            model, speed, start.q, start.v, start.tau, DT, steps=steps, final_loss=end, integrator="euler",
            memory=memory,
        )  # fmt: skip

    room = rollout()
    enough, half = 2**30, lanes * row * steps // 2
    begin = time.perf_counter()
    stored = gradient(enough)
    first_call = time.perf_counter() - begin
    checkpointed = gradient(half)
    assert stored.kept_every == steps > checkpointed.kept_every
    assert all((stored[x] == checkpointed[x]).all() for x in stored.gradients), "the gradients are not the same"
    ways: dict[str, Callable[[], Any]] = {
        "rollout": lambda: rollout(room), "stored": lambda: gradient(enough), "checkpointed": lambda: gradient(half)
    }  # fmt: skip
    best = dict.fromkeys(ways, np.inf)
    for _ in range(effort.rounds):
        for way, call in ways.items():
            begin = time.process_time()
            call()
            best[way] = min(best[way], time.process_time() - begin)
    per_step = {way: seconds / (count * steps) for way, seconds in best.items()}
    return {"robot": name, "title": subject.title, "steps": steps, "first call": first_call, **per_step}


def cells(row: dict[str, Any]) -> list[str]:
    """A line of the table."""
    stored, again = (row[way] / row["rollout"] for way in ("stored", "checkpointed"))
    return [
        row["title"].partition(",")[0], str(row["steps"]), digits(row["rollout"], 1e-6), digits(row["stored"], 1e-6),
        f"{stored:.2f}", digits(row["checkpointed"], 1e-6), f"{again:.2f}", digits(row["first call"]),
    ]  # fmt: skip


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few steps: whether it runs")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    kn.compilation.set_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # arms without brakes are chaotic over seconds
        rows = [measure(name, QUICK if asked.quick else FULL) for name in asked.robots]
    print(grid(HEADINGS, map(cells, rows)))
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "derivatives_rollout.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
