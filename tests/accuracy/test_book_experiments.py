"""The experiments of RBDA 10.1 and 10.2 as laws: where digits are lost, and where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.accuracy.exact_model import exact, in_two_doubles
from knuckle.accuracy.many_digits import precision
from knuckle.accuracy.reference_run import run_in_two_doubles
from knuckle.accuracy.two_doubles import TwoDoubles, two_doubles_of
from knuckle.integrators import DormandPrince, RungeKutta4
from knuckle.joints import Revolute
from knuckle.model import Model
from knuckle.simulation.steps.step_size import StepSize, advance
from knuckle.simulation.steps.stepper import stepper
from knuckle.spatial import Force, Inertia, Motion, Transform

Array = np.ndarray[Any, Any]
ROUNDING = 2.0**-53
MANY = ((30, "chain"), (100, "chain"), (255, "tree"))


def acceleration_at_centre(c: list[Any], I_com: list[list[Any]], v: list[Any], f: list[Any]) -> list[Any]:
    """a of a body of mass one from f = I a + v ×* I v about the origin, taken to its centre of mass (fig. 10.2)."""
    I, V, F = Inertia.of(1.0, c, I_com), Motion.of(v), Force.of(f)
    a = I.inverse @ (F - V.cross(I @ V))
    return list((Transform.translation(c) @ a).components)


def bodies(distance: float, count: int) -> list[Array]:
    """Centres, moments, velocities and forces of bodies, |c| radii of gyration from the origin."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((count, 3, 3)))[0]
    moments = turn @ (rng.uniform(0.5, 1.0, (count, 3, 1)) * np.swapaxes(turn, 1, 2))
    way = rng.standard_normal((count, 3))
    c = distance * way / np.linalg.norm(way, axis=1, keepdims=True)
    v, f = rng.standard_normal((2, count, 6))
    f[:, :3] += np.cross(c, f[:, 3:])
    v[:, 3:] += np.cross(c, v[:, :3])
    return [c, (moments + np.swapaxes(moments, 1, 2)) / 2, v, f]


def columns(arrays: list[Array], number: Any) -> list[Any]:
    c, I, v, f = arrays
    rows = [[number(I[:, i, k].copy()) for k in range(3)] for i in range(3)]
    return [[number(x) for x in c.T.copy()], rows, *([number(x) for x in y.T.copy()] for y in (v, f))]


def lost_at(distance: float, count: int) -> float:
    """The median error of the acceleration at the centre, in roundings."""
    arrays = bodies(distance, count)
    right: list[TwoDoubles] = acceleration_at_centre(*columns(arrays, two_doubles_of))
    found = acceleration_at_centre(*columns(arrays, lambda x: x))
    error = np.max([abs((y - x.high) - x.low) for x, y in zip(right, found, strict=True)], axis=0)
    return float(np.median(error / np.max([abs(x.high) for x in right], axis=0))) / ROUNDING


def test_an_origin_within_the_body_costs_nothing_and_beyond_it_the_square_of_the_distance() -> None:
    """Fig. 10.2: flat up to a radius of gyration, then ∝ |c|²."""
    near = [lost_at(distance, 300) for distance in (0.01, 0.1, 0.5)]
    far = {distance: lost_at(distance, 300) for distance in (10.0, 100.0, 1000.0)}
    assert max(near) < 6
    assert max(near) / min(near) < 2
    for distance, error in far.items():
        assert 0.2 < error / distance**2 < 5


def rods(n: int, parent: Any) -> Model:
    """Identical rods about x, y and z in turn."""
    b, rod = kn.Builder(f"{n} rods"), Inertia.of(1.0, (0.5, 0, 0), ((1e-2, 0, 0), (0, 1 / 12, 0), (0, 0, 1 / 12)))
    for k in range(n):
        on = f"b{parent(k)}" if k else None
        b.body(f"b{k}", on, Revolute("zyx"[k % 3]), (1.0, 0.0, 0.0) if k else None, inertia=rod)
    return b.build()


