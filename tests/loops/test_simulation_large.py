"""Larger mechanisms with loops through time."""

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.functions.loops import closed_response
from knuckle.integrators import DormandPrince
from knuckle.testing.loops.linkages import ladder
from knuckle.testing.loops.moving_linkages import MOVING, light, moving

from ..seeds import quick


def error(model: kn.Model, q: np.ndarray) -> float:
    return float(np.abs(kn.loops.error(model, q)).max())


@pytest.mark.parametrize(
    ("name", "integrator"),
    [
        pytest.param("leg", "heun", marks=pytest.mark.slow),
        pytest.param("Stewart", "heun", marks=pytest.mark.slow),
        pytest.param("Delta", DormandPrince(rtol=1e-8), marks=pytest.mark.slow),
    ],
)
def test_parallel_robots(name: str, integrator: Any):
    """A step in one piece of native code, and one that is put together from pieces."""
    made = MOVING[name]()
    dt = 2e-4 if integrator == "heun" else None
    path = kn.simulate(made.model, made.q, made.v, 0.5, dt=dt, integrator=integrator)
    assert made.energy_error(path.q, path.v) < 1e-6
    assert error(made.model, path.q) < 1e-14
    assert np.abs(kn.loops.error_rate(made.model, path.q, path.v)).max() < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("rungs", quick([5, 12, 22, 50], [5]))
def test_a_long_ladder(rungs: int, monkeypatch: pytest.MonkeyPatch):
    """Up to 250 constraints on 150 variables: a step is one piece of code, whose loops go over the bodies."""
    monkeypatch.setattr(closed_response, "FEW", 0)
    made = moving(light(ladder(rungs)), 0.0)
    path = kn.simulate(made.model, made.q, made.v, 0.05, dt=2.5e-3)
    assert made.energy_error(path.q, path.v) < 1e-6
    assert error(made.model, path.q) < 1e-14


@pytest.mark.slow
def test_ladders_of_fifty():
    """Rollouts give what the simulation gives; shorter mechanisms in rollouts are in `test_random_closed`."""
    made = MOVING["ladder of fifty"]()
    path = kn.simulate(made.model, made.q, made.v, 0.05, dt=2.5e-3)
    both = [np.stack([x, x]) for x in (made.q, made.v)]
    many = kn.rollout(made.model, *both, None, 2.5e-3, steps=20, stabilization="projection")
    np.testing.assert_allclose(many.q[1, -1], path.q[-1], rtol=0, atol=1e-9)


def test_what_many_loops_cannot_do_says_so():
    made = ladder(50)
    zero = np.zeros(made.model.nv)
    with pytest.raises(kn.ModelError, match=r'BDF2 puts its equations into code.*"rk4"'):
        kn.simulate(made.model, made.q, zero, 0.1, integrator="bdf2")
