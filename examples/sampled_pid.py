"""A PID controller as a computer runs it: asked every so often, holding its torque in between, and late by a period.

Run it with `python examples/sampled_pid.py`.
"""

import numpy as np

import knuckle as kn

pendulum = kn.robots.load("pendulum")
GOAL, KP, KI, KD = 1.0, 40.0, 60.0, 6.0
MOST = 15.0  # N m


def pid(period):
    """A PID law that knows its period. z is its integral, and the torque that was decided a period ago."""

    @kn.kernel
    def law(model, q, v, z, goal):
        error = goal - q[0]
        decided = np.clip(KP * error + KI * z[0] - KD * v[0], -MOST, MOST)
        return np.array([z[1]]), np.array([z[0] + period * error, decided])

    return kn.SampledController(law, period, state=[0.0, 0.0])


motions = {}
for period in (0.001, 0.02, 0.05, 0.1):
    motion = kn.simulate(pendulum, [0.0], None, 4.0, controller=pid(period), parameters={"goal": GOAL})
    motions[period] = motion
    late = np.abs(motion.q[motion.times > 3.0, 0] - GOAL).max()
    held = len(np.unique(motion.tau[:, 0]))
    print(f"asked every {1e3 * period:3.0f} ms: within {np.degrees(late):7.3f}° after 3 s; {held} different torques")

final = motions[0.001].tau[-1, 0]
weight = kn.gravity_force(pendulum, [GOAL])[0]
print(f"at the goal the integral holds the weight: {final:.3f} N m of {weight:.3f} N m")
assert np.isclose(final, weight, rtol=0.02)
assert np.ptp(motions[0.1].q[-1000:, 0]) > 0.5  # late by a tenth of a second it swings, and does not come to rest
assert np.ptp(motions[0.02].q[-500:, 0]) < 0.01
