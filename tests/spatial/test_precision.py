"""The kind that goes in comes out: float32 is not made double, fractions are not made floats, digits are not lost."""

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import Force, Inertia, Motion, PlanarInertia, Subspace, Transform, lie, rotation
from knuckle.spatial.planar.planar_vectors import displacement
from knuckle.spatial.screw import line_and_free, pitch, screw

from .zoo import KINDS, Kind, scalars


def everything(kind: Kind) -> dict[str, Any]:
    """One result of every operation that needs no trigonometry."""
    X, Y, m, v, f = kind.transform(), kind.transform(), kind.motion(), kind.motion(), kind.force()
    I, A = kind.inertia(), kind.articulated()
    S, T = Subspace(Motion, [m, v]), Subspace(Force, [f, kind.force()])
    p, q = (kind.positive(), *kind.vec3()), (kind.positive(), *kind.vec3())
    x, y, n, g = kind.planar_transform(), kind.planar_transform(), kind.planar_motion(), kind.planar_force()
    i, a = kind.planar_inertia(), kind.planar_articulated()
    axis = screw(m)
    return {
        "vectors": [m + v, m - v, -m, m * 2, m / 2, m.dot(f), m.cross(v), m.cross(f)],
        "transform": [X, X @ Y, X.inverse(), X.inv @ Y, X @ m, X @ f, X.inv @ m, X.inv @ f, X.T @ f, X.homogeneous],
        "matrix": [X.matrix, X.force_matrix, I.matrix, A.matrix, I.inverse.matrix],
        "inertia": [I, I + I, I - I, I @ m, X @ I, X.inv @ I, I.rate(v), I.kinetic_energy(v), I.com, I.I_com.matrix],
        "inverse": [I.inverse @ f, (X @ I.inverse).matrix],
        "articulated": [A, A + I, A - I, A @ m, X @ A, X.inv @ A, A.solve(f), T.dyadic(S.T @ T)],
        "subspace": [S.T @ T, X @ S, v.cross(T), I @ S, S @ (S.T @ f), (S.T @ (I @ S)).inverse()],
        "rotation": [rotation.from_quaternion(p), rotation.multiply(p, q), rotation.quaternion_rate(p, m.angular)],
        "lines": [pitch(m), *line_and_free(f), axis.point, axis.pitch],
        "displacement": [lie.displacement(X)],
        "planar": [n + n, n.cross(n), n.cross(g), x @ y, x.inverse(), x @ n, x @ g, x.inv @ n, x.inv @ g, x.T @ g],
        "planar inertia": [
            i,
            i @ n,
            x @ i,
            x.inv @ i,
            i.rate(n).matrix,
            i.kinetic_energy(n),
            i.I_com,
            i.inverse.matrix,
        ],
        "planar articulated": [a @ n, a + i, (x @ a).matrix, a.solve(g), displacement(x), displacement(x, simple=True)],
    }


NAMES = list(everything(KINDS["float"]))


@pytest.mark.parametrize("name", NAMES)
def test_fractions_stay_fractions(name: str):
    """Nothing but integers and fractions: no 0.5 hides in a formula."""
    for result in everything(KINDS["fraction"].at(1))[name]:
        for x in scalars(result):
            assert isinstance(x, (Fraction, int)) or x is ZERO or x is ONE


@pytest.mark.parametrize("name", NAMES)
def test_float32_lanes_stay_float32(name: str):
    for result in everything(KINDS["float32"].at(1))[name]:
        for x in scalars(result):
            if isinstance(x, (np.ndarray, np.generic)):
                assert x.dtype == np.float32
            else:
                assert isinstance(x, (int, float)) or x is ZERO or x is ONE


