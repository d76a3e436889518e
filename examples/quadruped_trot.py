"""A quadruped trots over a floor: legs on a diagonal step together, and it steers by longer steps on one side.

Run it with `python examples/quadruped_trot.py`. `motion.play()` shows it in the browser.
"""

import numpy as np

import knuckle as kn
from knuckle.model import Sphere
from knuckle.model.edit import keep_collisions, with_ground
from knuckle.scalar import arctan2, cos, maximum, minimum, sin, sqrt

LEG = 0.22  # m, of thigh and shank
BEND = np.arctan2(0.150, 0.161)  # rad: how far each of them leans where all joints are at zero
PERIOD, HEIGHT, LIFT = 0.4, 0.30, 0.05  # s, m, m
LEGS = ((0.0, 1), (np.pi, -1), (np.pi, 1), (0.0, -1))  # when it steps, and on which side it is
STRONGEST = 40.0  # N m

robot = kn.robots.load("quadruped")
feet_only = keep_collisions(robot, lambda body, shape: isinstance(shape.shape, Sphere))
model = with_ground(feet_only, friction=0.8)


def knee_up(x, z):
    """The angles of hip and knee with the foot x ahead of the hip and z below it."""
    reach = sqrt(x * x + z * z)
    bend = arctan2(sqrt(4 * LEG * LEG - reach * reach), reach)
    return arctan2(-x, z) + bend - BEND, 2 * BEND - 2 * bend


@kn.kernel
def trot(model, t, q, v, kp, kd, speed):
    """Feet that go backwards on the floor, and forwards above it; springs and dampers pull the joints along."""
    begin = minimum(t, 1.0)
    heading = arctan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]))
    goals = []
    for phase, side in LEGS:
        s = 2 * np.pi / PERIOD * t + phase
        stride = (speed * begin + side * 0.7 * (heading + 0.3 * v[2])) * PERIOD / 4
        goals += [0.0, *knee_up(stride * cos(s), HEIGHT - LIFT * begin * maximum(-sin(s), 0.0))]
    pulls = [kp * (goal - x) - kd * xd for goal, x, xd in zip(goals, q[7:], v[6:], strict=True)]
    return [0.0] * 6 + [maximum(-STRONGEST, minimum(STRONGEST, pull)) for pull in pulls]


q0 = kn.neutral(model)
q0[7:] = np.tile([0.0, *knee_up(0.0, HEIGHT)], 4)
q0[6] -= kn.contact.gaps(model, q0).min()  # the feet on the floor
gains = {"kp": 390.0, "kd": 10.0, "speed": 0.7}
motion = kn.simulate(model, q0, None, 6.0, controller=trot, parameters=gains, frames=["trunk"])

trunk = motion.frames["trunk"]
for k in range(0, len(trunk), 1000):
    x, y, z = trunk[k, :3, 3]
    print(f"{motion.times[k]:3.0f} s   {x:5.2f} m ahead, {y:+5.2f} m aside, trunk at {z:.2f} m")
tilt = np.degrees(np.arccos(trunk[:, 2, 2].clip(-1, 1))).max()
print(f"tilted by at most {tilt:.1f}°, and the feet are never more than {-kn.contact.gaps(model, motion.q).min():.0e} m"
      " in the floor")  # fmt: skip
assert trunk[-1, 0, 3] > 3.0
assert tilt < 8
