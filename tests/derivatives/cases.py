"""Small mechanisms of every kind, and arguments for every public function on them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.engine.calls.arguments import ARGUMENTS
from knuckle.engine.calls.function import Function
from knuckle.joints import Free, Prismatic, Revolute, Spherical
from knuckle.model import Builder, Model, solid_box
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
    return found


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
            else:
                found[name] = rng.uniform(0.2, 0.8, shape)
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
