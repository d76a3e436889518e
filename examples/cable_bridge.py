"""A cable-stayed bridge of a thousand links, and a locomotive that crosses it: implicit steps of a large mechanism.

Run it with `python examples/cable_bridge.py`, or `python examples/cable_bridge.py 300` for a shorter bridge.
"""

import math
import sys
import time

import numpy as np

import knuckle as kn
from knuckle.joints import Planar, Prismatic, Revolute
from knuckle.model import Box, solid_box

N, CABLES, TOWER = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, 60, 10
LINK = solid_box(2500.0, (1.0, 4.0, 0.6), at=(0.5, 0, 0))  # a metre of deck, in kg
BENDING, STIFFNESS = 1e10, 2.5e8  # N m/rad at the joints of the deck, N/m of a cable
LOAD, SPEED, DT = 100e3 * 9.81, 50.0, 0.01  # N, m/s, s


def bridge(links: int, cables: int, engine: bool = False) -> kn.Model:
    """A deck between two banks, which it may slide on at the far one, and two towers from which cables hold it; with a
    locomotive to look at."""
    b = kn.Builder("bridge", base="ground")
    on, height = "ground", links / 5
    for k in range(links):
        on = b.body(f"deck{k}", on=on, joint=Revolute("y"), at=(1.0, 0, 0) if k else None, inertia=LINK,
                    stiffness=BENDING, damping=1e-3 * BENDING, visuals=Box((1.0, 4.0, 0.6)))  # fmt: skip
    b.close_loop("far bank", Planar("z"), "ground", on, at_predecessor=(float(links), 0, 0), at_successor=(1.0, 0, 0))
    part = height / TOWER
    column = solid_box(5e4 * part, (part, 3.0, 3.0), at=(part / 2, 0, 0))
    for side, foot in enumerate((links // 4, 3 * links // 4)):
        top = "ground"
        for k in range(TOWER):
            at = (part, 0, 0) if k else dict(xyz=(foot, 4.0, 0), rpy=(0, -math.pi / 2, 0))
            top = b.body(f"tower{side}.{k}", on=top, joint=Revolute("y"), at=at, inertia=column, stiffness=1e12,
                         damping=1e9, visuals=Box((part, 3.0, 3.0)))  # fmt: skip
        spacing = links / cables
        for k in range(cables // 2):
            x = side * links / 2 + (k + 0.5) * spacing
            length = math.hypot(x - foot, 4.0, height)
            stretch = LINK.mass * spacing * 9.81 / STIFFNESS / height * length  # it carries its part of the deck
            ends = (top, (part, 0, 0)), (f"deck{int(x)}", (x - int(x), 0, 0))
            b.cable(f"cable{side}.{k}", ends, stiffness=STIFFNESS, damping=1e5, rest=length - stretch)
    if engine:
        b.body("locomotive", "ground", Prismatic("x"), (0, 0, 2.3), mass=1e5, visuals=Box((14.0, 3.0, 4.0)))
    return b.build()


def locomotive(model: kn.Model, t: float, q: np.ndarray, v: np.ndarray, start: float) -> np.ndarray:
    """Its weight on the link that it is on, in the axes of that link."""
    wrenches = np.zeros((model.nb, 6))
    x = SPEED * (t + start)
    if 0 <= x < N:
        k = int(x)
        slope = q[: k + 1].sum()
        f = np.array([LOAD * math.sin(slope), 0.0, -LOAD * math.cos(slope)])
        wrenches[k] = [*np.cross((x - k, 0, 0), f), *f]
    return wrenches


begin = time.perf_counter()
model = bridge(N, CABLES)
print(f"{model.nb} bodies and {len(model.elements)} cables: built in {time.perf_counter() - begin:.1f} s")

# How short explicit steps would have to be: a deck of thirty links swings and is damped as fast as a long one.
small = bridge(30, 2).without_loops().without_elements()
H = np.linalg.inv(kn.mass_matrix(small, kn.neutral(small)))
swings, damps = (np.linalg.eigvals(H * [getattr(j, name)[0] for j in small.joints]).real.max()
                 for name in ("stiffness", "damping"))  # fmt: skip
limit = min(2 / math.sqrt(swings), 2 / damps)
print(f"explicit steps are stable up to {1e3 * limit:.4f} ms; {1e3 * DT:g} ms are {DT / limit:.0f} times that")

integrator = kn.integrators.ImplicitEuler("pcg")
options = {"dt": DT, "integrator": integrator, "save_every": 10, "stabilization": 0.1}
motion = kn.simulate(model, None, None, 2.0, **options)  # it finds its rest
q, v, seconds, rows, counts = motion.q[-1], motion.v[-1], math.ceil(N / SPEED) + 2, [motion.q[-1]], []
begin = time.perf_counter()
for k in range(seconds):
    motion = kn.simulate(model, q, v, 1.0, external_forces=locomotive, parameters={"start": float(k)}, **options)
    q, v = motion.q[-1], motion.v[-1]
    rows += [*motion.q[1:]]
    counts.append(float(motion.message.split(" iterations")[0].split()[-1]))
    if k % 5 == 0:
        print(f"{k + 1:3} s, at {min(N, SPEED * (k + 1)):.0f} m: {counts[-1]:.1f} iterations in a step")
took = time.perf_counter() - begin
print(f"{100 * seconds} steps in {took:.1f} s: {10 * took / seconds:.1f} ms each")

# Where the deck is: its links are a metre long and turn about y.
states = np.array(rows)
slopes = np.cumsum(states[:, :N], axis=1)
heights = -np.cumsum(np.sin(slopes), axis=1)
sag = heights - heights[0]
print(f"the deck gives way by {1e3 * -sag.min():.0f} mm at most, and {1e3 * np.abs(sag[-1]).max():.0f} mm are left")
assert max(counts) <= 25
assert 10 * limit < DT
assert np.abs(sag[-1]).max() < 0.5 * -sag.min()

# What kn.viewer.replay_html takes: deflections are made as large as can be seen.
EXAGGERATED, times = 1000, 0.1 * np.arange(len(states))
shown = np.column_stack([EXAGGERATED * (states - states[0]), np.minimum(SPEED * times, N)])
motion = (bridge(N, CABLES, engine=True), times, shown)
