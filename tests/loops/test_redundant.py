"""Constraints that depend on each other, and positions in which they begin to (RBDA 8.5, 8.10)."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import Builder, rod
from knuckle.testing.loops.linkages import LINKAGES, bennett, four_bar

Y = Revolute("y")

COUNTS = {  # n, n_c, r (X7: the planar four-bar in space)
    "four-bar": (3, 5, 2),
    "crank-slider": (3, 5, 2),
    "five-bar": (4, 5, 2),
    "Stewart": (24, 18, 18),
    "Delta": (21, 18, 18),
    "leg": (17, 6, 6),
    "ladder": (12, 20, 8),
    "Bennett": (3, 5, 2),
}


@pytest.mark.parametrize("name", COUNTS)
def test_mobility(name: str):
    made = LINKAGES[name]()
    report = kn.loops.degrees_of_freedom(made.model, made.q)
    n, constraints, rank = COUNTS[name]
    assert (report.variables, report.constraints, report.rank) == (n, constraints, rank)
    assert report.freedoms == n - rank
    assert report.counted == n - constraints
    assert report.undetermined == constraints - rank
    assert report.overconstrained == (rank < constraints)
    assert not report.singular
    assert ("undetermined" in str(report)) == (rank < constraints)


def flat_parallelogram() -> tuple[kn.Model, np.ndarray]:
    """A parallelogram stretched into a line: there it can fold either way, with one freedom more (RBDA figure 8.2)."""
    b = Builder("flat")
    b.body("a", joint=Y, inertia=rod(1.0, 1.0, at=dict(xyz=(0.5, 0, 0), rpy=(0, np.pi / 2, 0))))
    b.body("b", on="a", joint=Y, at=(1, 0, 0), inertia=rod(1.0, 2.0, at=dict(xyz=(1, 0, 0), rpy=(0, np.pi / 2, 0))))
    b.body("c", joint=Y, at=(2, 0, 0), inertia=rod(1.0, 1.0, at=dict(xyz=(0.5, 0, 0), rpy=(0, np.pi / 2, 0))))
    b.close_loop("pin", Y, "b", "c", (2, 0, 0), (1, 0, 0))
    model = b.build()
    return model, kn.neutral(model)


def test_a_singular_position_is_reported():
    model, q = flat_parallelogram()
    report = kn.loops.degrees_of_freedom(model, q)
    assert (report.freedoms, report.variables - report.nearby_rank) == (2, 1)
    assert report.singular
    assert "singular" in str(report)


@pytest.mark.parametrize("method", ["aba", "kkt"])
def test_dynamics_in_a_singular_position(method: str):
    """The constraints that are there hold, the equation of motion holds, nothing is NaN."""
    model, q = flat_parallelogram()
    tau = np.array([1.0, -2.0, 0.5])
    a = kn.forward_dynamics(model, q, np.zeros(3), tau, method=method)
    lam = kn.loops.forces(model, q, np.zeros(3), tau)
    K = kn.loops.jacobian(model, q)
    assert np.isfinite(a).all()
    np.testing.assert_allclose(K @ a, 0, atol=1e-10)
    np.testing.assert_allclose(
        kn.inverse_dynamics(model.without_loops(), q, np.zeros(3), a), tau + K.T @ lam, atol=1e-9
    )


@pytest.mark.parametrize("offset", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 0.0])
def test_dynamics_near_a_singular_position(offset: float):
    """Ever closer to the line: finite, and the loop's constraints hold as far as they are told apart."""
    model, _ = flat_parallelogram()
    found = kn.loops.close(model, np.array([offset, -offset, offset]), keep=["a_joint"])
    assert found.closed
    a = kn.forward_dynamics(model, found.q, np.zeros(3), np.array([1.0, -2.0, 0.5]))
    assert np.isfinite(a).all()
    assert np.abs(kn.loops.jacobian(model, found.q) @ a).max() <= 1e-5 * np.abs(a).max()


def test_bennett_moves():
    """Counting says it is rigid; it has one freedom, with a loop error as simulation leaves it too."""
    made = bennett()
    model, q = made.model, made.q
    assert kn.loops.degrees_of_freedom(model, q).counted == -2
    free = kn.forward_dynamics(model, q, np.zeros(3), np.array([1.0, 0, 0]))
    nudged = kn.integrate(model, q, 1e-8 * np.array([1.0, -2.0, 0.5]))
    assert np.abs(free).max() > 1
    np.testing.assert_allclose(kn.forward_dynamics(model, nudged, np.zeros(3), np.array([1.0, 0, 0])), free, rtol=1e-5)


def test_undetermined_forces_are_the_least():
    """Any λ + null vector moves the mechanism alike (P10); ours is orthogonal to the null space of Kᵀ."""
    made = four_bar()
    model, q = made.model, made.q
    K = kn.loops.jacobian(model, q)
    lam = kn.loops.forces(model, q, np.zeros(3), np.array([1.0, 2.0, 3.0]))
    null = np.linalg.svd(K.T)[2][2:]
    assert null.shape == (3, 5)
    np.testing.assert_allclose(null @ lam, 0, atol=1e-12 * np.abs(lam).max())


def test_independent_variables_by_choice():
    made = four_bar()
    model, q = made.model, made.q
    for name in model.joint_names:
        choice = kn.loops.independent_variables(model, q, joints=[name])
        assert choice.independent == (model.v_slices[model.joint_index(name)].start,)
        G = kn.loops.null_space(model, q, choice=choice)
        np.testing.assert_allclose(kn.loops.jacobian(model, q) @ G, 0, atol=1e-14)
        assert G[choice.independent[0], 0] == 1
    with pytest.raises(ValueError, match="cannot all be independent"):
        kn.loops.independent_variables(model, q, joints=model.joint_names[:2])


def test_dependence(linkage, rng: np.random.Generator):
    """K G = 0, K g = k, G of full rank n − r (P9)."""
    model, q = linkage.model, linkage.q
    from .oracle import allowed

    v = allowed(model, q, rng)
    choice = kn.loops.independent_variables(model, q)
    G, g = kn.loops.null_space(model, q, choice=choice), kn.loops.null_space_bias(model, q, v, choice=choice)
    K, k = kn.loops.jacobian(model, q), kn.loops.bias(model, q, v)
    size = 1 + np.abs(G).max()
    np.testing.assert_allclose(K @ G, 0, atol=1e-11 * size)
    np.testing.assert_allclose(K @ g, k, atol=1e-10 * size * (1 + np.abs(k).max()))
    assert G.shape == (model.nv, kn.loops.degrees_of_freedom(model, q).freedoms)
    assert np.linalg.matrix_rank(G) == G.shape[1]
