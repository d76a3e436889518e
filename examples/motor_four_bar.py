"""A motor drives a four-bar: a speed controller with a limit of torque turns the crank, the coupler draws its curve.

Run it with `python examples/motor_four_bar.py`.
"""

import numpy as np

import knuckle as kn

linkage = kn.robots.load("four_bar")
SPEED, STRONGEST = 2 * np.pi, 4.0  # rad/s: one turn a second; N m
motor = kn.actuators.velocity_servo("motor", "crank_pivot", kv=2.0, force_range=(-STRONGEST, STRONGEST))
model = linkage.replace(actuators=(motor,))
degrees = kn.loops.degrees_of_freedom(model, kn.neutral(model))
print(degrees)

motion = kn.simulate(model, None, None, 6.0, controls=[SPEED], frames=["coupler_point"])
crank, torque = motion.v[:, 0], motion.tau[:, 0]
curve = motion.frames["coupler_point"][:, :3, 3]
steady = motion.times > 4.0
spread = np.ptp(crank[steady]) / 2
print(f"after 4 s the crank turns with {crank[steady].mean():.2f} ± {spread:.2f} rad/s; {SPEED:.2f} was asked for")
print(f"the motor gives {torque[steady].min():+.2f} to {torque[steady].max():+.2f} N m, {STRONGEST} at most")
print(f"the loop is open by {np.abs(kn.loops.gap(model, motion.q)).max():.0e} m at most")

# the motor's work is what the linkage has more of energy, and what its bearings took
work = np.trapezoid(torque * crank, motion.times)
lost = np.trapezoid((motion.v * kn.joint_passive_force(model, motion.q, motion.v)).sum(axis=-1), motion.times)
gained = motion.energy[-1] - motion.energy[0]
print(f"the motor did {work:.3f} J: {gained:.3f} J are in the linkage, {lost:.3f} J are lost in the bearings")
assert np.isclose(work, gained + lost, atol=1e-3)
assert np.abs(torque).max() <= STRONGEST + 1e-9
assert np.abs(crank[steady].mean() - SPEED) < 0.5
