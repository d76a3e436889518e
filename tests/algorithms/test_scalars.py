"""One text, every kind of scalar: the algorithms give the same numbers whatever they are computed with."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import knuckle as kn
from knuckle.joints import Composite, Fixed, Free, Helical, Prismatic, Revolute, Spherical, Translational, Universal
from knuckle.model import Body, Model, TreeJoint
from knuckle.scalar import Dual
from knuckle.spatial import Inertia, Transform, Vector
from knuckle.testing import random_inertia, random_state, random_tree

from ..seeds import quick

SMOOTH = ["revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "euler", "free", "fixed"]
MODELS = [random_tree(seed, nb=4, types=SMOOTH) for seed in range(4)]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": lambda m, q, v, a: kn.inverse_dynamics(m, q, v, a),
    "forward_dynamics": lambda m, q, v, a: kn.forward_dynamics(m, q, v, a),
    "forward_dynamics by crba": lambda m, q, v, a: kn.forward_dynamics(m, q, v, a, method="crba"),
    "forward_dynamics by divide": lambda m, q, v, a: kn.forward_dynamics(m, q, v, a, method="divide"),
    "mass_matrix": lambda m, q, v, a: kn.mass_matrix(m, q),
    "mass_matrix_inverse": lambda m, q, v, a: kn.mass_matrix_inverse(m, q),
    "coriolis_matrix": lambda m, q, v, a: kn.coriolis_matrix(m, q, v),
    "gravity_force": lambda m, q, v, a: kn.gravity_force(m, q),
    "jacobian": lambda m, q, v, a: kn.jacobian(m, q, m.frame_names[-1], "aligned"),
    "jacobian_rate": lambda m, q, v, a: kn.jacobian_rate(m, q, v, m.frame_names[-1], "world"),
    "pose": lambda m, q, v, a: kn.pose(m, q, m.frame_names[-1]),
    "acceleration": lambda m, q, v, a: kn.acceleration(m, q, v, a, m.frame_names[-1], "aligned", classical=True),
    "kinetic_energy": lambda m, q, v, a: kn.kinetic_energy(m, q, v),
    "potential_energy": lambda m, q, v, a: kn.potential_energy(m, q),
    "center_of_mass": lambda m, q, v, a: kn.center_of_mass(m, q),
    "centroidal_matrix": lambda m, q, v, a: kn.centroidal_matrix(m, q),
    "centroidal_bias": lambda m, q, v, a: kn.centroidal_bias(m, q, v),
    "integrate": lambda m, q, v, a: kn.integrate(m, q, v),
    "difference": lambda m, q, v, a: kn.difference(m, q, kn.integrate(m, q, v)),
    "velocity_to_qdot": lambda m, q, v, a: kn.velocity_to_qdot(m, q, v),
}


def close(found: Any, expected: np.ndarray, tolerance: float) -> bool:
    found = np.array(np.asarray(found).tolist(), dtype=complex).reshape(expected.shape)
    return bool(np.abs(found - expected).max(initial=0.0) <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("model", MODELS, ids=["a", "b", "c", "d"])
def test_numbers_of_every_kind_agree(model: Model, name: str) -> None:
    f, s = FUNCTIONS[name], random_state(model, 5)
    expected = f(model, s.q, s.v, s.a)
    lanes = f(model, np.stack([s.q, s.q]), s.v, np.stack([s.a, s.a]))
    assert close(lanes[1], expected, 1e-13)
    single = f(model, *(x.astype(np.float32) for x in (s.q, s.v, s.a)))
    assert single.dtype == np.float32
    assert close(single, expected, 3e-3)
    assert close(f(model, s.q + 0j, s.v + 0j, s.a + 0j), expected, 1e-13)
    with mp.workdps(40):
        exact = f(model, *([mp.mpf(x) for x in y] for y in (s.q, s.v, s.a)))
    assert close(exact, expected, 1e-11)


@pytest.mark.parametrize("name", quick(FUNCTIONS, list(FUNCTIONS)[::5]))
def test_casadi_builds_the_same_function(name: str) -> None:
    model = MODELS[0]
    f, s = FUNCTIONS[name], random_state(model, 6)
    q, v, a = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("a", model.nv)
    graph = ca.Function("f", [q, v, a], [f(model, q, v, a)])
    found = np.array(graph(s.q, s.v, s.a))
    assert close(found, f(model, s.q, s.v, s.a), 1e-12)


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "coriolis_matrix", "pose", "potential_energy"])
def test_sympy_derives_the_same_function(name: str) -> None:
    model = random_tree(11, nb=2, types=["revolute", "prismatic", "universal"], resistance=False)
    f, s = FUNCTIONS[name], random_state(model, 7)
    symbols = [sp.Matrix(sp.symbols(f"{c}:{n}")) for c, n in (("q", model.nq), ("v", model.nv), ("a", model.nv))]
    expression = f(model, *symbols)
    numeric = sp.lambdify([list(x) for x in symbols], expression, "numpy")
    assert close(numeric(list(s.q), list(s.v), list(s.a)), f(model, s.q, s.v, s.a), 1e-12)


def test_dual_numbers_differentiate_the_dynamics() -> None:
    """d/dq of the joint forces by dual numbers is what a complex step gives."""
    model, h = MODELS[1], 1e-30
    s = random_state(model, 8)
    qd = kn.velocity_to_qdot(model, s.q, s.v)
    along = [Dual(x, dx) for x, dx in zip(s.q.tolist(), qd.tolist(), strict=True)]
    tau = kn.inverse_dynamics.reference(model, Vector(along), Vector(s.v.tolist()), Vector(s.a.tolist()))
    step = np.imag(kn.inverse_dynamics(model, s.q + 1j * h * qd, s.v, s.a)) / h
    found = np.array([x.derivative if isinstance(x, Dual) else 0.0 for x in tau], dtype=float)
    assert close(found, step, 1e-12)


def exact_chain() -> Model:
    """Sliding joints along coordinate axes with fractions for numbers: nothing needs a square root or a sine."""
    third, half = Fraction(1, 3), Fraction(1, 2)
    I = ((third, Fraction(1, 7), 0), (Fraction(1, 7), half, 0), (0, 0, Fraction(2, 3)))
    body = Inertia.of(Fraction(5, 3), (third, half, Fraction(-1, 4)), I)
    kinds = [Prismatic("x"), Translational(), Fixed(), Composite((Prismatic("y"), Prismatic((0, 0, -1))))]
    joints = [
        TreeJoint(f"j{i}", kind, p, Transform.translation((half, third, Fraction(-2, 5))))
        for i, (kind, p) in enumerate(zip(kinds, (-1, 0, 1, 0), strict=True))
    ]
    gravity: Any = (Fraction(1, 9), Fraction(0), Fraction(-981, 100))
    return Model(tuple(Body(f"b{i}", body) for i in range(4)), tuple(joints), gravity=gravity)


def test_fractions_are_exact() -> None:
    model = exact_chain()
    q, v, a = ([Fraction(k * k + 1, 3 + n) for k in range(n)] for n in (model.nq, model.nv, model.nv))
    tau = kn.inverse_dynamics(model, q, v, a)
    assert all(isinstance(x, Fraction) for x in tau)
    H, C = kn.mass_matrix(model, q), kn.bias_force(model, q, v)
    assert (H @ np.array(a) + C == tau).all()
    for method in ("aba", "crba", "divide"):
        assert list(kn.forward_dynamics(model, q, v, tau, method=method)) == a, method
    assert (kn.mass_matrix_inverse(model, q) @ H == np.eye(model.nv, dtype=int)).all()
    energy = kn.kinetic_energy(model, q, v)
    assert energy == np.array(v) @ H @ np.array(v) / 2
    turning = model.replace(joints=(TreeJoint("j0", Revolute("z"), -1), *model.joints[1:]))
    with pytest.raises(TypeError, match="fraction"):
        kn.mass_matrix(turning, q)


def test_more_digits_give_more_digits() -> None:
    """At 60 digits the round trip through forward and inverse dynamics is exact to 50.

    The model's own rotations must be exact for that: axes and frames along coordinate axes.
    """
    kinds = [Free(), Revolute("y"), Universal(), Spherical(), Helical("z", 0.3)]
    quarter = ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    rng = np.random.default_rng(0)
    joints = [TreeJoint(f"j{i}", k, i - 1, Transform.of(quarter, rng.normal(size=3))) for i, k in enumerate(kinds)]
    model = Model(tuple(Body(f"b{i}", random_inertia(rng)) for i in range(5)), tuple(joints))
    s = random_state(model, 9)
    with mp.workdps(60):
        model = model.with_scalars(mp.mpf)
        q, v, a = ([mp.mpf(x) for x in y] for y in (s.q, s.v, s.a))
        for method in ("aba", "crba", "divide"):
            back = kn.forward_dynamics(model, q, v, kn.inverse_dynamics(model, q, v, a), method=method)
            assert max(abs(x - y) for x, y in zip(back, a, strict=True)) < mp.mpf(10) ** -50, method
