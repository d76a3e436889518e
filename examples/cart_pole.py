"""A cart swings its pole up by the energy that is missing, and holds it upright by a linear-quadratic regulator.

Run it with `python examples/cart_pole.py` (needs scipy).
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import knuckle as kn
from knuckle.scalar import cos, less, maximum, minimum, select, sin

model = kn.robots.load("cart_pole")
still = np.zeros(2)

# About upright, q = 0, the motion is ẋ = A x + B u for x = (q, v) and the force u on the cart.
A, B = kn.linearize(model, still, still)
B = B[:, :1]
P = solve_continuous_are(A, B, np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1))
K = (B.T @ P)[0]
poles = np.linalg.eigvals(A - B @ K[None])
print("open loop:  ", np.round(np.linalg.eigvals(A), 2))
print("closed loop:", np.round(poles, 2))
assert poles.real.max() < -0.5


@kn.kernel
def swing_up(model, q, v, K, upright):
    """Pumps energy while the pole is far from upright, then regulates. Every choice is a `select`, so it compiles."""
    x, angle = q
    missing = upright - kn.kinetic_energy(model, q, [0.0, v[1]]) - kn.potential_energy(model, q)
    pump = -3.0 * missing * v[1] * cos(angle) - 6.0 * x - 2.0 * v[0]
    hold = -(K[0] * x + K[1] * sin(angle) + K[2] * v[0] + K[3] * v[1])
    force = select(less(0.8, cos(angle)), hold, pump)
    return [minimum(maximum(force, -50.0), 50.0), 0.0]


hanging = np.array([0.0, np.pi - 0.05])
given = {"K": K, "upright": kn.potential_energy(model, still)}
motion = kn.simulate(model, hanging, None, 8.0, controller=swing_up, parameters=given)

caught = motion.times[np.cos(motion.q[:, 1]) < 0.9][-1]
print(f"caught at {caught:.2f} s, with {np.ptp(motion.q[:, 0]):.2f} m of the rail and {np.abs(motion.tau).max():.0f} N")
print(f"at the end {np.degrees(np.sin(motion.q[-1, 1])):+.3f}° from upright, {motion.q[-1, 0]:+.4f} m from the middle")
assert np.cos(motion.q[-1, 1]) > 0.9999
assert np.abs(motion.q[:, 0]).max() < 1.2
