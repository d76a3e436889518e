"""What mechanics asks of every mechanism, asked of mechanisms with couplings; and the scalars they know."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import casadi
import mpmath
import numpy as np
import pytest
import sympy

import knuckle as kn
from knuckle.functions.coupling_terms import is_slender
from knuckle.joints import Helical, Prismatic, RackAndPinion, Revolute
from knuckle.model import Builder, Coupling, CouplingLaw, FunctionLaw, Linear, Model, Powers, solid_box
from knuckle.model.coupling_laws import Held
from knuckle.scalar import cos, sin
from knuckle.spatial import Vector
from knuckle.testing import LAWS, random_state, random_tree

from .cases import COUPLED, Case, cam, link, snake

KINDS = ["revolute", "prismatic", "helical", "rack_and_pinion"]
TOLERANCE = 1e-10
LAWS_OF_COUPLINGS: dict[str, tuple[int, CouplingLaw]] = {
    "Linear": (2, Linear((0.7, -1.3), 0.2)),
    "Powers": (1, Powers((0.1, -0.5, 0.3, 0.2))),
    "FunctionLaw": (2, FunctionLaw(link)),
    "Held": (1, Held(FunctionLaw(link), (1,), (0.4,))),
}


def random_coupled(seed: int) -> Model:
    """A random tree in which two joints follow others by curves of one and of two variables."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=7, types=KINDS)
    i, j, k, m = (int(x) for x in rng.permutation(7)[:4])
    return model.replace(
        couplings=(
            Coupling(i, (j,), Powers(tuple(rng.normal(size=4)))),
            Coupling(k, (j, m), FunctionLaw(lambda x, y: sin(x) * y + 0.3 * x * cos(y))),
        )
    )


@pytest.mark.parametrize("seed", range(8))
def test_laws_of_mechanics(seed: int):
    model = random_coupled(seed)
    errors = {name: law(model, random_state(model, seed)) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), errors


@pytest.mark.parametrize("case", COUPLED.values(), ids=list(COUPLED))
def test_laws_of_mechanics_on_a_floating_base(case: Case):
    errors = {name: law(case.model, random_state(case.model, 5)) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), errors


def test_laws_of_mechanics_where_few_variables_move_many_bodies():
    """H and C by columns, which is the shorter way then."""
    model = snake(7)
    assert is_slender(model)
    errors = {name: law(model, random_state(model, 2)) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), errors


@pytest.mark.parametrize("name", LAWS_OF_COUPLINGS)
def test_slopes_and_their_rates_are_derivatives(name: str):
    """∂γ/∂y by complex steps, and its rate by a complex step along dy of the slopes."""
    n, law = LAWS_OF_COUPLINGS[name]
    rng = np.random.default_rng(3)
    y, dy = rng.normal(size=(2, n))
    slopes = [complex(law.value(Vector((y + 1e-30j * e).tolist()))).imag / 1e-30 for e in np.eye(n)]
    np.testing.assert_allclose([float(x) for x in law.slopes(Vector(y.tolist()))], slopes, rtol=1e-14, atol=1e-15)
    moving = law.slopes(Vector((y + 1e-30j * dy).tolist()))
    rates = [complex(x).imag / 1e-30 for x in moving]
    found = law.slope_rates(Vector(y.tolist()), Vector(dy.tolist()))
    np.testing.assert_allclose([float(x) for x in found], rates, rtol=1e-13, atol=1e-14)


def chain(law: Any) -> Model:
    b = Builder("chain")
    kinds = {"a": Revolute("y"), "b": Prismatic("z"), "c": Helical("x", 0.1), "d": RackAndPinion(0.2)}
    for on, (name, kind) in zip((None, "a", "b", "c"), kinds.items(), strict=True):
        b.body(name, on=on, joint=kind, at=(0.1, 0.2, 0.3), inertia=solid_box(1.0, (0.3, 0.2, 0.1), at=(0.1, 0, 0)))
    b.couple("c_joint", ("a_joint", "b_joint"), law)
    b.couple("d_joint", "a_joint", cam)
    return b.build()


def reference(model: Model, q: Any, v: Any, a: Any) -> list[Any]:
    force = kn.inverse_dynamics.reference(model, Vector(q), Vector(v), Vector(a))
    C = kn.coriolis_matrix.reference(model, Vector(q), Vector(v))
    return [*force, *(x for row in C.rows for x in row)]


def test_scalars_of_every_kind():
    """The same text over floats, complex numbers, mpmath, SymPy, CasADi and lanes of NumPy."""
    model = chain(link)
    q, v, a = [0.3, -0.2], [1.1, 0.7], [-0.4, 0.9]
    floats = np.array([float(x) for x in reference(model, q, v, a)])
    with mpmath.workdps(40):
        digits = reference(model.with_scalars(mpmath.mpf), *([mpmath.mpf(x) for x in s] for s in (q, v, a)))
        np.testing.assert_allclose(floats, [float(x) for x in digits], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        floats, [complex(x).real for x in reference(model, [x + 0j for x in q], v, a)], rtol=1e-13, atol=1e-13
    )
    lanes = reference(model, *(np.multiply.outer(s, np.ones(3)) for s in (q, v, a)))
    np.testing.assert_allclose(
        floats[:, None] * np.ones(3), [np.broadcast_to(x, 3) for x in lanes], rtol=1e-13, atol=1e-13
    )
    symbols = casadi.SX.sym("q", 2)
    tau = kn.inverse_dynamics(model, symbols, casadi.SX(v), casadi.SX(a))
    np.testing.assert_allclose(np.array(casadi.Function("tau", [symbols], [tau])(q)).ravel(), floats[:2], rtol=1e-12)
    x, y = sympy.symbols("x y")
    (first, _), _ = (row for row in kn.couplings.matrix.reference(model, Vector([x, y])).rows[2:4])
    assert sympy.simplify(first + y * sympy.sin(x) / 2) == 0


def test_linear_couplings_of_fractions_are_exact():
    """A gantry, with gears of ratios that no float has."""
    b = Builder("gantry", gravity=(0, 0, -10))
    for on, name, axis in ((None, "a", "x"), ("a", "b", "y"), ("b", "c", "z")):
        b.body(name, on=on, joint=Prismatic(axis), mass=2, inertia=(1, 1, 1))
    b.couple("c_joint", ("a_joint", "b_joint"), (Fraction(1, 3), Fraction(-2, 7)))
    model = b.build()
    H = kn.mass_matrix.reference(model, Vector([Fraction(1, 2), Fraction(1, 5)]))
    assert H.rows[0][0] == 6 + 2 * Fraction(1, 9)
    assert H.rows[0][1] == -2 * Fraction(2, 21)


def test_kernels_of_laws_of_ones_own_are_not_mixed_up():
    """Two functions of the same name: the kernel goes by what they compute."""

    def built(factor: float) -> Model:
        def law(x):
            return factor * x * x

        return chain(lambda x, y: law(x) + y)

    q, v, a = [0.3, -0.2], [1.1, 0.7], [-0.4, 0.9]
    with_one, with_two = built(1.0), built(2.0)
    for model in (with_one, with_two):
        expected = [float(x) for x in reference(model, q, v, a)[:2]]
        np.testing.assert_allclose(kn.inverse_dynamics(model, q, v, a), expected, rtol=1e-12)
    assert with_one != with_two
