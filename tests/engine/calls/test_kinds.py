"""Arrays of other packages: the same kind comes out, with the right values."""

import math
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Body, Builder, Frame, Model, TreeJoint
from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import Inertia, Matrix, Sym3, Transform, Vector

from .mechanisms import FUNCTIONS, MODELS, Public, State, arm, chain, slides, states

ARM = MODELS["arm"]
FEW = ["inverse_dynamics with f_ext", "forward_dynamics", "mass_matrix", "jacobian_rate", "pose", "kinetic_energy"]


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Of CasADi, SymPy and mpmath, whose vectors are columns."""
    return (*shape, 1, 1)[:2] if len(shape) < 2 else (shape[0], shape[1])


def stack(found: Any) -> np.ndarray:
    """Several matrices come as a list of them."""
    return np.array([np.array(x) for x in found]) if isinstance(found, list) else np.array(found)


# CasADi


def symbols(model: Model, kind: Any) -> State:
    return State(
        kind.sym("q", model.nq),
        kind.sym("v", model.nv),
        kind.sym("a", model.nv),
        kind.sym("f", model.nb, 6),
        kind.sym("w", 6),
    )


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_casadi(model: Model, public: Public, kind: Any):
    x, s = symbols(model, kind), states(model)
    found = public.call(model, x)
    expected = public.call(model, s)
    parts = found if isinstance(found, list) else [found]
    for part, right in zip(parts, expected if isinstance(found, list) else [expected], strict=True):
        assert type(part) is kind
        assert part.shape == matrix_shape(np.shape(right))
        f = ca.Function("f", [x.q, x.v, x.a, x.f_ext, x.w], [part])
        numbers = np.array(f(s.q, s.v, s.a, s.f_ext, s.w)).reshape(np.shape(right))
        np.testing.assert_allclose(numbers, right, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_casadi_numbers(model: Model):
    """DM, the numeric matrix, is a kind of its own."""
    s = states(model)
    found = kn.inverse_dynamics(model, ca.DM(s.q), ca.DM(s.v), s.a)
    assert isinstance(found, ca.DM)
    np.testing.assert_allclose(np.array(found).ravel(), kn.inverse_dynamics(model, s.q, s.v, s.a), atol=1e-12)


def test_casadi_with_numbers_beside_symbols(model: Model):
    """Numbers in any form next to symbols: arrays, lists, DM."""
    s, q = states(model), ca.SX.sym("q", model.nq)
    expected = kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    for v, a, f in (
        (s.v, s.a, s.f_ext),
        (s.v.tolist(), tuple(s.a), s.f_ext.tolist()),
        (ca.DM(s.v), s.a, ca.DM(s.f_ext)),
    ):
        tau = kn.inverse_dynamics(model, q, v, a, f)
        assert isinstance(tau, ca.SX)
        found = np.array(ca.Function("f", [q], [tau])(s.q)).ravel()
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_casadi_rows_and_lists_of_scalars():
    s = states(ARM)
    q = ca.SX.sym("q", 1, 3)
    found = kn.gravity_force(ARM, q)
    assert found.shape == (3, 1)
    listed = kn.gravity_force(ARM, [q[0], q[1], q[2]])
    assert isinstance(listed, ca.SX)
    mixed = kn.gravity_force(ARM, [q[0], 0.5, q[2]])
    assert isinstance(mixed, ca.SX)
    for expression, at in ((found, s.q), (listed, s.q), (mixed, [s.q[0], 0.5, s.q[2]])):
        numbers = np.array(ca.Function("f", [q], [expression])(np.array(at)[None])).ravel()
        np.testing.assert_allclose(numbers, kn.gravity_force(ARM, at), atol=1e-13)


def test_casadi_differentiates():
    """∂τ/∂a = H, by CasADi's own derivative of the text."""
    s = states(ARM)
    a = ca.SX.sym("a", 3)
    H = ca.Function("H", [a], [ca.jacobian(kn.inverse_dynamics(ARM, s.q, s.v, a), a)])
    np.testing.assert_allclose(np.array(H(s.a)), kn.mass_matrix(ARM, s.q), atol=1e-14)


def test_casadi_results_without_symbols():
    """A result that is zero by structure is a matrix or scalar of the package all the same."""
    q = ca.SX.sym("q", 3)
    gantry = slides()
    assert isinstance(kn.coriolis_matrix(gantry, q, q), ca.SX)
    assert isinstance(kn.potential_energy(gantry.with_gravity((0, 0, 0)), q), ca.SX)
    assert kn.mass_matrix(gantry, q).shape == (3, 3)


