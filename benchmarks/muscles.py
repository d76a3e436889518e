"""Rollouts with muscles, in one run: `kn.rollout` beside `mujoco.rollout`, on one thread.

    python benchmarks/muscles.py [--quick] [--out folder]

The arm of `examples/muscle_arm.xml`: two hinges and six muscles over a sphere and a cylinder, with activations that
follow excitations; every trajectory has excitations of its own at every step. Both begin in the same states and write
every state. Before anything is timed, both must end in the same states. Prints a table; with --out also writes
muscles.json. Times are processor time, best of some repetitions in turns; the first call compiles, with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import machine
import numpy as np
from report import ROOT
from table import digits, grid

import knuckle as kn

Array = np.ndarray[Any, Any]
INTEGRATORS = {"euler": "mjINT_EULER", "rk4": "mjINT_RK4"}
DT = 2e-3
ARM = ROOT / "examples" / "muscle_arm.xml"
LIMIT = 1e-8
"""How far apart the states may be at the end, in rad, rad/s and activation."""


def measured(integrator: str, count: int, few: int, steps: int, rounds: int) -> dict[str, Any]:
    """One row: seconds of a step, ours and MuJoCo's, how far the two are apart, and how long the first call took."""
    mj, run = import_module("mujoco"), import_module("mujoco.rollout").rollout
    there = mj.MjModel.from_xml_path(str(ARM))
    there.opt.timestep, there.opt.integrator = DT, getattr(mj.mjtIntegrator, INTEGRATORS[integrator])
    there.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mj.mjtDisableBit.mjDSBL_EULERDAMP)
    data, model = mj.MjData(there), kn.load(ARM)
    rng = np.random.default_rng(0)
    q, u = rng.uniform([-1.0, 0.5], [0.0, 1.5], (count, 2)), rng.uniform(0, 1, (count, steps, 6))
    states = np.zeros((few, mj.mj_stateSize(there, mj.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1:3] = q[:few]
    room = np.empty((few, steps, states.shape[1]))

    def ours(q: Array, u: Array, out: Any = None) -> Any:
        return kn.rollout(model, q, None, None, DT, steps=steps, excitations=u, integrator=integrator, out=out)

    def theirs() -> None:
        run(there, data, states, u[:few], state=room)

    first = seconds(lambda: ours(q[:1], u[:1]))
    here = ours(q[:few], u[:few])
    theirs()
    last = np.concatenate([here.q[:, -1], here.v[:, -1], here.activations[:, -1]], axis=-1)
    apart = float(np.abs(last - room[:, -1, 1:]).max())
    if not apart < LIMIT:
        raise RuntimeError(f"{integrator}: the last states are {apart:.1e} apart")
    mine, others, kept = list[float](), list[float](), ours(q, u)
    for _ in range(rounds):
        mine.append(seconds(lambda: ours(q, u, kept)) / (count * steps))
        others.append(seconds(theirs) / (few * steps))
    return {"integrator": integrator, "knuckle": min(mine), "MuJoCo": min(others), "apart": apart, "first call": first}


def seconds(call: Any) -> float:
    """Of processor time."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def cells(row: dict[str, Any]) -> list[str]:
    mine, others = row["knuckle"], row["MuJoCo"]
    ratio = f"{digits(others / mine)}×"
    first = digits(row["first call"])
    return [row["integrator"], digits(mine, 1e-6), digits(others, 1e-6), ratio, f"{row['apart']:.0e}", first]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few trajectories, once: to see that all of it works")
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    chosen = parser.parse_args()
    kn.compilation.set_threads(1)
    kn.compilation.set_policy("always")
    effort = (16, 2, 50, 1) if chosen.quick else (2048, 64, 500, 7)
    results: dict[str, Any] = {"machine": machine.description(), "effort": effort, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KNUCKLE_CACHE_DIR"] = folder
        results["rows"] = [measured(integrator, *effort) for integrator in INTEGRATORS]
    results["machine"]["load at end"] = machine.load()
    print(
        grid(["integrator", "µs per step", "MuJoCo", "ratio", "apart", "first call [s]"], map(cells, results["rows"]))
    )
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "muscles.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
