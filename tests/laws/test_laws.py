"""The laws of mechanics over random mechanisms of every joint type, in general and near-singular states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.dynamics import aba, coriolis, crba, inertia_inverse, rnea
from knuckle.algorithms.dynamics import operational_space as operational
from knuckle.algorithms.energy import centroidal, energy_and_momentum
from knuckle.algorithms.kinematics import body_motions
from knuckle.algorithms.kinematics import external_forces as external
from knuckle.algorithms.kinematics import jacobians as jacobian
from knuckle.testing import JOINTS, LAWS, auto_tree, general_chain, momentum_rate, random_state, random_tree
from knuckle.testing.laws import condition, relative

from ..seeds import seeds

QUICK = 10  # of these mechanisms, in `make test`
TOLERANCE = 1e-11  # errors are relative to the terms that cancel, and to cond(H) where H is inverted


@pytest.mark.parametrize("near_singular", [False, True])
@pytest.mark.parametrize("seed", seeds(220, quick=QUICK))
@pytest.mark.sampled
def test_laws_hold(seed: int, near_singular: bool) -> None:
    model = random_tree(seed)
    state = random_state(model, 1000 + seed, near_singular=near_singular)
    errors = {name: law(model, state) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), (errors, str(model))


@pytest.mark.parametrize("seed", seeds(40, quick=5))
def test_momentum_changes_by_the_outer_wrench(seed: int) -> None:
    model = random_tree(seed, floating=True)
    assert momentum_rate(model, random_state(model, seed)) < TOLERANCE


@pytest.mark.parametrize("seed", seeds(3, quick=1))
@pytest.mark.parametrize("name", sorted(JOINTS))
def test_every_joint_type_obeys_every_law(name: str, seed: int) -> None:
    """Each type alone on the base, in the middle of a chain and at its end, forward and reversed."""
    model = random_tree(seed, nb=3, types=[name, "revolute", name])
    state = random_state(model, seed)
    errors = {key: law(model, state) for key, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), (errors, str(model))


def test_random_mechanisms_contain_everything() -> None:
    """The draw covers every joint type, branches, reversed joints, coincident frames and rotors."""
    models = [random_tree(seed) for seed in range(QUICK)]
    text = "".join(repr(model.joints) for model in models)
    kinds = {type(JOINTS[name](np.random.default_rng(0))).__name__ for name in JOINTS}
    assert all(kind + "(" in text for kind in kinds), kinds
    assert "Reversed(" in text
    assert any(len(model.children(i)) > 1 for model in models for i in range(model.nb))
    assert any(all(x == 0 for x in joint.X_tree.r) for model in models for joint in model.joints)
    assert any(any(joint.rotor_inertia) for model in models for joint in model.joints)
    assert any(any(joint.friction) for model in models for joint in model.joints)


@pytest.mark.parametrize(
    "model",
    [
        general_chain(12),
        auto_tree(15, 2.0, 0.4, 0.9),
        pytest.param(auto_tree(10, 1.5, 1.0, 0.8), marks=pytest.mark.slow),
    ],
)
def test_laws_hold_for_the_book_families(model: kn.Model) -> None:
    state = random_state(model, 7)
    errors = {name: law(model, state) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), errors


MISTAKES: dict[str, tuple[Any, str]] = {
    "round_trip": (aba, "forward_dynamics"),
    "equation_of_motion": (rnea, "inverse_dynamics"),
    "mass_matrix_forms": (crba, "mass_matrix_by_columns"),
    "inverse_of_mass_matrix": (inertia_inverse, "mass_matrix_inverse"),
    "coriolis": (coriolis, "coriolis_matrix"),
    "power": (energy_and_momentum, "kinetic_energy"),
    "base_coordinates": (rnea, "inverse_dynamics"),
    "gravity_is_a_gradient": (rnea, "gravity_force"),
    "external_forces": (external, "force_in_frame"),
    "jacobians": (jacobian, "jacobian_rate"),
    "poses": (body_motions, "velocities"),
    "momenta": (centroidal, "centroidal_bias"),
    "operational_space": (operational, "operational_inverse_inertia"),
    "manifold": (kn.joints.Revolute, "integrate"),
}
"""For each law an algorithm that it depends on."""


def _off_by_a_little(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: _off_by_a_little(value) for key, value in x.items()}
    if isinstance(x, tuple):  # (body, force)
        return x[0], x[1] * 1.0001
    return x * 1.0001


@pytest.mark.parametrize("name", sorted(LAWS))
def test_a_law_notices_a_mistake(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that cannot fail is no law: an algorithm that is wrong in the fourth digit breaks it."""
    model = random_tree(3, nb=4, types=["revolute"])
    state = random_state(model, 3)
    module, function = MISTAKES[name]
    right = getattr(module, function)
    monkeypatch.setattr(module, function, lambda *args: _off_by_a_little(right(*args)))
    assert LAWS[name](model, state) > 1e-7


def test_condition_number_guards_the_tolerance() -> None:
    model = general_chain(6)
    assert condition(model, random_state(model, 0)) >= 1.0
    assert relative(np.ones(2), np.full(2, 4.0)) == 0.25
