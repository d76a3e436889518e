"""A humanoid leaps, tucks and opens again: it turns faster while it is small, and keeps its angular momentum.

Run it with `python examples/somersault.py`.
"""

import numpy as np

import knuckle as kn
from knuckle.scalar import cos

TUCK = {"hip_pitch": -1.9, "knee": 2.2, "shoulder_pitch": -1.1, "elbow": -1.3}
FLIGHT = 1.1  # s

model = kn.robots.load("humanoid")
q0 = kn.neutral(model)
q0[6] = 1.0  # the pelvis is a metre above the ground
joints = model.nv - 6
tuck = np.zeros(joints)
for i, joint in enumerate(model.joints[1:]):
    for name, angle in TUCK.items():
        tuck[i] = angle if joint.name.endswith(name) else tuck[i]
tuck[[model.joint_names[1:].index(name) for name in ("waist_pitch", "neck_pitch")]] = 0.7, 0.4


@kn.kernel
def tuck_and_open(model, t, q, v, tuck, kp, kd):
    """Springs and dampers at the joints, none at the floating base, towards a posture that comes and goes."""
    part = 0.5 - 0.5 * cos(2.0 * np.pi / FLIGHT * t)
    pulls = [k * (part * goal - x) - d * xd for k, d, goal, x, xd in zip(kp, kd, tuck, q[7:], v[6:], strict=True)]
    return [0.0] * 6 + pulls


H = np.diag(kn.mass_matrix(model, q0))[6:]
kp, kd = 30.0**2 * H, 2.0 * 30.0 * H  # about 5 Hz, critically damped, for the inertia that each joint moves
v0 = np.zeros(model.nv)
v0[1], v0[5] = 4.12, 0.5 * 9.81 * FLIGHT  # turning forward, leaping up
given = {"tuck": tuck, "kp": kp, "kd": kd}
motion = kn.simulate(model, q0, v0, FLIGHT, dt=5e-4, controller=tuck_and_open, parameters=given)

rows = motion[::0.1]
h = kn.centroidal_momentum(model, rows.q, rows.v)
for t, omega, l in zip(rows.times, rows.v[:, 1], h[:, 1], strict=True):
    print(f"{t:5.2f} s   pelvis turns at {omega:5.2f} rad/s   angular momentum {l:.9f} N m s")
h = kn.centroidal_momentum(model, motion.q, motion.v)
assert np.ptp(h[:, :3], axis=0).max() < 1e-6 * np.abs(h[0, 1])

turned = np.trapezoid(motion.v[:, 1], motion.times)
print(f"turned in all: {np.degrees(turned):.0f}°")
com = kn.center_of_mass(model, motion.q)
fall = h[0, 5] / kn.total_mass(model) * motion.times - 0.5 * 9.81 * motion.times**2
print(f"the centre of mass stays on its parabola within {np.abs(com[:, 2] - com[0, 2] - fall).max():.1e} m")