def errors_of(model: Model, states: int) -> dict[str, Array]:
    """Of inverse dynamics, and of accelerations by articulated bodies and by the mass matrix, in roundings."""
    rng = np.random.default_rng(model.nb)
    q, v, a = rng.standard_normal((3, states, model.nv))
    with precision(50):
        two = in_two_doubles(exact(model))
        force = run_in_two_doubles(kn.inverse_dynamics, two, [q, v, a])
        tau = force[0]
        rates = run_in_two_doubles(kn.forward_dynamics, two, [q, v, tau])
    H, bias = np.asarray(kn.mass_matrix(model, q)), np.asarray(kn.bias_force(model, q, v))
    found = {
        "RNEA": (kn.inverse_dynamics(model, q, v, a), force),
        "ABA": (kn.forward_dynamics(model, q, v, tau), rates),
        "CRBA": (np.linalg.solve(H, (tau - bias)[..., None])[..., 0], rates),
    }
    return {
        name: np.abs((x - right[0]) - right[1]).max(axis=1) / np.abs(right[0]).max(axis=1) / ROUNDING
        for name, (x, right) in found.items()
    } | {"condition": np.linalg.cond(H)}


@pytest.mark.parametrize(
    ("n", "shape"),
    [(10, "chain"), *(pytest.param(*case, marks=pytest.mark.slow) for case in MANY)],
)
def test_many_bodies_keep_their_digits_and_articulated_bodies_more_than_the_mass_matrix(n: int, shape: str) -> None:
    """RNEA, CRBA and ABA stay exact for many bodies, and ABA is the more exact of the two (RBDA 10.1)."""
    lost = errors_of(rods(n, (lambda k: k - 1) if shape == "chain" else (lambda k: (k - 1) // 2)), 400)
    assert np.median(lost["RNEA"]) < 2 * np.sqrt(n)
    for name in ("ABA", "CRBA"):
        assert (lost[name] < 5 * lost["condition"]).all()
    assert np.median(lost["ABA"] / lost["CRBA"]) < 0.95


class Spike:
    """A torque of a few milliseconds, that counts how often it is asked for."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, model: Model, t: float) -> Array:
        self.calls += 1
        return np.array([40.0 * np.exp(-(((t - 0.5) / 2e-3) ** 2)), 0.0])


def moved(integrator: Any, steps: int | None) -> tuple[Array, int]:
    """Where a double pendulum is after a second with a spike in it, in fixed steps or in its own; and the calls."""
    force = Spike()
    stepping = stepper(kn.robots.load("double_pendulum").without_friction(), integrator, force)
    state, t = stepping.start(0.0, np.array([0.3, 0.2]), np.zeros(2), 0.01), 0.0
    pace: StepSize | None = None
    while t < 1.0 - 1e-12:
        if steps is not None:
            state = stepping.step(t, state, 1.0 / steps)
            t += 1.0 / steps
        else:
            pace = pace or StepSize(0.01)
            state, dt, pace = advance(stepping, t, state, pace, 1.0)
            t += dt
    return np.concatenate([state.q, state.v]), force.calls


def test_where_accelerations_have_spikes_steps_that_adapt_lose_the_least() -> None:
    """Truncation (RBDA 10.1): for as many evaluations of the forces, fixed steps are wrong by a hundred times more."""
    right = moved(DormandPrince(rtol=1e-12, atol_q=1e-13, atol_v=1e-13), None)[0]
    found, calls = moved(DormandPrince(rtol=1e-6, atol_q=1e-8, atol_v=1e-8), None)
    fixed, calls_of_fixed = moved(RungeKutta4(), calls // 4 + 1)
    assert calls_of_fixed >= calls
    assert 0 < np.abs(found - right).max() < 1e-4
    assert np.abs(found - right).max() < 1e-2 * np.abs(fixed - right).max()
