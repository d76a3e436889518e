"""The laws on native code: every real-valued evaluation goes through compiled kernels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import knuckle as kn
from knuckle.run.kernel import kernels
from knuckle.testing import LAWS, momentum_rate, random_state, random_tree

TOLERANCE = 1e-11


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    before = kernels.policy
    kn.set_compilation("always")
    yield
    kn.set_compilation(before)


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_laws_hold_on_compiled_kernels(seed: int) -> None:
    model = random_tree(seed, nb=3)
    errors = {name: law(model, random_state(model, seed)) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), (errors, str(model))


def test_momentum_on_compiled_kernels() -> None:
    model = random_tree(2, nb=3, floating=True)
    assert momentum_rate(model, random_state(model, 2)) < TOLERANCE
