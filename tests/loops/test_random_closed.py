"""Every method against the null space in extended precision, on mechanisms drawn in any direction and size.

`benchmarks/random_loops.py` does the same with a thousand.
"""

import numpy as np
import pytest

import knuckle as kn
from knuckle.functions.loops import closed_response
from knuckle.testing.loops.loop_methods import METHODS, compared
from knuckle.testing.loops.random_loops import FAMILIES, random_closed
from knuckle.testing.oracles.null_space import NullSpace

from ..seeds import quick, seeds

SIDE_BY_SIDE = [("vacuous", "nearly singular", "Bennett"), ("redundant", "crank and slider", "planar polygon")]
MANY = ("planar four-bar", "vacuous", "redundant", "spherical", "nearly singular", "planar polygon")
LIMIT = 1e-8


@pytest.fixture
def plain():
    """Without native code: its making would take most of the time."""
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


def check(families: tuple[str, ...], seed: int) -> dict[str, float]:
    found = compared(random_closed([seed, len(families)], families), np.random.default_rng(seed))
    assert found.counted == {found.freedoms}
    wrong = {name: error for name, error in found.errors.items() if not error <= LIMIT * found.condition}
    assert not wrong, f"condition {found.condition:.1e}"
    return found.errors


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", FAMILIES)
def test_alone(family: str, seed: int, plain: None):
    assert check((family,), seed).keys() == set(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, quick=1))
@pytest.mark.parametrize("families", SIDE_BY_SIDE)
def test_side_by_side(families: tuple[str, ...], seed: int, plain: None):
    check(families, seed)


@pytest.mark.slow
@pytest.mark.parametrize("times", quick([1, 2], [1]))
def test_many(times: int, plain: None, monkeypatch: pytest.MonkeyPatch):
    """Those that go by matrices of numbers, and every way through these."""
    if times == 1:
        monkeypatch.setattr(closed_response, "FEW", 0)
    assert "many, variables" in check(times * MANY, 0)


@pytest.mark.parametrize("family", ["planar four-bar", "vacuous", "nearly singular"])
def test_compiled(family: str):
    """Native code is made of another model with the same motion, which has other terms and other rounding."""
    made = random_closed(3, (family,))
    right = NullSpace(made)
    v, tau = right.state(np.random.default_rng(3))
    many = kn.forward_dynamics(made.model, made.q, v, np.tile(tau, (300, 1)))
    a, free = right.acceleration(v, tau), kn.forward_dynamics(made.model.without_loops(), made.q, v, tau)
    assert right.error(many[7], a, free) <= LIMIT * right.condition


@pytest.mark.parametrize("family", FAMILIES)
def test_the_reference_leaves_rounding_only(family: str):
    """The rank by drawing is the rank of K: what it leaves is rounding, and the last that counts is much more."""
    for seed in range(3):
        right = NullSpace(random_closed([seed, 9], (family,)))
        assert right.rest <= 1e-13
        assert right.condition < 1e9
