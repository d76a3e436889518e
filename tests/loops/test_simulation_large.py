"""Larger mechanisms with loops through time: steps that are put together from native code, or from matrices."""

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import DormandPrince
from knuckle.testing.loops.linkages import ladder
from knuckle.testing.loops.moving_linkages import MOVING


def error(model: kn.Model, q: np.ndarray) -> float:
    return float(np.abs(kn.loop_error(model, q)).max())


@pytest.mark.parametrize(
    ("name", "integrator"),
    [("Stewart", "heun"), pytest.param("Delta", DormandPrince(rtol=1e-8), marks=pytest.mark.slow)],
)
def test_parallel_robots(name: str, integrator: Any):
    """A step in one piece of native code, and one that is put together from pieces."""
    made = MOVING[name]()
    dt = 2e-4 if integrator == "heun" else None
    path = kn.simulate(made.model, made.q, made.v, 0.5, dt=dt, integrator=integrator)
    assert made.energy_error(path.q, path.v) < 1e-6
    assert error(made.model, path.q) < 1e-14
    assert np.abs(kn.loop_error_rate(made.model, path.q, path.v)).max() < 1e-13


@pytest.mark.slow
def test_a_ladder_of_fifty():
    """250 constraints on 150 variables: by matrices of numbers, with the same text of the integrator."""
    made = MOVING["ladder of fifty"]()
    path = kn.simulate(made.model, made.q, made.v, 0.05, dt=2.5e-3)
    assert made.energy_error(path.q, path.v) < 1e-6
    assert error(made.model, path.q) < 1e-14


def test_what_many_loops_cannot_do_says_so():
    made = ladder(50)
    zero = np.zeros(made.model.nv)
    with pytest.raises(kn.ModelError, match=r'BDF2 puts its equations into code.*"rk4"'):
        kn.simulate(made.model, made.q, zero, 0.1, integrator="bdf2")
    with pytest.raises(kn.ModelError, match=r"rollout puts a step into code.*kn\.simulate"):
        kn.rollout(made.model, made.q, zero, None, 1e-3, steps=1)
