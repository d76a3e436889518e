"""Callbacks for CasADi: values and derivatives are those of its own expressions, and IPOPT solves with them."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import knuckle as kn

from .mechanisms_for_autodiff import FUNCTIONS, arguments, ball_and_hinge, pendulum, pose_of_b, stage


def callback(name: str, model: kn.Model) -> Any:
    if name == "pose":
        return kn.derivatives.casadi_callback(kn.pose, model, frame="b")
    named = {"stiffness": ()} if name == "kernel" else {}
    return kn.derivatives.casadi_callback(FUNCTIONS[name], model, **named)


def in_symbols(name: str, model: kn.Model, symbols: list[Any]) -> list[Any]:
    """The same as an expression of CasADi: the text of the function runs on its symbols."""
    if name == "kernel":
        q, v, k = symbols
        return [kn.bias_force(model, q, v) - k * v, 0.5 * k * ca.dot(q, q)]
    return [(pose_of_b if name == "pose" else FUNCTIONS[name])(model, *symbols)]


def compare(name: str, second: bool) -> None:
    model = ball_and_hinge()
    values = [np.atleast_1d(x) for x in arguments(name, model, ())]
    compiled = callback(name, model)
    x = [ca.MX.sym(f"x{k}", len(value)) for k, value in enumerate(values)]
    s = [ca.SX.sym(f"s{k}", len(value)) for k, value in enumerate(values)]
    results, expressions = compiled.call(x), in_symbols(name, model, s)
    for mine, theirs in zip(results, expressions, strict=True):
        theirs = ca.SX(theirs)
        weight = np.random.default_rng(1).normal(size=theirs.shape)
        found, expected = [mine], [theirs]
        found += [ca.jacobian(mine, a) for a in x]
        expected += [ca.jacobian(theirs, a) for a in s]
        every, whole = ca.dot(mine, ca.DM(weight)), ca.dot(theirs, ca.DM(weight))
        found += [ca.gradient(every, a) for a in x]
        expected += [ca.gradient(whole, a) for a in s]
        if second:
            found += (
                [ca.hessian(every, ca.vertcat(*x))[0]]
                if len(x) == 1
                else [ca.jacobian(ca.gradient(every, a), b) for a in x for b in x]
            )
            expected += (
                [ca.hessian(whole, ca.vertcat(*s))[0]]
                if len(s) == 1
                else [ca.jacobian(ca.gradient(whole, a), b) for a in s for b in s]
            )
        numbers = ca.Function("found", x, found)(*values)
        same = ca.Function("expected", s, expected)(*values)
        for number, other in zip(numbers, same, strict=True):
            np.testing.assert_allclose(number.full(), other.full(), rtol=1e-9, atol=1e-10)


def test_values_and_derivatives_are_those_of_expressions() -> None:
    compare("kernel", second=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_are_those_of_expressions(name: str) -> None:
    compare(name, second=True)


def test_the_sparsity_of_a_jacobian_is_that_of_the_function() -> None:
    """The height of the first body does not depend on the second joint."""
    model = pendulum()
    compiled = kn.derivatives.casadi_callback(kn.pose, model, frame="a")
    q = ca.MX.sym("q", 2)
    pattern = ca.jacobian(compiled(q), q).sparsity()
    assert 0 < pattern.nnz() <= 4
    assert set(pattern.get_triplet()[1]) == {0}


@pytest.mark.slow
@pytest.mark.parametrize("hessian", ["exact", "limited-memory"])
def test_ipopt_solves_with_it(hessian: str) -> None:
    """The least torque that holds the tip at a place: the conditions hold, and no posture nearby is better."""
    model = pendulum()
    place = kn.derivatives.casadi_callback(kn.pose, model, frame="b")
    torque = kn.derivatives.casadi_callback(kn.gravity_force, model)
    q = ca.MX.sym("q", 2)
    height = place(q)[2, 3]
    problem = {"x": q, "f": ca.sumsqr(torque(q)) + 0.1 * ca.sumsqr(q), "g": height}
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.hessian_approximation": hessian, "ipopt.tol": 1e-10}
    solver = ca.nlpsol("solver", "ipopt", problem, quiet)
    solution = solver(x0=[0.8, 0.2], lbg=-0.4, ubg=-0.4)
    assert solver.stats()["success"]
    found = solution["x"].full().ravel()
    assert abs(kn.pose(model, found, "b")[2, 3] + 0.4) < 1e-8
    slope = 2 * kn.gravity_force(model, found) @ kn.gravity_force.jacobian(model, found)["q"] + 0.2 * found
    along = kn.pose.jacobian(model, found, frame="b")["q"][2, 3]
    np.testing.assert_allclose(slope + solution["lam_g"].full().item() * along, 0.0, atol=1e-7)


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(TypeError, match="function of knuckle or a kernel first, not function"):
        kn.derivatives.casadi_callback(pose_of_b, pendulum())  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"knuckle\.Model, not str"):
        kn.derivatives.casadi_callback(stage, "pendulum")  # pyright: ignore[reportArgumentType]
