"""Contact, in one run: `knuckle` beside MuJoCo, time per step on one thread.

    python benchmarks/contact_speed.py [--quick] [--out folder]

Walking robots: `knuckle.rollout` with `ContactSteps` beside `mujoco.rollout` with elliptic cones, the same model
through MJCF, the same PD controller (position actuators there), the same goals, steps of 2 ms, every state written.
Both must do the same work: the heights of the trunks are compared, and MuJoCo's contacts are counted. Then scenes of
many bodies: `knuckle.simulate` and its defaults beside `mujoco.rollout` with its own. Prints a table; with --out also
writes contact_speed.json and contact_speed.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import machine
import numpy as np
from contact_scenes import DT, Walker, balls, hold, humanoid, quadruped, stack
from table import digits, grid
from table import machine as machine_line

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.integrators.methods.contact_steps import WARNED

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Effort:
    """Trajectories of ours and of MuJoCo, steps, and repetitions."""

    ours: int
    theirs: int
    steps: int
    rounds: int


FULL = Effort(ours=512, theirs=16, steps=500, rounds=5)
QUICK = Effort(ours=16, theirs=2, steps=100, rounds=1)


class Theirs:
    """A model as MuJoCo has it through MJCF, and its rollout."""

    def __init__(self, model: kn.Model, dt: float, gains: tuple[Array, Array] | None, is_elliptic: bool) -> None:
        self.mj: Any = import_module("mujoco")
        self._rollout = import_module("mujoco.rollout").rollout
        root = ElementTree.fromstring(kn.formats.to_mjcf(model.without_actuators(), lossy=True))
        if gains is not None:
            actuators = ElementTree.SubElement(root, "actuator")
            for joint, kp, kv in zip(model.joints[1:], *gains, strict=True):
                ElementTree.SubElement(actuators, "position", joint=joint.name, kp=str(kp), kv=str(kv))
        for joint in root.iter("joint"):
            joint.attrib.pop("range", None)  # no stops on either side
            joint.attrib.pop("actuatorfrcrange", None)
        self.model = self.mj.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
        self.model.opt.timestep = dt
        if is_elliptic:
            self.model.opt.cone = self.mj.mjtCone.mjCONE_ELLIPTIC
        self.data = self.mj.MjData(self.model)
        self.there = kn.formats.adapters.mujoco(model, self.model)

    def prepared(self, q: Array, v: Array, steps: int, goals: Array | None) -> tuple[Array, Array | None, Array]:
        """States, goals of the actuators and room for the results, in its layout."""
        size = self.mj.mj_stateSize(self.model, self.mj.mjtState.mjSTATE_FULLPHYSICS)
        states = np.zeros((len(q), size))
        states[:, 1 : 1 + self.model.nq] = self.there.q_to(q)
        states[:, 1 + self.model.nq : 1 + self.model.nq + self.model.nv] = self.there.v_to(q, v)
        wanted = None if goals is None else np.ascontiguousarray(np.broadcast_to(goals, (len(q), *goals.shape)))
        return states, wanted, np.empty((len(q), steps, size))

    def run(self, states: Array, goals: Array | None, out: Array) -> None:
        if goals is None:
            self._rollout(self.model, self.data, states, nstep=out.shape[1], state=out)
        else:
            self._rollout(self.model, self.data, states, goals, state=out)

    def positions(self, out: Array) -> Array:
        """Its positions (..., nq) in knuckle's variables."""
        return self.there.q_from(out[..., 1 : 1 + self.model.nq])

    def contacts(self, q: Array) -> float:
        """How many contacts it has on average in these states of its own."""
        counts: list[int] = []
        for x in q:
            self.data.qpos[:] = x[1 : 1 + self.model.nq]
            self.mj.mj_forward(self.model, self.data)
            counts.append(int(self.data.ncon))
        return float(np.mean(counts))