def test_casadi_of_no_variables():
    empty = chain(0)
    q = ca.SX(0, 1)
    assert kn.inverse_dynamics(empty, q, q, q).shape == (0, 1)
    assert kn.mass_matrix(empty, q).shape == (0, 0)
    assert kn.jacobian(empty, q, "world").shape == (6, 0)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX, ca.DM])
def test_casadi_wrong_shapes(kind: Any):
    with pytest.raises(ValueError, match=r"q has shape \(4, 1\), and must have shape \(3, 1\): CasADi takes no batch"):
        kn.mass_matrix(ARM, kind(4, 1))
    with pytest.raises(ValueError, match=r"q has shape \(3, 2\), and must have shape \(3, 1\)"):
        kn.mass_matrix(ARM, kind(3, 2))
    q = kind(3, 1)
    with pytest.raises(ValueError, match=r"f_ext has shape \(6, 3\), and must have shape \(3, 6\)"):
        kn.bias_force(ARM, q, q, kind(6, 3))
    with pytest.raises(ValueError, match=r"v has shape \(5, 3\), and must have shape \(3, 1\): CasADi takes no batch"):
        kn.bias_force(ARM, q, np.zeros((5, 3)))


# SymPy


@pytest.mark.parametrize("name", FEW)
def test_sympy(name: str):
    """Two joints: SymPy does not share subexpressions, and three already fill pages."""
    model = two_joints()
    s = states(model)
    q, v, a = (sp.Matrix(sp.symbols(f"{x}:2", real=True)) for x in "qva")
    f = sp.Matrix(2, 6, sp.symbols("f:12"))
    found = FUNCTIONS[name].call(model, State(q, v, a, f, None))
    expected = FUNCTIONS[name].call(model, s)
    if np.ndim(expected):
        assert isinstance(found, sp.MatrixBase)
        assert found.shape == matrix_shape(expected.shape)
    else:
        assert isinstance(found, sp.Expr)
    symbols, numbers = [*q, *v, *a, *f], np.concatenate([s.q, s.v, s.a, s.f_ext.ravel()])
    evaluate = sp.lambdify(symbols, found, "numpy", cse=True)
    values = np.array(evaluate(*numbers), dtype=float).reshape(np.shape(expected))
    np.testing.assert_allclose(values, expected, atol=1e-11 * max(1.0, np.abs(expected).max()))


def two_joints() -> Model:
    b = Builder("two joints", base="world")
    b.body("first", on="world", joint=Revolute("y"), mass=2.0, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.025))
    b.body(
        "second", on="first", joint=Revolute("z"), at=(0.3, 0, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2)
    )
    b.frame("tool", on="second", at=(0.2, 0, 0))
    return b.build()


@pytest.mark.parametrize("kind", [sp.Matrix, sp.ImmutableMatrix])
def test_sympy_matrices_mutable_or_not(kind: Any):
    q = kind(sp.symbols("q:3"))
    H = kn.mass_matrix(slides(), q)
    assert type(H) is type(kind([1]))
    assert kn.kinetic_energy(slides(), q, kind([1, 2, 3])) == sp.Rational(0.5) * (6 * 1 + 4 * 4 + 2 * 9)
    assert isinstance(kn.potential_energy(slides().with_gravity((0, 0, 0)), q), sp.Integer)
    with pytest.raises(ValueError, match=r"q has shape \(2, 1\), and must have shape \(3, 1\): SymPy takes no batch"):
        kn.mass_matrix(slides(), kind([1, 2]))


def test_sympy_lists_and_arrays_of_symbols():
    """Loose symbols, and numbers beside them, in lists and in arrays of objects: an array of objects comes out."""
    q = sp.symbols("q:3", real=True)
    expected = kn.gravity_force(ARM, [0.3, 0.4, 0.5])
    for given in (list(q), tuple(q), np.array(q), [0.3, q[1], q[2]]):
        found = kn.gravity_force(ARM, given)
        assert isinstance(found, np.ndarray)
        assert found.dtype == object
        at = dict(zip(q, (0.3, 0.4, 0.5), strict=True))
        np.testing.assert_allclose([float(sp.sympify(x).subs(at)) for x in found], expected, atol=1e-13)


def test_sympy_text_of_a_pendulum():
    """τ = (I + m l²) a + m g l sin q."""
    m, l, g, I = sp.symbols("m l g I", positive=True)
    pendulum = Model(
        bodies=(Body("bob", Inertia(m, (ZERO, ZERO, -m * l), _moments(I + m * l**2))),),
        joints=(TreeJoint("hinge", Revolute("y"), -1),),
        gravity=(0.0, 0.0, -g),  # type: ignore[arg-type]
    )
    q, v, a = (sp.Matrix([sp.Symbol(x)]) for x in "qva")
    (tau,) = kn.inverse_dynamics(pendulum, q, v, a)
    assert sp.simplify(tau - ((I + m * l**2) * a[0] + m * g * l * sp.sin(q[0]))) == 0


