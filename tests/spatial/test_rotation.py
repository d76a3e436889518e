"""Rotations: Euler parameters, roll-pitch-yaw, exponential and logarithm."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm, logm

from knuckle.scalar import ONE, ZERO, Dual, derivative
from knuckle.spatial import rotation
from knuckle.spatial.three import IDENTITY3, cross, dot, matmul, matvec, scale, skew, transpose

from .zoo import KINDS, Kind

EPS = 2.0**-52
AXES = [
    (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0),
    (0.6, 0.0, 0.8), (0.6, -0.8, 0.0), (1 / 3, 2 / 3, -2 / 3), (-2 / 7, 3 / 7, 6 / 7),
]  # fmt: skip
ANGLES = [0.0, 1e-9, 1e-5, 1e-3, 0.1, 0.999, 1.001, 2.0, 3.0, math.pi - 1e-5, math.pi - 1e-9, math.pi]


def array(E) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in E])


def cross_matrix(phi) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in skew(tuple(phi))])


def turns(rng: np.random.Generator, n: int, size: float = 1.0) -> np.ndarray:
    return rng.normal(size=(n, 3)) * size


# axis and angle


@pytest.mark.parametrize("angle", ANGLES)
def test_about_is_the_exponential(angle: float):
    """E turns coordinates back when the frame turns forward: E = Exp(−θ a×)."""
    for axis in AXES:
        E = array(rotation.about(axis, angle))
        np.testing.assert_allclose(E, expm(-angle * cross_matrix(axis)), atol=5e-15)
        np.testing.assert_allclose(E @ np.array(axis), axis, atol=1e-15)


def test_about_the_coordinate_axes():
    for axis, elementary in zip(IDENTITY3, (rotation.rx, rotation.ry, rotation.rz), strict=True):
        assert rotation.about(axis, 0.3) == elementary(0.3)
    minus_z = rotation.about((ZERO, ZERO, -1.0), 0.3)
    assert minus_z == rotation.rz(-0.3)
    assert minus_z[2][2] is ONE


def test_about_an_axis_of_any_kind(kind: Kind):
    """Nothing asks what the axis is: lanes, symbols and duals are axes too."""
    x, y, z = 1, 2, 2
    n = kind.positive()
    axis = tuple((n - n + a) / 3 for a in (x, y, z))
    c, s = (n - n + 3) / 5, (n - n + 4) / 5
    E = rotation.from_cosine_sine(axis, c, s)
    kind.same(matmul(E, transpose(E)), IDENTITY3)
    kind.same(matvec(E, axis), axis)


# Euler parameters


def test_c17_euler_parameters(kind: Kind):
    """RBDA 4.12 for a unit quaternion; a multiple of it is the same rotation."""
    p = (kind.positive(), *kind.vec3())
    E = rotation.from_quaternion(p)
    kind.same(matmul(E, transpose(E)), IDENTITY3)
    kind.same(dot(E[0], cross(E[1], E[2])), 1)
    kind.same(rotation.from_quaternion(tuple(3 * x for x in p)), E)
    n = p[0] * p[0] + dot(p[1:], p[1:])
    p0, p1, p2, p3 = p
    printed = (
        (p0 * p0 + p1 * p1 - n / 2, p1 * p2 + p0 * p3, p1 * p3 - p0 * p2),
        (p1 * p2 - p0 * p3, p0 * p0 + p2 * p2 - n / 2, p2 * p3 + p0 * p1),
        (p1 * p3 + p0 * p2, p2 * p3 - p0 * p1, p0 * p0 + p3 * p3 - n / 2),
    )
    kind.same(E, tuple(scale(2 / n, row) for row in printed))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [0.3, -2.0, 3.1])
def test_c17_half_angles(axis, angle: float):
    p = (math.cos(angle / 2), *(math.sin(angle / 2) * a for a in axis))
    np.testing.assert_allclose(array(rotation.from_quaternion(p)), array(rotation.about(axis, angle)), atol=1e-15)


def test_product_of_quaternions_is_the_product_of_turns(kind: Kind):
    """Turn by p, then by q in the turned frame: E(p q) = E(q) E(p)."""
    p, q = (kind.positive(), *kind.vec3()), (kind.positive(), *kind.vec3())
    E = matmul(rotation.from_quaternion(q), rotation.from_quaternion(p))
    kind.same(rotation.from_quaternion(rotation.multiply(p, q)), E)
    kind.same(rotation.from_quaternion(rotation.conjugate(p)), transpose(rotation.from_quaternion(p)))
    n = p[0] * p[0] + dot(p[1:], p[1:])
    kind.same(rotation.multiply(p, rotation.conjugate(p)), (n, 0, 0, 0))


@pytest.mark.parametrize("name", ["float", "fraction", "mpmath", "complex"])
def test_c17_rate_of_a_quaternion(name: str):
    """ṗ turns with ω in the turned frame: Ė = −ω × E; and p·ṗ = 0 (RBDA 4.13)."""
    kind = KINDS[name].at(5)
    p, w = (kind.positive(), *kind.vec3()), kind.vec3()
    dp = rotation.quaternion_rate(p, w)
    kind.nothing(p[0] * dp[0] + dot(p[1:], dp[1:]))
    E = rotation.from_quaternion(tuple(map(Dual, p, dp)))
    E_now = rotation.from_quaternion(p)
    rates = tuple(tuple(x.derivative for x in row) for row in E)
    kind.same(rates, tuple(scale(-1, row) for row in matmul(skew(w), E_now)))


BRANCHES = {
    "w": [(0.9, 0.1, -0.2, 0.3), (1.0, 0.0, 0.0, 0.0)],
    "x": [(0.1, 0.9, -0.2, 0.3), (0.0, 1.0, 0.0, 0.0)],
    "y": [(-0.1, 0.2, 0.9, 0.3), (0.0, 0.0, 1.0, 0.0)],
    "z": [(0.1, -0.2, 0.3, 0.9), (0.0, 0.0, 0.0, 1.0)],
    "ties": [(0.5, 0.5, 0.5, 0.5), (0.5, -0.5, 0.5, -0.5), (0.0, 0.6, 0.8, 0.0), (0.0, 0.7071, 0.7071, 0.0)],
}


@pytest.mark.parametrize("branch", BRANCHES)
def test_all_four_branches_of_to_quaternion(branch: str):
    for p in BRANCHES[branch]:
        p = np.array(p) / np.linalg.norm(p)
        E = rotation.from_quaternion(tuple(p))
        found = np.array(rotation.to_quaternion(E), dtype=float)
        assert abs(abs(found @ p) - 1) <= 4 * EPS
        np.testing.assert_allclose(found * np.sign(found @ p), p, atol=4 * EPS)


def test_to_quaternion_of_random_turns():
    rng = np.random.default_rng(2)
    p = rng.normal(size=(500, 4))
    p /= np.linalg.norm(p, axis=1)[:, None]
    lanes = np.array([np.broadcast_to(x, 500) for x in rotation.to_quaternion(rotation.from_quaternion(tuple(p.T)))]).T
    np.testing.assert_allclose(lanes * np.sign(np.sum(lanes * p, axis=1))[:, None], p, atol=8 * EPS)
    for k in range(20):
        one = np.array(rotation.to_quaternion(rotation.from_quaternion(tuple(map(float, p[k])))))
        np.testing.assert_allclose(one, lanes[k], atol=4 * EPS)


def test_to_quaternion_of_the_identity_is_structural_where_it_can_be():
    assert rotation.to_quaternion(IDENTITY3) == (1, 0, 0, 0)


@pytest.mark.parametrize("dominant", range(4))
def test_to_quaternion_differentiates_in_every_branch(dominant: int):
    """Along a turn the derivative is RBDA 4.13, whichever candidate was taken."""
    p = np.full(4, 0.2)
    p[dominant] = 0.9
    p = tuple(p / np.linalg.norm(p))
    w = (0.3, -0.7, 0.5)
    dp = rotation.quaternion_rate(p, w)
    found = rotation.to_quaternion(rotation.from_quaternion(tuple(map(Dual, p, dp))))
    np.testing.assert_allclose([x.value for x in found], p, atol=4 * EPS)
    np.testing.assert_allclose([x.derivative for x in found], dp, atol=16 * EPS)


# roll, pitch, yaw


@pytest.mark.parametrize("roll", [-2.5, 0.0, 0.3, math.pi])
@pytest.mark.parametrize("pitch", [-1.5, -0.4, 0.0, 0.9])
@pytest.mark.parametrize("yaw", [-3.0, 0.0, 1.1])
def test_rpy_round_trip(roll: float, pitch: float, yaw: float):
    found = np.array(rotation.to_rpy(rotation.from_rpy(roll, pitch, yaw)), dtype=float)
    slack = 1 / math.cos(pitch)  # roll and yaw are ill-determined near the poles
    np.testing.assert_allclose(np.cos(found), np.cos([roll, pitch, yaw]), atol=8 * EPS * slack)
    np.testing.assert_allclose(np.sin(found), np.sin([roll, pitch, yaw]), atol=8 * EPS * slack)


def test_rpy_is_urdfs():
    """Rotation about the fixed x, then y, then z axis: R = Rz(yaw) Ry(pitch) Rx(roll), and E is its transpose."""
    r, p, y = 0.3, -0.8, 1.9
    R = expm(y * cross_matrix((0, 0, 1))) @ expm(p * cross_matrix((0, 1, 0))) @ expm(r * cross_matrix((1, 0, 0)))
    np.testing.assert_allclose(array(rotation.from_rpy(r, p, y)).T, R, atol=1e-15)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("off", [0.0, 1e-17, 1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3])
def test_rpy_near_gimbal_lock(side: int, off: float):
    """Roll and yaw are free to differ there, but together they give E again."""
    rng = np.random.default_rng(4)
    for roll, yaw in rng.uniform(-math.pi, math.pi, (20, 2)):
        E = rotation.from_rpy(roll, side * (math.pi / 2 - off), yaw)
        again = rotation.from_rpy(*rotation.to_rpy(E))
        np.testing.assert_allclose(array(again), array(E), atol=8 * EPS)


@pytest.mark.parametrize("side", [1, -1])
def test_rpy_at_gimbal_lock(side: int):
    """Exactly there the yaw is zero."""
    E = ((ZERO, ZERO, -side), (ZERO, ONE, ZERO), (side, ZERO, ZERO))
    roll, pitch, yaw = rotation.to_rpy(matmul(rotation.rx(0.3), E))
    assert (float(roll), float(yaw)) == (pytest.approx(0.3, abs=2 * EPS), 0.0)
    assert pitch == side * math.pi / 2


def test_rpy_in_lanes_and_at_forty_digits():
    rng = np.random.default_rng(5)
    angles = rng.uniform(-1.4, 1.4, (3, 50))
    np.testing.assert_allclose(rotation.to_rpy(rotation.from_rpy(*angles)), angles, atol=1e-14)
    exact = tuple(mp.mpf(x) for x in angles[:, 0])
    for found, expected in zip(rotation.to_rpy(rotation.from_rpy(*exact)), exact, strict=True):
        assert abs(found - expected) < mp.mpf(10) ** -37


# exponential and logarithm


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential(angle: float):
    for axis in AXES:
        phi = tuple(angle * a for a in axis)
        np.testing.assert_allclose(array(rotation.exp(phi)), expm(-cross_matrix(phi)), atol=5e-15)


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithm_undoes_the_exponential(angle: float):
    for axis in AXES:
        phi = np.array([angle * a for a in axis])
        found = np.array(rotation.log(rotation.exp(tuple(phi))), dtype=float)
        if angle == math.pi:  # both ways round are as long
            found = found * np.sign(found @ phi)
        np.testing.assert_allclose(found, phi, atol=8 * EPS)


@pytest.mark.parametrize("angle", [1e-9, 1e-5, 0.3, 2.0, 3.1])
def test_logarithm_is_scipys(angle: float):
    rng = np.random.default_rng(6)
    axis = rng.normal(size=3)
    phi = axis / np.linalg.norm(axis) * angle
    E = rotation.exp(tuple(phi))
    expected = -logm(array(E)).real
    found = cross_matrix(np.array(rotation.log(E), dtype=float))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-20, 1e-16, 1e-15, 1e-9, 1e-5])
def test_small_turns_keep_their_relative_accuracy(size: float):
    phi = np.array([0.3, -0.5, 0.7]) * size
    p = rotation.quaternion_exp(tuple(phi))
    np.testing.assert_allclose(np.array(rotation.quaternion_log(p), dtype=float), phi, rtol=4 * EPS, atol=0)


@pytest.mark.parametrize("n", [3.5, 6.0, 6.5, 50.0])
def test_long_turns_come_back_short(n: float):
    """|log| ≤ π; E does not know how often it was turned."""
    rng = np.random.default_rng(7)
    axis = rng.normal(size=3)
    phi = axis / np.linalg.norm(axis) * n
    E = rotation.exp(tuple(phi))
    back = np.array(rotation.log(E), dtype=float)
    assert np.linalg.norm(back) <= math.pi * (1 + EPS)
    np.testing.assert_allclose(array(rotation.exp(tuple(back))), array(E), atol=2e-15 * max(1, n))


def test_both_signs_of_a_quaternion_are_one_turn():
    p = rotation.quaternion_exp((0.3, -0.5, 0.7))
    flipped = tuple(-x for x in p)
    np.testing.assert_allclose(rotation.quaternion_log(flipped), (0.3, -0.5, 0.7), atol=2 * EPS)
    assert rotation.quaternion_log((ZERO, ONE, ZERO, ZERO))[0] == math.pi
    assert rotation.quaternion_log((ONE, ZERO, ZERO, ZERO)) == (0, 0, 0)
    assert rotation.quaternion_log((-1.0, 0.0, 0.0, 0.0)) == (0, 0, 0)


@pytest.mark.parametrize("angle", ["1e-30", "1e-16", "1e-9", "0.3", "1.0", "3", "3.14159265358979"])
def test_forty_digits(angle: str):
    phi = tuple(mp.mpf(angle) * mp.mpf(a) / 7 for a in (2, -3, 6))
    E = rotation.exp(phi)
    for a, b in zip(rotation.log(E), phi, strict=True):
        assert abs(a - b) <= mp.mpf(10) ** -38
    found = mp.matrix([list(row) for row in E])
    generator = mp.matrix([[0, -phi[2], phi[1]], [phi[2], 0, -phi[0]], [-phi[1], phi[0], 0]])
    assert mp.mnorm(found - mp.expm(-generator), "f") <= mp.mpf(10) ** -37


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 0.3, 1.0, 2.0, 3.1])
@pytest.mark.parametrize("axis", AXES[5:])
def test_complex_steps_through_exponential_and_logarithm(axis, angle: float):
    """d/dh log(exp(φ + h d)) = d, also through zero and across the change of formula at |φ| = 1."""
    phi, d = [angle * a for a in axis], (0.4, -0.2, 0.9)
    stepped = tuple(a + 1e-30j * b for a, b in zip(phi, d, strict=True))
    back = rotation.log(rotation.exp(stepped))
    condition = 1 / (math.pi - angle)
    np.testing.assert_allclose(np.imag(back) / 1e-30, d, atol=50 * EPS * max(1, condition))
    np.testing.assert_allclose([complex(x).real for x in back], phi, atol=8 * EPS)


@pytest.mark.parametrize("edge", [1.0])
def test_exponential_is_continuous_where_the_formula_changes(edge: float):
    below, above = math.nextafter(edge, 0), edge
    a, b = rotation.quaternion_exp((below, 0.0, 0.0)), rotation.quaternion_exp((above, 0.0, 0.0))
    np.testing.assert_allclose(np.array(a, dtype=float), np.array(b, dtype=float), atol=2 * EPS, rtol=0)


def test_derivative_of_the_logarithm_at_the_identity_by_duals():
    for k, e in enumerate(IDENTITY3):
        slope = [derivative(lambda h, e=e, j=j: rotation.log(rotation.exp(scale(h, e)))[j], 0.0)[1] for j in range(3)]
        assert [float(x) for x in slope] == [float(i == k) for i in range(3)]


def test_sympy_gives_rodrigues():
    """exp about z, for a positive angle, is rz."""
    t = sp.Symbol("t", positive=True)
    E = rotation.exp((ZERO, ZERO, t))
    for i, j in itertools.product(range(3), repeat=2):
        for angle in (sp.Rational(1, 3), sp.Rational(7, 3)):
            found = sp.sympify(E[i][j]).subs(t, angle)
            expected = sp.sympify(rotation.rz(angle)[i][j])
            assert abs(sp.N(found - expected, 30)) < 1e-28


# frames about an axis


def test_perpendicular_makes_a_right_handed_frame():
    rng = np.random.default_rng(8)
    axes = [*AXES, *(v / np.linalg.norm(v) for v in rng.normal(size=(200, 3)))]
    axes += [v / np.linalg.norm(v) for v in ((1, 1e-9, 0), (1, 1, 1), (1, 1, 1 + 1e-12), (1e-200, 0, 1), (-1, 1, -1))]
    for axis in axes:
        z = tuple(map(float, axis))
        x, y = rotation.perpendicular(z)
        E = array((x, y, z))
        np.testing.assert_allclose(E @ E.T, np.eye(3), atol=6 * EPS)
        assert np.linalg.det(E) == pytest.approx(1, abs=8 * EPS)


def test_perpendicular_of_coordinate_axes_is_cyclic():
    x, y, z = IDENTITY3
    for k, axis in enumerate((x, y, z)):
        a, b = rotation.perpendicular(tuple(map(float, axis)))
        assert [float(c) for c in a] == [float(c) for c in IDENTITY3[(k + 1) % 3]]
        assert [float(c) for c in b] == [float(c) for c in IDENTITY3[(k + 2) % 3]]
