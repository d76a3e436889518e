"""Gauss's principle: of the accelerations that constraints allow, the one that deviates least from free motion."""

from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

import knuckle as kn
from knuckle.constraints.constraint_rows import rows_of

from ..seeds import quick, seeds
from .subjects import subject

METHODS = ["dense", "dual", "iterative"]
T = 0.3
QUICK = (0, 2, 3, 4)


@cache
def solved(seed: int, **options: str) -> kn.constraints.ConstrainedMotion:
    """The motion of a subject, computed once for all tests."""
    s = subject(seed)
    return kn.constraints.dynamics(s.model, s.q, s.v, s.tau, s.constraints, stabilization=T, **options)


def terms(s, found):
    """H, f, J, k, which rows are equalities, and the condition that rounding grows with."""
    rows = rows_of(s.model, s.constraints, s.q[None], s.v[None], dense=True)
    k, _ = rows.accelerations(T, 0.0)
    H, f = kn.mass_matrix(s.model, s.q), s.tau - kn.bias_force(s.model, s.q, s.v)
    J = rows.G[0]
    held = J[found.active]
    condition = np.linalg.cond(H) * max(1.0, np.linalg.cond(held) if len(held) else 1.0)
    return H, f, J, k[0], rows.equality, condition


@pytest.mark.parametrize("seed", quick(range(9), (2, 3)))
def test_karush_kuhn_tucker(seed: int):
    """H a = f + Jᵀλ; rows hold; λ ≥ 0; and λ is zero where a row is not tight."""
    s, found = subject(seed), solved(seed)
    if found.status == "infeasible":
        return _infeasible(s, found)
    H, f, J, k, equal, condition = terms(s, found)
    slack, size = J @ found.a - k, 1 + np.abs(k) + np.abs(J) @ np.abs(found.a)
    limit = 1e-13 * condition
    force = np.abs(f).max() + np.abs(found.forces).max()
    assert found.solved
    assert np.abs(H @ found.a - f - J.T @ found.multipliers).max() <= limit * force
    assert np.abs(found.forces - J.T @ found.multipliers).max() <= 1e-12 * force
    assert (np.abs(slack) / size)[equal].max(initial=0.0) <= max(limit, 1e-12)
    assert (-slack / size).max() <= max(limit, 1e-11) or equal.all()
    assert found.multipliers[~equal].min(initial=0.0) >= 0
    assert found.multipliers[~equal & ~found.active].max(initial=0.0) == 0
    assert np.abs(found.multipliers * slack)[~equal].max(initial=0.0) <= max(limit, 1e-10) * force * size.max()
    return None


def _infeasible(s, found):
    """Finite, in balance, and no acceleration keeps the rows: the least squares of the tight ones miss too."""
    assert all(np.isfinite(part).all() for part in (found.a, found.multipliers, found.forces))
    assert found.violation > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("which", "feasible", "pushing"), [(QUICK, 3, 5), (range(9), 6, 8)])
def test_most_of_them_have_a_solution(which: Iterable[int], feasible: int, pushing: int):
    """The test above is about something: of its problems most are feasible, with inequalities that push."""
    found = [solved(seed) for seed in which]
    assert sum(x.solved for x in found) >= feasible
    assert sum(int((x.multipliers[-5:] > 0).sum()) for x in found if x.solved) >= pushing


@pytest.mark.parametrize("seed", quick([0, 1, 3, 4], [3]))
def test_nothing_allowed_deviates_less(seed: int):
    """½ (a − a*)ᵀ H (a − a*) grows along every way to another allowed acceleration, and the dual has the same value."""
    s, found = subject(seed), solved(seed)
    assert found.solved
    H, f, J, k, equal, condition = terms(s, found)
    free = np.linalg.solve(H, f)

    def deviation(a: np.ndarray) -> float:
        return float((a - free) @ H @ (a - free) / 2)

    least, rng = deviation(found.a), np.random.default_rng(seed)
    kernel = np.eye(len(f)) - np.linalg.pinv(J[equal], rcond=1e-9) @ J[equal] if equal.any() else np.eye(len(f))
    tried = 0
    for _ in range(400):
        other = found.a + kernel @ rng.standard_normal(len(f)) * 10 ** rng.uniform(-3, 1)
        if (J @ other >= k)[~equal].all():
            tried += 1
            assert deviation(other) >= least * (1 - 1e-9)
    lam = found.multipliers
    dual = -lam @ J @ np.linalg.solve(H, J.T @ lam) / 2 + lam @ (k - J @ free)
    assert abs(dual - least) <= 1e-13 * condition * (1 + least)
    assert tried or (lam[~equal] > 0).any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(4, quick=1))