@pytest.mark.parametrize("name", NAMES)
def test_forty_digits_stay(name: str):
    """What mpmath gives at 40 digits is what it gives at 80, to 36: no double among the constants."""
    with mp.workdps(40):
        few = everything(KINDS["mpmath"].at(1))[name]
    with mp.workdps(80):
        many = everything(KINDS["mpmath"].at(1))[name]
        for a, b in zip(scalars(few), scalars(many), strict=True):
            size = max(1, abs(b))
            assert abs(a - b) <= size * mp.mpf(10) ** -34


FLOAT32 = {
    "exp": lambda v: lie.exp(Motion(v[:3], v[3:])),
    "log": lambda v: lie.log(Transform(rotation.exp(v[:3]), v[3:])),
    "to_quaternion": lambda v: rotation.to_quaternion(rotation.exp(v[:3])),
    "rpy": lambda v: rotation.to_rpy(rotation.from_rpy(*v[:3])),
    "about": lambda v: rotation.about((0.6, 0.0, 0.8), v[0]),
    "elementary": lambda v: [rotation.rx(v[0]), rotation.ry(v[1]), rotation.rz(v[2])],
    "quaternion_log": lambda v: rotation.quaternion_log(rotation.quaternion_exp(v[:3])),
    "complement": lambda v: Subspace(Motion, [Motion(v[:3], v[3:])]).matrix.complement(),
}


@pytest.mark.parametrize("size", [0.0, 1e-4, 0.5, 1.1])
@pytest.mark.parametrize("name", FLOAT32)
def test_float32_lanes_stay_float32_through_trigonometry(name: str, size: float):
    rng = np.random.default_rng(3)
    v = tuple((rng.uniform(0.5, 1, 4) * size + (name == "complement")).astype(np.float32) for _ in range(6))
    found = scalars(FLOAT32[name](v))
    assert any(isinstance(x, np.ndarray) for x in found)
    for x in found:
        assert not isinstance(x, (np.ndarray, np.generic)) or x.dtype == np.float32


@pytest.mark.parametrize("name", FLOAT32)
def test_float32_results_are_those_of_float64(name: str):
    rng = np.random.default_rng(4)
    single = tuple(rng.uniform(0.3, 0.9, 4).astype(np.float32) for _ in range(6))
    double = tuple(x.astype(float) for x in single)
    for a, b in zip(scalars(FLOAT32[name](single)), scalars(FLOAT32[name](double)), strict=True):
        np.testing.assert_allclose(np.asarray(_plain(a), float), np.asarray(_plain(b), float), atol=2e-6)


def _plain(x: Any) -> Any:
    return int(x) if x is ZERO or x is ONE else x


def test_constants_of_numpy_do_not_decide_the_precision():
    """An inertia and a transform made from float64 arrays leave float32 lanes float32."""
    I = Inertia.of(np.float64(2.5), np.array([0.1, 0.2, 0.3]), np.diag([1.5, 2.5, 3.5]))
    X = Transform.of(np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]), np.array([0.5, 0.25, 2.0]))
    J = PlanarInertia.of(np.float64(2.5), np.array([0.1, 0.2]), np.float64(0.7))
    lanes = np.ones(2, np.float32)
    m = Motion((lanes,) * 3, (lanes,) * 3)
    for x in (*(X @ m).components, *(I @ m).components, *((X @ I) @ m).components, J.mass * lanes):
        assert x.dtype == np.float32


def test_duals_of_fractions_stay_exact():
    """The velocity of a rational motion, by duals, in fractions."""
    p = tuple(map(Dual, (Fraction(1, 2), Fraction(1, 3), Fraction(-2, 5), Fraction(3, 7)), (ONE, ZERO, ZERO, ZERO)))
    for row in rotation.from_quaternion(p):
        for x in row:
            assert isinstance(x.value, Fraction)
            assert isinstance(x.derivative, Fraction)
    w = rotation.quaternion_rate((ONE, ZERO, ZERO, ZERO), (Fraction(1, 3), ZERO, Fraction(2)))
    assert w == (0, Fraction(1, 6), 0, Fraction(1))
