"""What does an arm carry? Mass and place of a payload from a few seconds of motion, by gradients through the rollout.

Run it with `python examples/mass_from_motion.py` (needs scipy).
"""

import numpy as np
from scipy.optimize import minimize

import knuckle as kn
from knuckle.model.edit import attach
from knuckle.spatial import Inertia

DT, STEPS, RUNS = 4e-3, 250, 4
NOISE = 1e-3  # rad, of every measured angle
BELIEF = (0.8, 0.0, 0.0, 0.08)  # kg, kg m, kg m, kg m
POINT = ((0.0, 0.0, 0.0),) * 3
arm = kn.robots.load("arm").without_friction()
rng = np.random.default_rng(3)


def carrying(model, payload):
    """The arm with a point mass at its flange: its mass and moments (kg, kg m, kg m, kg m), as forces are linear in."""
    mass, *moments = payload
    return attach(model, "flange", Inertia.of(mass, tuple(x / mass for x in moments), POINT))


@kn.kernel
def mismatch(model, q, measured):
    """How far a posture is from the measured one, in squares of the noise."""
    error = q - measured
    return 0.5 / NOISE**2 * (error @ error)


@kn.kernel
def follow(model, q, v, q_ref, v_ref):
    """What the drives do: they believe in a payload, and the joints go after their references."""
    return kn.inverse_dynamics(carrying(model, BELIEF), q, v, 100.0 * (q_ref - q) + 20.0 * (v_ref - v))


# Four experiments: the joints go after waves, and their angles are measured, with noise.
t = DT * np.arange(STEPS)[:, None]
phases = rng.uniform(0, 2 * np.pi, (RUNS, 1, 7))
rates = rng.uniform(3.0, 9.0, (RUNS, 1, 7))  # rad/s
posture = np.array([0.2, 0.6, 0.1, 1.2, 0.0, 0.7, 0.0])
waves = {"q_ref": posture + 0.3 * np.sin(rates * t + phases), "v_ref": 0.3 * rates * np.cos(rates * t + phases)}
q0, v0 = waves["q_ref"][:, 0], waves["v_ref"][:, 0]
setting = {"dt": DT, "steps": STEPS, "integrator": "euler", "model_fn": carrying, "controller": follow}
mass, place = 1.7, np.array([0.02, -0.03, 0.08])
truth = np.array([mass, *(mass * place)])
real = kn.rollout(arm, q0, v0, **setting, parameters={"payload": truth, **waves}, time_varying=list(waves))
measured = real.q[:, :-1] + NOISE * rng.standard_normal((RUNS, STEPS, 7))
history = []


varying = {"measured": measured, **waves}


def gradient(payload, **options):
    """The loss of each experiment, and its exact gradient by four numbers."""
    return kn.rollout_gradient(
        arm, mismatch, q0, v0, **setting, parameters={"payload": payload, **varying}, time_varying=list(varying),
        wrt="payload", **options,
    )  # fmt: skip


def objective(payload):
    """The sum over all experiments, and how it changes."""
    found = gradient(payload)
    history.append((payload.copy(), found.loss.sum()))
    return found.loss.sum(), found["payload"].sum(0)


def curvature(payload):
    """The second derivatives, exact too: along four directions at once."""
    return gradient(payload, direction={"payload": np.eye(4)[:, None]}).hessian_product["payload"].sum(1)


guess = np.array(BELIEF)
best = minimize(objective, guess, jac=True, hess=curvature, method="trust-exact", options={"initial_trust_radius": 0.3})
found_mass, found_place = best.x[0], best.x[1:] / best.x[0]
print(f"from {guess[0]:.2f} kg to {found_mass:.4f} kg in {best.nfev} rollouts of {RUNS * STEPS} steps; it is {mass} kg")
print("at", np.round(1e3 * found_place, 1), "mm from the flange; it is at", 1e3 * place, "mm")
print(f"what is left is noise: {best.fun / (0.5 * measured.size):.3f} of what it must be on average")
assert abs(found_mass - mass) < 0.01
assert np.abs(found_place - place).max() < 2e-3
assert abs(best.fun / (0.5 * measured.size) - 1) < 0.05