def test_methods_agree(seed: int):
    """The mass matrix, solves in O(n), and products with conjugate gradients give one acceleration and one force."""
    s = subject(seed, inequalities=4)
    ways = [
        kn.constraints.dynamics(s.model, s.q, s.v, s.tau, s.constraints, stabilization=T, method=method)
        for method in METHODS
    ]
    assert len({str(way.status) for way in ways}) == 1
    if not ways[0].solved:
        return
    condition = terms(s, ways[0])[-1]
    for way in ways[1:]:
        assert np.abs(way.a - ways[0].a).max() <= 1e-13 * condition * (1 + np.abs(ways[0].a).max())
        assert np.abs(way.forces - ways[0].forces).max() <= 1e-13 * condition * (1 + np.abs(ways[0].forces).max())
        assert (way.active == ways[0].active).all()


@pytest.mark.parametrize("seed", quick([0, 1, 2, 3], [2, 3]))
@pytest.mark.parametrize("solver", ["quadprog", "clarabel"])
def test_solvers_agree(solver: str, seed: int):
    """Also about a problem without solution, which is that of seed 2."""
    pytest.importorskip(solver)
    one, two = solved(seed), solved(seed, solver=solver)
    assert one.status == two.status
    assert not one.solved or np.abs(one.a - two.a).max() <= 1e-8 * (1 + np.abs(one.a).max())


@pytest.mark.slow
def test_batches_are_their_states():
    s = subject(3)
    rng = np.random.default_rng(0)
    q = np.stack([[kn.random_configuration(s.model, rng) for _ in range(2)] for _ in range(2)])
    v, tau = rng.standard_normal((2, 1, s.model.nv)), s.tau
    whole = kn.constraints.dynamics(s.model, q, v, tau, s.constraints, stabilization=T)
    assert whole.a.shape == (2, 2, s.model.nv)
    assert whole.status.shape == (2, 2)
    assert whole.active.shape == whole.multipliers.shape
    for i in range(2):
        for j in range(2):
            one = kn.constraints.dynamics(s.model, q[i, j], v[i, 0], tau, s.constraints, stabilization=T)
            assert one.status == whole.status[i, j]
            assert np.abs(one.a - whole.a[i, j]).max() <= 1e-9 * (1 + np.abs(one.a).max())


def test_a_state_that_is_not_finite_stays_alone():
    s = subject(3)
    tau = np.stack([s.tau, np.full(s.model.nv, np.nan), s.tau])
    found = kn.constraints.dynamics(s.model, s.q, s.v, tau, s.constraints, stabilization=T)
    assert found.status[1] == "undefined"
    assert np.isnan(found.a[1]).all()
    assert np.isfinite(found.a[[0, 2]]).all()
    assert np.array_equal(found.a[0], found.a[2])


def test_no_constraints_is_free_motion():
    s = subject(0)
    found = kn.constraints.dynamics(s.model, s.q, s.v, s.tau, [])
    assert np.array_equal(found.a, kn.forward_dynamics(s.model, s.q, s.v, s.tau))
    assert found.multipliers.shape == (0,)
    assert not found.forces.any()
    assert found.solved


@pytest.mark.parametrize("method", METHODS)
def test_contradictions_are_said(method):
    """A stop from both sides of nothing, and two rods of different lengths: a status, and numbers that are finite."""
    C = kn.constraints
    model = kn.robots.load("arm")
    rng = np.random.default_rng(0)
    q, (v, tau) = kn.random_configuration(model, rng), rng.standard_normal((2, model.nv))
    joint = model.joint_names[2]
    squeezed = [C.JointAcceleration(joint, 5.0, bound=">="), C.JointAcceleration(joint, 3.0, bound="<=")]
    torn = [C.JointAcceleration(joint, 5.0), C.JointAcceleration(joint, 3.0)]
    stuck = [C.PlaneDistance(model.base.name, offset=-1.0, bound="<=")]
    for constraints in (squeezed, torn, stuck):
        found = kn.constraints.dynamics(model, q, v, tau, constraints, method=method, stabilization=0.1)
        assert found.status == "infeasible"
        assert not found.solved
        assert all(np.isfinite(part).all() for part in (found.a, found.forces, found.multipliers))
    a = kn.constraints.dynamics(model, q, v, tau, squeezed, method=method).a[2]
    assert abs(a - 4.0) < 1e-3, "both are missed by the same"
