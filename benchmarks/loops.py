"""Closed loops through time: knuckle beside Pinocchio's `constraintDynamics` and MuJoCo's equality constraints.

    python benchmarks/loops.py [--quick] [--mechanisms four-bar Stewart] [--out folder]

The same mechanisms from the same states, by RK4 in steps of a millisecond, one thread. Prints steps per second, and how
far energy and loops drift; with --out also writes loops.json, and into benchmarks/results also the table of
docs/loops.md. The energy is compared with the largest kinetic one; the loop error is in metres and radians.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import loop_rivals
import machine
import numpy as np
from loop_rivals import Motion
from report import ROOT, filled
from table import grid
from table import machine as machine_line

import knuckle as kn
from knuckle.testing.loops.moving_linkages import MOVING, Moving

DT, KEEP = 1e-3, 10
BATCH = 256
NAMES = tuple(name for name in MOVING if name not in ("Bennett", "ladder"))
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "loops.md"


def simulated(made: Moving, seconds: float, stabilization: Any) -> Motion:
    """One trajectory by `kn.simulate`."""
    kn.simulate(made.model, made.q, made.v, 3 * DT, dt=DT, stabilization=stabilization)  # compiles
    began = time.process_time()
    path = kn.simulate(made.model, made.q, made.v, seconds, dt=DT, save_every=KEEP, stabilization=stabilization)
    return Motion(path.q, path.v, (time.process_time() - began) / round(seconds / DT))


def batch_step(made: Moving, steps: int) -> float:
    """Seconds of a step of one of many trajectories by `kn.rollout`."""
    q, v = (np.tile(x, (BATCH, 1)) for x in (made.q, made.v))
    spent: list[float] = []
    for count in (1, steps, steps, steps):
        began = time.process_time()
        kn.rollout(made.model, q, v, None, DT, steps=count, save_every=count, integrator="rk4")
        spent.append((time.process_time() - began) / (BATCH * count))
    return min(spent[1:])


def measure(name: str, seconds: float) -> dict[str, Any]:
    """Everything about one mechanism."""
    made = loop_rivals.split(MOVING[name]())
    steps = round(seconds / DT)
    ways: dict[str, Callable[[], Motion]] = {
        "projection": lambda: simulated(made, seconds, "projection"),
        "Baumgarte": lambda: simulated(made, seconds, 0.1),
        "Pinocchio": lambda: loop_rivals.pinocchio(made, DT, steps, KEEP),
        "MuJoCo": lambda: loop_rivals.mujoco(made, DT, steps, KEEP),
    }
    found: dict[str, Any] = {
        "name": name, "variables": made.model.nv, "constraints": kn.loops.jacobian(made.model, made.q).shape[0],
        "seconds": seconds, "batch step": batch_step(made, max(1, min(steps, 200))),
    }  # fmt: skip
    for way, run in ways.items():
        motion = run()
        found[way] = {
            "step": motion.step,
            "energy": made.energy_error(motion.q, motion.v),
            "loops": float(np.abs(kn.loops.error(made.model, motion.q)).max()),
        }
        print(f"{name}, {way}: {found[way]}", flush=True)
    return found


def page(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    ways = ["projection", "Baumgarte", "Pinocchio", "MuJoCo"]
    rates = [
        [
            f"{r['name']} ({r['variables']}, {r['constraints']})",
            f"{1 / r['batch step']:,.0f}",
            *(f"{1 / r[way]['step']:,.0f}" for way in ways),
        ]
        for r in results["rows"]
    ]
    drifts = [
        [f"{r['name']}, {r['seconds']:g} s", *(f"{r[way][what]:.0e}" for what in ("energy", "loops") for way in ways)]
        for r in results["rows"]
    ]
    return "\n\n".join(
        [
            machine_line(results),
            "RK4 steps of a millisecond per second of processor time, one thread; variables and constraints in "
            f"brackets. `batch` is `kn.rollout` with {BATCH} trajectories, the others are one trajectory. Universal "
            "joints are two hinges here. Pinocchio: four calls of `constraintDynamics`, nothing else counted, and no "
            "corrector of its own. MuJoCo: `mj_step`, its constraints soft as they are by default.",
            grid(["steps per second", "batch", "projection", "T = 0.1 s", "Pinocchio", "MuJoCo"], rates),
            "The largest change of energy, over the largest kinetic energy, and the largest loop error (m, rad):",
            grid(
                [
                    "drift",
                    *(f"{what}: {way}" for what in ("energy", "loops") for way in ("proj.", "T", "Pin.", "MuJoCo")),
                ],
                drifts,
            ),
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="some steps only: to see that all of it works")
    parser.add_argument("--mechanisms", nargs="+", choices=NAMES, default=NAMES, help="some of them only")
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    chosen = parser.parse_args()
    kn.compilation.set_threads(1)
    results: dict[str, Any] = {"machine": machine.description(), "rows": []}
    for name in chosen.mechanisms:
        results["rows"].append(measure(name, 0.05 if chosen.quick else 10.0))
    results["machine"]["load at end"] = machine.load()
    print("", page(results), sep="\n")
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "loops.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if chosen.out is not None and chosen.out.resolve() == RESULTS:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), page(results)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
