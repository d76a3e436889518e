"""Small mechanisms, and the functions that other packages differentiate in the tests of torch, JAX and CasADi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.joints import Revolute, Spherical
from knuckle.model import solid_box


def pendulum() -> kn.Model:
    """Two hinges, the first with damping."""
    b = kn.Builder("double pendulum")
    b.body("a", joint=Revolute((0.0, 1.0, 0.0)), inertia=solid_box(1.0, (0.1, 0.1, 0.6)), damping=0.1)
    b.body("b", "a", Revolute((0.0, 1.0, 0.0)), dict(xyz=(0.1, 0.0, -0.6)), inertia=solid_box(0.5, (0.1, 0.2, 0.5)))
    return b.build()


def ball_and_hinge() -> kn.Model:
    """A ball joint, whose positions are a quaternion, and a hinge."""
    b = kn.Builder("ball and hinge")
    b.body("a", joint=Spherical(), inertia=solid_box(1.0, (0.3, 0.1, 0.2)))
    b.body("b", "a", Revolute((0.0, 0.6, 0.8)), dict(xyz=(0.3, 0.0, 0.1)), inertia=solid_box(0.5, (0.1, 0.2, 0.5)))
    return b.build()


@kn.kernel
def stage(model: kn.Model, q: Any, v: Any, stiffness: Any) -> Any:
    """Forces that hold a motion against springs, and the energy of them."""
    tau = kn.bias_force(model, q, v)
    return [tau[k] - stiffness * v[k] for k in range(model.nv)], 0.5 * stiffness * (q @ q)


def pose_of_b(model: kn.Model, q: Any) -> Any:
    return kn.pose(model, q, "b")


FUNCTIONS: Mapping[str, Any] = {
    "inverse dynamics": kn.inverse_dynamics,
    "forward dynamics": kn.forward_dynamics,
    "energy": kn.kinetic_energy,
    "pose": pose_of_b,
    "kernel": stage,
}


def arguments(name: str, model: kn.Model, batch: tuple[int, ...]) -> list[Any]:
    """Arrays for one of the functions; quaternions are units."""
    rng = np.random.default_rng(3)
    q = kn.integrate(model, kn.neutral(model), rng.normal(size=(*batch, model.nv)))
    v, a = rng.normal(size=(2, *batch, model.nv))
    match name:
        case "pose":
            return [q]
        case "energy":
            return [q, v]
        case "kernel":
            return [q, v, np.array(1.5)]
        case _:
            return [q, v, a]
