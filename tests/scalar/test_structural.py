"""ZERO and ONE: numbers that are known before anything is computed."""

import copy
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from knuckle.scalar import ONE, ZERO, Dual, constant
from knuckle.spatial import Force, Inertia, Matrix, Motion, PlanarMotion, Subspace, Vector

from .zoo import STRUCTURAL, Scalar, kind_name

OPERATIONS: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul, operator.truediv]
X = 3.25


@pytest.mark.parametrize("operation", OPERATIONS)
def test_arithmetic_is_that_of_the_number(scalar: Scalar, operation: Callable[[Any, Any], Any]):
    for name in STRUCTURAL:
        structural, number = STRUCTURAL[name]
        x = scalar.make(X)
        left = scalar.read(operation(structural, x), X)
        assert np.all(np.abs(left - operation(number, X)) <= scalar.precision * X)
        if operation is operator.truediv and structural is ZERO:
            with pytest.raises(ZeroDivisionError):
                operation(x, structural)
        else:
            right = scalar.read(operation(x, structural), X)
            assert np.all(np.abs(right - operation(X, number)) <= scalar.precision * X)


def test_what_is_known_costs_nothing(scalar: Scalar):
    x = scalar.make(X)
    for unchanged in (ZERO + x, x + ZERO, x - ZERO, ONE * x, x * ONE, x / ONE):
        assert unchanged is x
    for nothing in (ZERO * x, x * ZERO, ZERO / x):
        assert nothing is ZERO


def test_the_kind_of_the_other_operand_is_kept(scalar: Scalar):
    x = scalar.make(X)
    for result in (ZERO - x, ONE + x, x + ONE, ONE - x, x - ONE, ONE / x):
        assert kind_name(result) is kind_name(x)


def test_in_place_arithmetic_never_writes(scalar: Scalar):
    x = scalar.make(X)
    y = x
    if isinstance(x, np.ndarray):
        with pytest.raises(TypeError):  # NumPy does not turn `+=` into another variable
            y += ZERO
        return
    y += ZERO
    y *= ONE
    y -= ZERO
    y /= ONE
    assert y is x
    y *= ZERO
    assert y is ZERO
    assert np.all(scalar.read(x, X) == pytest.approx(X))


def test_structural_with_structural():
    assert ZERO + ZERO is ZERO
    assert ZERO - ZERO is ZERO
    assert ZERO * ZERO is ZERO
    assert ZERO * ONE is ONE * ZERO is ZERO
    assert ZERO + ONE is ONE + ZERO is ONE - ZERO is ONE
    assert ONE * ONE is ONE / ONE is ONE
    assert ONE - ONE is ZERO / ONE is -ZERO is ZERO
    assert ONE + ONE == 2
    assert ZERO - ONE == -ONE == -1
    for numerator in (ZERO, ONE):
        with pytest.raises(ZeroDivisionError, match="structural zero"):
            _ = numerator / ZERO


@pytest.mark.parametrize("structural", [ZERO, ONE])
def test_identity_survives_copies_and_pickles(structural: Any):
    assert copy.copy(structural) is structural
    assert copy.deepcopy(structural) is structural
    assert copy.deepcopy({"nested": (structural, [structural])})["nested"][1][0] is structural
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps((structural, structural), protocol)) == (structural, structural)
        assert pickle.loads(pickle.dumps(structural, protocol)) is structural


@pytest.mark.parametrize(("structural", "number"), STRUCTURAL.values(), ids=STRUCTURAL.keys())
def test_conversions(structural: Any, number: int):
    assert int(structural) == number
    assert float(structural) == number
    assert isinstance(float(structural), float)
    assert complex(structural) == number
    assert bool(structural) is bool(number)
    assert abs(structural) is structural
    assert sp.sympify(structural) == number
    assert repr(structural) == {0: "ZERO", 1: "ONE"}[number]
    assert hash(structural) == hash(number)
    assert {number: "known"}[structural] == "known"


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("name", STRUCTURAL)
def test_comparisons_are_those_of_the_number(name: str, compare: Callable[[Any, Any], Any]):
    for other in [-2, 0, 1, 0.5, Fraction(1, 3), np.float32(0.5), np.float64(1), sp.Rational(1, 3)]:
        structural, number = STRUCTURAL[name]
        assert bool(compare(structural, other)) == bool(compare(number, other))
        assert bool(compare(other, structural)) == bool(compare(other, number))


def test_comparisons_with_arrays_symbols_and_each_other():
    lanes = np.array([-1.0, 0.0, 1.0])
    assert (lanes < ONE).tolist() == [True, True, False]
    assert (lanes > ZERO).tolist() == [False, False, True]
    assert (lanes == ZERO).tolist() == [False, True, False]
    assert ZERO < ONE
    assert ONE >= ONE
    assert ZERO == 0 != ONE
    assert ZERO != "0"
    assert ONE != None  # noqa: E711
    x = sp.Symbol("x")
    assert (x < ZERO) == (x < 0)
    y = ca.SX.sym("y")
    assert ca.is_equal(y < ZERO, y < 0, 1)
    assert mp.mpf("0.5") < ONE


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, False, np.float64(0)])
def test_constant_makes_plain_zeros_structural(zero: Any):
    assert constant(zero) is ZERO


@pytest.mark.parametrize("one", [1, 1.0, True, np.float64(1)])
def test_constant_makes_plain_ones_structural(one: Any):
    assert constant(one) is ONE


def test_constant_leaves_other_numbers():
    assert constant(2.5) == 2.5
    assert type(constant(np.float64(2.5))) is float, "NumPy's float64 would make float32 lanes double"
    assert type(constant(7)) is int
    assert np.isnan(constant(float("nan")))
    assert constant(float("inf")) == float("inf")
    for x in (ZERO, ONE, Fraction(0), mp.mpf(0), sp.Integer(0), np.float32(0), np.zeros(2), ca.SX(0), Dual(0.0), 0j):
        assert constant(x) is x, "a number that is not plain may be a variable that happens to be zero"


def test_a_structural_zero_leaves_composites_their_type():
    """0·v is a vector of zeros, not the number zero."""
    m, f = Motion.of(range(2, 8)), Force.of(range(2, 8))
    assert ZERO * m == m * ZERO == Motion.zero()
    assert ZERO * f == Force.zero()
    assert ZERO * PlanarMotion(2, 3, 4) == PlanarMotion.zero()
    assert ZERO * Vector([2, 3]) == Vector([2, 3]) * ZERO == Vector.zero(2)
    assert ZERO * Matrix([[2, 3]]) == Matrix.zero(1, 2)
    assert ZERO * Subspace(Motion, [m]) == Subspace.zero(Motion, 1)
    assert ZERO * Inertia.of(2, (3, 4, 5), ((1, 0, 0), (0, 1, 0), (0, 0, 1))) == Inertia.zero()
    for composite in (m, f, Vector([2]), Matrix([[2]])):
        assert ONE * composite is composite
        with pytest.raises(TypeError):
            _ = ZERO / composite
