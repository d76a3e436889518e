"""Exponential and logarithm of rigid motions, and the book's small-motion coordinates."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.linalg import expm, logm

from knuckle.scalar import ZERO, Dual
from knuckle.spatial import IDENTITY, Motion, Transform, lie, rotation
from knuckle.spatial.three import IDENTITY3, matmul, skew, transpose, unskew

from .test_vectors import crm
from .zoo import Kind, dense

EPS = 2.0**-52
SIZES = [0.0, 1e-12, 1e-9, 1e-5, 0.1, 0.9999, 1.0001, 1.9999, 2.0001, 2.9999, 3.0001, math.pi - 1e-6, math.pi]


def twist(size: float, seed: int = 0) -> Motion:
    """A random screw motion that turns by `size`."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis *= size / np.linalg.norm(axis)
    return Motion(tuple(map(float, axis)), tuple(map(float, rng.normal(size=3))))


@pytest.mark.parametrize("size", [*SIZES, 5.0, 6.2])
@pytest.mark.parametrize("seed", range(3))
def test_exponential_is_scipys(size: float, seed: int):
    """exp(d) = Exp(−d×): the frame moved with velocity d for a unit of time."""
    d = twist(size, seed)
    expected = expm(-dense(crm(d)))
    np.testing.assert_allclose(dense(lie.exp(d).matrix), expected, atol=40 * EPS * np.abs(expected).max())


@pytest.mark.parametrize("size", [s for s in SIZES if s < math.pi])
@pytest.mark.parametrize("seed", range(3))
def test_logarithm_undoes_the_exponential(size: float, seed: int):
    d = twist(size, seed)
    back = np.array(lie.log(lie.exp(d)).components, dtype=float)
    np.testing.assert_allclose(back, d.components, atol=20 * EPS * max(1.0, size))


def test_logarithm_of_half_a_turn():
    """At π both ways round are shortest: either gives the transform again."""
    for axis in (*IDENTITY3, (0.6, 0.0, 0.8), (2 / 7, -3 / 7, 6 / 7)):
        d = Motion(tuple(math.pi * float(a) for a in axis), (0.3, -0.5, 0.7))
        X = lie.exp(d)
        np.testing.assert_allclose(dense(lie.exp(lie.log(X)).matrix), dense(X.matrix), atol=20 * EPS)
        turned = np.array(lie.log(X).angular, dtype=float)
        assert np.linalg.norm(turned) == pytest.approx(math.pi, rel=2 * EPS)


@pytest.mark.parametrize("size", [1e-5, 0.3, 1.0, 2.5])
def test_logarithm_is_scipys(size: float):
    d = twist(size, 5)
    X = lie.exp(d)
    expected = -logm(dense(X.matrix)).real
    np.testing.assert_allclose(dense(crm(lie.log(X))), expected, atol=1e-11)


def test_pure_translations_and_turns():
    X = lie.exp(Motion((ZERO, ZERO, ZERO), (1.0, 2.0, 3.0)))
    assert [float(x) for x in X.r] == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(dense(Transform(X.E).matrix), np.eye(6))
    shift = lie.log(Transform.translation((1, 2, 3)))
    assert [float(x) for x in shift.components] == [0, 0, 0, 1, 2, 3]
    assert all(float(x) == 0 for x in lie.log(IDENTITY).components)
    turn = lie.exp(Motion((0.1, 0.2, 0.3), (ZERO, ZERO, ZERO)))
    assert all(float(x) == 0 for x in turn.r)


def test_one_parameter_groups():
    """exp((s + t) d) = exp(s d) exp(t d), and exp(−d) is the inverse."""
    d = twist(0.8, 3)
    left, right = lie.exp(d * 0.9), lie.exp(d * 0.5) @ lie.exp(d * 0.4)
    np.testing.assert_allclose(dense(left.matrix), dense(right.matrix), atol=20 * EPS)
    np.testing.assert_allclose(dense((lie.exp(d) @ lie.exp(-d)).matrix), np.eye(6), atol=20 * EPS)


def test_the_screw_is_fixed():
    """X d = d: the motion is along its own axis."""
    d = twist(1.3, 4)
    np.testing.assert_allclose((lie.exp(d) @ d).components, d.components, atol=20 * EPS)


@pytest.mark.parametrize("angle", ["0", "1e-20", "1e-9", "0.3", "1.999999", "2.000001", "2.999999", "3.000001", "3.14"])
def test_forty_digits(angle: str):
    phi = tuple(mp.mpf(angle) * a / 7 for a in (2, -3, 6))
    d = Motion(phi, tuple(mp.mpf(x) / 3 for x in (1, -2, 4)))
    X = lie.exp(d)
    found = mp.matrix([list(map(mp.mpf, map(_plain, row))) for row in X.matrix.rows])
    generator = mp.matrix([list(map(mp.mpf, map(_plain, row))) for row in crm(d).rows])
    assert mp.mnorm(found - mp.expm(-generator), "f") <= mp.mpf(10) ** -36
    for a, b in zip(lie.log(X).components, d.components, strict=True):
        assert abs(a - b) <= mp.mpf(10) ** -36


