"""The functions of a scalar, for every kind and for mixed kinds."""

import cmath
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from knuckle.scalar import (
    ONE,
    ZERO,
    Dual,
    Kind,
    absolute,
    arctan2,
    cos,
    cosh,
    exp,
    floor,
    functions_of,
    kind_of,
    less,
    log,
    maximum,
    minimum,
    select,
    sin,
    sinh,
    sqrt,
    tanh,
    value_of,
)

from .zoo import ZOO, Scalar, kind_name

UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "sin": (sin, math.sin),
    "cos": (cos, math.cos),
    "sqrt": (sqrt, math.sqrt),
    "exp": (exp, math.exp),
    "log": (log, math.log),
    "tanh": (tanh, math.tanh),
    "sinh": (sinh, math.sinh),
    "cosh": (cosh, math.cosh),
    "floor": (floor, math.floor),
}
REAL = [name for name in ZOO if "complex" not in name and name != "mpc"]
X = 0.6875


def tolerance(scalar: Scalar) -> float:
    """One unit in the last place of the function and one of its argument."""
    return 4 * scalar.precision


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_scalar(scalar: Scalar, name: str):
    f, expected = UNARY[name]
    x = scalar.make(X)
    if not scalar.trigonometry:
        with pytest.raises(TypeError, match="fraction has no exact"):
            f(x)
        return
    y = f(x)
    assert np.all(np.abs(scalar.read(y, X) - expected(X)) <= tolerance(scalar))
    assert kind_name(y) is kind_name(x)


@pytest.mark.parametrize(("y", "x"), [(X, 0.5), (X, -0.5), (-X, -0.5), (-X, 0.5), (0.0, 1.0), (1.0, 0.0)])
def test_arctan2_in_every_quadrant(scalar: Scalar, y: float, x: float):
    a, b = scalar.make(y), scalar.constant(x)
    if not scalar.trigonometry:
        with pytest.raises(TypeError, match="fraction has no exact"):
            arctan2(a, b)
        return
    angle = arctan2(a, b)
    assert np.all(np.abs(scalar.read(angle, y) - math.atan2(y, x)) <= tolerance(scalar))
    assert kind_name(angle) is kind_name(a)


@pytest.mark.parametrize("other", [-1.5, 0.5, X])
def test_less_and_select(scalar: Scalar, other: float):
    x, y = scalar.make(X), scalar.constant(other)
    chosen = select(less(x, y), x * 2, y * 3)
    assert np.all(np.abs(scalar.read(chosen, X) - (X * 2 if other > X else other * 3)) <= tolerance(scalar))
    chosen = select(less(x, other), x * 2, y * 3)
    assert np.all(np.abs(scalar.read(chosen, X) - (X * 2 if other > X else other * 3)) <= tolerance(scalar))
    assert kind_name(chosen) is kind_name(x)


@pytest.mark.parametrize("other", [-1.5, 0.5, X, 7.25])
def test_minimum_and_maximum(scalar: Scalar, other: float):
    x, y = scalar.make(X), scalar.constant(other)
    for pair in ((x, y), (y, x)):
        assert np.all(np.abs(scalar.read(minimum(*pair), X) - min(X, other)) <= tolerance(scalar))
        assert np.all(np.abs(scalar.read(maximum(*pair), X) - max(X, other)) <= tolerance(scalar))


@pytest.mark.parametrize("x", [-0.75, 0.0, 0.75])
def test_absolute(scalar: Scalar, x: float):
    y = absolute(scalar.make(x))
    assert np.all(np.abs(scalar.read(y, x) - abs(x)) <= tolerance(scalar))
    assert kind_name(y) is kind_name(scalar.make(x))


@pytest.mark.parametrize("name", ["float", "numpy float64", "lanes", "float32 lanes", "mpf", "SX", "DM", "dual"])
def test_nan_is_the_smallest_and_the_largest(name: str):
    """Whichever side it is on, a NaN is not lost in a minimum or a maximum."""
    scalar = ZOO[name]
    nan, number = scalar.make(math.nan), scalar.constant(1.0)
    for pair in ((nan, number), (number, nan)):
        for f in (minimum, maximum):
            assert np.all(np.isnan(scalar.read(f(*pair), math.nan)))
    assert np.all(np.isnan(scalar.read(absolute(nan), math.nan)))


