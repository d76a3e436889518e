"""Four thousand cart-poles, each with a load, a wind and sensors of its own: how often do they stand?

Run it with `python examples/monte_carlo.py`.
"""

import numpy as np

import knuckle as kn
from knuckle.model.edit import attach
from knuckle.spatial import Inertia

N = 4000
STRONGEST = 15.0  # N, of the cart's motor
cart_pole = kn.robots.load("cart_pole")
rng = np.random.default_rng(0)
varied = {
    "mass": rng.uniform(0.0, 1.5, (N, 1)),  # kg at the end of the pole, which the controller does not know of
    "height": rng.uniform(0.2, 0.6, (N, 1)),  # m
    "push": rng.normal(0.0, 4.0, (N, 1)),  # N, a wind that never ends
    "noise": rng.normal(0.0, 0.02, (N, 2)),  # what the sensors are off by, m and rad
}
q0 = rng.normal(0.0, 0.2, (N, 2))


def loaded(model, mass, height):
    """The cart-pole with a weight on its pole; mass and height are arguments of the compiled code."""
    return attach(model, "pole", Inertia.of(mass[0], (0.0, 0.0, height[0]), ((0.0, 0.0, 0.0),) * 3))


@kn.kernel
def balance(model, q, v, gain, push, noise):
    """A linear law that sees positions with an error, and the wind."""
    seen = q + noise
    x = np.concatenate([seen, v])
    return np.array([np.clip(np.dot(gain, x), -STRONGEST, STRONGEST) + push[0], 0.0])


gain = np.array([3.2, 60.0, 6.5, 13.5])
rolled = kn.rollout(
    cart_pole, q0, None, None, 2e-3, steps=2500, save_every=25, controller=balance, model_fn=loaded,
    parameters={**varied, "gain": gain},
)  # fmt: skip

angle = np.abs(rolled.q[..., 1])
stood = np.isfinite(angle).all(axis=1) & (angle < 1.0).all(axis=1)
mass, height, push = (varied[name][:, 0] for name in ("mass", "height", "push"))
print(f"{100 * stood.mean():.1f} % of {N} stand after five seconds")
share = stood.mean()
error = 1.96 * np.sqrt(share * (1 - share) / N)
print(
    f"of all such cart-poles it is {100 * (share - error):.1f} to {100 * (share + error):.1f} %, with 95 % confidence"
)
for name, x in (("mass", mass), ("height", height), ("|push|", np.abs(push)), ("|start|", np.abs(q0[:, 1]))):
    print(f"{name:8} is {x[~stood].mean():5.2f} on the average where it fell, {x[stood].mean():5.2f} where it stood")
assert 0.3 < share < 0.98
