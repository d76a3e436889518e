"""One run of drift.py in an interpreter that has Drake; the task and the states kept are JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np


def main() -> None:
    from pydrake import all as drake  # type: ignore[import-not-found]

    d: Any = drake
    task = json.loads(sys.argv[1])
    floats, is_discrete = task["name"] == "tumbling", task["integrator"] == "discrete"
    builder = d.DiagramBuilder()
    plant = builder.AddSystem(d.MultibodyPlant(task["dt"] if is_discrete else 0.0))
    d.Parser(plant).AddModelsFromString(task["text"], "urdf")
    if floats:
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, 0.0])
    else:
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("ground"))
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -9.81])
    plant.Finalize()
    diagram = builder.Build()
    simulator = d.Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    plant.SetPositions(context, task["q"])
    plant.SetVelocities(context, task["v"])
    if not is_discrete:
        d.ResetIntegratorFromFlags(simulator, task["integrator"], task["dt"])
        integrator = simulator.get_mutable_integrator()
        if task["integrator"] != "runge_kutta2":  # which has no other mode
            integrator.set_fixed_step_mode(True)
        integrator.set_maximum_step_size(task["dt"])
    simulator.Initialize()
    rows = [state(plant, context, floats)]
    for k in range(task["kept"]):
        simulator.AdvanceTo((k + 1) * (task["steps"] // task["kept"]) * task["dt"])
        rows.append(state(plant, context, floats))
    print(json.dumps({"q": [q for q, _ in rows], "v": [v for _, v in rows]}))


def state(plant: Any, context: Any, floats: bool) -> tuple[list[float], list[float]]:
    """In knuckle's variables: a base's velocity in its own axes."""
    q, v = np.array(plant.GetPositions(context)), np.array(plant.GetVelocities(context))
    if floats:
        w, x, y, z = q[:4] / np.linalg.norm(q[:4])
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        v = np.concatenate([R.T @ v[:3], R.T @ v[3:]])
    return q.tolist(), v.tolist()


if __name__ == "__main__":
    main()
