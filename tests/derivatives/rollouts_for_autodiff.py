"""Rollouts that torch and JAX differentiate in the tests: losses, and single steps as kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

import knuckle as kn

STEPS, DT = 5, 0.02


@kn.kernel
def cost(model: kn.Model, v: Any, tau: Any, weight: Any) -> Any:
    return weight * (tau @ tau) + v @ v


@kn.kernel
def final(model: kn.Model, q: Any, v: Any) -> Any:
    return kn.potential_energy(model, q) + v @ v


@kn.kernel
def step(model: kn.Model, q: Any, v: Any, tau: Any, dt: Any) -> Any:
    """One step by semi-implicit Euler."""
    after = v + dt * kn.forward_dynamics(model, q, v, tau)
    return kn.integrate(model, q, dt * after), after


def loss_of(model: kn.Model, q0: Any, v0: Any, tau: Any, weight: Any) -> Any:
    return kn.simulation.rollout_loss(
        model, cost, q0, v0, tau, DT, steps=STEPS, final_loss=final, integrator="euler", parameters={"weight": weight}
    )


def start(model: kn.Model, batch: tuple[int, ...] = ()) -> list[Any]:
    """q0, v0 with a batch, τ of all of them over time, and a number."""
    rng = np.random.default_rng(8)
    q0 = kn.integrate(model, kn.neutral(model), rng.normal(size=(*batch, model.nv)))
    return [q0, rng.normal(size=(*batch, model.nv)), rng.normal(size=(STEPS, model.nv)), np.array(0.3)]
