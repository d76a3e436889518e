"""Forward dynamics of closed loops by every method (RBDA 8.5): properties P10, P12, P14."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing.loops.linkages import LINKAGES, Linkage, ladder

from ..seeds import quick
from .oracle import accelerations, allowed

METHODS = ["aba", "kkt", "independent"]


def solved(model: kn.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, method: str, **more: object) -> np.ndarray:
    if method == "independent":
        more["choice"] = kn.loops.independent_variables(model, q)
    return kn.forward_dynamics(model, q, v, tau, method=method, **more)  # type: ignore[arg-type]


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-9) -> None:
    assert np.abs(a - b).max() <= tolerance * (1 + np.abs(b).max())


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
def test_linkages(linkage: Linkage, method: str, rng: np.random.Generator):
    """All methods agree with dense linear algebra on the frames' Jacobians."""
    model, q = linkage.model, linkage.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    wanted = accelerations(model, q, v, tau, kn.loops.bias(model, q, v))
    close(solved(model, q, v, tau, method), wanted)


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
def test_random_mechanisms(several_loops: Linkage, method: str, rng: np.random.Generator):
    model, q = several_loops.model, several_loops.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    k = kn.loops.bias(model, q, v)
    a, wanted = solved(model, q, v, tau, method), accelerations(model, q, v, tau, k)
    condition = np.linalg.cond(kn.mass_matrix(model.without_loops(), q))
    close(a, wanted, 1e-12 * condition)
    close(kn.loops.jacobian(model, q) @ a, k, 1e-12 * condition)


@pytest.mark.slow
def test_a_ladder_of_fifty(rng: np.random.Generator):
    """By stages, by independent variables, and by the whole system, which the oracle solves (methods 2, 3 and 1)."""
    made = ladder(50)
    model, q = made.model, made.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    wanted = accelerations(model, q, v, tau, kn.loops.bias(model, q, v))
    for method in ("aba", "independent"):
        close(solved(model, q, v, tau, method), wanted)


def test_forces_that_only_load_the_constraints_change_nothing(several_loops: Linkage, rng: np.random.Generator):
    """τ + Kᵀμ gives the same acceleration (P14)."""
    model, q = several_loops.model, several_loops.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    K = kn.loops.jacobian(model, q)
    condition = np.linalg.cond(kn.mass_matrix(model.without_loops(), q))
    a, b = (kn.forward_dynamics(model, q, v, f) for f in (tau, tau + K.T @ rng.standard_normal(len(K))))
    close(a, b, 1e-12 * condition)


def test_multipliers_solve_the_equation_of_motion(several_loops: Linkage, rng: np.random.Generator):
    """H a + C = τ + Kᵀλ, with λ in the range of K: the least norm (P10)."""
    model, q = several_loops.model, several_loops.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    tree, K = model.without_loops(), kn.loops.jacobian(model, q)
    a, lam = kn.forward_dynamics(model, q, v, tau), kn.loops.forces(model, q, v, tau)
    left = kn.inverse_dynamics(tree, q, v, a)
    size = 1 + np.abs(left).max()
    values = np.linalg.svd(K, compute_uv=False)
    condition = values.max() / values[values > 1e-6 * values.max()].min()
    np.testing.assert_allclose(left, tau + K.T @ lam, rtol=0, atol=1e-12 * size * condition**2)
    np.testing.assert_allclose(K @ np.linalg.pinv(K, rcond=1e-6) @ lam, lam, rtol=0, atol=1e-12 * size * condition**2)


def test_external_forces_count(linkage: Linkage, rng: np.random.Generator):
    """A wrench on a body is what it is in the tree: the generalised force Jᵀf."""
    model, q = linkage.model, linkage.q
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    f = rng.standard_normal((model.nb, 6))
    tree = model.without_loops()
    push = kn.inverse_dynamics(tree, q, v, tau) - kn.inverse_dynamics(tree, q, v, tau, f)
    close(kn.forward_dynamics(model, q, v, tau, f), kn.forward_dynamics(model, q, v, tau + push))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5)])
@pytest.mark.parametrize("linkage", quick(sorted(LINKAGES), LINKAGES.keys() - {"Stewart", "Delta"}), indirect=True)
def test_kernels_are_the_text(linkage: Linkage, shape: tuple[int, ...], dtype: type, rng: np.random.Generator):
    """Native code of either precision, for any batch: to the precision times the condition of the problem."""
    model, q = linkage.model, linkage.q
    v = np.array([allowed(model, q, rng) for _ in range(int(np.prod(shape)))]).reshape(*shape, model.nv)
    tau = rng.standard_normal((*shape, model.nv))
    plain = kn.forward_dynamics(model, q, v, tau)
    kn.compilation.set_policy("always")
    try:
        a = kn.forward_dynamics(model, q.astype(dtype), v.astype(dtype), tau.astype(dtype))
    finally:
        kn.compilation.set_policy("auto")
    assert a.dtype == dtype
    assert a.shape == (*shape, model.nv)
    K, H = kn.loops.jacobian(model, q), kn.mass_matrix(model.without_loops(), q)
    values = np.linalg.svd(K, compute_uv=False)
    condition = np.linalg.cond(H) * (values.max() / values[values > 1e-9 * values.max()].min()) ** 2
    close(a, plain, 50 * np.finfo(dtype).eps * condition)


def test_stabilisation_adds_what_the_book_says(linkage: Linkage, rng: np.random.Generator):
    """K a = k − 2/T Tᵀv_J − δ/T² (RBDA 8.21-8.23), off the constraint manifold too."""
    model = linkage.model
    q, v = kn.integrate(model, linkage.q, 1e-3 * rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
    K = kn.loops.jacobian(model, q)
    if np.linalg.matrix_rank(K, tol=1e-9) < len(K):
        pytest.skip("its errors cannot all be corrected: the constraints depend on each other")
    a = kn.forward_dynamics(model, q, v, np.zeros(model.nv), stabilization=0.1)
    k = kn.loops.bias(model, q, v)
    wanted = k - 20 * kn.loops.error_rate(model, q, v) - 100 * kn.loops.error(model, q)
    close(K @ a, wanted)


def test_loop_errors_decay_as_critically_damped():
    """A loop error of a millimetre with T_stab = 0.1 s: δ(t) = δ₀ (1 + t/T) e^(−t/T) (X20)."""
    from knuckle.testing.loops.linkages import four_bar

    made = four_bar()
    model = made.model.replace(gravity=(0.0, 0.0, 0.0))
    q, v = made.q.copy(), np.zeros(model.nv)
    q[2] += 1e-3
    start, dt = kn.loops.error(model, q), 1e-4
    for step in range(1, 3001):
        v = v + dt * kn.forward_dynamics(model, q, v, np.zeros(model.nv), stabilization=0.1)
        q = kn.integrate(model, q, dt * v)
        if step % 1000 == 0:
            t = step * dt
            wanted = start * (1 + t / 0.1) * np.exp(-t / 0.1)
            np.testing.assert_allclose(kn.loops.error(model, q), wanted, rtol=0, atol=5e-3 * np.abs(start).max())


def test_methods_need_what_they_need():
    from knuckle.testing.loops.linkages import four_bar

    made = four_bar()
    zero = np.zeros(made.model.nv)
    with pytest.raises(TypeError, match="independent_variables"):
        kn.forward_dynamics(made.model, made.q, zero, zero, method="independent")
    with pytest.raises(ValueError, match="this mechanism has none"):
        kn.forward_dynamics(made.model.without_loops(), made.q, zero, zero, method="kkt")
