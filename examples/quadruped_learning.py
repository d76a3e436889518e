"""A quadruped learns to walk: 256 of them on a floor in one call, each with a gait of its own.

Run it with `python examples/quadruped_learning.py`; it needs the extra `gym`.
"""

import numpy as np

import knuckle as kn

N, GENERATIONS, BEST = 256, 14, 24
LEGS = ("front_left", "front_right", "rear_left", "rear_right")
robot = kn.model.edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
robot = kn.model.edit.keep_collisions(robot, lambda body, shape: isinstance(shape.shape, kn.model.Sphere))  # its feet
servos = tuple(
    kn.actuators.position_servo(f"{leg} {joint}", f"{leg}_{joint}", kp=120.0, kv=4.0, control_range=(-0.8, 0.8))
    for leg in LEGS
    for joint in ("abduction", "hip_pitch", "knee")
)
model = robot.replace(actuators=servos)
standing = kn.neutral(model)
standing[6] = 0.4  # its feet just above the floor


@kn.kernel
def observation(model, q, v, t):
    return np.concatenate([np.array([t]), q[:4], q[4:7], v])


@kn.kernel
def reward(model, q, q_before, u):
    return q[4] - q_before[4] - 0.3 * abs(q[5] - q_before[5])  # forward, and straight ahead


@kn.kernel
def fallen(model, q):
    return (q[6] < 0.2) | (abs(q[1]) > 0.5) | (abs(q[2]) > 0.5)  # low, or leaning over


def start(rng, count):
    return np.tile(standing, (count, 1)), 0.1 * rng.standard_normal((count, model.nv))


task = kn.environments.Task(model, observation, reward, fallen, dt=2e-3, substeps=5, episode=200, start=start)
envs = task.vector_environment(N)
PHASE = np.array([0.0, np.pi, np.pi, 0.0])  # a trot: opposite legs together


def controls(gait, t):
    """(N, 12) angles of hips and knees at times t (N,): a swing of the hips, and knees that bend on the way forward."""
    swing, bend, lag, lean, crouch, rate = gait.T[..., None]
    phase = 2 * np.pi * (2.0 + rate) * t[:, None] + PHASE
    hip, knee = lean + 0.3 * swing * np.sin(phase), crouch - 0.3 * bend * np.maximum(np.sin(phase + lag), 0.0)
    return np.stack([np.zeros_like(hip), hip, knee], axis=-1).reshape(len(t), 12)


def returns(gaits):
    """How far each walks, with a gait of its own."""
    seen, _ = envs.reset(seed=0)
    total, alive = np.zeros(N), np.ones(N, bool)
    for _ in range(task.episode):
        seen, gained, ended, cut, _ = envs.step(controls(gaits, seen[:, 0]))
        total += alive * gained
        alive &= ~(ended | cut)
    return total


rng = np.random.default_rng(1)
mean, spread, history = np.zeros(6), np.array([1.0, 1.0, 1.0, 0.2, 0.2, 0.5]), []
for generation in range(GENERATIONS):
    gaits = mean + spread * rng.standard_normal((N, 6))
    total = returns(gaits)
    best = gaits[np.argsort(total)[-BEST:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
    history.append(np.percentile(total, [10, 50, 90]))
    print(f"generation {generation + 1:2}: {history[-1][1]:5.2f} m in two seconds, in the middle of {N}")

env = task.environment()
seen, _ = env.reset(seed=3)
positions = [env.world.q]
for _ in range(task.episode):
    seen, _, ended, cut, _ = env.step(controls(mean[None], seen[:1])[0])
    positions.append(env.world.q)
    if ended or cut:
        break
times = task.dt * task.substeps * np.arange(len(positions))
motion = kn.viewer.Recording(model, times, np.array(positions))
print(f"the gait that was learned walks {positions[-1][4]:.2f} m in {times[-1]:.2f} s")
assert positions[-1][4] > 0.5
