"""Small mechanisms of every kind, and arguments for every public function on them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.actuators import Actuator, ActuatorDynamics, AtFrame, BetweenFrames, motor, position_servo, velocity_servo
from knuckle.contact import soft_functions
from knuckle.elements import CubicMuscle, HillMuscle
from knuckle.engine.calls.arguments import ARGUMENTS
from knuckle.engine.calls.function import Function, function
from knuckle.functions.hybrid import hybrid_motion
from knuckle.joints import Free, Prismatic, Revolute, Spherical
from knuckle.model import Box, Builder, Model, Sphere, solid_box
from knuckle.public_names import GROUPS
from knuckle.scalar import sin
from knuckle.testing.loops.linkages import bennett, four_bar


def _tree() -> Builder:
    b = Builder("tree", base="world")
    b.body("slide", on="world", joint=Prismatic("x"), inertia=solid_box(1.0, (0.1, 0.2, 0.1), at=(0.01, 0.02, 0)))
    b.body("arm", on="slide", joint=Revolute("y"), at=dict(xyz=(0, 0, 0.1), rpy=(0.1, 0.2, 0.3)),
           inertia=solid_box(1.5, (0.1, 0.1, 0.4), at=(0, 0.02, 0.2)), rotor_inertia=0.02)  # fmt: skip
    b.body("hand", on="arm", joint=Revolute("x"), at=(0.3, 0, 0),
           inertia=solid_box(0.4, (0.1, 0.15, 0.05), at=(0.05, 0.03, 0)), damping=0.05)  # fmt: skip
    b.frame("tool", on="hand", at=(0.1, 0, 0.02))
    return b


def _turning(joint: Any, name: str) -> Model:
    b = Builder(name, base="world")
    b.body("hull", on="world", joint=joint, inertia=solid_box(4.0, (0.6, 0.4, 0.2), at=(0.02, -0.01, 0.03)))
    b.body("arm", on="hull", joint=Revolute("y"), at=dict(xyz=(0, 0, 0.1), rpy=(0.1, 0.2, 0.3)),
           inertia=solid_box(1.5, (0.1, 0.1, 0.4), at=(0, 0.02, 0.2)))  # fmt: skip
    b.frame("tool", on="arm", at=(0.1, 0, 0.02))
    return b.build()


def _muscled() -> Model:
    b = _tree()
    b.spring("spring", ("world", (0.2, 0.3, 0.1)), ("hand", (0.05, 0, 0)), stiffness=40.0, damping=2.0, rest=0.1)
    return b.build()


def _coupled() -> Model:
    b = _tree()
    b.couple("hand_joint", "arm_joint", lambda x: 0.5 * x + 0.3 * sin(x))
    return b.build()


def _rough() -> Model:
    b = Builder("rough", base="world")
    b.body(
        "slide", on="world", joint=Prismatic("x"), inertia=solid_box(1.0, (0.1, 0.2, 0.1)), friction=0.4, damping=0.3
    )
    b.body("arm", on="slide", joint=Revolute("y"), at=(0, 0, 0.1), stiffness=3.0, rest=0.2,
           inertia=solid_box(1.5, (0.1, 0.1, 0.4), at=(0, 0.02, 0.2)), friction=0.2)  # fmt: skip
    b.frame("tool", on="arm", at=(0.1, 0, 0.02))
    return b.build()


def _with_muscles() -> Model:
    """A hinge and a slide with a muscle whose tendon is elastic, and one whose tendon is not."""
    b = Builder("muscles", base="world")
    b.body("upper", on="world", joint=Prismatic("x"), inertia=solid_box(1.0, (0.1, 0.2, 0.1)), stiffness=50.0)
    b.body("fore", on="upper", joint=Revolute("y"), inertia=solid_box(1.5, (0.05, 0.05, 0.3), at=(0, 0, -0.15)))
    elastic, rigid = HillMuscle(600.0, 0.14, 0.18, pennation=0.2, activation=0.4), CubicMuscle(500.0, 0.14, tendon=0.14)
    b.line("biceps", [("world", (0.03, 0, 0.28)), ("fore", (0.02, 0, -0.04))], elastic)
    b.line("triceps", [("upper", (-0.03, 0, 0.28)), ("fore", (-0.02, 0, 0.0))], rigid)
    return b.build()


def _driven() -> Model:
    model = _tree().build()
    slide, arm, hand = model.joint_names
    return model.replace(
        actuators=(
            motor("m", slide, gear=3.0, control_range=(-1.0, 1.0)),
            position_servo("p", arm, kp=20.0, kv=2.0, force_range=(-50.0, 50.0)),
            velocity_servo("v", hand, kv=4.0, gear=0.5),
            motor("both", (arm, hand), gear=(0.6, -0.4)),
            Actuator("jet", AtFrame("tool", (0.1, 0.2, 0.3), (1.0, 2.0, 3.0)), bias=(0.0, 0.0, 1.0)),
            Actuator(
                "slow",
                BetweenFrames("tool", model.body_names[0], (0.3, 0.2, 0.1), (1.0, 2.0, 3.0)),
                bias=(0.0, 0.5, 0.2),
                dynamics=ActuatorDynamics("filter", 0.2, state=0.3),
            ),
        )
    )


def _touching() -> Model:
    """A floating box with an arm, whose ball touches a soft ground as one corner of the box does."""
    b = Builder("contacts", base="world")
    b.surface("rubber", friction=0.5, stiffness=2e3, damping=60.0)
    b.ground(surface="rubber")
    b.body("hull", on="world", joint=Free(), inertia=solid_box(4.0, (0.6, 0.4, 0.2), at=(0.02, -0.01, 0.03)),
           collisions=Box((0.6, 0.4, 0.2)), surface="rubber")  # fmt: skip
    b.body("arm", on="hull", joint=Revolute("y"), at=dict(xyz=(0.4, 0, 0), rpy=(0.1, 0.2, 0.3)),
           inertia=solid_box(1.5, (0.1, 0.1, 0.4), at=(0, 0.02, 0.2)),
           collisions=Sphere(0.1), surface="rubber")  # fmt: skip
    b.frame("tool", on="arm", at=(0.1, 0, 0.02))
    return b.build()


SOFT = kn.contact.CompliantContacts("hunt-crossley", friction="regularized", depth=0.1)


@function(q="q", v="v", loops=True)
def contact_forces(model: Model, q: Any, v: Any) -> Any:
    return soft_functions._forces.reference(model, q, v, None, contacts=SOFT)  # pyright: ignore


@function(q="q", v="v", loops=True)
def contact_joint_forces(model: Model, q: Any, v: Any) -> Any:
    return soft_functions._joint_forces.reference(model, q, v, None, contacts=SOFT)  # pyright: ignore


@function(q="q", v="v", tau="v", loops=True)
def compliant_dynamics(model: Model, q: Any, v: Any, tau: Any) -> Any:
    return soft_functions._acceleration.reference(model, q, v, None, tau, contacts=SOFT)  # pyright: ignore


@function(q="q", v="v", tau="v", a="v", f_ext="f", loops=True)
def hybrid_dynamics(model: Model, q: Any, v: Any, tau: Any, a: Any, f_ext: Any = None) -> Any:
    return hybrid_motion.reference(model, q, v, tau, a, f_ext, prescribed=(0,), method="aba", stabilization=None)


OF_OPTIONS: Mapping[str, Function[..., Any]] = {
    "kn.hybrid_dynamics": hybrid_dynamics,
    "kn.contact.compliant_dynamics": compliant_dynamics,
    "kn.contact.contact_forces": contact_forces,
    "kn.contact.contact_joint_forces": contact_joint_forces,
}
"""Public functions whose other arguments are no arrays, with some chosen."""


@dataclass(frozen=True)
class Mechanism:
    """A model in a state in which its loops are closed, and a frame of it."""

    model: Model
    q: Any
    frame: str


def _open(model: Model, seed: int) -> Mechanism:
    return Mechanism(model, kn.random_configuration(model, seed), "tool" if model.frames else model.bodies[-1].name)


def _closed(linkage: Any) -> Mechanism:
    return Mechanism(linkage.model, linkage.q, linkage.model.bodies[-1].name)


MECHANISMS: Mapping[str, Any] = {
    "tree": lambda: _open(_tree().build(), 1),
    "floating": lambda: _open(_turning(Free(), "floating"), 2),
    "ball": lambda: _open(_turning(Spherical(), "ball"), 3),
    "couplings": lambda: _open(_coupled(), 4),
    "springs": lambda: _open(_muscled(), 5),
    "friction": lambda: _open(_rough(), 6),
    "muscles": lambda: Mechanism(_with_muscles(), np.array([0.02, -0.6]), "fore"),
    "actuators": lambda: _open(_driven(), 1),
    "contacts": lambda: Mechanism(
        _touching(),
        np.array([0.98, 0.05, 0.15, 0.02, 0.1, 0.2, 0.12, 0.3]) / np.r_[[np.sqrt(0.9858)] * 4, [1] * 4],
        "tool",
    ),
    "loop": lambda: _closed(four_bar()),
    "redundant loop": lambda: _closed(bennett()),
}


def functions() -> dict[str, Function[..., Any]]:
    """Every public function of arrays, by the name it is called by."""
    found: dict[str, Function[..., Any]] = {}
    for group in ("", *(group for group in GROUPS if group != "derivatives")):
        module = importlib.import_module(f"knuckle.{group}" if group else "knuckle")
        for name in dir(module):
            value = getattr(module, name)
            if isinstance(value, Function) and value is not kn.step:
                found[f"kn.{group}.{name}" if group else f"kn.{name}"] = value
    return dict(sorted({**found, **OF_OPTIONS}.items(), key=lambda item: (item[0].count("."), item[0])))


def arguments(function: Function[..., Any], mechanism: Mechanism, rng: np.random.Generator) -> dict[str, Any] | None:
    """Arguments for a function by name; None where it has none for this mechanism."""
    model, kinds = mechanism.model, function._arguments.kinds  # pyright: ignore
    found: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if name in kinds:
            shape = ARGUMENTS[kinds[name]](model)
            if kinds[name] == "q":
                found[name] = (
                    kn.integrate(model, mechanism.q, 0.1 * rng.normal(size=model.nv)) if name == "q1" else mechanism.q
                )
            elif 0 in shape:
                if parameter.default is parameter.empty:
                    return None
            elif kinds[name] == "e":
                found[name] = 1.05 * kn.elements.fiber_equilibrium(
                    model, mechanism.q, np.full(len(model.elements), 0.4)
                )
            else:
                found[name] = rng.uniform(0.2, 0.8, shape)
        elif name == "constraints":
            found[name] = (kn.constraints.PlaneDistance(mechanism.frame, (0.6, 0.0, 0.8)),)
        elif name == "frame":
            found[name] = mechanism.frame
        elif name == "choice" and parameter.default is parameter.empty:
            found[name] = kn.loops.independent_variables(model, mechanism.q)
        elif name == "actuated":
            free = 1
            found[name] = tuple(joint.name for joint in model.joints[:free])
        elif parameter.default is parameter.empty:
            return None
    return found
