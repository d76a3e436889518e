"""Constraints in matrices of numbers: both ways give the motion that the code gives, and repeat to the last bit."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.functions.loops.dense_constraints import DenseConstraints, chosen, spanning_tree
from knuckle.functions.loops.loop_terms import judged_constraints
from knuckle.solvers.numeric_rank import Judged, choice_of
from knuckle.testing.loops.linkages import LINKAGES, ladder

from .oracle import allowed


@pytest.mark.parametrize("name", sorted(LINKAGES))
def test_both_ways(name: str, rng: np.random.Generator):
    """By independent variables and by constraint forces, for several forces at once."""
    made = LINKAGES[name]()
    model, q = made.model, made.q
    v, tau = allowed(model, q, rng), rng.standard_normal((3, model.nv))
    wanted = kn.forward_dynamics(model, q, v, tau)
    tree = spanning_tree(model)
    H, rows, force = kn.mass_matrix(tree, q), judged_constraints(model, q), tau - kn.bias_force(tree, q, v)
    for found in (DenseConstraints(H, rows, model), DenseConstraints(H, rows)):
        a = found.response(kn.loops.bias(model, q, v), force)
        assert np.abs(a - wanted).max() <= 1e-10 * (1 + np.abs(wanted).max())
    assert (chosen(model) is None) == (name == "Bennett")  # whose neutral position is open


def test_constraints_that_the_variables_do_not_know_are_not_forgotten():
    """A choice with one constraint too few: its acceleration breaks the other, and the forces come first instead."""
    made = LINKAGES["Stewart"]()
    model, q = made.model, made.q
    rows, H = judged_constraints(model, q), kn.mass_matrix(spanning_tree(model), q)
    short = DenseConstraints(H, rows, model)
    short._choice = choice_of(Judged(rows.K[:-1], lambda: (rows.size[:-1], rows.doubt)))
    k = rows.K @ np.arange(model.nv)
    np.testing.assert_allclose(short.response(k), DenseConstraints(H, rows).response(k), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("name", sorted(LINKAGES))
def test_choices_determine_the_others_well(name: str):
    made = LINKAGES[name]()
    rows = judged_constraints(made.model, made.q)
    ours = choice_of(rows)
    assert len(ours.dependent) == kn.loops.degrees_of_freedom(made.model, made.q).rank
    square = rows.K[list(ours.constraints)][:, list(ours.dependent)]
    assert np.linalg.cond(square) < 1e4


@pytest.mark.slow
def test_batches_of_a_long_mechanism(rng: np.random.Generator):
    made = ladder(12)
    model, q = made.model, made.q
    v = np.array([allowed(model, q, rng) for _ in range(3)])
    tau = rng.standard_normal((3, model.nv))
    many = kn.forward_dynamics(model, q, v, tau)
    for k in range(3):
        one = kn.forward_dynamics(model, q, v[k], tau[k])
        np.testing.assert_allclose(many[k], one, rtol=0, atol=1e-10 * np.abs(one).max())
