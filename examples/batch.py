"""Inverse and forward dynamics of a thousand states of an arm in one call each, timed.

Run it with `python examples/batch.py`.
"""

import time

import numpy as np

import knuckle as kn

N = 1000
model = kn.robots.load("arm")
rng = np.random.default_rng(0)
q = np.stack([kn.random_configuration(model, rng) for _ in range(N)])
v, a = rng.standard_normal((2, N, model.nv))

start = time.perf_counter()
tau = kn.inverse_dynamics(model, q, v, a)
print(f"inverse dynamics: {N} states, {(time.perf_counter() - start) / N * 1e6:.1f} µs each")

start = time.perf_counter()
back = kn.forward_dynamics(model, q, v, tau)
print(f"forward dynamics: {N} states, {(time.perf_counter() - start) / N * 1e6:.1f} µs each")

error = np.max(np.abs(back - a))
print(f"forward after inverse gives the acceleration back to {error:.1e}")
assert error < 1e-9

heaviest = np.argmax(np.abs(kn.gravity_force(model, q)).max(axis=-1))
print("the posture that is hardest to hold:", np.round(q[heaviest], 2))