@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
def test_minimum_and_maximum_of_infinities(infinity: float):
    assert minimum(infinity, infinity) == maximum(infinity, infinity) == infinity
    assert minimum(infinity, 1.0) == min(infinity, 1.0)
    assert maximum(1.0, infinity) == max(infinity, 1.0)


def test_select_takes_lanes_one_by_one():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([-1.0, -2.0, -3.0])
    assert select(less(x, 2.5), x, y).tolist() == [1.0, 2.0, -3.0]
    assert select(less(x, 2.5), ZERO, ONE).tolist() == [0, 0, 1]
    assert select(True, x, y).tolist() == x.tolist()


def test_select_between_the_same_needs_no_condition():
    x = sp.Symbol("x")
    assert select(sp.Symbol("y") < 0, x, x) is x
    assert select(less(np.array([1.0, 2.0]), 1.5), ZERO, ZERO) is ZERO


def test_structural_arguments():
    assert sin(ZERO) is ZERO
    assert cos(ZERO) is ONE
    assert sqrt(ZERO) is ZERO
    assert sqrt(ONE) is ONE
    assert exp(ZERO) is ONE
    assert log(ONE) is ZERO
    assert tanh(ZERO) is ZERO
    assert absolute(ZERO) is ZERO
    assert sin(ONE) == math.sin(1)
    assert arctan2(ONE, ZERO) == math.pi / 2
    assert arctan2(ZERO, ONE) == 0
    assert bool(less(ZERO, ONE))
    assert minimum(ZERO, ONE) == 0
    assert value_of(ONE) == 1


def test_value_of():
    assert value_of(2.5) == 2.5
    assert value_of(2.5 + 3j) == 2.5
    assert value_of(np.array([1 + 2j, 3])).tolist() == [1, 3]
    assert value_of(mp.mpc(1, 2)) == 1
    assert value_of(Dual(Dual(2.5 + 1j, 1.0), 3.0)) == 2.5
    assert value_of(Fraction(1, 3)) == Fraction(1, 3)


def test_integers_and_booleans_are_numbers():
    assert sin(1) == math.sin(1)
    assert sqrt(4) == 2
    assert less(1, 2) is True
    assert select(less(2, 1), 10, 20) == 20
    assert maximum(3, Fraction(7, 2)) == Fraction(7, 2)


# mixed kinds: the higher kind computes

MIXED = {
    "integer and fraction": (2, Fraction(1, 3), Fraction),
    "fraction and float": (Fraction(1, 2), 0.25, float),
    "fraction and complex": (Fraction(1, 2), 0.25 + 0j, complex),
    "float and complex": (0.5, 0.25 + 0j, complex),
    "float and float32": (0.5, np.float32(0.25), np.float32),
    "float and float32 lanes": (0.5, np.array([0.25], np.float32), np.float32),
    "float and mpf": (0.5, mp.mpf("0.25"), mp.mpf),
    "fraction and mpf": (Fraction(1, 2), mp.mpf("0.25"), mp.mpf),
    "numpy and mpf": (np.float64(0.5), mp.mpf("0.25"), mp.mpf),
    "complex and mpf": (0.5 + 0j, mp.mpf("0.25"), mp.mpc),
    "float and sympy": (0.5, sp.Rational(1, 4), sp.Basic),
    "fraction and sympy": (Fraction(1, 2), sp.Rational(1, 4), sp.Basic),
    "float and SX": (0.5, ca.SX(0.25), ca.SX),
    "numpy and MX": (np.float64(0.5), ca.MX(0.25), ca.MX),
    "float and dual": (0.5, Dual(0.25, 1.0), Dual),
    "sympy and dual": (sp.Rational(1, 2), Dual(0.25, 1.0), Dual),
    "lanes and dual": (np.array([0.5]), Dual(0.25, 1.0), Dual),
}


@pytest.mark.parametrize(("low", "high", "kind"), MIXED.values(), ids=MIXED.keys())
def test_mixed_kinds(low: Any, high: Any, kind: Any):
    for pair in ((low, high), (high, low)):
        assert kind_of(*pair) is kind_of(high)
        assert kind_of(*pair) is kind_of(pair[0] + pair[1])
        if kind is not Fraction:
            assert kind_name(arctan2(*pair)) is kind
        chosen = select(less(*pair), pair[0] + high, pair[1] + high)
        assert kind_of(chosen) is kind_of(high)


