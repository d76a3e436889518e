"""The hand follows a circle: positions from Jacobians, by damped least squares on the pose.

Run it with `python examples/inverse_kinematics.py`.
"""

import numpy as np

import knuckle as kn

RADIUS = 0.12  # m
arm = kn.robots.load("arm")
one = kn.bind(arm)  # one state per call, the model already looked up


def gap(T, goal):
    """The small twist (in aligned coordinates) that takes the pose T to the goal: exact as it goes to zero."""
    turn = 0.5 * sum(np.cross(T[:3, k], goal[:3, k]) for k in range(3))
    return np.concatenate([turn, goal[:3, 3] - T[:3, 3]])


def solve(q, goal, tolerance=1e-10):
    """Positions of the joints for a pose of the tool, from a guess; and the number of steps it took.

    The damping is the error itself, so that first steps are careful and last ones converge as Newton's do.
    """
    for count in range(100):
        error = gap(one.pose(q, "tool0"), goal)
        if np.abs(error).max() < tolerance:
            return q, count
        J = one.jacobian(q, "tool0", "aligned")
        q = one.integrate(q, J.T @ np.linalg.solve(J @ J.T + error @ error * np.eye(6), error))
    raise RuntimeError(f"no posture found; the pose is still off by {np.abs(error).max():.1e}")


start = np.array([0.2, 0.4, 0.3, 1.7, 0.2, 0.9, 0.0])
home = kn.pose(arm, start, "tool0")
times = np.linspace(0.0, 4.0, 241)
q, positions, counts = start, [], []
for t in times:
    s = 2 * np.pi * t / 4.0
    goal = home.copy()
    goal[:3, 3] += RADIUS * np.array([0.0, np.sin(s), 1.0 - np.cos(s)])  # upright circle, the hand keeps its direction
    q, count = solve(q, goal)
    positions.append(q)
    counts.append(count)
positions = np.array(positions)
motion = (arm, times, positions)  # what kn.viewer.play and kn.viewer.replay_html take

hand = kn.pose(arm, positions, "tool0")
radius = np.linalg.norm(hand[:, 1:3, 3] - home[1:3, 3] - [0.0, RADIUS], axis=-1)
drift = np.abs(positions[-1] - positions[0]).max()
print(
    f"{len(times)} poses, {np.mean(counts):.1f} steps each; the circle is off by {np.abs(radius - RADIUS).max():.1e} m"
)
print(f"after one round the joints are {drift:.3f} rad from where they began: seven of them for six conditions")
assert np.abs(radius - RADIUS).max() < 1e-9
