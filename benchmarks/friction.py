"""What dry friction costs in a rollout: the same robots with and without it, on one thread.

    python benchmarks/friction.py

Time is that of the processor, the best of many short repetitions taken in turns.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.model import Model

BATCH, STEPS, REPETITIONS, DT = 1024, 100, 15, 1e-4


def robots() -> dict[str, Model]:
    """The bundled arm, and robots of example-robot-data where that is installed."""
    found = {"arm": kn.robots.load("arm")}
    for place in map(Path, sys.path):
        folder = place / "cmeel.prefix/share/example-robot-data/robots"
        for name in ("xarm_description/urdf/xarm7.urdf", "anymal_b_simple_description/robots/anymal.urdf"):
            if (folder / name).exists():
                found[name.split("/")[-1]] = kn.load(folder / name)
    return found


def with_friction(model: Model, f: float) -> Model:
    """The model with this friction at every joint of one freedom, and no other."""
    return model.replace(
        joints=tuple(
            dataclasses.replace(joint, friction=(f,) if joint.type.nv == 1 and f else ()) for joint in model.joints
        )
    )


def times(models: dict[str, Model], integrator: str) -> dict[str, float]:
    """Seconds of the processor for a step of one trajectory, by name."""
    rng = np.random.default_rng(0)
    model = next(iter(models.values()))
    q = np.array([kn.integrate(model, kn.neutral(model), rng.uniform(-1, 1, model.nv)) for _ in range(BATCH)])
    v = rng.standard_normal((BATCH, model.nv))
    options: dict[str, Any] = {"steps": STEPS, "save_every": STEPS, "integrator": integrator}
    out = {name: kn.rollout(m, q, v, None, DT, **options) for name, m in models.items()}
    best = dict.fromkeys(models, np.inf)
    for _ in range(REPETITIONS):
        for name, m in models.items():
            began = time.process_time()
            kn.rollout(m, q, v, None, DT, out=out[name], **options)
            best[name] = min(best[name], time.process_time() - began)
    return {name: x / BATCH / STEPS for name, x in best.items()}


def main() -> None:
    kn.compilation.set_threads(1)
    print(f"{'':14s}{'integrator':12s}{'with':>10s}{'without':>10s}{'ratio':>8s}")
    for name, model in robots().items():
        for integrator in ("rk4", "heun", "euler"):
            found = times({"with": with_friction(model, 1.0), "without": with_friction(model, 0.0)}, integrator)
            row = f"{found['with'] * 1e6:8.3f}µs{found['without'] * 1e6:8.3f}µs{found['with'] / found['without']:8.2f}"
            print(f"{name:14s}{integrator:12s}{row}")


if __name__ == "__main__":
    main()