@pytest.mark.parametrize("pair", [(sp.Symbol("x"), ca.SX.sym("x")), (ca.SX.sym("x"), sp.Symbol("x"))])
def test_kinds_that_do_not_mix(pair: tuple[Any, Any]):
    with pytest.raises(TypeError, match="scalars do not mix"):
        arctan2(*pair)


@pytest.mark.parametrize("stranger", ["1.0", None, Decimal(1), [1.0], object()])
def test_unknown_kinds_are_named(stranger: Any):
    for f in (sin, cos, sqrt, absolute, value_of):
        with pytest.raises(TypeError, match=rf"{type(stranger).__qualname__} is not a kind of scalar knuckle knows"):
            f(stranger)
    with pytest.raises(TypeError, match="is not a kind of scalar"):
        arctan2(1.0, stranger)


def test_subclasses_of_numbers_are_numbers():
    class Metres(float):
        pass

    assert sin(Metres(0.5)) == math.sin(0.5)
    assert kind_of(Metres(0.5)) is kind_of(0.5)


def test_a_class_brings_its_own_kind():
    class Logged:
        def __init__(self, x: float) -> None:
            self.x = x

        @staticmethod
        def scalar_kind() -> Kind:
            def apply(f: Callable[..., Any]) -> Callable[..., Any]:
                return lambda *args: Logged(f(*(a.x if isinstance(a, Logged) else a for a in args)))

            return Kind("logged", 7, {name: apply(f) for name, f in functions_of(math).items()},
                        lambda a, b: a < b, lambda c, a, b: a if c else b, lambda a: a.x)  # fmt: skip

    assert sin(Logged(0.5)).x == math.sin(0.5)
    assert arctan2(1.0, Logged(0.5)).x == math.atan2(1.0, 0.5)
    assert sin(Dual(Logged(0.5))).value.x == math.sin(0.5)


# precision


def test_mpmath_computes_with_the_precision_set():
    with mp.workdps(60):
        x = mp.mpf(1) / 3
        assert abs(sin(x) ** 2 + cos(x) ** 2 - 1) < mp.mpf(10) ** -59
        assert abs(sqrt(x) ** 2 - x) < mp.mpf(10) ** -59


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.longdouble])
def test_lanes_keep_their_precision(dtype: Any):
    x = np.array([0.25, 0.5], dtype)
    for y in (
        sin(x),
        cos(x),
        sqrt(x),
        absolute(x),
        minimum(x, 0.3),
        maximum(0.3, x),
        select(less(x, 0.3), ONE, x),
        select(less(x, 0.3), 2.0, x),
        arctan2(x, 1.0),
        arctan2(ONE, x),
        ONE - x,
        ONE / x,
        x / 3,
        0.1 * x,
    ):
        assert y.dtype == dtype


# complex numbers are for complex steps: analytic along the real axis

COMPLEX: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "sin": (sin, 0.7, math.cos(0.7)),
    "cos": (cos, 0.7, -math.sin(0.7)),
    "sqrt": (sqrt, 0.7, 0.5 / math.sqrt(0.7)),
    "exp": (exp, 0.7, math.exp(0.7)),
    "log": (log, 0.7, 1 / 0.7),
    "tanh": (tanh, 0.7, 1 - math.tanh(0.7) ** 2),
    "arctan2 y": (lambda x: arctan2(x, 0.3), 0.7, 0.3 / (0.49 + 0.09)),
    "arctan2 x": (lambda x: arctan2(0.3, x), 0.7, -0.3 / (0.49 + 0.09)),
    "arctan2 behind": (lambda x: arctan2(x, -0.3), 0.7, -0.3 / (0.49 + 0.09)),
    "absolute": (absolute, -0.7, -1.0),
    "minimum": (lambda x: minimum(x * x, x), 0.7, 1.4),
    "maximum": (lambda x: maximum(x * x, x), 0.7, 1.0),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("make", [complex, lambda z: np.array([z, z]), mp.mpc, lambda z: np.complex128(z)])
def test_complex_steps(name: str, make: Callable[[Any], Any]):
    f, x, slope = COMPLEX[name]
    h = 1e-30
    y = f(make(x + 1j * h))
    found = np.asarray([complex(z) for z in np.atleast_1d(y)]).imag / h
    assert np.all(np.abs(found - slope) <= 4e-16 * max(1.0, abs(slope)))


def test_complex_functions_off_the_real_axis():
    z = 0.7 + 0.4j
    assert sin(z) == cmath.sin(z)
    assert abs(sqrt(z) * sqrt(z) - z) <= 4e-16
