"""Operators as objects: SciPy's protocol, kernels, scalars of any kind, and errors."""

import casadi
import mpmath
import numpy as np
import pytest
import scipy.sparse.linalg
import sympy

import knuckle as kn
from knuckle import operators
from knuckle.operators.application import applied
from knuckle.operators.operator_entries import Configuration
from knuckle.operators.symbols import D_inverse, H, phi, psi, whitening
from knuckle.spatial import Vector
from knuckle.testing.counting import Tally

from .conftest import tree


def test_scipys_protocol():
    ops = tree(3)
    mass, nv = ops.mass, ops.model.nv
    dense, rng = kn.mass_matrix(ops.model, ops.given), np.random.default_rng(1)
    x, X = rng.normal(size=nv), rng.normal(size=(nv, 3))
    assert mass.shape == (nv, nv)
    assert mass.dtype == np.float64
    for A in (mass, scipy.sparse.linalg.aslinearoperator(mass), mass.aslinearoperator()):
        np.testing.assert_allclose(A.matvec(x), dense @ x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(A.matvec(x[:, None]), dense @ x[:, None], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(A.matmat(X), dense @ X, rtol=1e-12, atol=1e-12)
    K = ops.K
    y = rng.normal(size=K.shape[0])
    np.testing.assert_allclose(K.aslinearoperator().rmatvec(y), K.dense().T @ y, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(K.rmatmat(y[:, None]), K.dense().T @ y[:, None], rtol=1e-10, atol=1e-10)


def test_conjugate_gradients_with_the_inverse_as_preconditioner():
    """SciPy solves 𝓜 x = b in a step or two, as the preconditioner is exact."""
    ops = tree(2)
    b, steps = np.random.default_rng(2).normal(size=ops.model.nv), []
    x, info = scipy.sparse.linalg.cg(
        ops.mass.aslinearoperator(), b, rtol=1e-12, M=ops.mass_inverse.aslinearoperator(), callback=steps.append
    )
    assert info == 0
    assert len(steps) <= 3
    np.testing.assert_allclose(x, np.linalg.solve(kn.mass_matrix(ops.model, ops.given), b), rtol=1e-8, atol=1e-8)


def test_kernels_give_what_the_recursions_give():
    ops = tree(4)
    x = np.random.default_rng(3).normal(size=(ops.model.nv, 5))
    plain = ops.mass_inverse @ x
    kn.compilation.set_policy("always")
    try:
        native = ops.mass_inverse @ x
    finally:
        kn.compilation.set_policy("auto")
    condition = np.linalg.cond(kn.mass_matrix(ops.model, ops.given))
    assert np.abs(native - plain).max() <= 1e-14 * condition * (1 + np.abs(plain).max())


def test_inside_a_kernel():
    """Operators in the text of a user's kernel: forward dynamics as (0.31) has it."""

    @kn.kernel
    def accelerate(model, q, v, tau):
        ops = operators.at(model, q)
        return ops(whitening.T @ D_inverse @ whitening) @ (tau - kn.bias_force(model, q, v))

    model, rng = kn.robots.load("arm"), np.random.default_rng(4)
    q, v, tau = rng.normal(size=(3, 5, 7))
    np.testing.assert_allclose(
        accelerate(model, q, v, tau), kn.forward_dynamics(model, q, v, tau), rtol=1e-9, atol=1e-9
    )


def test_everything_inside_a_kernel():
    @kn.kernel
    def terms(model, q, v):
        ops = operators.at(model, q, v, points=["tool0"])
        return ops.C, ops.Lambda.dense(), ops.mass.dense(), ops.a

    model, rng = kn.robots.load("arm").without_friction(), np.random.default_rng(6)
    q, v = rng.normal(size=(2, 7))
    C, Lambda, mass, a = terms(model, q, v)
    ops = operators.at(model, q, v, points=["tool0"])
    np.testing.assert_allclose(C, kn.bias_force(model, q, v), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(Lambda, kn.operational_space_inverse_inertia(model, q, "tool0"), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mass, kn.mass_matrix(model, q), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(a, ops.a, rtol=1e-10, atol=1e-10)


def test_matrices_of_casadi():
    model = kn.robots.load("cart_pole")
    q, x = casadi.SX.sym("q", 2), casadi.SX.sym("x", 2)
    f = casadi.Function("f", [q, x], [operators.at(model, q).mass_inverse @ x])
    wanted = np.linalg.solve(kn.mass_matrix(model, [0.2, 0.5]), [1.0, 2.0])
    np.testing.assert_allclose(np.array(f([0.2, 0.5], [1.0, 2.0])).ravel(), wanted, rtol=1e-12)


def test_exact_and_long_numbers():
    model = kn.robots.load("cart_pole")
    q, x = [0.25, 0.5], [1.0, 2.0]
    wanted = kn.mass_matrix(model, q) @ np.array(x)
    with mpmath.workdps(40):
        long = operators.at(model.with_scalars(mpmath.mpf), [mpmath.mpf(y) for y in q])
        y = long.mass_inverse @ (long.mass @ [mpmath.mpf(a) for a in x])
        assert max(abs(a - b) for a, b in zip(y, x, strict=True)) < mpmath.mpf(10) ** -37
    angle = sympy.Symbol("angle")
    symbolic = operators.at(model, [sympy.Integer(0), angle]).mass @ [sympy.Integer(1), sympy.Integer(2)]
    np.testing.assert_allclose([float(e.subs(angle, 0.5)) for e in symbolic], wanted, rtol=1e-12)
    step = operators.at(model, np.array([0.25, 0.5 + 1e-30j])).mass @ np.array(x)
    rate = (kn.mass_matrix(model, [0.25, 0.5 + 1e-6]) - kn.mass_matrix(model, [0.25, 0.5 - 1e-6])) @ np.array(x) / 2e-6
    np.testing.assert_allclose(step.imag / 1e-30, rate, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", ["phi", "psi", "mass", "mass_inverse", "Omega"])
def test_cost_is_linear_in_the_number_of_bodies(name):
    """Operations of one application, factors included: the same number for every further body."""

    def cost(n: int) -> int:
        model, tally = kn.testing.general_chain(n), Tally()
        c = Configuration(model, [tally.scalar(0.1 * k) for k in range(n)])
        x = operators.symbols.SYMBOLS[name]
        applied(x, c, Vector(tally.scalar(1.0) for _ in range(sum(x.domain.sizes(model, ())))))
        return tally.mul + tally.add + tally.div

    costs = [cost(n) for n in (10, 20, 40)]
    assert costs[2] - costs[1] == 2 * (costs[1] - costs[0])


def test_forward_dynamics_is_linear_in_the_number_of_bodies():
    def cost(n: int) -> int:
        model, tally = kn.testing.general_chain(n), Tally()
        q, v, tau = ([tally.scalar(0.1 * k) for k in range(n)] for _ in range(3))
        T_bar = Vector(tau) - kn.bias_force.reference(model, q, v)
        applied(whitening.T @ D_inverse @ whitening, Configuration(model, q), T_bar)
        return tally.mul + tally.add + tally.div

    costs = [cost(n) for n in (10, 20, 40)]
    assert costs[2] - costs[1] == 2 * (costs[1] - costs[0])


def test_known_inverses():
    assert phi.inverse.inverse == phi
    assert phi.T.inverse == phi.inverse.T
    assert (2.0 * psi).inverse == psi.inverse * 0.5
    assert (phi @ psi).inverse == psi.inverse @ phi.inverse
    with pytest.raises(ValueError, match="no inverse of H @ phi is known; there are those of phi, psi, D"):
        _ = (H @ phi).inverse


def test_errors():
    ops, other = tree(0), tree(1)
    with pytest.raises(TypeError, match=r"H @ phi\.T has no meaning: phi\.T gives the motions of the bodies"):
        _ = ops.H @ ops.phi.T
    with pytest.raises(TypeError, match="M \\+ phi has no meaning"):
        _ = ops.M + ops.phi
    with pytest.raises(ValueError, match="different configurations"):
        _ = ops.H @ other.phi
    with pytest.raises(ValueError, match="x has shape"):
        _ = ops.phi @ np.zeros(5)
    with pytest.raises(ValueError, match="q has shape"):
        operators.at(ops.model, np.zeros((2, ops.model.nq)))
    with pytest.raises(AttributeError, match="there is no operator 'Phi'; there are E_phi, phi, H"):
        _ = ops.Phi
    with pytest.raises(ValueError, match="need a velocity"):
        _ = operators.at(ops.model, ops.given).C
    with pytest.raises(kn.ModelError, match=r"model.without_loops\(\), q\) are those of its spanning tree"):
        operators.at(kn.robots.load("four_bar"), np.zeros(3))
    with pytest.raises(TypeError, match="I alone has no size"):
        ops.I.dense()
    with pytest.raises(TypeError, match="the product of operators is @"):
        _ = ops.H * ops.phi
    with pytest.raises(ValueError, match="A has 5 columns, and must have 24"):
        ops.constant(np.zeros((2, 5)))


def test_couplings_are_refused():
    b = kn.Builder("geared")
    for name in ("first", "second"):
        b.body(name, joint=kn.joints.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.mimic("second_joint", "first_joint", ratio=2.0)
    with pytest.raises(kn.ModelError, match=r"some follow others \(second_joint\)"):
        operators.at(b.build(), np.zeros(1))
