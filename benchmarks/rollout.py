"""Rollouts, in one run: `knuckle.rollout` beside `mujoco.rollout`, steps per second on one thread.

    python benchmarks/rollout.py [--quick] [--robots xarm7 talos] [--out folder]

Both start from the same states, apply the same forces at every step and write every state. MuJoCo has the same model
through URDF, without contacts, constraints and damping, and its own rollout in C++ on one thread; it does fewer
trajectories, as its time per step does not depend on their number. Before anything is timed, both must end in the same
states. Prints a table; with --out also writes rollout.json,
and into benchmarks/results also the table of docs/rollout.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import machine
import numpy as np
from report import ROOT, filled
from subjects import SUBJECTS
from table import digits, grid
from table import machine as machine_line
from with_mujoco import urdf_without_shapes

import knuckle as kn
from knuckle.testing import random_state

Array = np.ndarray[Any, Any]
ROBOTS = ("xarm7", "anymal", "talos")
INTEGRATORS = {"euler": "mjINT_EULER", "rk4": "mjINT_RK4"}
DT = 1e-3
LIMIT = 1e-6
"""How far apart the states may be after a second, in rad, m and parts of the largest velocity. Euler's steps of a
floating base are not the same, along a screw here and straight for its place there: they may differ by the error of the
method."""
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "rollout.md"


class DisagreementError(Exception):
    """The two do not compute the same motion."""


@dataclass(frozen=True)
class Effort:
    """Trajectories of ours and of MuJoCo, steps, and repetitions."""

    ours: int
    theirs: int
    steps: int
    rounds: int


FULL = Effort(ours=4096, theirs=64, steps=1000, rounds=3)
QUICK = Effort(ours=16, theirs=2, steps=1000, rounds=1)


@dataclass(frozen=True)
class Start:
    """Where trajectories begin, and the forces on them: accelerations of about 1 rad/s² at random."""

    q: Array
    v: Array
    tau: Array

    @classmethod
    def of(cls, model: kn.Model, count: int, steps: int) -> Start:
        some = [random_state(model, seed) for seed in range(min(count, 64))]
        q = np.resize([s.q for s in some], (count, model.nq))
        v = 0.1 * np.resize([s.v for s in some], (count, model.nv))
        rng = np.random.default_rng(0)
        tau = np.diag(kn.mass_matrix(model, q[0])) * rng.standard_normal((count, steps, model.nv))
        for joint, place in zip(model.joints, model.v_slices, strict=True):
            tau[..., place] *= joint.type.nv == 1  # nothing pushes a floating base
        return cls(q, v, tau)

    def first(self, count: int) -> Start:
        return Start(self.q[:count], self.v[:count], self.tau[:count])


class Theirs:
    """A model as MuJoCo has it, and its rollout."""

    def __init__(self, model: kn.Model, integrator: str) -> None:
        mj: Any = import_module("mujoco")
        self._mj, self._rollout = mj, import_module("mujoco.rollout").rollout
        self.model = mj.MjModel.from_xml_string(urdf_without_shapes(model))
        off = mj.mjtDisableBit
        for bit in ("CONSTRAINT", "CONTACT", "LIMIT", "EQUALITY", "SENSOR", "EULERDAMP", "WARMSTART", "FRICTIONLOSS"):
            self.model.opt.disableflags |= int(getattr(off, f"mjDSBL_{bit}"))
        self.model.opt.gravity, self.model.opt.timestep = model.gravity, DT
        self.model.opt.integrator = getattr(mj.mjtIntegrator, INTEGRATORS[integrator])
        self.data = mj.MjData(self.model)
        self.there = kn.formats.adapters.mujoco(model, self.model)

    def prepared(self, start: Start) -> tuple[Array, Array, Array]:
        """States, forces and room for the results, in its layout."""
        count, steps, _ = start.tau.shape
        size = self._mj.mj_stateSize(self.model, self._mj.mjtState.mjSTATE_FULLPHYSICS)
        states = np.zeros((count, size))
        states[:, 1 : 1 + self.model.nq] = self.there.q_to(start.q)
        states[:, 1 + self.model.nq : 1 + self.model.nq + self.model.nv] = self.there.v_to(start.q, start.v)
        forces = self.there.tau_to(np.broadcast_to(start.q[:, None], (count, steps, start.q.shape[-1])), start.tau)
        return states, np.ascontiguousarray(forces), np.empty((count, steps, size))

    def run(self, states: Array, forces: Array, out: Array) -> None:
        spec = int(self._mj.mjtState.mjSTATE_QFRC_APPLIED)
        self._rollout(self.model, self.data, states, forces, control_spec=spec, state=out)

    def final(self, out: Array) -> tuple[Array, Array]:
        """Its last states in knuckle's variables."""
        nq, nv = self.model.nq, self.model.nv
        q, v = out[:, -1, 1 : 1 + nq], out[:, -1, 1 + nq : 1 + nq + nv]
        return self.there.q_from(q), self.there.v_from(q, v)