def _moments(I: Any) -> Any:
    return Sym3(I, ZERO, I, ZERO, ZERO, I)


# mpmath


@pytest.mark.parametrize("name", FEW)
def test_mpmath(name: str):
    s = states(ARM)
    with mp.workdps(40):
        given = State(*(mp.matrix(x.tolist()) for x in (s.q, s.v, s.a, s.f_ext, s.w)))
        found = FUNCTIONS[name].call(ARM, given)
        expected = FUNCTIONS[name].call(ARM, s)
        if np.ndim(expected):
            assert isinstance(found, mp.matrix)
            assert (found.rows, found.cols) == matrix_shape(expected.shape)
            assert all(isinstance(x, mp.mpf) for x in found)
            numbers = np.array([float(x) for x in found]).reshape(expected.shape)
        else:
            assert isinstance(found, mp.mpf)
            numbers = float(found)
        np.testing.assert_allclose(numbers, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_mpmath_gives_the_digits_asked_for():
    """Forward dynamics of inverse dynamics, to 37 digits of 40, of a model whose constants have them too."""
    model = chain(3).with_scalars(mp.mpf)
    s = states(chain(3))
    with mp.workdps(40):
        q, v, a = (mp.matrix(x.tolist()) for x in (s.q, s.v, s.a))
        back = kn.forward_dynamics(model, q, v, kn.inverse_dynamics(model, q, v, a))
        assert max(abs(x - y) for x, y in zip(back, a, strict=True)) < mp.mpf(10) ** -37
        as_objects = kn.inverse_dynamics(model, list(q), list(v), list(a))
        assert as_objects.dtype == object
        assert list(as_objects) == list(kn.inverse_dynamics(model, q, v, a))


def test_mpmath_batches_go_in_arrays_of_objects():
    s = states(ARM, (2, 3))
    q = np.vectorize(mp.mpf, otypes=[object])(s.q)
    H = kn.mass_matrix(ARM, q)
    assert H.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(H.astype(float), kn.mass_matrix(ARM, s.q), atol=1e-14)
    broadcast = kn.kinetic_energy(ARM, q, np.vectorize(mp.mpf, otypes=[object])(s.v[0, 0]))
    assert broadcast.shape == (2, 3)
    with pytest.raises(ValueError, match=r"q has shape \(2, 1\), and must have shape \(3, 1\): mpmath takes no batch"):
        kn.mass_matrix(ARM, mp.matrix([1, 2]))


# arrays of objects


def exact_gantry() -> Model:
    """Slides whose every constant is a fraction."""
    third = Fraction(1, 3)
    I = Inertia.of(third, (Fraction(1, 7), 0, Fraction(2, 5)), ((third, 0, 0), (0, third, 0), (0, 0, third)))
    E = ((Fraction(3, 5), Fraction(4, 5), ZERO), (Fraction(-4, 5), Fraction(3, 5), ZERO), (ZERO, ZERO, ONE))
    return Model(
        bodies=tuple(Body(f"body{i}", I) for i in range(3)),
        joints=tuple(
            TreeJoint(f"slide{i}", Prismatic(axis), i - 1, Transform(E, (Fraction(i, 2), ZERO, Fraction(1, 9))))
            for i, axis in enumerate("xyz")
        ),
        frames=(Frame("tool", 2, Transform(E, (third, third, third))),),
        gravity=(0, 0, Fraction(-981, 100)),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "normalize"])
def test_fractions_stay_exact(name: str):
    """No float hides in any text: with rational constants every result is rational."""
    model = exact_gantry()
    rng = np.random.default_rng(0)
    draw = lambda *shape: np.vectorize(Fraction, otypes=[object])(  # noqa: E731
        rng.integers(-9, 10, shape), rng.integers(1, 10, shape)
    )
    s = State(draw(3), draw(3), draw(3), draw(3, 6), draw(6))
    found = np.atleast_1d(FUNCTIONS[name].call(model, s))
    assert found.dtype == object
    for x in found.flat:
        assert isinstance(x, (Fraction, int)), f"{name} gives {x!r}"


def test_fractions_satisfy_the_equation_of_motion_exactly():
    model = exact_gantry()
    q, v, tau = ([Fraction(k, 7 + i) for k in range(1, 4)] for i in range(3))
    a = kn.forward_dynamics(model, q, v, tau)
    assert list(kn.inverse_dynamics(model, q, v, a)) == tau
    H, C = kn.mass_matrix(model, q), kn.bias_force(model, q, v)
    assert list(H @ a + C) == tau
    assert (kn.mass_matrix_inverse(model, q) @ H == np.eye(3, dtype=int)).all()


