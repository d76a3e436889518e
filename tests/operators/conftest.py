"""Mechanisms for the operator algebra: random trees over every joint type, at random configurations."""

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle.operators import Operators, at


def without_rotors(model: kn.Model) -> kn.Model:
    """As in the paper, which has no rotors."""
    return model.replace(joints=tuple(dataclasses.replace(joint, rotor_inertia=()) for joint in model.joints))


def tree(seed: int, nb: int = 8) -> Operators:
    """Operators of a random tree in motion, with points on three bodies and on the base."""
    rng = np.random.default_rng(seed)
    model = without_rotors(kn.testing.random_tree(rng, nb, resistance=False))
    q, v = kn.random_configuration(model, rng), rng.normal(size=model.nv)
    bodies = rng.choice(model.body_names, 3, replace=False)
    return at(model, q, v, points=[*(str(name) for name in bodies), model.base.name])


@pytest.fixture(params=range(6))
def ops(request: pytest.FixtureRequest) -> Operators:
    return tree(request.param)
