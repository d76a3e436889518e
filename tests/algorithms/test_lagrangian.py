"""The slopes of the Lagrangian are those that the equations of motion are made of."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.methods.variational import slopes
from knuckle.scalar import Dual, value_of
from knuckle.spatial import Vector
from knuckle.testing import random_state, random_tree

PLAIN = [
    "revolute", "prismatic", "helical", "cylindrical", "yaw_pitch_roll", "euler", "exponential", "universal",
    "translational", "rack_and_pinion", "composite", "spline_curve", "spline_surface",
]  # fmt: skip
"""The joints with v = q̇: there Lagrange's equation holds as it is printed."""
SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_lagranges_equation_is_inverse_dynamics(seed: int):
    """d/dt ∂T/∂v − ∂L/∂q = τ, the rate taken exactly."""
    model = random_tree(seed, types=PLAIN, resistance=False)
    state = random_state(model, seed)
    moving = Vector(map(Dual, state.q, state.v)), Vector(map(Dual, state.v, state.a))
    p, rotors, s = slopes(model, *moving, state.f_ext)
    tau = [a.derivative - value_of(b) for a, b in zip(p + rotors, s, strict=True)]
    expected = kn.inverse_dynamics(model, state.q, state.v, state.a, state.f_ext)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_momenta_are_those_of_the_mass_matrix(seed: int):
    model = random_tree(seed)
    state = random_state(model, seed)
    bodies, rotors, _ = slopes(model, Vector(state.q), Vector(state.v), state.f_ext)
    p = bodies + rotors
    expected = kn.mass_matrix(model, state.q) @ state.v
    np.testing.assert_allclose(list(map(float, p)), expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slope_of_the_kinetic_energy(seed: int):
    """∂T/∂q along every velocity variable with v held, on every joint; without weight and wrenches."""
    model = random_tree(seed).with_gravity((0.0, 0.0, 0.0))
    state = random_state(model, seed)
    q, v = Vector(map(float, state.q)), Vector(map(float, state.v))
    _, _, s = slopes(model, q, v, 0 * state.f_ext)
    for k, slope in enumerate(s):
        e = np.eye(model.nv)[k]
        rate = kn.velocity_to_qdot(model, state.q, e)
        T = kn.kinetic_energy.reference(model, Vector(map(Dual, q, map(float, rate))), v)
        expected = T.derivative if isinstance(T, Dual) else 0.0
        assert float(slope) == pytest.approx(float(expected), abs=1e-11 * (1 + abs(float(T.value))))
