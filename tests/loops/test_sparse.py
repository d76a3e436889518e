"""The sparse matrix method (RBDA 8.13) as independent implementation: P15, X10."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing.loops.linkages import LINKAGES, Linkage, ladder
from knuckle.testing.oracles import sparse_matrix_method

from ..seeds import quick
from .oracle import allowed


def state(made: Linkage, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return made.q, allowed(made.model, made.q, rng), rng.standard_normal(made.model.nv)


@pytest.mark.parametrize("name", sorted(LINKAGES))
def test_linkages(name: str, rng: np.random.Generator):
    """Accelerations as by the spanning tree, by sparse and by dense matrices."""
    made = LINKAGES[name]()
    q, v, tau = state(made, rng)
    a = kn.forward_dynamics(made.model, q, v, tau)
    for is_sparse in (True, False):
        found = sparse_matrix_method.forward_dynamics(made.model, q, v, tau, sparse=is_sparse)
        assert np.abs(found - a).max() <= 1e-9 * (1 + np.abs(a).max())


def test_random_mechanisms(several_loops: Linkage, rng: np.random.Generator):
    """With wrenches on the bodies and actuators at the loop joints."""
    model = several_loops.model
    q, v, tau = state(several_loops, rng)
    f, own = rng.standard_normal((model.nb, 6)), rng.standard_normal(sum(loop.type.nv for loop in model.loops))
    a = kn.forward_dynamics(model, q, v, tau + kn.loops.active_jacobian(model, q).T @ own, f)
    found = sparse_matrix_method.forward_dynamics(model, q, v, tau, f, own)
    condition = np.linalg.cond(kn.mass_matrix(model.without_loops(), q))
    assert np.abs(found - a).max() <= max(1e-9, 1e-12 * condition) * (1 + np.abs(a).max())


@pytest.mark.parametrize("name", quick(sorted(LINKAGES), sorted(LINKAGES)[::2]))
def test_rank(name: str, rng: np.random.Generator):
    """P15: the matrix has full rank, 6 N_B + n_c, exactly where the mechanism is properly constrained."""
    made = LINKAGES[name]()
    system = sparse_matrix_method.system(made.model, *state(made, rng))
    missing = system.size - np.linalg.matrix_rank(system.matrix(), tol=1e-9)
    report = kn.loops.degrees_of_freedom(made.model, made.q)
    assert missing == report.undetermined
    assert (missing == 0) == (not report.overconstrained)


@pytest.mark.slow
def test_ladders_have_a_band(rng: np.random.Generator):
    """X10: along the ladder, blocks stay as close to the diagonal however long it is, and the factor grows linearly."""
    from scipy.sparse.linalg import splu

    bands, fill = [], []
    for loops in (6, 12, 24):
        made = ladder(loops)
        system = sparse_matrix_method.system(made.model, *state(made, rng))
        order = system.along()
        bands.append(system.bandwidth(order))
        factor = splu(system.matrix(order, sparse_matrix_method.PROXIMAL), permc_spec="NATURAL")
        fill.append(factor.L.nnz + factor.U.nnz)
    assert bands[0] == bands[1] == bands[2] <= 8
    assert fill[2] < 4.4 * fill[0]


@pytest.mark.slow
def test_a_ladder_of_fifty(rng: np.random.Generator):
    made = ladder(50)
    q, v, tau = state(made, rng)
    a = kn.forward_dynamics(made.model, q, v, tau)
    found = sparse_matrix_method.forward_dynamics(made.model, q, v, tau)
    assert np.abs(found - a).max() <= 1e-9 * (1 + np.abs(a).max())


def test_rotors_count(rng: np.random.Generator):
    """Rotor inertia is felt at joints of the tree: ρ q̈ of the joint force."""
    from dataclasses import replace

    made = LINKAGES["five-bar"]()
    geared = (replace(joint, rotor_inertia=(0.3,)) for joint in made.model.joints)
    made = Linkage(made.model.replace(joints=tuple(geared)), made.q)
    q, v, tau = state(made, rng)
    a = kn.forward_dynamics(made.model, q, v, tau)
    np.testing.assert_allclose(sparse_matrix_method.forward_dynamics(made.model, q, v, tau), a, rtol=1e-10)