def _plain(x):
    return int(x) if x in (0, 1, -1) else x


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5, 0.5, 1.0, 2.0, 3.0])
def test_complex_steps_through_zero_and_the_switches(size: float):
    """d/dh log(exp(d + h e)) = e."""
    d, e = twist(size, 6), (0.3, -0.4, 0.5, 0.6, -0.7, 0.8)
    stepped = Motion.of(a + 1e-30j * b for a, b in zip(d.components, e, strict=True))
    back = lie.log(lie.exp(stepped)).components
    condition = 1 + size / (math.pi - size)
    np.testing.assert_allclose(np.imag(back) / 1e-30, e, atol=100 * EPS * condition**2)


@pytest.mark.parametrize("size", [1.0, 2.0, 3.0])
def test_continuous_where_the_formulas_change(size: float):
    below, above = math.nextafter(size, 0), size
    a, b = (lie.exp(Motion((x, 0.0, 0.0), (0.3, 0.4, 0.5))) for x in (below, above))
    np.testing.assert_allclose(dense(a.matrix), dense(b.matrix), atol=1e-15, rtol=0)
    np.testing.assert_allclose(lie.log(a).components, lie.log(b).components, atol=2e-15, rtol=0)


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.5, 1.5, 2.5])
def test_left_jacobian(size: float):
    """The position that a constant twist reaches, ∫ exp(tφ×) dt x; its inverse; and the rate of a changing rotation."""
    d = twist(size, 7)
    phi, x = d.angular, d.linear
    top = np.zeros((4, 4))
    top[:3, :3], top[:3, 3] = np.array(skew(phi), dtype=object).astype(float), x
    np.testing.assert_allclose(lie.left_jacobian(phi, x), expm(top)[:3, 3], atol=10 * EPS)
    np.testing.assert_allclose(lie.left_jacobian_inverse(phi, lie.left_jacobian(phi, x)), x, atol=20 * EPS)
    # Ṙ Rᵀ = (J φ̇)× for R = exp(φ×) = Eᵀ
    E = rotation.exp(tuple(map(Dual, phi, x)))
    value, rate = ([[part(e) for e in row] for row in E] for part in (lambda e: e.value, lambda e: e.derivative))
    omega = unskew(matmul(transpose(rate), value))  # type: ignore[arg-type]
    np.testing.assert_allclose(omega, lie.left_jacobian(phi, x), atol=20 * EPS)


# XtoV: RBDA A.1, table 8.1


def test_a05_displacement_is_the_zero_freedom_row(kind: Kind):
    """½ [X23 − X32, X31 − X13, X12 − X21, X53 − X62, X61 − X43, X42 − X51]."""
    transform = kind.transform()
    X = transform.matrix.rows

    def entry(i: int, j: int):
        return X[i - 1][j - 1]

    row = [(2, 3, 3, 2), (3, 1, 1, 3), (1, 2, 2, 1), (5, 3, 6, 2), (6, 1, 4, 3), (4, 2, 5, 1)]
    expected = tuple((entry(a, b) - entry(c, d)) / 2 for a, b, c, d in row)
    kind.same(lie.displacement(transform).components, expected)


def test_a05_displacement_is_invariant(kind: Kind):
    """d = X d = X⁻¹ d."""
    X = kind.transform()
    d = lie.displacement(X)
    kind.same(X @ d, d)
    kind.same(X.inv @ d, d)
    kind.same(lie.displacement(X.inverse()), -d)


def test_a05_displacement_is_first_order():
    """X = 1 − d× + O(d²), and exact to first order."""
    for size in (1e-3, 1e-6):
        d = twist(1.0, 8) * size
        X = lie.exp(d)
        found = lie.displacement(X)
        np.testing.assert_allclose(found.components, d.components, atol=3 * size**3)
        assert np.abs(dense(X.matrix) - np.eye(6) + dense(crm(found))).max() < 4 * size**2


def test_a05_displacement_is_no_multiple_of_the_exact_one():
    """Unlike in the plane: the linear part is scaled by another factor than the angular one."""
    d = twist(1.5, 9)
    found, exact = (np.array(x.components) for x in (lie.displacement(lie.exp(d)), d))
    ratios = found / exact
    assert np.ptp(ratios[:3]) < 1e-14
    assert ratios[0] == pytest.approx(math.sin(1.5) / 1.5)
    assert np.ptp(ratios) > 1e-2


def test_a05_displacement_of_pure_moves():
    assert [float(x) for x in lie.displacement(Transform.translation((1, 2, 3))).components] == [0, 0, 0, 1, 2, 3]
    turn = lie.displacement(Transform.rotation(rotation.rz(0.4)))
    assert turn.angular[2] == pytest.approx(math.sin(0.4))
    assert turn.linear == (ZERO, ZERO, ZERO)
