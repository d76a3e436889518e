"""K, k and δ of loop joints (RBDA 8.2 to 8.7): properties P9, P11 and P12 of every joint type."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing.loops.linkages import Linkage

from .oracle import allowed, dense_jacobian

STEP = 1e-6


def test_mechanisms_are_closed(one_loop: Linkage):
    model, q = one_loop.model, one_loop.q
    assert np.abs(kn.loops.error(model, q)).max(initial=0.0) < 1e-12
    assert np.abs(kn.loops.gap(model, q)).max() < 1e-7  # the arc cosine of one less rounding


def test_jacobian_is_that_of_the_frames(one_loop: Linkage, rng: np.random.Generator):
    """K = Tᵀ(J_s − J_p) and K v = Tᵀ v_J (P9)."""
    model, q = one_loop.model, one_loop.q
    K, v = kn.loops.jacobian(model, q), rng.standard_normal(model.nv)
    np.testing.assert_allclose(K, dense_jacobian(model, q), rtol=0, atol=1e-11)
    np.testing.assert_allclose(K @ v, kn.loops.error_rate(model, q, v), rtol=0, atol=1e-11)


def test_jacobian_is_the_slope_of_the_error(one_loop: Linkage, rng: np.random.Generator):
    """δ̇ = K v at a closed position, by central differences: the error of these is of the order of STEP²."""
    model, q = one_loop.model, one_loop.q
    v = rng.standard_normal(model.nv)
    ahead, behind = (kn.loops.error(model, kn.integrate(model, q, s * STEP * v)) for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * STEP), kn.loops.jacobian(model, q) @ v, rtol=0, atol=1e-7)


def test_bias_is_the_rate_of_the_jacobian(one_loop: Linkage, rng: np.random.Generator):
    """k = −K̇ v for velocities that keep the loop closed, with T that changes too (RBDA 8.15)."""
    model, q = one_loop.model, one_loop.q
    v = allowed(model, q, rng)
    ahead, behind = (kn.loops.jacobian(model, kn.integrate(model, q, s * STEP * v)) for s in (1, -1))
    k = kn.loops.bias(model, q, v)
    np.testing.assert_allclose(
        k, -((ahead - behind) / (2 * STEP)) @ v, rtol=0, atol=1e-6 * (1 + np.abs(k).max(initial=0))
    )


def test_constraint_forces_do_no_work(several_loops: Linkage, rng: np.random.Generator):
    """λᵀ K v = 0 (P11)."""
    model, q = several_loops.model, several_loops.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    lam = kn.loops.forces(model, q, v, tau)
    power = lam @ kn.loops.jacobian(model, q) @ v
    assert abs(power) <= 1e-10 * (1 + np.abs(lam).sum())


def test_active_forces_do_the_work_of_their_joints(one_loop: Linkage, rng: np.random.Generator):
    """τ_aᵀ v = τ_lᵀ v_l: the power at the loop joint, whose own velocities are K_a v (RBDA 8.28-8.33)."""
    model, q = one_loop.model, one_loop.q
    kind = model.loops[0].type
    Ka, v = kn.loops.active_jacobian(model, q), allowed(model, q, rng)
    assert Ka.shape == (kind.nv, model.nv)
    tau = rng.standard_normal(kind.nv)
    ahead, behind = (_own_position(model, kn.integrate(model, q, s * STEP * v)) for s in (1, -1))
    if kind.nq == kind.nv and type(kind).rate is kn.joints.Joint.rate:
        rate = (ahead - behind) / (2 * STEP)
        np.testing.assert_allclose(Ka @ v, rate, rtol=0, atol=1e-6 * (1 + np.abs(rate).max(initial=0)))
    assert (Ka.T @ tau) @ v == pytest.approx(tau @ (Ka @ v))


def _own_position(model: kn.Model, q: np.ndarray) -> np.ndarray:
    from knuckle.algorithms.loops.loop_constraints import closure

    return np.array(list(closure(model, model.positions(q.tolist()), model.loops[0]).q), float)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(), (1,), (3, 5)])
def test_batches_and_kernels_are_the_text(several_loops: Linkage, shape: tuple[int, ...], rng: np.random.Generator):
    model = several_loops.model
    q = np.broadcast_to(several_loops.q, (*shape, model.nq))
    v = rng.standard_normal((*shape, model.nv))
    plain = {f: f(model, q, v) for f in (kn.loops.bias, kn.loops.error_rate)}
    for f, result in plain.items():
        assert result.shape == (*shape, sum(6 - loop.type.nv for loop in model.loops))
        one = f(model, several_loops.q, v.reshape(-1, model.nv)[0])
        np.testing.assert_allclose(result.reshape(-1, result.shape[-1])[0], one, rtol=1e-10, atol=1e-10)


def test_far_from_the_origin_nothing_is_lost():
    """A floating mechanism a million metres away has the K, k and δ that it has here (RBDA 10.1)."""
    from knuckle.testing.loops.linkages import leg

    made = leg()
    model, near = made.model, made.q
    far = near.copy()
    far[4:7] += 1e6
    v = np.random.default_rng(0).standard_normal(model.nv)
    assert np.array_equal(kn.loops.jacobian(model, near), kn.loops.jacobian(model, far))
    assert np.array_equal(kn.loops.bias(model, near, v), kn.loops.bias(model, far, v))
    assert np.array_equal(kn.loops.error(model, near), kn.loops.error(model, far))
