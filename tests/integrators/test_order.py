"""Measured orders: every integrator and every dense output converges on the manifold as fast as it says."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import INTEGRATORS, DormandPrince, Integrator, State, integrator_of
from knuckle.joints import Prismatic
from knuckle.simulation.steps.stepper import stepper

from .mechanisms import ball, distance, free, mixed, run, start

MODELS = {"free": free(), "ball": ball(), "mixed": mixed(Prismatic("x"))}
DURATION = 0.2


def steps(name: str, model: str) -> tuple[int, int]:
    """Few steps where the order is high and the motion simple, before rounding is all that is left."""
    if integrator_of(name).order < 5:
        return 20, 40
    return (4, 8) if model == "free" else (12, 24)


_references: dict[str, State] = {}


def reference(name: str) -> State:
    """The solution to about twelve digits: the fifth order with steps 13 times as short as those measured."""
    if name not in _references:
        _references[name] = run(MODELS[name], DormandPrince(), DURATION, 320)
    return _references[name]


def order(errors: list[float]) -> float:
    coarse, fine = errors
    return float(np.log2(coarse / fine))


@pytest.mark.sampled
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_order_is_the_nominal_one(name: str, model: str):
    integrator, mechanism = integrator_of(name), MODELS[model]
    ends = [run(mechanism, integrator, DURATION, n) for n in steps(name, model)]
    errors = [distance(mechanism, end, reference(model)) for end in ends]
    assert errors[1] > 1e-13, "nothing but rounding was measured"
    assert order(errors) == pytest.approx(integrator.order, abs=0.25)


DENSE = {name: min(4, integrator_of(name).order) for name in INTEGRATORS}
"""The order of the error within steps, over a run: cubics and the dense output of the pair are of the fourth."""


@pytest.mark.parametrize("name", INTEGRATORS)
@pytest.mark.parametrize("model", ["ball"])
def test_the_dense_output_has_its_order(name: str, model: str):
    mechanism = MODELS[model]
    errors = [_largest_error_within(mechanism, integrator_of(name), n) for n in (12, 24)]
    assert order(errors) >= DENSE[name] - 0.3


def _largest_error_within(model: kn.Model, integrator: Integrator, steps: int) -> float:
    stepping, dt = stepper(model, integrator), DURATION / steps
    exact, fine = stepper(model, DormandPrince()), dt / 32
    state = stepping.start(0.0, *start(model), dt)
    truth = exact.start(0.0, *start(model), fine)
    worst = 0.0
    for k in range(steps):
        new = stepping.step(k * dt, state, dt)
        between = stepping.dense(k * dt, state, new, dt)
        for j in range(32):
            if j in (7, 16, 27):
                worst = max(worst, distance(model, State(*between(j / 32)), truth))
            truth = exact.step(k * dt + j * fine, truth, fine)
        state = new
    return worst


@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_dense_output_meets_both_ends(name: str):
    model = MODELS["ball"]
    stepping, dt = stepper(model, integrator_of(name)), 0.01
    old = stepping.start(0.0, *start(model), dt)
    new = stepping.step(0.0, old, dt)
    between = stepping.dense(0.0, old, new, dt)
    for theta, state in ((0.0, old), (1.0, new)):
        q, v = between(theta)
        np.testing.assert_allclose(np.abs(q @ state.q), 1.0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(kn.difference(model, state.q, q), 0.0, atol=1e-13)
        np.testing.assert_allclose(v, state.v, rtol=0, atol=1e-13 * (1 + np.abs(state.v).max()))


def test_heun_slopes_are_the_books():
    """RBDA 11.51: slope k₁ at the beginning and k₂ at two thirds."""
    tableau = integrator_of("heun").tableau  # type: ignore[attr-defined]
    slope = [[sum((k + 1) * c * x**k for k, c in enumerate(row)) for row in tableau.dense] for x in (0.0, 2 / 3)]
    np.testing.assert_allclose(slope, np.eye(2), atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heun", "adaptive"])
def test_dense_weights_end_in_the_weights(name: str):
    tableau = integrator_of(name).tableau  # type: ignore[attr-defined]
    np.testing.assert_allclose([sum(row) for row in tableau.dense], tableau.b, atol=1e-15)
    c = np.array(tableau.c)
    for theta in (0.3, 0.8):
        weights = np.array([sum(x * theta ** (k + 1) for k, x in enumerate(row)) for row in tableau.dense])
        for k in range(DENSE[name]):
            assert weights @ c**k == pytest.approx(theta ** (k + 1) / (k + 1), abs=1e-14)
