"""A four-bar linkage whose pins rub by what they carry: bilateral staggered projections, on and off, and the reactions.

Run it with `python examples/rubbing_linkage.py`; `python examples/rubbing_linkage.py linkage.png` draws it.
"""

import math
import sys

import numpy as np

import knuckle as kn
from knuckle.contact import JointBearing, bilateral_staggered_projections
from knuckle.joints import Revolute
from knuckle.model import Box, Geometry, solid_box
from knuckle.spatial import Transform

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.7, 0.6, 0.5  # m
RADIUS, FRICTION, DT, STEPS = 0.04, 0.5, 4e-3, 300


def bar(b: kn.Builder, name: str, on: str | None, at: float, length: float) -> str:
    """A steel bar along x, 4 cm high and 1 cm thick."""
    size = (length, 0.01, 0.04)
    shape = Geometry(Box(size), Transform.translation((length / 2, 0, 0)))
    inertia = solid_box(7800.0 * math.prod(size), size, at=(length / 2, 0, 0))
    return b.body(name, on, Revolute("y"), (at, 0, 0), inertia=inertia, visuals=shape)


b = kn.Builder("linkage")
crank = bar(b, "crank", None, 0.0, CRANK)
coupler = bar(b, "coupler", crank, CRANK, COUPLER)
rocker = bar(b, "rocker", coupler, COUPLER, ROCKER)
pin = {"at_predecessor": (GROUND, 0, 0), "at_successor": (ROCKER, 0, 0)}
b.close_loop("last pin", Revolute("y"), "base", rocker, **pin)
model = b.build()

# The crank stands upright; a triangle gives the other angles. Then it gets a push.
top = np.array([0.0, CRANK])
far = math.dist((GROUND, 0.0), top)
inner = math.acos((COUPLER**2 + far**2 - ROCKER**2) / (2 * COUPLER * far))
slope = math.atan2(-top[1], GROUND) + inner
q = kn.loops.close(model, [-math.pi / 2, math.pi / 2 - slope, math.pi - inner]).q
v = kn.loops.project(model, q, np.array([-4.0, 0.0, 0.0]))[1]


def turned(friction: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Positions, velocities and friction in the pins, and the most rounds that a step took."""
    bearings = [JointBearing(name, friction, RADIUS, 0.05) for name in model.joint_names]
    states, step, rounds = [(q, v, np.zeros(3))], None, 0
    for _ in range(STEPS):
        place, speed, _ = states[-1]
        step = bilateral_staggered_projections(model, bearings, place, speed, dt=DT, start=step)
        assert step.is_converged
        rounds = max(rounds, step.rounds)
        closed = kn.loops.project(model, kn.integrate(model, place, DT * step.v), step.v)
        states.append((*closed, step.joint_friction / DT))
    places, speeds, torques = (np.array(rows) for rows in zip(*states, strict=True))
    return places, speeds, torques, rounds


times = DT * np.arange(STEPS + 1)
runs = {"no friction": turned(0.0), "μ = 0.5": turned(FRICTION)}
energies = {}
for name, (places, speeds, _, rounds) in runs.items():
    energy = kn.kinetic_energy(model, places, speeds) + kn.potential_energy(model, places)
    energies[name] = energy
    print(f"{name:12s} energy from {energy[0]:.2f} to {energy[-1]:.2f} J; a step takes {rounds} rounds at most")
places, speeds, torques, _ = runs["μ = 0.5"]
at_rest = np.abs(speeds).max(axis=1) < 1e-9
stops = times[np.argmax(at_rest)]
print(f"with friction it comes to rest after {stops:.2f} s, and stays")
assert at_rest[-1]
assert at_rest[np.argmax(at_rest) :].all()
assert not (np.abs(runs["no friction"][1]).max(axis=1) < 1e-9).any()

# What the pins carry: in maximal coordinates every pin is a loop joint, whose wrench is known.
free = kn.maximal(model)
pins = []
for place, speed, torque in zip(places[::10], speeds[::10], torques[::10], strict=True):
    Q, V = kn.maximal_state(model, place, speed)
    pins.append(kn.loops.wrenches(free, Q, V, kn.maximal_forces(model, place, torque))[:, 3:])
carried = np.linalg.norm(np.array(pins), axis=-1)
print("largest loads of the pins:", ", ".join(f"{x:.0f} N" for x in carried.max(axis=0)))
motion = (model, times, places)  # what kn.viewer.play and kn.viewer.replay_html take

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    ratios = {"width_ratios": (1.2, 1, 1)}
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", **ratios)
    for k, color in zip((0, 5, 17), plt.get_cmap("viridis")(np.linspace(0.1, 0.8, 3)), strict=True):
        poses = [kn.pose(model, places[10 * k], body)[:3] for body in model.body_names]
        points = np.array([*(pose[:, 3] for pose in poses), (GROUND, 0, 0)])[:, ::2]
        left.plot(*points.T, "o-", color=color, lw=3, ms=6, label=f"{times[10 * k]:.2f} s")
        for loop, f in zip(free.loops, pins[k], strict=True):
            Q, _ = kn.maximal_state(model, places[10 * k], speeds[10 * k])
            pose = kn.pose(free, Q, free.body_names[loop.successor])
            at, push = (pose @ [*loop.X_successor.r, 1])[:3:2], (pose[:3, :3] @ f)[::2]
            left.annotate("", at + 1.5e-3 * push, at, arrowprops={"arrowstyle": "->", "color": color, "lw": 1.5})
    left.set_aspect("equal")
    left.set(title="what pins push with, 15 cm for 100 N")
    left.legend(frameon=False, fontsize=8)
    for name, (_, moving, _, _) in runs.items():
        middle.plot(times, -moving[:, 0], label=name)
    middle.set(xlabel="time (s)", title="speed of the crank (rad/s)")
    middle.legend(frameon=False, fontsize=8)
    for name, load in zip(("crank", "coupler", "rocker", "last pin"), carried.T, strict=True):
        right.plot(times[::10], load, label=name)
    right.set(xlabel="time (s)", title="what pins carry, with friction (N)")
    right.legend(frameon=False, fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