def walking(walker: Walker, effort: Effort) -> dict[str, Any]:
    """A robot under its controller, many trajectories at once."""
    goals = walker.goals(effort.steps)
    gains = {"stiffness": walker.stiffness, "damping": walker.damping}
    starts = {count: walker.start(count) for count in (8, effort.ours)}

    def ours(count: int, out: Any = None) -> Any:
        q, v = starts[count]
        return kn.rollout(
            walker.model, q, v, None, DT, steps=effort.steps, controller=hold, time_varying=("goal",),
            integrator=ContactSteps(), parameters={"goal": goals, **gains}, out=out,
        )  # fmt: skip

    first = _wall(ours, 8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        room = ours(effort.ours)
    unsolved = sum(int(found[1]) for w in caught if (found := re.search(r"in (\d+) steps", str(w.message))))
    theirs = Theirs(walker.model, DT, (walker.stiffness, walker.damping), is_elliptic=True)
    given = theirs.prepared(*walker.start(effort.theirs), effort.steps, goals)
    mine, others = list[float](), list[float]()
    for _ in range(effort.rounds):
        mine.append(_seconds(ours, effort.ours, room) / (effort.ours * effort.steps))
        others.append(_seconds(theirs.run, *given) / (effort.theirs * effort.steps))
    heights = room.q[: effort.theirs, 1:, 6], theirs.positions(given[2])[..., 6]
    return {
        "title": walker.title, "knuckle": min(mine), "MuJoCo": min(others), "asked": walker.asked, "first call": first,
        "unsolved": unsolved / (effort.ours * effort.steps), "contacts": theirs.contacts(given[2][0, ::10]),
        "heights": [float(x.mean()) for x in heights], "heights apart": float(np.abs(heights[0] - heights[1]).mean()),
    }  # fmt: skip


def scene(title: str, made: tuple[kn.Model, Array, Array], effort: Effort, dt: float) -> dict[str, Any]:
    """Many bodies, one trajectory."""
    model, q, v = made
    steps = 4 * effort.steps

    def ours() -> Any:
        return kn.simulate(model, q, v, steps * dt, dt=dt)

    first = _wall(ours)
    theirs = Theirs(model, dt, None, is_elliptic=False)
    given = theirs.prepared(q[None], v[None], steps, None)
    mine, others = list[float](), list[float]()
    for _ in range(effort.rounds):
        mine.append(_seconds(ours) / steps)
        others.append(_seconds(theirs.run, *given) / steps)
    last, there = ours().q[-1], theirs.positions(given[2])[0, -1]
    return {
        "title": title, "knuckle": min(mine), "MuJoCo": min(others), "asked": 1.0, "first call": first,
        "contacts": theirs.contacts(given[2][0, ::50]), "apart": float(np.abs(last - there).max()),
    }  # fmt: skip


def _seconds(call: Callable[..., Any], *args: Any) -> float:
    """Of processor time: what else the machine does is not counted."""
    begin = time.process_time()
    call(*args)
    return time.process_time() - begin


def _wall(call: Callable[..., Any], *args: Any) -> float:
    begin = time.perf_counter()
    call(*args)
    return time.perf_counter() - begin


HEADINGS = [
    "", "knuckle [µs/step]", "MuJoCo", "ratio", "asked", "first call [s]", "unsolved steps",
    "contacts there", "height, there",
]  # fmt: skip


def cells(row: dict[str, Any]) -> list[str]:
    mine, others = row["knuckle"], row["MuJoCo"]
    heights = row.get("heights")
    return [
        row["title"], digits(mine, 1e-6), digits(others, 1e-6), f"{digits(others / mine)}×", f"{row['asked']:g}×",
        digits(row["first call"]), f"{row['unsolved']:.3%}" if "unsolved" in row else "",
        f"{row['contacts']:.1f}", f"{heights[0]:.3f}, {heights[1]:.3f} m" if heights else "",
    ]  # fmt: skip


def page(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    e = results["effort"]
    text = (
        f"Robots: {e['ours']} trajectories of {e['steps']} steps of 2 ms by knuckle, {e['theirs']} by MuJoCo with "
        f"elliptic cones, one thread each, float64. Scenes: one trajectory, MuJoCo's defaults. Processor time, best of "
        f"{e['rounds']}, in turns; the first call compiles, its time is that of the clock. Unsolved are steps with a "
        f"residual above {WARNED:g} m/s. Contacts and heights, on average, show that both do the same work."
    )
    return "\n\n".join([machine_line(results), text, grid(HEADINGS, map(cells, results["rows"]))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few trajectories, once: to see that all of it works")
    parser.add_argument("--only", type=int, nargs="+", default=None, help="some rows only, counted from 0")
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else FULL
    kn.compilation.set_threads(1)
    kn.compilation.set_policy("always")
    warnings.simplefilter("ignore")  # steps that are not solved are counted
    results: dict[str, Any] = {"machine": machine.description(), "effort": vars(effort), "rows": []}
    rows: list[Callable[[], dict[str, Any]]] = [
        lambda: walking(quadruped(4), effort),
        lambda: walking(quadruped(8), effort),
        lambda: walking(humanoid(), effort),
        lambda: scene("25 rolling balls", balls(25), effort, 1e-3),
        lambda: scene("A stack of ten boxes", stack(10), effort, 5e-3),
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KNUCKLE_CACHE_DIR"] = folder
        for k, row in enumerate(rows):
            if chosen.only is None or k in chosen.only:
                try:
                    results["rows"].append(row())
                except kn.ModelError as error:
                    print(f"left out: {error}", flush=True)
                    continue
                print("  ".join(cells(results["rows"][-1])), flush=True)
    results["machine"]["load at end"] = machine.load()
    print("", page(results), sep="\n")
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
        (chosen.out / "contact_speed.json").write_text(text, "utf-8")
        (chosen.out / "contact_speed.md").write_text(page(results) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
