"""A small neural network learns to swing a pendulum up and hold it: torch trains it through the simulator.

The drive is too weak to lift the pendulum at once. Loss and gradient of 64 swings are one call of native code; torch
sees a loss with a gradient by the weights, and its optimiser does the rest.

Run it with `python examples/policy_torch.py` (needs torch).
"""

import numpy as np

import knuckle as kn
from knuckle.scalar import cos, sin, tanh

try:
    import torch
except ImportError:
    torch = None

HIDDEN, STRONGEST, DT, STEPS = 16, 0.5, 0.02, 150
pendulum = kn.robots.load("pendulum")
WEIGHT = np.abs(kn.gravity_force(pendulum, [[np.pi / 2]])).max()  # N m, where it is horizontal
ROWS = 4  # what the network sees: cosine, sine, speed, one


def outputs(weights, q, v):
    """The network: two layers, the weights in a row. The same text for numbers and for symbols."""
    seen = (cos(q), sin(q), 0.2 * v, 1.0)
    hidden = [tanh(sum(weights[ROWS * k + i] * x for i, x in enumerate(seen))) for k in range(HIDDEN)]
    return tanh(sum(weights[ROWS * HIDDEN + k] * x for k, x in enumerate(hidden)))


@kn.kernel
def policy(model, q, v, weights):
    return [STRONGEST * WEIGHT * outputs(weights, q[0], v[0])]


@kn.kernel
def cost(model, q, v, upright):
    """How far it is from standing still, upright."""
    height = kn.potential_energy(model, q)
    return DT * ((upright - height) / WEIGHT + 0.002 * v[0] * v[0])


angles = np.linspace(-np.pi, np.pi, 721)
top = angles[kn.potential_energy(pendulum, angles[:, None]).argmax()]
upright = float(kn.potential_energy(pendulum, [top]))
setting = {"dt": DT, "steps": STEPS, "integrator": "euler", "controller": policy}


def train(count=300):
    """The weights after some steps of Adam, and the losses on the way."""
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    weights = (0.7 * torch.randn(HIDDEN * (ROWS + 1), dtype=torch.float64)).requires_grad_()
    optimizer, losses = torch.optim.Adam([weights], lr=0.03), []
    for _ in range(count):
        q0 = torch.tensor(top + np.pi + rng.uniform(-np.pi, np.pi, (64, 1)))
        v0 = torch.tensor(rng.uniform(-1.0, 1.0, (64, 1)))
        loss = kn.simulation.rollout_loss(
            pendulum, cost, q0, v0, **setting, parameters={"weights": weights, "upright": upright}
        ).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([weights], 1.0)
        optimizer.step()
        losses.append(loss.item())
    return weights.detach().numpy(), losses


if torch is None:
    print("this example needs torch, which is not installed: pip install torch")
else:
    weights, losses = train()
    hanging = np.array([top + np.pi + 0.01])
    motion = kn.simulate(pendulum, hanging, None, 6.0, controller=policy, parameters={"weights": weights})
    off = np.degrees(np.abs((motion.q[-1, 0] - top + np.pi) % (2 * np.pi) - np.pi))
    print(f"the loss fell from {losses[0]:.2f} to {np.mean(losses[-20:]):.2f} in {len(losses)} steps of Adam")
    print(f"with {STRONGEST:.0%} of the torque that lifts it, it stands after 6 s: {off:.1f}° from upright")
    assert off < 10
