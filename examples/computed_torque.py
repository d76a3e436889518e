"""An arm follows a fast path: springs and dampers alone, with the weight, and through the whole of its dynamics.

Run it with `python examples/computed_torque.py`.
"""

import numpy as np

import knuckle as kn
from knuckle.scalar import cos, sin

arm = kn.robots.load("arm").without_friction()
MIDDLE = np.array([0.0, 0.6, 0.0, 1.2, 0.0, -0.4, 0.0])
SWING = np.array([0.8, 0.3, 0.4, 0.5, 0.6, 0.4, 0.5])
RATE = np.pi * np.array([0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 1.0])  # rad/s
FREQUENCY, DURATION = 12.0, 4.0  # how fast errors should go, 1/s; s


def path(t):
    """Where the joints should be, how fast, and how fast that changes."""
    s, c = [sin(w * t) for w in RATE], [cos(w * t) for w in RATE]
    q = np.array([m + a * x for m, a, x in zip(MIDDLE, SWING, s, strict=True)])
    v = np.array([a * w * x for a, w, x in zip(SWING, RATE, c, strict=True)])
    a = np.array([-a * w * w * x for a, w, x in zip(SWING, RATE, s, strict=True)])
    return q, v, a


@kn.kernel
def springs(model, t, q, v, kp, kd):
    """A spring and a damper at each joint."""
    goal, speed, _ = path(t)
    return kp * (goal - q) + kd * (speed - v)


@kn.kernel
def springs_and_weight(model, t, q, v, kp, kd):
    """The same, and what holds the weight."""
    return kn.gravity_force(model, q) + springs(model, t, q, v, kp, kd)


@kn.kernel
def computed_torque(model, t, q, v):
    """τ = ID(q, v, q̈), with q̈ of the path and of errors that go like those of a critically damped spring."""
    goal, speed, a = path(t)
    return kn.inverse_dynamics(model, q, v, a + FREQUENCY**2 * (goal - q) + 2 * FREQUENCY * (speed - v))


inertia = np.diag(kn.mass_matrix(arm, MIDDLE))
gains = {"kp": FREQUENCY**2 * inertia, "kd": 2 * FREQUENCY * inertia}  # as stiff as the third law is on the average
start = path(0.0)
motions, errors = {}, {}
for name, law, parameters in (
    ("springs and dampers", springs, gains),
    ("and the weight", springs_and_weight, gains),
    ("computed torque", computed_torque, {}),
):
    motion = kn.simulate(arm, MIDDLE + 0.05, start[1], DURATION, controller=law, parameters=parameters)
    wanted = np.array([path(t)[0] for t in motion.times])
    motions[name], errors[name] = motion, np.degrees(np.linalg.norm(motion.q - wanted, axis=1))
    late = errors[name][motion.times > 1.0]
    print(f"{name:20}: {late.max():8.4f}° off at most after the first second")

assert errors["computed torque"][motion.times > 2.0].max() < 1e-4
assert all(errors[name][motion.times > 2.0].max() > 1.0 for name in ("springs and dampers", "and the weight"))
