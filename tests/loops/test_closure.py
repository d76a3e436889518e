"""Loop-closure functions q = γ(y) (RBDA 8.11; X5, P13): written by the user, and found by Newton's method."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.functions.loops.projection import onto_constraints
from knuckle.scalar import arctan2, cos, sin, sqrt
from knuckle.testing.loops.linkages import Linkage, four_bar, stewart

from ..seeds import quick
from .test_examples import L1, L2, piston_arm
from .test_examples import gamma as printed


def gamma(y: Any) -> Mapping[str, Any]:
    """The piston arm: the piston's direction and length for the shoulder's angle."""
    d = sqrt(L1 * L1 + L2 * L2 - 2 * L1 * L2 * cos(y))
    return {"q2": arctan2(L2 * sin(y), L2 * cos(y) - L1), "q3": d}


def test_a_written_function_gives_the_printed_derivatives():
    """X5: G = ∂γ/∂y and g = Ġẏ are u1 … u4 as printed, by exact differentiation."""
    arm = kn.loops.with_closure_function(piston_arm(), gamma, ["q1"], at=[0.7])
    y, rate = np.array([1.2, 0.4]), np.array([0.9, -0.6])
    assert (arm.nq, arm.nv, arm.loops) == (2, 2, ())
    q = kn.couplings.tree_positions(arm, y)
    np.testing.assert_allclose(q, printed(*y), atol=1e-14)
    d = q[2]
    u1, u2 = (L2**2 - L1 * L2 * math.cos(y[0])) / d**2, L1 * L2 * math.sin(y[0]) / d
    u3 = (L1**2 - L2**2) * L1 * L2 * math.sin(y[0]) / d**4 * rate[0] ** 2
    u4 = (L1 * L2 * math.cos(y[0]) - u2**2) / d * rate[0] ** 2
    np.testing.assert_allclose(kn.couplings.matrix(arm, y), [[1, 0], [u1, 0], [u2, 0], [0, 1]], atol=1e-13)
    np.testing.assert_allclose(kn.couplings.bias(arm, y, rate), [0, u3, u4, 0], atol=1e-13)


def test_a_written_function_moves_as_the_loops_do():
    """P13: K G(γ) = 0, and ÿ by γ is the acceleration of the constrained system, batches of states at once."""
    model, rng = piston_arm(), np.random.default_rng(0)
    arm = kn.loops.with_closure_function(model, gamma, ["q1"], at=[0.7])
    y, rate, tau = rng.uniform(0.3, 2.5, (20, 2)), rng.standard_normal((20, 2)), rng.standard_normal((20, 2))
    q, G = kn.couplings.tree_positions(arm, y), kn.couplings.matrix(arm, y)
    v = (G @ rate[..., None])[..., 0]
    assert np.abs(kn.loops.jacobian(model, q) @ G).max() < 1e-13
    forces = np.stack([tau[:, 0], 0 * tau[:, 0], 0 * tau[:, 0], tau[:, 1]], axis=-1)
    a = kn.forward_dynamics(model, q, v, forces)
    np.testing.assert_allclose(kn.forward_dynamics(arm, y, rate, tau), a[:, [0, 3]], rtol=1e-11, atol=1e-10)


def test_a_written_function_has_no_loop_error():
    """Integrating y keeps the energy to the integrator's error, and needs no stabilisation."""
    model = piston_arm()
    arm = kn.loops.with_closure_function(model, gamma, ["q1"], at=[0.7])
    path = kn.simulate(arm, [0.7, 0.2], [0.5, 0.1], 2.0, dt=5e-4)
    energy = kn.kinetic_energy(arm, path.q, path.v) + kn.potential_energy(arm, path.q)
    assert np.ptp(energy) < 1e-6 * kn.kinetic_energy(arm, path.q, path.v).max()
    assert np.abs(kn.loops.gap(model, kn.couplings.tree_positions(arm, path.q))).max() < 1e-14
    q0, v0 = kn.couplings.tree_positions(arm, [0.7, 0.2]), kn.couplings.matrix(arm, [0.7, 0.2]) @ [0.5, 0.1]
    other = kn.simulate(model, q0, v0, 2.0, dt=5e-4)
    np.testing.assert_allclose(other.q[-1][[0, 3]], path.q[-1], atol=1e-7)


def test_a_function_that_leaves_a_loop_open_is_refused():
    def wrong(y: Any) -> Mapping[str, Any]:
        return {**gamma(y), "q3": gamma(y)["q3"] + 1e-3 * y}

    with pytest.raises(kn.ModelError, match=r"pin.*leaves it open by 0\.000688.*q1 = 0\.7"):
        kn.loops.with_closure_function(piston_arm(), wrong, ["q1"], at=[0.7])
    with pytest.raises(ValueError, match=r"at has shape \(2,\)"):
        kn.loops.with_closure_function(piston_arm(), gamma, ["q1"], at=[0.7, 0.1])
    with pytest.raises(TypeError, match="positions of joints by name"):
        kn.loops.with_closure_function(piston_arm(), lambda y: [y], ["q1"], at=[0.7])  # type: ignore[arg-type, return-value]
    with pytest.raises(KeyError, match="no joint is called 'q9'"):
        kn.loops.with_closure_function(piston_arm(), lambda y: {"q9": y}, ["q1"], at=[0.7])