def test_fractions_meet_trigonometry():
    with pytest.raises(TypeError, match="a fraction has no exact sine"):
        kn.gravity_force(ARM, [Fraction(1, 2)] * 3)


def test_duals_differentiate():
    """The rate of the mass matrix along v, against the complex step."""
    s = states(ARM)
    H = kn.mass_matrix(ARM, [Dual(float(x), float(y)) for x, y in zip(s.q, s.v, strict=True)])
    stepped = kn.mass_matrix(ARM, s.q + 1e-30j * s.v).imag / 1e-30
    found = [[x.derivative if isinstance(x, Dual) else 0.0 for x in row] for row in H]
    np.testing.assert_allclose(np.array(found, dtype=float), stepped, atol=1e-14)


def test_objects_that_are_floats_stay_objects():
    s = states(ARM)
    found = kn.mass_matrix(ARM, s.q.astype(object))
    assert found.dtype == object
    assert all(type(x) is float or x in (0, 1) for x in found.flat)
    np.testing.assert_array_equal(found.astype(float), kn.mass_matrix(ARM, s.q))


@pytest.mark.sampled
@pytest.mark.parametrize("batch", [(0,), (2, 0)])
def test_empty_batches_of_objects(batch: tuple[int, ...], public: Public):
    q, v = np.empty((*batch, 3), object), np.empty((*batch, 3), object)
    found = public.call(ARM, State(q, v, v, np.empty((*batch, 3, 6), object), np.empty((*batch, 6), object)))
    assert found.shape == batch + public.shape(ARM)
    assert found.dtype == object


def test_wrong_shapes_of_objects():
    with pytest.raises(ValueError, match=r"q has shape \(2,\), and must have shape \(\.\.\., 3\)"):
        kn.mass_matrix(ARM, [Fraction(1), Fraction(2)])
    with pytest.raises(ValueError, match="batch axes of the arguments do not broadcast"):
        kn.kinetic_energy(ARM, np.full((2, 3), Fraction(1)), np.full((3, 3), Fraction(1)))


def test_our_own_vectors_and_matrices():
    """What `.reference` returns goes into the next call, structural zeros and all."""
    s = states(ARM)
    q, v = Vector(map(float, s.q)), Vector([ZERO, ONE, 0.5])
    found = kn.bias_force(ARM, q, v, Matrix.zero(3, 6))
    assert found.dtype == float
    np.testing.assert_allclose(found, kn.bias_force(ARM, s.q, [0.0, 1.0, 0.5]), rtol=1e-15)


def test_kinds_of_two_packages_do_not_go_into_one_call():
    with pytest.raises(TypeError, match="arrays of casadi and sympy do not go into one call"):
        kn.bias_force(ARM, ca.SX.sym("q", 3), sp.Matrix([1, 2, 3]))


def test_complex_steps_are_derivatives(model: Model):
    """dT/dv = H v, by a complex step through single states and through lanes."""
    s = states(model, (2,))
    momentum = np.einsum("...ij,...j", kn.mass_matrix(model, s.q), s.v)
    for k in range(model.nv):
        step = np.zeros(model.nv)
        step[k] = 1e-30
        slope = kn.kinetic_energy(model, s.q, s.v + 1j * step).imag / 1e-30
        np.testing.assert_allclose(slope, momentum[:, k], atol=1e-13)
        one = kn.kinetic_energy(model, s.q[0], s.v[0] + 1j * step).imag / 1e-30
        assert one == pytest.approx(momentum[0, k], abs=1e-13)


def test_values_do_not_depend_on_the_container():
    """One state through floats, lanes, objects, mpmath and CasADi: the same torque."""
    s = states(ARM)
    args = (s.q, s.v, s.a)
    expected = kn.inverse_dynamics(ARM, *args)
    ways = {
        "lanes": kn.inverse_dynamics(ARM, *(x[None] for x in args))[0],
        "objects": kn.inverse_dynamics(ARM, *(x.astype(object) for x in args)).astype(float),
        "mpmath": np.array([float(x) for x in kn.inverse_dynamics(ARM, *(mp.matrix(x.tolist()) for x in args))]),
        "casadi": np.array(kn.inverse_dynamics(ARM, *map(ca.DM, args))).ravel(),
        "reference": np.array([float(x) for x in kn.inverse_dynamics.reference(ARM, *args)]),
    }
    for name, found in ways.items():
        np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=name)
    assert math.isfinite(expected.sum())
    assert arm() == ARM
