"""An arm swings its hand to a place behind itself within 0.8 s: iterative LQR with exact linear steps.

Every iteration linearises all steps of the motion in one call, solves for gains backward in time, and tries eight
lengths of the change in one batch of rollouts under feedback.

Run it with `python examples/arm_ilqr.py`.
"""

import numpy as np

import knuckle as kn

DT, STEPS = 0.01, 80
arm = kn.robots.load("arm").without_friction()
nv = arm.nv
start = np.array([0.0, 0.9, 0.0, 1.3, 0.0, 0.6, 0.0])
EFFORTS = [20.0 * x for x in np.diag(kn.mass_matrix(arm, start))]  # N m: what speeds a joint up by 20 rad/s²
goal = np.array([0.35, -0.35, 1.05])  # m: where the hand is to be, at rest


@kn.kernel
def effort(model, q, v, tau):
    """The cost of a step: torque beyond what gravity takes, each joint on its own scale, and speed."""
    push = tau - kn.gravity_force(model, q)
    return DT * sum((x / most) * (x / most) + 0.01 * s * s for x, most, s in zip(push, EFFORTS, v, strict=True))


@kn.kernel
def missed(model, q, v, goal):
    """The cost of the end: the hand's distance, and what still moves."""
    T = kn.pose(model, q, "tool0")
    gap = [T[k][3] - goal[k] for k in range(3)]
    return 2e3 * (gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]) + 5.0 * (v @ v)


@kn.kernel
def feedback(model, q, v, q_ref, v_ref, forces, gains):
    """τ = forces − K (q ⊖ q_ref, v − v_ref)."""
    x = [*kn.difference(model, q_ref, q), *(v - v_ref)]
    n = len(x)
    return [u - sum(gains[n * i + k] * x[k] for k in range(n)) for i, u in enumerate(forces)]


def cost(q, v, tau):
    running = effort(arm, q[..., :-1, :], v[..., :-1, :], tau).sum(-1)
    return running + missed(arm, q[..., -1, :], v[..., -1, :], goal)


def expansion(f, *arguments, wrt):
    """Gradient and Hessian of a cost, its arguments one after the other."""
    g, H = f.grad(arm, *arguments, wrt=wrt), f.hessian(arm, *arguments, wrt=wrt)
    rows = [np.concatenate([H[a][b] for b in wrt], -1) for a in wrt]
    return np.concatenate([g[a] for a in wrt], -1), np.concatenate(rows, -2)


def improved(q, v, tau, damping):
    """Forces and gains that are best for the linear steps and the quadratic costs along a motion."""
    A, B = kn.linearize(arm, q[:-1], v[:-1], tau, DT, integrator="euler")
    g, H = expansion(effort, q[:-1], v[:-1], tau, wrt=("q", "v", "tau"))
    s, S = expansion(missed, q[-1], v[-1], goal, wrt=("q", "v"))
    change, gains, n = np.zeros((STEPS, nv)), np.zeros((STEPS, nv, 2 * nv)), 2 * nv
    for k in reversed(range(STEPS)):
        Qx, Qu = g[k, :n] + A[k].T @ s, g[k, n:] + B[k].T @ s
        Qxx = H[k, :n, :n] + A[k].T @ S @ A[k]
        Qux = H[k, n:, :n] + B[k].T @ S @ A[k]
        Quu = H[k, n:, n:] + B[k].T @ S @ B[k] + damping * np.diag(H[k, n:, n:].diagonal())
        change[k], gains[k] = -np.linalg.solve(Quu, Qu), np.linalg.solve(Quu, Qux)
        s, S = Qx - gains[k].T @ Qu, Qxx - gains[k].T @ Qux
        w, U = np.linalg.eigh(S + S.T)  # what is concave is left out: a valley has to stay one
        S = (U * np.maximum(w / 2, 0.0)) @ U.T
    return change, gains


LENGTHS = 0.5 ** np.arange(8)
tau = np.tile(kn.gravity_force(arm, start), (STEPS, 1))
motion = kn.rollout(arm, start, None, tau, DT, steps=STEPS, integrator="euler")
q, v = motion.q, motion.v
costs, damping = [cost(q, v, tau)], 1.0
for _ in range(40):
    change, gains = improved(q, v, tau, damping)
    tried = {
        "q_ref": q[:-1], "v_ref": v[:-1], "forces": tau + LENGTHS[:, None, None] * change,
        "gains": gains.reshape(STEPS, -1),
    }  # fmt: skip
    trial = kn.rollout(
        arm, np.tile(start, (8, 1)), None, None, DT, steps=STEPS, integrator="euler", controller=feedback,
        parameters=tried, time_varying=list(tried),
    )  # fmt: skip
    used = trial.tau[:, :STEPS]
    values = np.nan_to_num(cost(trial.q, trial.v, used), nan=np.inf)
    best = int(values.argmin())
    if not values[best] < costs[-1]:
        damping *= 10
        continue
    q, v, tau, damping = trial.q[best], trial.v[best], used[best], max(damping / 5, 1e-9)
    costs.append(values[best])
    if costs[-2] - costs[-1] < 1e-6 * costs[-1]:
        break

motion = (arm, motion.times, q)  # what kn.viewer.play and kn.viewer.replay_html take
hand = kn.pose(arm, q, "tool0")[:, :3, 3]
print(f"{len(costs) - 1} iterations: cost {costs[0]:.1f}, {costs[1]:.2f}, … {costs[-1]:.4f}")
print(f"after {DT * STEPS:.1f} s the hand is {1e3 * np.linalg.norm(hand[-1] - goal):.2f} mm from its goal")
assert np.linalg.norm(hand[-1] - goal) < 5e-3
