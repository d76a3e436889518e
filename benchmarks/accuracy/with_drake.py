"""What Drake computes of states, run in an interpreter that has it: `python with_drake.py TASK.npz RESULT.npz`.

The task has the text of the file, the kind of base, the names of joints in order and the frame, and the states.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def compute(task: Any) -> dict[str, Any]:
    from pydrake import all as drake  # type: ignore[import-not-found]

    d: Any = drake
    floats, frame = str(task["base"]) == "floating", str(task["frame"])
    plant = d.MultibodyPlant(0.0)
    d.Parser(plant).AddModelsFromString(str(task["text"]), "urdf")
    children = {plant.get_joint(k).child_body().name() for k in plant.GetJointIndices()}
    bodies = [plant.get_body(d.BodyIndex(k)) for k in range(1, plant.num_bodies())]
    root = next(body for body in bodies if body.name() not in children)
    if not floats:
        plant.WeldFrames(plant.world_frame(), root.body_frame())
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -9.81])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joints = [plant.GetJointByName(str(name)) for name in task["joints"] if str(name) != "floating_base"]
    q_at, v_at = [j.position_start() for j in joints], [j.velocity_start() for j in joints]
    if floats:
        q, v = root.floating_positions_start(), root.floating_velocities_start_in_v()
        q_at, v_at = [*range(q, q + 7), *q_at], [*range(v, v + 6), *v_at]
    nv = plant.num_velocities()
    if len(v_at) != nv:
        raise SystemExit(f"{nv} freedoms of {len(v_at)}")
    body = plant.GetFrameByName(frame)
    found: dict[str, list[Any]] = {}
    for q0, v0, a0, t0 in zip(task["q"], task["v"], task["a"], task["tau"], strict=True):
        q, (v, a, tau) = np.zeros(plant.num_positions()), np.zeros((3, nv))
        q[q_at], v[v_at], a[v_at], tau[v_at] = q0, v0, a0, t0
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        weights = d.MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, weights)
        force = plant.CalcInverseDynamics(context, a, weights)
        plant.get_applied_generalized_force_input_port().FixValue(context, tau)
        J = plant.CalcJacobianSpatialVelocity(
            context, d.JacobianWrtVariable.kV, body, np.zeros(3), plant.world_frame(), plant.world_frame()
        )
        row = {
            "inverse_dynamics": force[v_at],
            "mass_matrix": plant.CalcMassMatrix(context)[np.ix_(v_at, v_at)],
            "jacobian": J[:, v_at],
            "kinetic_energy": plant.CalcKineticEnergy(context),
            "potential_energy": plant.CalcPotentialEnergy(context),
            "forward_dynamics": plant.get_generalized_acceleration_output_port().Eval(context)[v_at],
        }
        for name, x in row.items():
            found.setdefault(name, []).append(np.array(x))
    return {name: np.array(x) for name, x in found.items()}


if __name__ == "__main__":
    with np.load(sys.argv[1]) as loaded:
        np.savez(sys.argv[2], **compute(dict(loaded)))
