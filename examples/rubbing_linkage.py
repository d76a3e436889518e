"""A four-bar linkage whose pins rub by what they carry: bilateral staggered projections, on and off, and the reactions.

Then with a coupler that bends, so stiffly that explicit steps burst and implicit ones do not.

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
STIFFNESS = 2e5  # N m/rad


def bar(b: kn.Builder, name: str, on: str | None, at: float, length: float, **spring: float) -> str:
    """A steel bar along x, 4 cm high and 1 cm thick."""
    size = (length, 0.01, 0.04)
    shape = Geometry(Box(size), Transform.translation((length / 2, 0, 0)))
    inertia = solid_box(7800.0 * math.prod(size), size, at=(length / 2, 0, 0))
    return b.body(name, on, Revolute("y"), (at, 0, 0), inertia=inertia, visuals=shape, **spring)


def linkage(stiffness: float | None = None) -> kn.Model:
    """The linkage; with a stiffness, in N m/rad, its coupler is two halves that bend at a spring."""
    b = kn.Builder("linkage")
    crank = bar(b, "crank", None, 0.0, CRANK)
    half = COUPLER if stiffness is None else COUPLER / 2
    coupler = bar(b, "coupler", crank, CRANK, half)
    if stiffness is not None:
        coupler = bar(b, "coupler2", coupler, half, half, stiffness=stiffness, damping=1e-3 * stiffness)
    rocker = bar(b, "rocker", coupler, half, ROCKER)
    pin = {"at_predecessor": (GROUND, 0, 0), "at_successor": (ROCKER, 0, 0)}
    b.close_loop("last pin", Revolute("y"), "base", rocker, **pin)
    return b.build()


model = linkage()

# The crank stands upright; a triangle gives the other angles. Then it gets a push.
top = np.array([0.0, CRANK])
far = math.dist((GROUND, 0.0), top)
inner = math.acos((COUPLER**2 + far**2 - ROCKER**2) / (2 * COUPLER * far))
slope = math.atan2(-top[1], GROUND) + inner
q = kn.loops.close(model, [-math.pi / 2, math.pi / 2 - slope, math.pi - inner]).q
v = kn.loops.project(model, q, np.array([-4.0, 0.0, 0.0]))[1]


def turned(
    model: kn.Model, q: np.ndarray, v: np.ndarray, friction: float, implicit: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Positions, velocities and friction in the pins, and the most rounds that a step took."""
    bearings = [JointBearing(f"{name}_joint", friction, RADIUS, 0.05) for name in ("crank", "coupler", "rocker")]
    states, step, rounds = [(q, v, np.zeros(model.nv))], None, 0
    for _ in range(STEPS):
        place, speed, _ = states[-1]
        step = bilateral_staggered_projections(model, bearings, place, speed, dt=DT, start=step, implicit=implicit)
        if np.abs(step.v).max() > 60:  # it has burst
            break
        assert step.is_converged
        rounds = max(rounds, step.rounds)
        closed = kn.loops.project(model, kn.integrate(model, place, DT * step.v), step.v)
        states.append((*closed, step.joint_friction / DT))
    places, speeds, torques = (np.array(rows) for rows in zip(*states, strict=True))
    return places, speeds, torques, rounds


times = DT * np.arange(STEPS + 1)
runs = {"no friction": turned(model, q, v, 0.0), "μ = 0.5": turned(model, q, v, FRICTION)}
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

# A coupler that bends at a stiff spring: it shakes faster than explicit steps of this length can follow.
elastic = linkage(STIFFNESS)
bent, pushed = np.insert(q, 2, 0.0), np.insert(v, 2, 0.0)
moving = kn.loops.project(elastic, bent, pushed)[1]
null = np.linalg.svd(kn.loops.jacobian(elastic, bent))[2][-2:].T  # the two ways in which it can move
H, K = (null.T @ x @ null for x in (kn.mass_matrix(elastic.without_loops(), bent), np.diag([0, 0, STIFFNESS, 0])))
rate = math.sqrt(np.linalg.eigvals(np.linalg.solve(H, K)).real.max())
print(
    f"a coupler of {STIFFNESS:.0e} N m/rad shakes with {rate:.0f} rad/s; explicit steps may be {2e3 / rate:.2f} ms long"
)
burst = turned(elastic, bent, moving, FRICTION)[1]
calm = turned(elastic, bent, moving, FRICTION, implicit=True)
apart = np.abs(calm[1][:, 0] - speeds[:, 0]).max()
print(f"explicit steps of {1e3 * DT:g} ms burst after {len(burst)} of them; implicit ones take {STEPS}")
print(f"and go as the rigid linkage does, to {apart:.2f} rad/s")
assert len(burst) < STEPS
assert len(calm[1]) == STEPS + 1
assert np.abs(calm[1][-1]).max() < 1e-6

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
    middle.plot(times, -calm[1][:, 0], "--", label="μ = 0.5, elastic, implicit")
    middle.plot(times[: len(burst)], -burst[:, 0], ":", label="μ = 0.5, elastic, explicit")
    middle.set(xlabel="time (s)", title="speed of the crank (rad/s)", ylim=(-7, 14))
    middle.legend(frameon=False, fontsize=8)
    for name, load in zip(("crank", "coupler", "rocker", "last pin"), carried.T, strict=True):
        right.plot(times[::10], load, label=name)
    right.set(xlabel="time (s)", title="what pins carry, with friction (N)")
    right.legend(frameon=False, fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
