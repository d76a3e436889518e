"""Scenes of contact_cases.py by Drake, in an interpreter that has it.

    python benchmarks/contact_with_drake.py lagged|sap [row …]

prints the errors of the rows as JSON. Boxes are hydroelastic on a rigid ground, as Drake advises, and balls touch at a
point. Restitution
is no number there: with the lagged approximation the dissipation of Hunt and Crossley is (1 − e)/v for the speed of the
first impact, with SAP the relaxation time is that of a spring and damper with e.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from contact_cases import ROWS, Case, Motion
from contact_residuals import Push, Pushes, heap, residuals

STIFFNESS = 1e6
"""Of points, in N/m, where a case does not say"""
MODULUS, DISSIPATION = 1e7, 50.0
"""Of hydroelastic boxes, in Pa and s/m"""


def made(case: Case, approximation: str) -> tuple[Any, Any, Any, list[Any]]:
    """A simulator, the plant, its context and its bodies."""
    from pydrake import all as drake  # type: ignore[import-not-found]

    d: Any = drake
    builder = d.DiagramBuilder()
    config = d.MultibodyPlantConfig(time_step=case.dt, discrete_contact_approximation=approximation)
    plant, scene = d.AddMultibodyPlant(config, builder)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.xml"
        path.write_text(case.mjcf, "utf-8")
        d.Parser(plant).AddModels(str(path))
    plant.mutable_gravity_field().set_gravity_vector(case.gravity)
    plant.Finalize()
    _surfaces(d, plant, scene, case)
    diagram = builder.Build()
    simulator = d.Simulator(diagram)
    context = simulator.get_mutable_context()
    own = plant.GetMyMutableContextFromRoot(context)
    bodies = [plant.get_body(d.BodyIndex(i)) for i in range(1, plant.num_bodies())]
    _begin(d, plant, own, bodies, case)
    push = d.ExternallyAppliedSpatialForce()
    push.body_index, push.p_BoBq_B = bodies[0].index(), np.zeros(3)
    push.F_Bq_W = d.SpatialForce(np.array(case.push[:3]), np.array(case.push[3:]))
    plant.get_applied_spatial_force_input_port().FixValue(own, [push])
    simulator.Initialize()
    return simulator, plant, own, bodies


def run(case: Case, approximation: str) -> Motion:
    simulator, plant, own, bodies = made(case, approximation)
    rows = [_state(plant, own, bodies)]
    steps = round(case.duration / case.dt)
    for k in range(steps):
        simulator.AdvanceTo((k + 1) * case.dt)
        rows.append(_state(plant, own, bodies))
    results = plant.get_contact_results_output_port().Eval(own)
    carried = sum(
        abs(results.point_pair_contact_info(k).contact_force()[2]) for k in range(results.num_point_pair_contacts())
    )
    carried += sum(
        abs(results.hydroelastic_contact_info(k).F_Ac_W().translational()[2])
        for k in range(results.num_hydroelastic_contacts())
    )
    x, E, v, w = (np.array(part) for part in zip(*rows, strict=True))
    return Motion(case.dt * np.arange(steps + 1), x, E, v, w, carried=float(carried))


def pushes(case: Case, approximation: str) -> Iterator[Pushes]:
    """The contacts of each step."""
    simulator, plant, own, bodies = made(case, approximation)
    number = {body.index(): k for k, body in enumerate(bodies)}
    for k in range(round(case.duration / case.dt)):
        x = np.array(_state(plant, own, bodies)[0])
        simulator.AdvanceTo((k + 1) * case.dt)
        _, _, v, w = map(np.array, _state(plant, own, bodies))
        results = plant.get_contact_results_output_port().Eval(own)
        found: list[Push] = []
        for i in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(i)
            pair = info.point_pair()
            first, second = (number.get(index, -1) for index in (info.bodyB_index(), info.bodyA_index()))
            impulse = case.dt * np.array(info.contact_force())
            found.append(
                Push(first, second, np.array(info.contact_point()), -np.array(pair.nhat_BA_W), impulse, -pair.depth)
            )
        yield Pushes(found, x, v, w)


def _surfaces(d: Any, plant: Any, scene: Any, case: Case) -> None:
    inspector = scene.model_inspector()
    stiffness, relaxation, dissipation = 2 * STIFFNESS, 0.01, DISSIPATION
    if case.law is not None:
        stiffness, relaxation = 2 * case.law[0], case.law[1] / case.law[0]
        dissipation = (1 - case.restitution) / case.speed
    elif case.restitution:
        zeta = _ratio(case.restitution)
        relaxation = 2 * zeta / math.sqrt(STIFFNESS / case.masses[0])
        dissipation = (1 - case.restitution) / case.speed
    for geometry in inspector.GetAllGeometryIds(d.Role.kProximity):
        properties = d.ProximityProperties()
        friction = d.CoulombFriction(case.friction, case.friction)
        d.AddContactMaterial(
            dissipation=dissipation, point_stiffness=stiffness, friction=friction, properties=properties
        )
        properties.AddProperty("material", "relaxation_time", relaxation)
        shape = inspector.GetShape(geometry)
        if isinstance(shape, d.Box):
            d.AddCompliantHydroelasticProperties(float(min(shape.size())) / 2, MODULUS, properties)
        elif isinstance(shape, d.HalfSpace):
            d.AddRigidHydroelasticProperties(1.0, properties)
        scene.AssignRole(plant.get_source_id(), geometry, properties, d.RoleAssign.kReplace)


def _ratio(e: float) -> float:
    low, high = 0.0, 0.999999
    for _ in range(100):
        zeta = (low + high) / 2
        s = math.sqrt(1 - zeta**2)
        given = math.exp(-zeta / s * (math.pi - math.atan2(2 * zeta * s, 1 - 2 * zeta**2)))
        low, high = (zeta, high) if given > e else (low, zeta)
    return (low + high) / 2 if e < 1 else 0.0


def _begin(d: Any, plant: Any, own: Any, bodies: list[Any], case: Case) -> None:
    velocities, rates = iter(case.velocities), iter(case.rates)
    for body in bodies:
        if body.is_floating_base_body():
            given = np.array(next(velocities, (0.0,) * 6), float)
            plant.SetFreeBodySpatialVelocity(own, body, d.SpatialVelocity(given[:3], given[3:]))
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() == 1:
            v = plant.GetVelocities(own)
            v[joint.velocity_start()] = next(rates, 0.0)
            plant.SetVelocities(own, v)


def _state(plant: Any, own: Any, bodies: list[Any]) -> tuple[Any, ...]:
    poses = [plant.EvalBodyPoseInWorld(own, body) for body in bodies]
    twists = [plant.EvalBodySpatialVelocityInWorld(own, body) for body in bodies]
    return (
        [X.translation() for X in poses], [X.rotation().matrix() for X in poses],
        [V.translational() for V in twists], [V.rotational() for V in twists],
    )  # fmt: skip


def main() -> None:
    approximation, *chosen = sys.argv[1:]
    errors: dict[str, Any] = {}
    case = heap()
    errors["residuals"] = residuals(case, pushes(case, approximation))
    for name in chosen or ROWS:
        try:
            errors[name] = ROWS[name].error(lambda case: run(case, approximation))
        except Exception as error:  # a scene that it cannot have
            errors[name] = f"{type(error).__name__}: {error}"[:200]
        print(name, errors[name], file=sys.stderr, flush=True)
    print(json.dumps(errors))


if __name__ == "__main__":
    main()
