"""Force elements: a spring, a muscle and a bushing between the bodies, and drag."""

from __future__ import annotations

from typing import Any

import numpy as np

import knuckle as kn
from knuckle.actuators import Actuator, ActuatorDynamics, AtFrame, BetweenFrames, position_servo
from knuckle.elements import Bushing, CubicMuscle, Drag, HillMuscle, JointLine, Line, LinePoint, Spring, Winding
from knuckle.model import Model

from ..cases import Case
from .base import STEP, Rows

ROWS = Rows()
simple = ROWS.simple


def _pulled(model: Model) -> Model:
    """With elements between the base, the first body and the last."""
    base, first, last = model.base.name, model.body_names[0], model.body_names[-1]
    points = LinePoint(base, (0.3, 0.2, 0.1)), LinePoint(first, (0.1, 0.0, 0.2)), LinePoint(last, (0.0, 0.1, 0.0))
    return model.replace(
        elements=(
            Line("spring", points[::2], Spring(30.0, 0.1, 2.0)),
            Line("muscle", points, CubicMuscle(50.0, 0.6, activation=0.3)),
            Bushing("bushing", first, last, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (0.1,) * 6),
            Drag("drag", last, (0.3, 0.2, 0.1), (0.1, 0.2, 0.3)),
        )
    )


def _stretched(model: Model) -> Model:
    """With a muscle that has an elastic tendon, and a line that is wound on the joint of the first body."""
    base, first, last = model.base.name, model.body_names[0], model.body_names[-1]
    points = LinePoint(base, (0.3, 0.2, 0.1)), LinePoint(last, (0.0, 0.1, 0.0))
    wound = (JointLine("wound", (Winding(first, 0.2),), Spring(5.0)),) if model.joints[0].type.nv == 1 else ()
    return model.replace(elements=(Line("muscle", points, HillMuscle(50.0, 0.6, 0.3)), *wound))


def _actuated(model: Model) -> Model:
    """With a motor at every joint of one variable, also at those that follow others, and a push on the last body."""
    servos = tuple(
        position_servo(f"servo {joint.name}", joint.name, kp=3.0, kv=0.2)
        for joint in model.joints
        if joint.type.nv == 1
    )
    push = Actuator("push", AtFrame(model.body_names[-1], (0.1, 0.2, 0.3), (1.0, 2.0, 3.0)))
    pull = BetweenFrames(model.body_names[-1], model.base.name, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    slow = Actuator("slow", pull, bias=(0.0, 0.3, 0.1), dynamics=ActuatorDynamics("filter", 0.1, state=0.4))
    return model.replace(actuators=(*servos, push, slow))


def _controls(model: Model) -> Any:
    return np.linspace(-1.0, 1.0, len(_actuated(model).actuators))


simple(
    "actuators.forces",
    lambda c: kn.actuators.forces(_actuated(c.model), c.q, c.v, _controls(c.model)),
    lambda c: kn.actuators.forces(_actuated(c.tree), c.Q, c.V, _controls(c.tree)),
)
simple(
    "actuators.joint_forces",
    lambda c: kn.actuators.joint_forces(_actuated(c.model), c.q, c.v, _controls(c.model)),
    lambda c: c.G.T @ kn.actuators.joint_forces(_actuated(c.tree), c.Q, c.V, _controls(c.tree)),
)
simple(
    "actuators.state_rates",
    lambda c: kn.actuators.state_rates(_actuated(c.model), _controls(c.model), [0.3]),
    lambda c: np.array([(_controls(c.tree)[-1] - 0.3) / 0.1]),
)
simple(
    "actuators.with_motors",
    lambda c: (lambda m: kn.actuators.joint_forces(m, c.q, c.v, np.ones(len(m.actuators))))(
        kn.actuators.with_motors(c.model)
    ),
    lambda c: np.array(
        [
            1.0 if joint.type.nv == 1 else 0.0
            for i, joint in enumerate(c.model.joints)
            if i not in c.model.coupled
            for _ in range(joint.type.nv)
        ]
    ),
)
simple(
    "elements.fiber_equilibrium",
    lambda c: kn.elements.fiber_equilibrium(_stretched(c.model), c.q, [0.6]),
    lambda c: kn.elements.fiber_equilibrium(_stretched(c.tree), c.Q, [0.6]),
)
simple(
    "elements.fiber_rates",
    lambda c: kn.elements.fiber_rates(_stretched(c.model), c.q, [0.6], [0.5]),
    lambda c: kn.elements.fiber_rates(_stretched(c.tree), c.Q, [0.6], [0.5]),
)
simple(
    "elements.with_activations",
    lambda c: kn.elements.joint_forces(kn.elements.with_activations(_stretched(c.model), [0.6], [0.5]), c.q, c.v),
    lambda c: c.G.T @ kn.elements.joint_forces(_stretched(c.tree), c.Q, c.V, [0.6], [0.5]),
)
for _name in ("lengths", "energies"):
    _place: Any = getattr(kn.elements, _name)
    simple(
        f"elements.{_name}",
        lambda c, f=_place: f(_pulled(c.model), c.q),
        lambda c, f=_place: f(_pulled(c.tree), c.Q),
    )
for _name in ("rates", "tensions", "powers", "wrenches"):
    _state: Any = getattr(kn.elements, _name)
    simple(
        f"elements.{_name}",
        lambda c, f=_state: f(_pulled(c.model), c.q, c.v),
        lambda c, f=_state: f(_pulled(c.tree), c.Q, c.V),
    )
simple(
    "elements.moment_arms",
    lambda c: kn.elements.moment_arms(_pulled(c.model), c.q),
    lambda c: kn.elements.moment_arms(_pulled(c.tree), c.Q) @ c.G,
)
simple(
    "elements.joint_forces",
    lambda c: kn.elements.joint_forces(_pulled(c.model), c.q, c.v),
    lambda c: c.G.T @ kn.elements.joint_forces(_pulled(c.tree), c.Q, c.V),
)
simple(
    "elements.muscle_forces",
    lambda c: kn.elements.muscle_forces(_pulled(c.model), c.q, c.v, [0.8]),
    lambda c: c.G.T @ kn.elements.muscle_forces(_pulled(c.tree), c.Q, c.V, [0.8]),
)
simple(
    "elements.damping",
    lambda c: kn.elements.damping(_pulled(c.model), c.q, c.v),
    lambda c: c.G.T @ kn.elements.damping(_pulled(c.tree), c.Q, c.V) @ c.G,
)


def _by_steps(c: Case) -> Any:
    """−∂τ/∂q by complex steps."""
    model, n = _pulled(c.model), c.model.nv
    rates = kn.velocity_to_qdot(model, c.q, np.eye(n))
    steps = [kn.elements.joint_forces(model, np.asarray(c.q) + 1j * STEP * rate, c.v) for rate in rates]
    return -np.imag(steps).T / STEP


simple("elements.stiffness", lambda c: kn.elements.stiffness(_pulled(c.model), c.q, c.v), _by_steps)
