"""Twenty-two thousand double pendulums: how soon does the lower rod go over, and how fast do neighbours part?

Run it with `python examples/chaos.py`; `python examples/chaos.py 400` for a finer picture.
"""

import sys
import time

import numpy as np

import knuckle as kn

N = int(sys.argv[1]) if len(sys.argv) > 1 else 150
model = kn.robots.load("double_pendulum")

# Let go at rest from every pair of angles.
angles = np.linspace(-np.pi, np.pi, N)
q0 = np.stack(np.meshgrid(angles, angles, indexing="ij"), axis=-1)  # (N, N, 2): a batch of two axes
steps, dt = 1000, 0.01
begin = time.perf_counter()
found = kn.rollout(model, q0, np.zeros(2), None, dt, steps=steps, save_every=10, integrator="rk4")
took = time.perf_counter() - begin
print(f"{N * N} trajectories of {steps} steps: {took:.2f} s, the first call's compilation included")

over = np.abs(found.q[..., 1]) > np.pi  # (N, N, 101): the lower rod has gone over its pivot
first = np.where(over.any(axis=-1), found.times[over.argmax(axis=-1)], np.inf)
half = np.median(first[np.isfinite(first)])
print(
    f"{np.isinf(first).mean():.0%} never go over within {steps * dt:.0f} s; half of the others do before {half:.1f} s"
)

# Two that start a millionth of a degree apart
pair = np.array([2.0, 1.0]) + np.array([[0.0, 0.0], [np.radians(1e-6), 0.0]])
near = kn.rollout(model, pair, np.zeros(2), None, 1e-3, steps=30_000, save_every=100, integrator="rk4")
gap = np.linalg.norm(near.q[1] - near.q[0], axis=-1)
growing = (gap > 1e-8) & (gap < 0.1)
rate = np.polyfit(near.times[growing], np.log(gap[growing]), 1)[0]
apart = near.times[(gap > 1).argmax()]
print(f"neighbours part by a factor e every {1 / rate:.2f} s; after {apart:.0f} s they have nothing in common")
assert np.isinf(first[N // 2, N // 2]), "a pendulum that hangs nearly still does not go over"
assert rate > 0.3
