"""`constrained_acceleration` over scalars of every kind, compiled, and inside kernels; H⁻¹ x in O(n)."""

import mpmath
import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import set_policy as set_compilation
from knuckle.scalar import Dual
from knuckle.testing import random_tree

C = kn.constraints


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(4)
    model = random_tree(rng, 4, types=["revolute", "prismatic", "spherical"])
    q, (v, tau) = kn.random_configuration(model, rng), rng.standard_normal((2, model.nv))
    last = model.body_names[-1]
    constraints = (
        C.Distance(last, 0.8, on=(0.5, 1.0, 2.0)),
        C.PlaneDistance(last, (1.0, 1.0, 0.0), 0.2, at=(0.1, 0.2, 0.3)),
    )
    wanted = kn.constraints.acceleration(model, q, v, tau, constraints=constraints, stabilization=0.2)
    return model, q, v, tau, constraints, wanted


def test_mpmath(case):
    model, q, v, tau, constraints, wanted = case
    with mpmath.workdps(40):
        given = [mpmath.matrix([mpmath.mpf(float(x)) for x in part]) for part in (q, v, tau)]
        found = kn.constraints.acceleration(model, *given, constraints=constraints, stabilization=0.2)
        assert max(abs(float(x) - y) for x, y in zip(found, wanted, strict=True)) < 1e-9 * (1 + np.abs(wanted).max())


@pytest.mark.slow
def test_casadi(case):
    casadi = pytest.importorskip("casadi")
    model, q, v, tau, constraints, wanted = case
    symbols = [casadi.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv))]
    a = kn.constraints.acceleration(model, *symbols, constraints=constraints, stabilization=0.2)
    found = np.asarray(casadi.Function("f", symbols, [a])(q, v, tau)).ravel()
    assert np.abs(found - wanted).max() < 1e-9 * (1 + np.abs(wanted).max())


def test_duals_are_derivatives(case):
    """Dual states pass through constraints that use dual numbers themselves, and do not mix with them."""
    model, q, v, tau, constraints, wanted = case
    rng = np.random.default_rng(0)
    dq, dv, dtau = rng.standard_normal(model.nq), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    given = [[Dual(x, dx) for x, dx in zip(*pair, strict=True)] for pair in ((q, dq), (v, dv), (tau, dtau))]
    found = kn.constraints.acceleration.reference(model, *given, constraints=constraints, stabilization=0.2)
    step = [part + 1e-20j * change for part, change in ((q, dq), (v, dv), (tau, dtau))]
    slope = kn.constraints.acceleration(model, *step, constraints=constraints, stabilization=0.2).imag / 1e-20
    size = 1 + np.abs(slope).max()
    assert np.abs([x.value for x in found] - wanted).max() < 1e-11 * (1 + np.abs(wanted).max())
    assert np.abs([x.derivative for x in found] - slope).max() < 1e-9 * size


def test_compiled_and_in_a_kernel(case):
    model, q, v, tau, constraints, wanted = case

    @kn.kernel
    def pushed(model, q, v, tau):
        return kn.constraints.acceleration(model, q, v, 2 * tau, constraints=constraints, stabilization=0.2)

    set_compilation("always")
    try:
        found = kn.constraints.acceleration(model, q, v, tau, constraints=constraints, stabilization=0.2)
        assert np.abs(found - wanted).max() < 1e-9 * (1 + np.abs(wanted).max())
        assert np.abs(pushed(model, q, v, tau / 2) - wanted).max() < 1e-9 * (1 + np.abs(wanted).max())
        full = kn.constraints.dynamics(model, np.tile(q, (3, 1)), v, tau, constraints, stabilization=0.2)
        assert np.abs(full.a - wanted).max() < 1e-9 * (1 + np.abs(wanted).max())
    finally:
        set_compilation("auto")


@pytest.mark.parametrize("seed", range(4))
def test_inverse_products(seed: int):
    """H⁻¹ x without H (notes, algorithm 10), with couplings and without."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7, types=["revolute", "prismatic", "helical"] if seed % 2 else None)
    if seed % 2:
        model = model.replace(couplings=(kn.model.mimic(3, 1, -2.0, 0.1),))
    q = kn.random_configuration(model, rng)
    x = rng.standard_normal((3, model.nv))
    H = kn.mass_matrix(model, q)
    found = kn.mass_matrix_inverse_product(model, q, x)
    assert np.abs(found @ H - x).max() < 1e-14 * np.linalg.cond(H) * (1 + np.abs(x).max())
