"""Energies and momenta over a million steps: every integrator of knuckle beside MuJoCo's and Drake's.

    python benchmarks/accuracy/drift.py [--steps 1000000] [--drake PYTHON] [name …]

Two mechanisms of the same numbers for all: a double pendulum (energy), and a body that tumbles about its middle axis
without weight (energy and angular momentum). Steps of a millisecond; what is kept is measured in fifty places on the
way, by knuckle's functions in doubles for everybody: energy in parts of the largest kinetic energy, momentum in parts
of its length. Writes benchmarks/results/accuracy_drift.json; integrators that are there already are left alone unless
they are named.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.integrators import INTEGRATORS

Array = np.ndarray[Any, Any]
RESULTS = Path(__file__).resolve().parent.parent / "results" / "accuracy_drift.json"
DT, KEPT = 1e-3, 50
LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{at}"/><axis xyz="0 1 0"/></joint>"""
PENDULUM = "".join(
    [
        '<robot name="pendulum"><link name="ground"/>',
        LINK.format(name="upper", com="0 0 -0.25", mass=1.0, ixx=0.021, iyy=0.021, izz=0.0005),
        LINK.format(name="lower", com="0 0 -0.2", mass=0.7, ixx=0.0094, iyy=0.0094, izz=0.0003),
        JOINT.format(name="shoulder", parent="ground", child="upper", at="0 0 0"),
        JOINT.format(name="elbow", parent="upper", child="lower", at="0 0 -0.5"),
        "</robot>",
    ]
)
TUMBLING = "".join(
    ['<robot name="body">', LINK.format(name="body", com="0 0 0", mass=1.0, ixx=0.1, iyy=0.2, izz=0.25), "</robot>"]
)
STARTS = {
    "pendulum": (np.array([1.2, 0.4]), np.zeros(2)),
    "tumbling": (np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0.01, 3.0, 0.02, 0, 0, 0])),
}


def mechanism(name: str) -> kn.Model:
    """The same numbers for everybody."""
    text, base = (PENDULUM, "fixed") if name == "pendulum" else (TUMBLING, "floating")
    model = kn.formats.loads(text, base=base)
    return model if name == "pendulum" else model.with_gravity((0.0, 0.0, 0.0))


def kept(model: kn.Model, q: Array, v: Array) -> dict[str, list[float]]:
    """Errors of energy and momentum at the moments that were kept, the first of them being the start."""
    T = kn.kinetic_energy(model, q, v)
    energy = T + kn.potential_energy(model, q)
    found = {"energy": (np.abs(energy - energy[0]) / T.max()).tolist()}
    if model.joints[0].name == "floating_base":
        h = kn.momentum(model, q, v)[:, :3]
        found["momentum"] = (np.linalg.norm(h - h[0], axis=1) / np.linalg.norm(h[0])).tolist()
    return found


def with_knuckle(name: str, integrator: str, steps: int) -> tuple[Array, Array]:
    model, (q, v) = mechanism(name), STARTS[name]
    every = steps // KEPT
    rows = kn.rollout(model, q, v, None, DT, steps=steps, save_every=every, integrator=integrator)
    return rows.q, rows.v


def with_mujoco(name: str, integrator: str, steps: int) -> tuple[Array, Array]:
    import mujoco
    from same_mechanism import plain_text_of

    mj: Any = mujoco
    text, base = (PENDULUM, "fixed") if name == "pendulum" else (TUMBLING, "floating")
    model = mj.MjModel.from_xml_string(plain_text_of(text, True, base))
    model.opt.integrator = getattr(mj.mjtIntegrator, f"mjINT_{integrator.upper()}")
    model.opt.timestep, model.opt.gravity = DT, (0, 0, -9.81 if name == "pendulum" else 0.0)
    model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_LIMIT
    data, (q, v) = mj.MjData(model), STARTS[name]
    order = ([0, 1], [0, 1]) if name == "pendulum" else ([3, 4, 5, 6, 0, 1, 2], [3, 4, 5, 0, 1, 2])
    data.qpos[order[0]], data.qvel[order[1]] = q, v  # the body rests but for its turning: no axes to change
    rows = [(data.qpos[order[0]].copy(), data.qvel[order[1]].copy())]
    for _ in range(KEPT):
        mj.mj_step(model, data, nstep=steps // KEPT)
        rows.append((data.qpos[order[0]].copy(), data.qvel[order[1]].copy()))
    return np.array([q for q, _ in rows]), np.array([v for _, v in rows])


def with_drake(name: str, integrator: str, steps: int, interpreter: str) -> tuple[Array, Array]:
    task = {"text": PENDULUM if name == "pendulum" else TUMBLING, "name": name, "integrator": integrator}
    task |= {"steps": steps, "kept": KEPT, "dt": DT, "q": STARTS[name][0].tolist(), "v": STARTS[name][1].tolist()}
    script = str(Path(__file__).with_name("drift_with_drake.py"))
    done = subprocess.run([interpreter, script, json.dumps(task)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found = json.loads(done.stdout)
    return np.array(found["q"]), np.array(found["v"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help='what to run again, such as "knuckle rk4"')
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--drake", help="an interpreter that has Drake")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    runs: list[tuple[str, str]] = [("knuckle", name) for name in INTEGRATORS]
    runs += [("MuJoCo", name) for name in ("euler", "rk4", "implicit", "implicitfast")]
    runs += (
        [("Drake", name) for name in ("runge_kutta2", "runge_kutta3", "runge_kutta5", "discrete")]
        if chosen.drake
        else []
    )
    for mechanism_name in STARTS:
        model = mechanism(mechanism_name)
        for library, integrator in runs:
            label = f"{library} {integrator}"
            entry = found.setdefault(mechanism_name, {})
            steps = chosen.steps
            if chosen.names and label not in chosen.names:
                continue
            if not chosen.names and entry.get(label, {}).get("steps", 0) >= steps:
                continue
            begin = time.perf_counter()
            try:
                if library == "knuckle":
                    q, v = with_knuckle(mechanism_name, integrator, steps)
                elif library == "MuJoCo":
                    q, v = with_mujoco(mechanism_name, integrator, steps)
                else:
                    q, v = with_drake(mechanism_name, integrator, steps, chosen.drake)
            except (ValueError, RuntimeError, kn.ModelError) as error:
                print(f"{mechanism_name} {label}: left out, {str(error)[:110]}", flush=True)
                entry[label] = {"left out": str(error)[:200]}
                continue
            entry[label] = {"steps": steps, "seconds": round(time.perf_counter() - begin, 1), **kept(model, q, v)}
            largest = {k: f"{max(x):.1e}" for k, x in entry[label].items() if isinstance(x, list)}
            print(f"{mechanism_name} {label}: {steps} steps, {entry[label]['seconds']} s, {largest}", flush=True)
            RESULTS.write_text(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
