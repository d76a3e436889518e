"""The pair of sine and cosine against mpmath: 2 ulp within reach, NaN beyond it and for what has no sine."""

import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit.sincos import DOUBLE, SINGLE
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.scalar import cos, sin

from .compiled import DTYPES, Vectors, record

PAIR = record(lambda x: [sin(x[0]), cos(x[0])], x=(1,))


@pytest.fixture(scope="module", params=["f64", "f32"])
def pair(request: pytest.FixtureRequest) -> Vectors:
    return Vectors(PAIR, request.param, 8)


def reach(pair: Vectors) -> float:
    return (DOUBLE if pair.dtype is np.float64 else SINGLE).reach


def worst_ulp(pair: Vectors, x: np.ndarray) -> float:
    """The largest error in units of the last place of the exact result."""
    x = np.asarray(x, pair.dtype)
    assert np.all(np.abs(x) <= reach(pair))
    computed = pair(x[:, None])
    assert np.isfinite(computed).all()
    digits, smallest = np.finfo(pair.dtype).nmant, float(np.finfo(pair.dtype).smallest_subnormal)
    worst = 0.0
    with mp.workprec(200):
        for angle, results in zip(x.tolist(), computed.tolist(), strict=True):
            for exact, result in zip((mp.sin(angle), mp.cos(angle)), results, strict=True):
                _, exponent = mp.frexp(exact)
                ulp = max(mp.ldexp(1, exponent - 1 - digits), mp.mpf(smallest))
                worst = max(worst, float(abs(result - exact) / ulp))
    return worst


def test_random_angles(pair: Vectors):
    rng = np.random.default_rng(1)
    for size in (1.0, 4.0, 100.0, 1e5, reach(pair) / 1000, reach(pair)):
        assert worst_ulp(pair, rng.uniform(-size, size, 1000)) <= 2


def test_near_multiples_of_a_right_angle(pair: Vectors):
    """The numbers nearest to k π/2 and their neighbours: there a result is small, and all of it is what π/2 lost."""
    with mp.workprec(200):
        last = int(reach(pair) / (mp.pi / 2))
        ks = np.unique(np.concatenate([np.arange(1, 600), np.geomspace(600, last, 600).astype(int)]))
        exact = np.array([float(int(k) * mp.pi / 2) for k in ks])
    x = exact.astype(pair.dtype)
    x = np.concatenate([x, np.nextafter(x, pair.dtype(0)), np.nextafter(x, pair.dtype(1e20))])
    x = x[x <= reach(pair)]
    assert worst_ulp(pair, np.concatenate([x, -x])) <= 2


def test_where_the_quadrant_changes(pair: Vectors):
    """The numbers around (k + 1/2) π/2, where the reduced angle is largest."""
    ks = np.concatenate([np.arange(0, 400), np.geomspace(400, reach(pair) / 1.5708 - 1, 400).astype(int)])
    x = ((ks + 0.5) * (np.pi / 2)).astype(pair.dtype)
    assert worst_ulp(pair, np.concatenate([x, np.nextafter(x, pair.dtype(0)), -np.nextafter(x, pair.dtype(1e20))])) <= 2


def test_the_hardest_double():
    """The double within reach that comes closest to a multiple of π/2, by the convergents of 2^e · 2/π."""
    hardest, distance = 0.0, 1.0
    with mp.workprec(300):
        for exponent in range(-52, -3):  # doubles n 2^exponent with n of 53 bits, up to 2^50
            ratio = mp.ldexp(2 / mp.pi, exponent)
            (p0, q0), (p1, q1), x = (1, 0), (int(mp.floor(ratio)), 1), ratio
            while q1 < 2**53:
                if q1 >= 2**52:
                    candidate = float(mp.ldexp(q1, exponent))
                    off = abs(mp.mpf(candidate) - p1 * mp.pi / 2)
                    if candidate <= DOUBLE.reach and off < distance:
                        hardest, distance = candidate, float(off)
                x = 1 / (x - mp.floor(x))
                a = int(mp.floor(x))
                (p0, q0), (p1, q1) = (p1, q1), (a * p1 + p0, a * q1 + q0)
    assert hardest > 0
    assert distance < 1e-15
    assert worst_ulp(Vectors(PAIR), np.array([hardest, -hardest])) <= 2


def test_a_sum_with_a_constant_loses_nothing(pair: Vectors):
    """An angle that counts from elsewhere: what the sum is rounded by is not lost, however large the angle."""
    constant = 2.4
    program = record(lambda x: [sin(x[0] + constant), cos(constant + x[0])], x=(1,))
    turned = Vectors(program, "f64" if pair.dtype is np.float64 else "f32", 8)
    size, eps = reach(pair) / 2, float(np.finfo(pair.dtype).eps)
    x = np.random.default_rng(3).uniform(-1, 1, 500).astype(pair.dtype) * np.geomspace(1, size, 500).astype(pair.dtype)
    with mp.workprec(200):
        total = [mp.mpf(float(angle)) + mp.mpf(float(pair.dtype(constant))) for angle in x]
        expected = np.array([[float(mp.sin(t)), float(mp.cos(t))] for t in total])
    assert np.abs(turned(x[:, None]) - expected).max() < 4 * eps


def test_tiny_angles(pair: Vectors):
    info = np.finfo(pair.dtype)
    x = np.geomspace(float(info.tiny), 1e-3, 400).astype(pair.dtype)
    assert worst_ulp(pair, np.concatenate([x, -x])) <= 2
    small = np.array([[float(info.smallest_subnormal)], [float(info.tiny) / 8]], pair.dtype)
    assert np.all(pair(small)[:, 0] == small[:, 0])


def test_zero(pair: Vectors):
    out = pair([[0.0], [-0.0]])
    assert out.tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_the_edge_of_the_reach(pair: Vectors):
    """The reach itself is within; the next number has no sine, and its neighbours do not notice."""
    last = reach(pair)
    assert np.isfinite(pair([[last], [-last], [0.5]])).all()
    beyond = float(np.nextafter(pair.dtype(last), pair.dtype(np.inf)))
    expected = pair([[0.5], [0.25]])
    for x in (beyond, -beyond, 1e20, -1e30, float(np.finfo(pair.dtype).max)):
        out = pair([[0.5], [x], [0.25]])
        assert np.isnan(out[1]).all()
        assert np.array_equal(out[[0, 2]], expected)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("width", [1, 2, 8])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_has_no_sine_is_nan_and_leaves_its_neighbours_alone(bad: float, width: int, dtype: str):
    pair = Vectors(PAIR, dtype, width)
    x = np.linspace(-3, 3, 11)[:, None]
    expected = pair(x)
    x[5] = bad
    out = pair(x)
    assert np.all(np.isnan(out[5]))
    others = np.arange(11) != 5
    assert np.array_equal(out[others], expected[others])


def test_a_function_is_right_at_large_angles(monkeypatch: pytest.MonkeyPatch):
    """As right as its text, whose sine is the C library's, although its angles count from elsewhere."""
    model = kn.testing.general_chain(3)
    rng = np.random.default_rng(4)
    q, v, a = rng.uniform(-1, 1, (3, 9, 3))
    q[2, 1], q[7, 0] = 1e7, -3e12
    monkeypatch.setattr(kernels, "policy", "never")
    plain = kn.inverse_dynamics(model, q, v, a)
    monkeypatch.setattr(kernels, "policy", "always")
    compiled = kn.inverse_dynamics(model, q, v, a)
    assert np.abs(compiled - plain).max() <= 1e-13 * np.abs(plain).max()  # some hundred roundings
