"""Mechanisms that integrators are measured on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.integrators import Integrator, State
from knuckle.joints import Free, Joint, Planar, Revolute, Spherical
from knuckle.simulation.steps.stepper import stepper

BODY: dict[str, Any] = {
    "mass": 2.0,
    "com": (0.1, -0.05, 0.2),
    "inertia": ((0.11, 0.01, 0.02), (0.01, 0.17, -0.015), (0.02, -0.015, 0.23)),
}
"""An asymmetric body whose origin is not at its centre of mass."""
AHEAD = {"xyz": (0.3, 0.1, 0.0), "rpy": (0.2, 0.4, -0.3)}


def free() -> kn.Model:
    """A body in flight."""
    builder = kn.Builder("free")
    builder.body("body", joint=Free(), **BODY)
    return builder.build()


def ball() -> kn.Model:
    """A heavy top on a spherical joint."""
    builder = kn.Builder("ball")
    builder.body("body", joint=Spherical(), **BODY)
    return builder.build()


def pair() -> kn.Model:
    """A hinge with a damper on a ball joint."""
    builder = kn.Builder("pair")
    builder.body("ball", joint=Spherical(), **BODY)
    builder.body("hinge", "ball", Revolute("x"), AHEAD, damping=0.2, **BODY)
    return builder.build()


def mixed(joint: Joint) -> kn.Model:
    """A body on this joint with a ball joint, a planar joint with damping and a sprung hinge on it, all with rotors."""
    builder = kn.Builder("mixed")
    builder.body("trunk", joint=joint, **BODY)
    builder.body("ball", "trunk", Spherical(), AHEAD, rotor_inertia=(0.3, 0.1, 0.02), **BODY)
    builder.body("slide", "trunk", Planar("y"), AHEAD, damping=(0.1, 0.5, 0.2), rotor_inertia=(0.1, 0.4, 0.9), **BODY)
    builder.body("hinge", "slide", Revolute("x"), stiffness=3.0, rotor_inertia=0.05, **BODY)
    return builder.build()


def start(model: kn.Model, seed: int = 1, speed: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return kn.random_configuration(model, rng), speed * rng.normal(size=model.nv)


def run(model: kn.Model, integrator: Integrator, duration: float, steps: int, **forces: Any) -> State:
    """The state after so many equal steps from a fixed start."""
    stepping, dt = stepper(model, integrator, **forces), duration / steps
    state = stepping.start(0.0, *start(model), dt)
    for k in range(steps):
        state = stepping.step(k * dt, state, dt)
    return state


def distance(model: kn.Model, a: State, b: State) -> float:
    """How far two states are apart, in radians, metres and their rates together."""
    return float(np.linalg.norm([*kn.difference(model, a.q, b.q), *(a.v - b.v)]))
