"""A cart-pole learns to balance: 256 environments in one call, and a policy that the best of them teach.

Run it with `python examples/cart_pole_learning.py`; it needs the extra `gym`.
"""

import numpy as np

import knuckle as kn

N, GENERATIONS, BEST = 256, 12, 32
cart_pole = kn.robots.load("cart_pole")
motor = kn.actuators.motor("push", "slide", gear=40.0, control_range=(-1.0, 1.0))  # 40 N at most
model = cart_pole.replace(actuators=(motor,))


@kn.kernel
def observation(model, q, v):
    return np.concatenate([q, v])


@kn.kernel
def reward(model, q, u):
    return 1.0 - q[0] ** 2 - 0.01 * u[0] ** 2  # upright, in the middle of the rail, with little effort


@kn.kernel
def fallen(model, q):
    return (abs(q[1]) > 0.5) | (abs(q[0]) > 1.0)


def start(rng, count):
    return rng.uniform(-0.2, 0.2, (count, 2)), rng.uniform(-0.2, 0.2, (count, 2))


task = kn.environments.Task(model, observation, reward, fallen, dt=5e-3, substeps=4, episode=250, start=start)
envs = task.vector_environment(N)


def returns(gains):
    """What each environment gains in its first episode with a policy u = K x of its own."""
    seen, _ = envs.reset(seed=0)
    total, alive = np.zeros(N), np.ones(N, bool)
    for _ in range(task.episode):
        seen, gained, ended, cut, _ = envs.step(np.sum(gains * seen, axis=1, keepdims=True))
        total += alive * gained
        alive &= ~(ended | cut)
    return total


rng = np.random.default_rng(0)
mean, spread, history = np.zeros(4), np.full(4, 3.0), []
for generation in range(GENERATIONS):
    gains = mean + spread * rng.standard_normal((N, 4))
    total = returns(gains)
    best = gains[np.argsort(total)[-BEST:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
    history.append(np.percentile(total, [10, 50, 90]))
    print(f"generation {generation + 1:2}: {history[-1][1]:6.1f} in the middle of {N} environments")

env = task.environment()  # one of them, to watch
seen, _ = env.reset(seed=7)
rows = [seen]
for _ in range(task.episode):
    seen, _, ended, cut, _ = env.step(np.array([mean @ seen]))
    rows.append(seen)
    if ended or cut:
        break
rows = np.array(rows)
print(f"the policy that was learned balances for {len(rows) - 1} of {task.episode} actions")
assert len(rows) == task.episode + 1
assert history[-1][1] > 0.9 * task.episode
