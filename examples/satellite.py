"""A satellite points its dish; its wheels turn the bus back, which that has turned. No momentum comes or goes.

Run it with `python examples/satellite.py`.
"""

import numpy as np

import knuckle as kn

model = kn.robots.load("satellite")
first = {name: model.v_slices[i].start for i, name in enumerate(model.joint_names)}
dish = first["dish_azimuth"], first["dish_elevation"]
wheels = [first[f"wheel_{axis}_drive"] for axis in "xyz"]
azimuth, elevation = 2.2, 1.1
direction = [np.sin(elevation) * np.cos(azimuth), np.sin(elevation) * np.sin(azimuth), np.cos(elevation)]


@kn.kernel
def point(model, q, v, goals, stiffness, damping):
    """PD at the gimbal. At the wheels a PD of the bus: a wheel that is pushed one way pushes the bus the other way."""
    tau = [0.0] * model.nv
    for k, goal in zip(dish, goals, strict=True):
        tau[k] = 1.6 * (goal - q[k + 1]) - 1.6 * v[k]  # q has one variable more than v before it: the quaternion
    for axis, k in enumerate(wheels):
        tau[k] = stiffness * 2.0 * q[0] * q[1 + axis] + damping * v[axis]
    return tau


for name, stiffness, damping in (("wheels idle", 0.0, 0.0), ("wheels at work", 3.0, 20.0)):
    given = {"goals": [azimuth, elevation], "stiffness": stiffness, "damping": damping}
    motion = kn.simulate(model, None, None, 40.0, dt=5e-3, controller=point, parameters=given, frames=["beam"])
    bus = np.degrees(2 * np.arccos(np.abs(motion.q[:, 0]).clip(0, 1)))
    miss = np.degrees(np.arccos((motion.frames["beam"][:, :3, 2] @ direction).clip(-1, 1)))
    h = np.abs(kn.momentum(model, motion.q, motion.v)).max()
    print(
        f"{name + ':':16} the bus turned by up to {bus.max():.2f}°, the beam is {miss[-1]:.4f}° off, momentum {h:.0e}"
    )
    assert h < 1e-6
assert miss[-1] < 0.01
print("fastest wheel:", f"{np.abs(motion.v[:, wheels]).max():.1f} rad/s")
