"""What can an arm's torques tell about its masses? Base parameters from noisy measurements, and a prediction with them.

Run it with `python examples/identification.py`.
"""

import numpy as np

import knuckle as kn

arm = kn.robots.load("arm").without_friction()
base = kn.identification.base_parameters(arm)
print(f"{base.matrix.shape[1]} inertia parameters; {base.number} combinations of them show at the joints, such as")
print("   ", base.names[0])


def exciting(rng, count):
    """Sums of sines through all joints, as in an experiment: positions, velocities, accelerations (count, 7)."""
    t = np.linspace(0.0, 10.0, count)[:, None, None]
    w = 2 * np.pi * 0.1 * np.arange(1, 6)  # five harmonics of 0.1 Hz
    b, c = rng.normal(scale=0.35, size=(2, arm.nv, len(w)))
    s, cs = np.sin(w * t), np.cos(w * t)
    return [x.sum(axis=-1) for x in (b * s + c * cs, w * (b * cs - c * s), -(w**2) * (b * s + c * cs))]


rng = np.random.default_rng(1)
motion = exciting(rng, 1000)
noise = 0.05  # N m
measured = kn.inverse_dynamics(arm, *motion) + noise * rng.standard_normal((1000, arm.nv))

# τ = Y π = Y_base β: least squares for β, the base parameters
Y = kn.identification.regressor(arm, *motion)[..., list(base.columns)].reshape(-1, base.number)
beta, *_ = np.linalg.lstsq(Y, measured.ravel(), rcond=None)
truth = base.matrix @ kn.identification.inertial_parameters(arm)
spread = noise * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
print(f"worst of them, in its own standard deviations: {np.max(np.abs(beta - truth) / spread):.1f}")
assert np.max(np.abs(beta - truth) / spread) < 5

# A motion that was not measured
other = exciting(rng, 500)
torque = kn.inverse_dynamics(arm, *other)
predicted = kn.identification.regressor(arm, *other)[..., list(base.columns)] @ beta
error = np.sqrt(np.mean((predicted - torque) ** 2))
print(f"torques of another motion: {np.sqrt(np.mean(torque**2)):.1f} N m on average, predicted to {error:.4f} N m")
assert error < noise
