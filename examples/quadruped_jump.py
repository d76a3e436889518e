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

DT, STEPS, KNOTS = 1e-3, 450, 10
CROUCH = (0.9, -1.5)  # rad: hip and knee to begin with
robot = kn.robots.load("quadruped").without_friction()
model = with_ground(keep_collisions(robot, lambda body, shape: isinstance(shape.shape, Sphere)), friction=0.8)
soft = kn.contact.CompliantContacts("featherstone", friction="regularized")


@kn.kernel
def push(model, q, v, legs):
    """Springs and dampers at the joints; `legs` are references of hips and knees, of the front and of the rear."""
    goals = [x for pair in (legs[:2], legs[:2], legs[2:], legs[2:]) for x in (0.0, pair[0], pair[1])]
    return [0.0] * 6 + [120.0 * (goal - x) - 4.0 * s for goal, x, s in zip(goals, q[7:], v[6:], strict=True)]


@kn.kernel
def effort(model, tau):
    return 2e-7 * (tau @ tau)


@kn.kernel
def low(model, q, v):
    """How far the trunk is from being high, level and in place at the end; all of it still in flight."""
    rising = q[6] + v[5] * v[5] / (2 * 9.81)
    level = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    return -rising + 2.0 * level + 0.02 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.2 * (q[4] * q[4] + q[5] * q[5])


q0 = kn.neutral(model)
q0[7:] = np.tile([0.0, *CROUCH], 4)
q0[6] -= kn.contact.gaps(model, q0).min()
