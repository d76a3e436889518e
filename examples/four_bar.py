"""A four-bar linkage, pulled by its weight and driven at its crank: the loop stays closed.

Run it with `python examples/four_bar.py`.
"""

import numpy as np

import knuckle as kn

model = kn.robots.load("four_bar")
print(kn.loops.degrees_of_freedom(model, kn.neutral(model)))

# A crank speed leaves no choice for the others: v = G ẏ.
choice = kn.loops.independent_variables(model, kn.neutral(model), joints=["crank_pivot"])
v0 = kn.loops.null_space(model, kn.neutral(model), choice=choice) @ [12.0]
tau = np.array([0.03, 0.0, 0.0])  # N m at the crank
motion = kn.simulate(model, None, v0, 3.0, controller=tau, frames=["coupler_point"])

turns = motion.q[-1, 0] / (2 * np.pi)
print(
    f"the crank made {turns:.1f} turns; the loop is open by at most {np.abs(kn.loops.gap(model, motion.q)).max():.1e}"
)
work = motion.q[-1] @ tau - motion.q[0] @ tau
lost = np.trapezoid((motion.v * kn.joint_passive_force(model, motion.q, motion.v)).sum(axis=-1), motion.times)
balance = motion.energy[-1] - motion.energy[0] - work + lost
print(
    f"energy: {work:.4f} J from the drive, {lost:.4f} J lost in bearings; the balance is right to {abs(balance):.0e} J"
)
assert abs(balance) < 1e-4

# What the pin that closes the loop has to bear
force = kn.loops.forces(model, motion.q, motion.v, tau)
print(f"largest constraint force: {np.linalg.norm(force, axis=-1).max():.1f} N, {force.shape[-1]} constraints")
curve = motion.frames["coupler_point"][:, :3, 3]
print("the coupler point goes from", np.round(curve.min(axis=0), 3), "to", np.round(curve.max(axis=0), 3))
