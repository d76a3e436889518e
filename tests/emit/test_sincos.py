"""The pair of sine and cosine against mpmath: 2 ulp within reach, a flag beyond it, NaN for what has no sine."""

import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.emit.sincos import REACH
from knuckle.run.kernel import kernels
from knuckle.scalar import cos, sin

from .compiled import DTYPES, Vectors, record

PAIR = record(lambda x: [sin(x[0]), cos(x[0])], x=(1,))


@pytest.fixture(scope="module", params=["f64", "f32"])
def pair(request: pytest.FixtureRequest) -> Vectors:
    return Vectors(PAIR, request.param, 8)


def worst_ulp(pair: Vectors, x: np.ndarray) -> float:
    """The largest error in units of the last place of the exact result."""
    x = np.asarray(x, pair.dtype)
    assert np.all(np.abs(x) <= REACH)
    computed, flag = pair(x[:, None])
    assert flag == 0
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
    for size in (1.0, 4.0, 100.0, REACH):
        assert worst_ulp(pair, rng.uniform(-size, size, 2000)) <= 2


def test_near_multiples_of_a_right_angle(pair: Vectors):
    """The numbers nearest to k π/2 and their neighbours: there a result is small, and all of it is what π/2 lost."""
    with mp.workprec(200):
        last = int(REACH / (mp.pi / 2))
        ks = np.unique(np.concatenate([np.arange(1, 600), np.linspace(600, last, 600).astype(int)]))
        exact = np.array([float(int(k) * mp.pi / 2) for k in ks])
    x = exact.astype(pair.dtype)
    x = np.concatenate([x, np.nextafter(x, pair.dtype(0)), np.nextafter(x, pair.dtype(1e9))])
    assert worst_ulp(pair, np.concatenate([x, -x])[np.abs(np.concatenate([x, x])) <= REACH]) <= 2


def test_where_the_quadrant_changes(pair: Vectors):
    """The numbers around (k + 1/2) π/2, where the reduced angle is largest."""
    ks = np.concatenate([np.arange(0, 400), np.linspace(400, REACH / 1.5708 - 1, 400).astype(int)])
    x = ((ks + 0.5) * (np.pi / 2)).astype(pair.dtype)
    assert worst_ulp(pair, np.concatenate([x, np.nextafter(x, pair.dtype(0)), -np.nextafter(x, pair.dtype(1e9))])) <= 2


def test_the_hardest_double():
    """The double below 1e5 that comes closest to a multiple of π/2, by the convergents of 2^e · 2/π."""
    hardest, distance = 0.0, 1.0
    with mp.workprec(300):
        for exponent in range(-52, -36):  # doubles n 2^exponent with n of 53 bits, up to 2^17
            ratio = mp.ldexp(2 / mp.pi, exponent)
            (p0, q0), (p1, q1), x = (1, 0), (int(mp.floor(ratio)), 1), ratio
            while q1 < 2**53:
                if q1 >= 2**52:
                    candidate = float(mp.ldexp(q1, exponent))
                    off = abs(mp.mpf(candidate) - p1 * mp.pi / 2)
                    if candidate <= REACH and off < distance:
                        hardest, distance = candidate, float(off)
                x = 1 / (x - mp.floor(x))
                a = int(mp.floor(x))
                (p0, q0), (p1, q1) = (p1, q1), (a * p1 + p0, a * q1 + q0)
    assert hardest > 0
    assert distance < 1e-15
    assert worst_ulp(Vectors(PAIR), np.array([hardest, -hardest])) <= 2


def test_tiny_angles(pair: Vectors):
    info = np.finfo(pair.dtype)
    x = np.geomspace(float(info.tiny), 1e-3, 400).astype(pair.dtype)
    assert worst_ulp(pair, np.concatenate([x, -x])) <= 2
    small = np.array([[float(info.smallest_subnormal)], [float(info.tiny) / 8]], pair.dtype)
    assert np.all(pair(small)[0][:, 0] == small[:, 0])


def test_zero(pair: Vectors):
    out, _ = pair([[0.0], [-0.0]])
    assert out.tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_the_edge_of_the_reach(pair: Vectors):
    """REACH itself is within, the next number beyond."""
    assert pair([[REACH], [-REACH], [0.5]])[1] == 0
    beyond = float(np.nextafter(pair.dtype(REACH), pair.dtype(np.inf)))
    for x in (beyond, -beyond, 1e9, -1e30):
        assert pair([[0.5], [x], [0.25]])[1] == 1


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("width", [1, 2, 8])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_has_no_sine_is_nan_and_leaves_its_neighbours_alone(bad: float, width: int, dtype: str):
    """Infinity is not beyond reach, it has no sine: the other states keep the fast path."""
    pair = Vectors(PAIR, dtype, width)
    x = np.linspace(-3, 3, 11)[:, None]
    expected, _ = pair(x)
    x[5] = bad
    out, flag = pair(x)
    assert flag == 0
    assert np.all(np.isnan(out[5]))
    others = np.arange(11) != 5
    assert np.array_equal(out[others], expected[others])


def test_a_function_is_right_beyond_the_reach(monkeypatch: pytest.MonkeyPatch):
    """States with an angle beyond reach are computed from the text; so is their sine, to all digits."""
    model = kn.testing.general_chain(3)
    rng = np.random.default_rng(4)
    q, v, a = rng.uniform(-1, 1, (3, 9, 3))
    q[2, 1], q[7, 0] = 1e7, -3e12
    monkeypatch.setattr(kernels, "policy", "never")
    plain = kn.inverse_dynamics(model, q, v, a)
    monkeypatch.setattr(kernels, "policy", "always")
    compiled = kn.inverse_dynamics(model, q, v, a)
    assert np.abs(compiled - plain).max() <= 1e-13 * np.abs(plain).max()  # some hundred roundings
    assert np.array_equal(compiled[[2, 7]], plain[[2, 7]])
