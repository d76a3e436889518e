"""A quadruped jumps as high as it can: its references are found by gradients through contact with the floor.

Soft contacts have derivatives, so the whole push-off and flight is one differentiable rollout. The references of hips
and knees are polygons in time; what is best for them is asked of L-BFGS, and each answer is a rollout there and back.

Run it with `python examples/quadruped_jump.py` (needs scipy).
"""

import numpy as np
from scipy.optimize import minimize

import knuckle as kn
from knuckle.model import Sphere
from knuckle.model.edit import keep_collisions, with_ground
from knuckle.scalar import maximum, minimum

DT, STEPS, KNOTS = 5e-4, 700, 8
STRONGEST = 40.0  # N m
CROUCH = (0.45, -0.8)  # rad: hip and knee to begin with
robot = kn.robots.load("quadruped").without_friction()
feet_only = keep_collisions(robot, lambda body, shape: isinstance(shape.shape, Sphere))
model = with_ground(feet_only, friction=0.8, stiffness=2e4, damping=100.0)
soft = kn.contact.CompliantContacts(friction="regularized", depth=5e-3, slip_speed=0.1)


@kn.kernel
def push(model, q, v, legs):
    """Springs and dampers at the joints; `legs` are references of hips and knees, of the front and of the rear."""
    goals = [x for pair in (legs[:2], legs[:2], legs[2:], legs[2:]) for x in (0.0, pair[0], pair[1])]
    pulls = [100.0 * (goal - x) - 3.0 * s for goal, x, s in zip(goals, q[7:], v[6:], strict=True)]
    return [0.0] * 6 + [maximum(-STRONGEST, minimum(STRONGEST, pull)) for pull in pulls]


@kn.kernel
def effort(model, q, tau):
    """What a step costs: torque, and a trunk too near the floor, which it may not touch."""
    near = maximum(0.16 - q[6], 0.0)
    return 2e-7 * (tau @ tau) + 2.0 * near * near


@kn.kernel
def low(model, q, v):
    """How far the trunk is from being high, level and in place at the end; all of it still in flight."""
    rising = q[6] + v[5] * v[5] / (2 * 9.81)
    level = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    return -rising + 10.0 * level + 0.02 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.2 * (q[4] * q[4] + q[5] * q[5])


q0 = kn.neutral(model)
q0[7:] = np.tile([0.0, *CROUCH], 4)
q0[6] -= kn.contact.gaps(model, q0).min()
tents = np.maximum(0.0, 1.0 - np.abs(np.linspace(0.0, KNOTS - 1, STEPS)[:, None] - np.arange(KNOTS)))
setting = {"dt": DT, "steps": STEPS, "integrator": "euler", "contacts": soft, "controller": push}
heights = []


def shoot(knots):
    """The loss of a jump, and its exact gradient by all references."""
    legs = tents @ knots.reshape(KNOTS, 4)
    found = kn.rollout_gradient(
        model, effort, q0, **setting, final_loss=low, parameters={"legs": legs}, time_varying=["legs"], wrt="legs"
    )
    heights.append(float(found.q[6] + max(found.v[5], 0.0) ** 2 / (2 * 9.81)))
    return float(found.loss), (tents.T @ found["legs"]).ravel()


waiting = np.tile(CROUCH, 2 * KNOTS)
best = minimize(
    shoot, waiting, jac=True, method="L-BFGS-B", bounds=[(-1.5, 1.5)] * len(waiting), options={"maxiter": 60}
)
legs = tents @ best.x.reshape(KNOTS, 4)
jump = kn.rollout(model, q0, **setting, parameters={"legs": legs}, time_varying=["legs"])
motion = (model, jump.times, jump.q)  # what kn.viewer.play and kn.viewer.replay_html take
gaps = kn.contact.gaps(model, jump.q).min(-1)
top = jump.q[-1, 6] + jump.v[-1, 5] ** 2 / (2 * 9.81)
tilt = np.degrees(2 * np.arcsin(np.linalg.norm(jump.q[-1, 1:4])))
print(
    f"{best.nfev} rollouts of {STEPS} steps: the trunk would rise to {heights[0]:.2f} m at first, then to {top:.2f} m"
)
print(f"it leaves the floor at {jump.times[np.flatnonzero(gaps < 0)[-1]]:.2f} s, tilted by {tilt:.1f}° at the end")
assert top > heights[0] + 0.3
assert tilt < 10
assert jump.q[:, 6].min() > 0.1
