"""Calls, kernels and motion."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn

from ..cases import Case
from .base import Pair, Rows

ROWS = Rows()
row, simple = ROWS.row, ROWS.simple

simple(
    "bind",
    lambda c: kn.bind(c.model).forward_dynamics(c.q, c.v, c.tau),
    lambda c: c.constrained(c.tau)[0][c.lead],
)


@kn.kernel
def pushed(model, q, v, tau):  # type: ignore[no-untyped-def]
    """A user's kernel: the power that forces put in, after their effect of a unit of time on v."""
    return tau @ (v + kn.forward_dynamics(model, q, v, tau))


simple(
    "kernel",
    lambda c: pushed(c.model, c.q, c.v, c.tau),
    lambda c: c.tau @ (c.v + c.constrained(c.tau)[0][c.lead]),
)


@row("compilation.operation_count")
def operation_count(c: Case) -> Iterator[Pair]:
    program = kn.forward_dynamics.program(c.model)
    yield kn.compilation.operation_count(kn.forward_dynamics, c.model).mul, program.count().mul
    yield program.evaluate([*c.q, *c.v, *c.tau]), c.constrained(c.tau)[0][c.lead]


@row("derivatives.casadi_callback")
def casadi_callback(c: Case) -> Iterator[Pair]:
    pytest.importorskip("casadi")
    compiled = kn.derivatives.casadi_callback(kn.forward_dynamics, c.model)
    yield compiled(c.q, c.v, c.tau).full()[:, 0], c.constrained(c.tau)[0][c.lead]


def _runge_kutta(c: Case, dt: float, steps: int) -> tuple[Any, Any]:
    """The classical method on (q, v), with accelerations of the explicit system."""
    q, v = np.array(c.q), np.array(c.v)

    def rates(q: Any, v: Any) -> Any:
        return kn.velocity_to_qdot(c.model, q, v), c.at(q, v).constrained(c.tau)[0][c.lead]

    for _ in range(steps):
        k = [rates(q, v)]
        for h in (dt / 2, dt / 2, dt):
            k.append(rates(q + h * k[-1][0], v + h * k[-1][1]))
        q, v = (x + dt / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) for i, x in enumerate((q, v)))
        q, v = kn.normalize(c.model, q, v)
    return q, v


@row("simulation.ode_right_hand_side")
def ode_right_hand_side(c: Case) -> Iterator[Pair]:
    f = kn.simulation.ode_right_hand_side(c.model, c.tau)
    wanted = kn.velocity_to_qdot(c.tree, c.Q, c.V)[c.lead_q], c.constrained(c.tau)[0][c.lead]
    yield f(0.0, f.join(c.q, c.v)), np.concatenate(wanted)


def _one_step(c: Case) -> tuple[Any, Any]:
    motion = kn.simulate(c.model, c.q, c.v, 1e-4, dt=1e-4, controller=c.tau, integrator="rk4", contacts=False)
    return motion.q[-1], motion.v[-1]


@row("step")
def step(c: Case) -> Iterator[Pair]:
    yield from zip(kn.step(c.model, c.q, c.v, c.tau, 1e-4, contacts=False), _one_step(c), strict=True)


@row("Stepping")
def stepping(c: Case) -> Iterator[Pair]:
    world = kn.Stepping(c.model, c.q, c.v, dt=1e-4, integrator="rk4", contacts=False)
    yield from zip(world.step(c.tau), _one_step(c), strict=True)


@row("simulate")
def simulate(c: Case) -> Iterator[Pair]:
    motion = kn.simulate(c.model, c.q, c.v, 4e-4, dt=1e-4, controller=c.tau)
    q, v = _runge_kutta(c, 1e-4, 4)
    yield motion.q[-1], q
    yield motion.v[-1], v


@row("rollout")
def rollout(c: Case) -> Iterator[Pair]:
    q0, v0 = np.stack([c.q, c.q]), np.stack([c.v, 0.5 * c.v])
    found = kn.rollout(c.model, q0, v0, np.stack([c.tau, c.tau]), 1e-4, steps=2, integrator="rk4")
    for k, start in enumerate((c, c.at(c.q, 0.5 * c.v))):
        q, v = _runge_kutta(start, 1e-4, 2)
        yield found.q[k, -1], q
        yield found.v[k, -1], v


@row("sweep")
def sweep(c: Case) -> Iterator[Pair]:
    samples = kn.cluster.samples({"q0": c.q[None], "v0": c.v[None], "tau": c.tau[None]})
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "sweep"
        found = kn.sweep(c.model, samples, into, dt=1e-4, steps=2, integrator="rk4", keep=["final_q", "final_v"])
        last = found["final_q"][0], found["final_v"][0]
    yield from zip(last, _runge_kutta(c, 1e-4, 2), strict=True)


def _by_force(c: Case) -> Any:
    """∂a/∂τ of the explicit system, column by column."""
    still = c.constrained(0 * c.tau)[0][c.lead]
    return np.stack([c.constrained(unit)[0][c.lead] - still for unit in np.eye(len(c.tau))], -1)


@row("linearize")
def linearize(c: Case) -> Iterator[Pair]:
    found = kn.linearize(c.model, c.q, c.v, c.tau)
    yield found.B, np.concatenate([np.zeros((len(c.v), len(c.v))), _by_force(c)])


@kn.kernel
def last_speed(model, v, weight):  # type: ignore[no-untyped-def]
    """A loss: the last velocity along a direction."""
    return weight @ v


@row("rollout_gradient")
def rollout_gradient(c: Case) -> Iterator[Pair]:
    found = kn.rollout_gradient(
        c.model, None, c.q, c.v, c.tau, 1e-3, steps=1, final_loss=last_speed, parameters={"weight": c.tau},
        integrator="euler", wrt="tau", stabilization=None,
    )  # fmt: skip
    yield found["tau"], 1e-3 * _by_force(c).T @ c.tau


simple(
    "operators",
    lambda c: kn.operators.forward_dynamics(c.model, c.q, c.v, c.tau),
    lambda c: c.constrained(c.tau)[0][c.lead],
)