def measure(name: str, effort: Effort) -> list[dict[str, Any]]:
    """The rates of one robot."""
    subject = SUBJECTS[name]()
    model, rows = subject.model, list[dict[str, Any]]()
    start = Start.of(model, effort.ours, effort.steps)
    few = start.first(effort.theirs)

    def ours(x: Start, integrator: str, out: kn.simulation.Rollout | None = None) -> kn.simulation.Rollout:
        return kn.rollout(model, x.q, x.v, x.tau, DT, steps=effort.steps, integrator=integrator, out=out)

    first_calls = {integrator: _seconds(ours, start.first(1), integrator) for integrator in INTEGRATORS}
    for integrator in INTEGRATORS:
        theirs = Theirs(model, integrator)
        given = theirs.prepared(few)
        theirs.run(*given)
        found = ours(few, integrator).final
        apart, error = (_apart(model, found, x) for x in (theirs.final(given[2]), ours(few, "rk4").final))
        if not apart < max(LIMIT, error):
            raise DisagreementError(f"{name}, {integrator}: the last states are {apart:.1e} apart")
        room, mine, others = ours(start, integrator), list[float](), list[float]()
        for _ in range(effort.rounds):
            mine.append(_seconds(ours, start, integrator, room) / (effort.ours * effort.steps))
            others.append(_seconds(theirs.run, *given) / (effort.theirs * effort.steps))
        rows.append(
            {
                "robot": name, "title": subject.title, "integrator": integrator, "freedoms": model.nv,
                "knuckle": min(mine), "MuJoCo": min(others), "apart": apart, "first call": first_calls[integrator],
            }
        )  # fmt: skip
        print(line(rows[-1]), flush=True)
    return rows


def _seconds(call: Callable[..., Any], *args: Any) -> float:
    """Of processor time: what else the machine does is not counted."""
    begin = time.process_time()
    call(*args)
    return time.process_time() - begin


def _apart(model: kn.Model, mine: tuple[Array, Array], others: tuple[Array, Array]) -> float:
    """The largest difference of positions, rad and m, and of velocities, in proportion to the largest of those."""
    dq = np.abs(kn.difference(model, others[0], mine[0])).max()
    return float(max(dq, np.abs(mine[1] - others[1]).max() / max(1.0, np.abs(others[1]).max())))


HEADINGS = ["steps per second", "knuckle", "MuJoCo", "ratio", "µs per step", "MuJoCo", "apart", "first call [s]"]


def cells(row: dict[str, Any]) -> list[str]:
    mine, others = row["knuckle"], row["MuJoCo"]
    return [
        f"{row['title'].partition(',')[0]}, {row['integrator']}", f"{1 / mine:.2e}", f"{1 / others:.2e}",
        f"{digits(others / mine)}×", digits(mine, 1e-6), digits(others, 1e-6), f"{row['apart']:.0e}",
        digits(row["first call"]),
    ]  # fmt: skip


def line(row: dict[str, Any]) -> str:
    return "  ".join(f"{h}: {c}" if k else c for k, (h, c) in enumerate(zip(HEADINGS, cells(row), strict=True)))


def page(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    e = results["effort"]
    said = (
        f"{e['ours']} trajectories of {e['steps']} steps by knuckle, {e['theirs']} by MuJoCo, one thread each, "
        f"float64, dt = {DT} s. Forces of their own at every step; every state written, to memory that was there. "
        f"Processor time, best of {e['rounds']}, in turns. `apart` is how far the last states are from each other; the "
        "first call compiles."
    )
    return "\n\n".join([machine_line(results), said, grid(HEADINGS, map(cells, results["rows"]))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few trajectories, once: to see that all of it works")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=ROBOTS, help="some of them only")
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else FULL
    kn.compilation.set_threads(1)
    kn.compilation.set_policy("always")
    results: dict[str, Any] = {"machine": machine.description(), "effort": vars(effort), "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KNUCKLE_CACHE_DIR"] = folder
        for name in chosen.robots:
            results["rows"] += measure(name, effort)
    results["machine"]["load at end"] = machine.load()
    print("", page(results), sep="\n")
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "rollout.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if chosen.out is not None and chosen.out.resolve() == RESULTS:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), page(results)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
