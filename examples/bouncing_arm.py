"""An arm falls onto the stops of its joints, bounces, and comes to rest: impacts, energy, a plot and a file.

Run it with `python examples/bouncing_arm.py`.
"""

import numpy as np

import knuckle as kn

model = kn.robots.load("arm").without_friction()
q0 = np.array([0.2, 1.2, 0.3, 1.0, 0.2, 0.5, 0.0])
motion = kn.simulate(model, q0, None, 1.5, joint_limits=kn.simulation.RigidStops(restitution=0.3), frames=["tool0"])
print(motion)

for o in motion.events[:6]:
    place = model.joint_index(o.name)
    before, after = o.v_before[place], o.v[place]
    print(f"  {o.time:8.4f} s  {o.kind:<7} {o.name:<15} {before:+8.3f} → {after:+8.3f} rad/s")

impacts = {o.time: o for o in motion.events if o.kind == "impact"}  # several joints may be hit at one time
before, after = (sum(kn.kinetic_energy(model, o.q, getattr(o, v)) for o in impacts.values()) for v in ("v_before", "v"))
print(f"energy lost in all: {motion.energy[0] - motion.energy[-1]:.6f} J; in impacts: {before - after:.6f} J")

motion.save("bouncing_arm.npz")
print("lowest point of the tool:", np.round(motion.frame("tool0")[:, 2, 3].min(), 3), "m; saved to bouncing_arm.npz")
