"""A quadruped that floats without any momentum turns itself by moving its legs in circles, as a falling cat does.

Run it with `python examples/quadruped_turning.py`.
"""

import numpy as np

import knuckle as kn
from knuckle.scalar import cos, sin

CYCLES, PERIOD = 10, 0.5  # s
REACH, LEAN = 0.65, -0.36  # rad: how far the legs swing out, and about which angle of the hips
PHASES = (0.0, np.pi, np.pi, 0.0)  # legs on a diagonal go together: only the turns about the vertical add up

model = kn.robots.load("quadruped").with_gravity((0, 0, 0))
q0 = kn.neutral(model)
q0[[8, 11, 14, 17]] = LEAN


@kn.kernel
def circles(model, t, q, v, kp, kd):
    """Springs and dampers at the joints, none at the floating base. The circles grow from nothing."""
    grow = t * t / (t * t + 0.2)
    angles = [2.0 * np.pi / PERIOD * t + phase for phase in PHASES]
    goals = [x for s in angles for x in (grow * REACH * cos(s), LEAN + grow * REACH * sin(s), 0.0)]
    pulls = [k * (goal - x) - d * xd for k, d, goal, x, xd in zip(kp, kd, goals, q[7:], v[6:], strict=True)]
    return [0.0] * 6 + pulls


H = np.diag(kn.mass_matrix(model, q0))[6:]
given = {"kp": 60.0**2 * H, "kd": 2 * 60.0 * H}  # for the inertia that each joint moves
motion = kn.simulate(model, q0, None, CYCLES * PERIOD, controller=circles, parameters=given, frames=["trunk"])

trunk = motion.frames["trunk"]
heading = np.degrees(np.unwrap(np.arctan2(trunk[:, 1, 0], trunk[:, 0, 0])))
for k in range(0, len(heading), 1000):
    print(f"{motion.times[k]:4.1f} s   turned by {heading[k]:6.1f}°")
tilt = np.degrees(np.arccos(trunk[:, 2, 2].clip(-1, 1))).max()
momentum = np.abs(kn.momentum(model, motion.q, motion.v)).max()
print(
    f"{heading[-1] / CYCLES:.1f}° per circle, tilted by at most {tilt:.1f}°, momentum below {momentum:.0e} all the time"
)
assert abs(heading[-1]) > 90
assert momentum < 1e-5
