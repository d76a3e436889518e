"""Six muscles reach: a thousand sequences of excitations are tried at once, the best are mixed and tried again.

The arm of `muscle_arm.xml` has muscles that go over its shoulder and its elbow. They only pull, follow what they are
told with a delay, and pull less as they shorten. A rollout computes a thousand motions of them; after some rounds (the
cross-entropy method) the hand reaches two goals in turn and stays there. Run it with `python examples/muscle_arm.py`.
"""

from pathlib import Path

import numpy as np

import knuckle as kn
from knuckle.scalar import maximum, minimum

FILE = Path(__file__).parent / "muscle_arm.xml"
GOALS = np.array([[0.42, 0.12], [0.2, -0.28]])  # x and z of the hand, in metres
COUNT, BEST, ROUNDS, KNOTS, DT, STEPS = 1000, 40, 18, 11, 4e-3, 400

arm = kn.load(FILE)
low, high = (np.array([getattr(joint.limits, side)[0] for joint in arm.joints]) for side in ("lower", "upper"))


@kn.kernel
def stops(model, q, v, low, high):
    """Where a joint is beyond its range, ligaments push it back."""
    beyond = [minimum(x - a, 0.0) + maximum(x - b, 0.0) for x, a, b in zip(q, low, high, strict=True)]
    return [-150.0 * x - 0.15 * u for x, u in zip(beyond, v, strict=True)]


def over_time(knots):
    """Excitations (..., STEPS, 6): straight from knot to knot (..., KNOTS, 6)."""
    at = np.linspace(0, KNOTS - 1, STEPS)
    k = np.minimum(at.astype(int), KNOTS - 2)
    s = (at - k)[:, None]
    return (1 - s) * knots[..., k, :] + s * knots[..., k + 1, :]


ranges = {"low": low, "high": high}
q0, rng = np.array([-1.4, 0.4]), np.random.default_rng(1)
mean, spread = np.full((KNOTS, 6), 0.15), np.full((KNOTS, 6), 0.25)
for n in range(ROUNDS):
    knots = np.clip(rng.normal(mean, spread, (COUNT, KNOTS, 6)), 0.0, 1.0)
    tried = kn.rollout(
        arm, q0, None, None, DT, steps=STEPS, save_every=10,
        excitations=over_time(knots), controller=stops, parameters=ranges,
    )  # fmt: skip
    hand = kn.pose(arm, tried.q, "hand")[..., [0, 2], 3]
    off = [
        np.linalg.norm(hand[:, part] - goal, axis=-1)
        for part, goal in zip((slice(13, 22), slice(32, 41)), GOALS, strict=True)
    ]
    cost = sum(x.mean(axis=1) for x in off) + 0.003 * (knots**2).sum(axis=(1, 2)) / KNOTS
    best = np.argsort(cost)[:BEST]
    mean, spread = knots[best].mean(axis=0), 0.3 * spread + 0.7 * knots[best].std(axis=0)
    if n in (0, ROUNDS - 1):
        print(f"round {n + 1}: the best of {COUNT} is off by {1e3 * np.mean([x[best[0]].mean() for x in off]):.0f} mm")

motion = kn.rollout(
    arm, q0, None, None, DT, steps=STEPS, save_every=2,
    excitations=over_time(knots[best[0]]), controller=stops, parameters=ranges,
)[()]  # fmt: skip
reached = kn.pose(arm, motion.q, "hand")[:, [0, 2], 3]
for t, goal in zip((0.8, 1.6), GOALS, strict=True):
    print(f"at {t:.1f} s the hand is {1e3 * np.linalg.norm(reached[round(t / (2 * DT))] - goal):.0f} mm from its goal")
names = [line.name for line in arm.elements]
print("the hardest worker is the", names[motion.activations.mean(axis=0).argmax()])
assert np.linalg.norm(reached[-1] - GOALS[1]) < 0.05
