"""Small mechanisms built by hand, and every public function with the shape of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.joints import Free, Prismatic, Revolute, Spherical
from knuckle.model import Builder, Model


def arm() -> Model:
    """Three revolute joints in a row, with damping, friction and a rotor, and a tool."""
    b = Builder("arm", base="world")
    b.body("upper", on="world", joint=Revolute("z"), at=(0, 0, 0.2), mass=2.0, com=(0.1, 0, 0.05),
           inertia=(0.02, 0.03, 0.025), damping=0.3, friction=0.1)  # fmt: skip
    b.body("lower", on="upper", joint=Revolute("y"), at=dict(xyz=(0.3, 0, 0), rpy=(0.1, 0.2, 0.3)), mass=1.5,
           com=(0.15, 0.01, 0), inertia=(0.01, 0.02, 0.015), rotor_inertia=0.01)  # fmt: skip
    b.body("hand", on="lower", joint=Revolute((0.6, 0, 0.8)), at=(0.25, 0, 0), mass=0.5, com=(0, 0.02, 0.03),
           inertia=(0.001, 0.002, 0.0015))  # fmt: skip
    b.frame("tool", on="hand", at=(0, 0, 0.1))
    return b.build()


def tree() -> Model:
    """A floating body with a slide, and on that a ball joint and a hinge: quaternions and nq ≠ nv."""
    b = Builder("tree", base="world")
    b.body("hull", on="world", joint=Free(), mass=4.0, com=(0.02, -0.01, 0.03), inertia=(0.2, 0.3, 0.25))
    b.body(
        "slide", on="hull", joint=Prismatic("x"), at=(0, 0.1, 0), mass=1.0, com=(0.05, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    b.body(
        "ball", on="slide", joint=Spherical(), at=(0.2, 0, 0), mass=0.7, com=(0, 0, -0.1), inertia=(0.01, 0.01, 0.002)
    )
    b.body(
        "flap",
        on="hull",
        joint=Revolute("y"),
        at=(0, -0.2, 0),
        mass=0.4,
        com=(0.1, 0, 0),
        inertia=(0.001, 0.004, 0.004),
    )
    b.frame("tool", on="ball", at=(0, 0, -0.2))
    return b.build()


def chain(n: int) -> Model:
    """n revolute joints in a row."""
    b = Builder(f"chain of {n}", base="world")
    on = "world"
    for i in range(n):
        on = b.body(f"link{i}", on=on, joint=Revolute("zyx"[i % 3]), at=(0.1, 0, 0.2), mass=1.0 + i,
                    com=(0.01, 0.02, 0.1), inertia=(0.1, 0.12, 0.15))  # fmt: skip
    return b.build()


def slides() -> Model:
    """Three slides along the axes: nothing turns, so a fraction meets no trigonometry."""
    b = Builder("gantry", base="world", gravity=(0, 0, -10))
    on = "world"
    for axis in "xyz":
        on = b.body(f"along_{axis}", on=on, joint=Prismatic(axis), mass=2, com=(0, 0, 0), inertia=(1, 1, 1))
    b.frame("tool", on=on)
    return b.build()


def closed() -> Model:
    """The arm with its hand tied to the base."""
    b = Builder("closed", base="world")
    b.body("upper", on="world", joint=Revolute("z"), mass=2.0, inertia=(0.02, 0.03, 0.025))
    b.body("lower", on="upper", joint=Revolute("z"), at=(0.3, 0, 0), mass=1.5, inertia=(0.01, 0.02, 0.015))
    b.close_loop("strap", Revolute("z"), "world", "lower", at_predecessor=(0.5, 0, 0), at_successor=(0.2, 0, 0))
    return b.build()


def geared(ratio: float) -> Model:
    """Two hinges, of which the second follows the first."""
    b = Builder("geared", base="world")
    b.body("first", on="world", joint=Revolute("y"), mass=2.0, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.025))
    b.body(
        "second", on="first", joint=Revolute("y"), at=(0.3, 0, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.03)
    )
    b.mimic("second_joint", "first_joint", ratio=ratio)
    return b.build()


@dataclass(frozen=True)
class State:
    q: Any
    v: Any
    a: Any
    f_ext: Any
    w: Any


def states(model: Model, batch: tuple[int, ...] = (), seed: int = 0) -> State:
    """Random states; rotations as unit quaternions."""
    rng = np.random.default_rng(seed)
    q = np.array([kn.random_configuration(model, rng) for _ in range(int(np.prod(batch)))])
    shape = lambda *end: rng.normal(size=(*batch, *end))  # noqa: E731
    return State(q.reshape(*batch, model.nq), shape(model.nv), shape(model.nv), shape(model.nb, 6), shape(6))


@dataclass(frozen=True)
class Public:
    """A public function, called with a state, and the shape of what it gives."""

    call: Callable[[Model, State], Any]
    shape: Callable[[Model], tuple[int, ...]]


def _nv(m: Model) -> tuple[int, ...]:
    return (m.nv,)


def _square(m: Model) -> tuple[int, ...]:
    return m.nv, m.nv


def _fixed(*shape: int) -> Callable[[Model], tuple[int, ...]]:
    return lambda m: shape


FUNCTIONS: dict[str, Public] = {
    "inverse_dynamics": Public(lambda m, s: kn.inverse_dynamics(m, s.q, s.v, s.a), _nv),
    "inverse_dynamics with f_ext": Public(lambda m, s: kn.inverse_dynamics(m, s.q, s.v, s.a, s.f_ext), _nv),
    "forward_dynamics": Public(lambda m, s: kn.forward_dynamics(m, s.q, s.v, s.a, s.f_ext), _nv),
    "forward_dynamics crba": Public(lambda m, s: kn.forward_dynamics(m, s.q, s.v, s.a, method="crba"), _nv),
    "mass_matrix": Public(lambda m, s: kn.mass_matrix(m, s.q), _square),
    "mass_matrix_inverse": Public(lambda m, s: kn.mass_matrix_inverse(m, s.q), _square),
    "coriolis_matrix": Public(lambda m, s: kn.coriolis_matrix(m, s.q, s.v), _square),
    "bias_force": Public(lambda m, s: kn.bias_force(m, s.q, s.v, s.f_ext), _nv),
    "gravity_force": Public(lambda m, s: kn.gravity_force(m, s.q), _nv),
    "joint_passive_force": Public(lambda m, s: kn.joint_passive_force(m, s.q, s.v), _nv),
    "operational_space_inverse_inertia": Public(
        lambda m, s: kn.operational_space_inverse_inertia(m, s.q, "tool"), _fixed(6, 6)
    ),
    "pose": Public(lambda m, s: kn.pose(m, s.q, "tool"), _fixed(4, 4)),
    "body_poses": Public(lambda m, s: kn.body_poses(m, s.q), lambda m: (m.nb, 4, 4)),
    "jacobian": Public(lambda m, s: kn.jacobian(m, s.q, "tool", "aligned"), lambda m: (6, m.nv)),
    "jacobian_rate": Public(lambda m, s: kn.jacobian_rate(m, s.q, s.v, "tool", "world"), lambda m: (6, m.nv)),
    "velocity": Public(lambda m, s: kn.velocity(m, s.q, s.v, "tool"), _fixed(6)),
    "acceleration": Public(lambda m, s: kn.acceleration(m, s.q, s.v, s.a, "tool", classical=True), _fixed(6)),
    "external_force": Public(lambda m, s: kn.external_force(m, s.q, "tool", s.w), lambda m: (m.nb, 6)),
    "kinetic_energy": Public(lambda m, s: kn.kinetic_energy(m, s.q, s.v), _fixed()),
    "potential_energy": Public(lambda m, s: kn.potential_energy(m, s.q), _fixed()),
    "center_of_mass": Public(lambda m, s: kn.center_of_mass(m, s.q), _fixed(3)),
    "momentum": Public(lambda m, s: kn.momentum(m, s.q, s.v), _fixed(6)),
    "centroidal_momentum": Public(lambda m, s: kn.centroidal_momentum(m, s.q, s.v), _fixed(6)),
    "centroidal_matrix": Public(lambda m, s: kn.centroidal_matrix(m, s.q), lambda m: (6, m.nv)),
    "centroidal_bias": Public(lambda m, s: kn.centroidal_bias(m, s.q, s.v), _fixed(6)),
    "integrate": Public(lambda m, s: kn.integrate(m, s.q, s.v), lambda m: (m.nq,)),
    "difference": Public(lambda m, s: kn.difference(m, s.q, kn.integrate(m, s.q, s.v)), _nv),
    "difference_rate": Public(lambda m, s: kn.difference_rate(m, 0.1 * s.v, s.v), _nv),
    "velocity_to_qdot": Public(lambda m, s: kn.velocity_to_qdot(m, s.q, s.v), lambda m: (m.nq,)),
}

MODELS = {"arm": arm(), "tree": tree()}
