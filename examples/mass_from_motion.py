"""What does an arm carry? Mass and place of a payload from a few seconds of motion, by gradients through the rollout.

Run it with `python examples/mass_from_motion.py` (needs scipy).
"""

import numpy as np
from scipy.optimize import minimize

import knuckle as kn
from knuckle.model.edit import attach
from knuckle.spatial import Inertia

DT, STEPS, RUNS = 2e-3, 500, 4
NOISE = 1e-3  # rad, of every measured angle
POINT = ((0.0, 0.0, 0.0),) * 3
arm = kn.robots.load("arm")
rng = np.random.default_rng(3)


def carrying(model, payload):
    """The arm with a point mass at its flange: payload is (kg, m, m, m)."""
    return attach(model, "flange", Inertia.of(payload[0], (payload[1], payload[2], payload[3]), POINT))


@kn.kernel
def mismatch(model, q, measured):
    """How far a posture is from the measured one, in squares of the noise."""
    error = q - measured
    return 0.5 / NOISE**2 * (error @ error)


# Four experiments: torques that hold the bare arm, and waves on top; the angles are measured, with noise.
q0 = np.tile([0.2, 0.6, 0.1, 1.2, 0.0, 0.7, 0.0], (RUNS, 1)) + rng.normal(scale=0.2, size=(RUNS, 7))
t = DT * np.arange(STEPS)[:, None]
waves = sum(rng.normal(size=(RUNS, 1, 7)) * np.sin(w * t + rng.uniform(0, 6, (RUNS, 1, 7))) for w in (3.0, 7.0, 12.0))
tau = kn.gravity_force(arm, q0)[:, None] + 0.15 * waves * np.abs(np.diag(kn.mass_matrix(arm, q0[0]))) * 10
truth = np.array([1.7, 0.02, -0.03, 0.08])


def rollout(payload):
    return kn.rollout(
        arm, q0, np.zeros_like(q0), tau, DT, steps=STEPS, integrator="euler", model_fn=carrying,
        parameters={"payload": payload},
    )  # fmt: skip


real = rollout(truth)
measured = real.q[:, :-1] + NOISE * rng.standard_normal(real.q[:, :-1].shape)
history = []


def objective(payload):
    """The sum over all experiments, and its exact gradient by four numbers."""
    found = kn.simulation.rollout_gradient(
        arm, mismatch, q0, np.zeros_like(q0), tau, DT, steps=STEPS, integrator="euler", model_fn=carrying,
        parameters={"payload": payload, "measured": measured}, time_varying=["measured"], wrt="payload",
    )  # fmt: skip
    history.append((payload.copy(), found.loss.sum()))
    return found.loss.sum(), found["payload"].sum(0)


guess = np.array([0.5, 0.0, 0.0, 0.0])
best = minimize(objective, guess, jac=True, method="L-BFGS-B", bounds=[(0.05, 5.0)] + [(-0.3, 0.3)] * 3)
print(f"from {guess[0]:.2f} kg to {best.x[0]:.4f} kg in {best.nfev} rollouts of {RUNS * STEPS} steps; it is {truth[0]} kg")
print("at", np.round(1e3 * best.x[1:], 1), "mm from the flange; it is at", 1e3 * truth[1:], "mm")
print(f"what is left is noise: {best.fun / (0.5 * measured.size):.3f} of what it must be on average")
assert abs(best.x[0] - truth[0]) < 0.01
assert np.abs(best.x[1:] - truth[1:]).max() < 2e-3
assert abs(best.fun / (0.5 * measured.size) - 1) < 0.05