def test_newton_finds_the_function():
    """From the position before, for every angle of the crank; compiled, for a batch."""
    made = four_bar()
    choice = kn.loops.independent_variables(made.model, made.q, joints=["crank_joint"])
    angles = np.linspace(-0.6, 0.6, 41)
    q = np.array([[x, *made.q[1:]] for x in angles])
    found = kn.loops.solve_dependent(made.model, q, choice=choice)
    np.testing.assert_array_equal(found[:, 0], angles)
    assert np.abs(kn.loops.gap(made.model, found)).max() < 1e-14
    v = kn.loops.consistent_velocity(made.model, found, np.tile([1.0, 5.0, 5.0], (41, 1)), choice=choice)
    np.testing.assert_array_equal(v[:, 0], 1.0)
    assert np.abs(kn.loops.error_rate(made.model, found, v)).max() < 1e-14
    G = kn.loops.null_space(made.model, found, choice=choice)
    np.testing.assert_allclose(v, G[..., 0], atol=1e-14)


@pytest.mark.parametrize("make", [four_bar, stewart])
def test_newton_follows_any_mechanism(make: Any):
    """A platform on six legs follows its pistons."""
    made: Linkage = make()
    names = [n for n in made.model.joint_names if "piston" in n or "crank" in n]
    choice = kn.loops.independent_variables(made.model, made.q, joints=names)
    rng = np.random.default_rng(1)
    moved = kn.integrate(made.model, made.q, 0.02 * rng.standard_normal(made.model.nv))
    found = kn.loops.solve_dependent(made.model, moved, choice=choice)
    assert np.abs(kn.loops.gap(made.model, found)).max() < 1e-13
    kept = [k for n in names for k in range(*made.model.q_slices[made.model.joint_index(n)].indices(made.model.nq))]
    np.testing.assert_array_equal(found[kept], moved[kept])


@pytest.mark.parametrize("integrator", quick(["rk4", "adaptive", "variational"], ["adaptive"]))
def test_independent_variables_through_time(integrator: str):
    """Only y is integrated, the others follow at every evaluation: the motion of the projected one, no loop error."""
    made = four_bar()
    choice = kn.loops.independent_variables(made.model, made.q, joints=["crank_joint"])
    v = kn.loops.null_space(made.model, made.q, choice=choice) @ [1.0]
    paths = [
        kn.simulate(made.model, made.q, v, 0.5, integrator=integrator, stabilization=how)
        for how in (choice, "projection")
    ]
    assert np.abs(kn.loops.error(made.model, paths[0].q)).max() < 1e-14
    np.testing.assert_allclose(paths[0].q[-1], paths[1].q[-1], atol=1e-5 if integrator == "adaptive" else 1e-8)


@pytest.mark.parametrize("kind", ["mpmath", "complex", "casadi"])
def test_numbers_of_other_kinds(kind: str):
    """The texts of closed loops run on any scalars: twenty digits, derivatives by complex steps, symbols."""
    made = four_bar()
    model, choice = made.model, kn.loops.independent_variables(made.model, made.q, joints=["crank_joint"])
    guess, v = made.q + np.array([0.2, 0.0, 0.0]), np.array([1.0, 0.3, -0.2])

    def everything(q: Any, v: Any) -> list[Any]:
        found = kn.loops.solve_dependent(model, q, choice=choice)
        rate = kn.loops.consistent_velocity(model, found, v, choice=choice)
        return [found, rate, *(onto_constraints(model, found, rate) if kind != "casadi" else ())]

    wanted = everything(guess, v)
    if kind == "mpmath":
        mpmath = pytest.importorskip("mpmath")
        with mpmath.workdps(40):
            found = everything([mpmath.mpf(x) for x in guess], [mpmath.mpf(x) for x in v])
            assert max(abs(x) for x in kn.loops.error(model, found[0])) < mpmath.mpf(10) ** -38
    elif kind == "complex":
        found = everything(guess + np.array([1e-30j, 0, 0]), v.astype(complex))
        G = kn.loops.null_space(model, wanted[0], choice=choice)[:, 0]
        np.testing.assert_allclose(found[0].imag / 1e-30, G, atol=1e-13)
        found = [x.real for x in found]
    else:
        casadi = pytest.importorskip("casadi")
        q, rate = casadi.SX.sym("q", 3), casadi.SX.sym("v", 3)
        made_of_symbols = casadi.Function("f", [q, rate], everything(q, rate))
        found = [np.array(x).ravel() for x in made_of_symbols(guess, v)]
    for ours, theirs in zip(wanted, found, strict=True):
        np.testing.assert_allclose(np.array([float(x) for x in theirs]), ours, atol=1e-13)
