"""A thousand poses for the hand at once: inverse kinematics by Levenberg and Marquardt with exact Jacobians.

The error of a pose is the twist that takes it to its goal in a unit of time, the logarithm on SE(3); its Jacobian is
exact, not only near the goal. The same kernel serves scipy's least_squares.

Run it with `python examples/many_hands.py` (needs scipy).
"""

import numpy as np
from scipy.optimize import least_squares

import knuckle as kn
from knuckle.spatial import Transform
from knuckle.spatial.lie import log

COUNT = 1000
arm = kn.robots.load("arm")


@kn.kernel
def error(model, q, turned, place):
    """log(T⁻¹ goal), angular part first; the goal is a rotation, its columns in a row, and a place."""
    T = kn.pose(model, q, "tool0")
    goal = Transform.of([turned[:3], turned[3:6], turned[6:]], (place[0], place[1], place[2]))
    hand = Transform.of([[T[i][k] for i in range(3)] for k in range(3)], (T[0][3], T[1][3], T[2][3]))
    twist = log(goal @ hand.inverse())
    return [*twist.angular, *twist.linear]


# goals that can be reached, and guesses that know nothing of them
rng = np.random.default_rng(0)
lower, upper = (np.concatenate([getattr(joint.limits, side) for joint in arm.joints]) for side in ("lower", "upper"))
T = kn.pose(arm, rng.uniform(0.6 * lower, 0.6 * upper, (COUNT, arm.nv)), "tool0")
goals = T[:, :3, :3].swapaxes(1, 2).reshape(COUNT, 9), T[:, :3, 3]
q = rng.uniform(0.6 * lower, 0.6 * upper, (COUNT, arm.nv))

# Levenberg and Marquardt, all of them together, each with its own damping
e, damping, history = error(arm, q, *goals), np.full(COUNT, 1e-2), []
for _ in range(60):
    history.append(np.abs(e).max(-1))
    J = error.jacobian(arm, q, *goals, wrt="q")["q"]
    H = J.swapaxes(1, 2) @ J + damping[:, None, None] * np.eye(arm.nv)
    tried = kn.integrate(arm, q, -np.linalg.solve(H, J.swapaxes(1, 2) @ e[..., None])[..., 0])
    new = error(arm, tried, *goals)
    better = (new**2).sum(-1) < (e**2).sum(-1)
    q, e = np.where(better[:, None], tried, q), np.where(better[:, None], new, e)
    damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-12, 1e6)
solved = np.abs(e).max(-1) < 1e-9
steps = (np.array(history) > 1e-9).sum(0)[solved]
print(
    f"{solved.mean():.1%} of {COUNT} goals, to {np.abs(e[solved]).max():.0e}, in {np.median(steps):.0f} steps for most"
)
assert solved.mean() > 0.9

# one of them by scipy, which calls the same two functions, and keeps the limits of the joints
one = [x[0] for x in goals]
fit = least_squares(
    lambda q: error(arm, q, *one), np.zeros(arm.nv) + 0.3, lambda q: error.jacobian(arm, q, *one, wrt="q")["q"],
    bounds=(lower, upper), xtol=1e-14, ftol=1e-14, gtol=1e-12,
)  # fmt: skip
print(f"scipy's least_squares: {fit.nfev} errors and {fit.njev} Jacobians to {np.abs(fit.fun).max():.0e}")
assert np.abs(fit.fun).max() < 1e-6
