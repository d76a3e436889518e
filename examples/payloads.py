"""One controller, a thousand payloads that it does not know: how far does the hand end from where it should be?

Run it with `python examples/payloads.py`.
"""

import numpy as np

import knuckle as kn
from knuckle.model.edit import attach
from knuckle.spatial import Inertia

N = 1000
arm = kn.robots.load("arm")
goal = np.array([0.4, 0.7, 0.0, 1.0, 0.0, 0.6, 0.0])


def with_payload(model, mass, height):
    """The arm with a point mass before its flange. The numbers are arguments of the compiled code, not parts of it."""
    return attach(model, "flange", Inertia.of(mass[0], (0.0, 0.0, height[0]), ((0.0, 0.0, 0.0),) * 3))


@kn.kernel
def hold(model, q, v, q_ref, kp, kd):
    """Weight of the bare arm, and a spring and damper at every joint."""
    return kn.gravity_force(model, q) + kp * (q_ref - q) - kd * v


H = np.diag(kn.mass_matrix(arm, goal))
rng = np.random.default_rng(0)
payload = {"mass": rng.uniform(0.0, 3.0, (N, 1)), "height": rng.uniform(0.05, 0.25, (N, 1))}
gains = {"q_ref": goal, "kp": 400.0 * (H + 0.05), "kd": 40.0 * (H + 0.05)}
found = kn.rollout(
    arm, kn.neutral(arm), np.zeros(7), None, 1e-3, steps=3000, save_every=50, integrator="implicit",
    controller=hold, model_fn=with_payload, parameters={**payload, **gains},
)  # fmt: skip

hand = kn.pose(arm, found.q, "tool0")[..., :3, 3]  # (N, kept, 3)
sag = hand[:, -1, 2] - kn.pose(arm, goal, "tool0")[2, 3]
mass = payload["mass"][:, 0]
for low in (0.0, 1.0, 2.0):
    these = -1e3 * sag[(mass >= low) & (mass < low + 1)]
    print(f"{low:.0f} to {low + 1:.0f} kg: the hand sags by {np.median(these):5.1f} mm, at worst {these.max():5.1f} mm")
print("correlation of sag and mass:", np.round(np.corrcoef(sag, mass)[0, 1], 3))
assert np.corrcoef(sag, mass)[0, 1] < -0.9
