"""The scalar that counts."""

import math

import pytest

from knuckle.scalar import ONE, ZERO, arctan2, cos, kind_of, less, select, sin, sqrt
from knuckle.testing.counting import Counted, Tally


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        (lambda x: x + 2, 5.0, Tally(add=1)),
        (lambda x: 2 + x, 5.0, Tally(add=1)),
        (lambda x: x - 2, 1.0, Tally(add=1)),
        (lambda x: 2 - x, -1.0, Tally(add=1)),
        (lambda x: x * 2, 6.0, Tally(mul=1)),
        (lambda x: 2 * x * x, 18.0, Tally(mul=2)),
        (lambda x: x / 2, 1.5, Tally(div=1)),
        (lambda x: 6 / x, 2.0, Tally(div=1)),
        (lambda x: -x, -3.0, Tally()),
        (lambda x: sin(x), math.sin(3), Tally(trig=1)),
        (lambda x: cos(x), math.cos(3), Tally(trig=1)),
        (lambda x: arctan2(x, 2.0), math.atan2(3, 2), Tally(trig=1)),
        (lambda x: arctan2(2.0, x), math.atan2(2, 3), Tally(trig=1)),
        (lambda x: sqrt(x), math.sqrt(3), Tally(sqrt=1)),
        (lambda x: select(less(x, 4), x, -x), 3.0, Tally()),
        # structural numbers cost nothing
        (lambda x: x + ZERO, 3.0, Tally()),
        (lambda x: ZERO + x, 3.0, Tally()),
        (lambda x: x - ZERO, 3.0, Tally()),
        (lambda x: ZERO - x, -3.0, Tally()),
        (lambda x: x * ZERO, 0.0, Tally()),
        (lambda x: x * ONE, 3.0, Tally()),
        (lambda x: ONE * x, 3.0, Tally()),
        (lambda x: x / ONE, 3.0, Tally()),
        (lambda x: ZERO / x, 0.0, Tally()),
        (lambda x: ONE + x, 4.0, Tally(add=1)),
        (lambda x: ONE / x, 1 / 3, Tally(div=1)),
    ],
)
def test_each_operation(text, value, expected):
    tally = Tally()
    assert float(text(tally.scalar(3.0))) == value
    assert tally == expected


def test_products_of_structural_zero_stay_structural():
    assert Tally().scalar(3.0) * ZERO is ZERO


def test_division_by_structural_zero():
    with pytest.raises(ZeroDivisionError):
        Tally().scalar(3.0) / ZERO


def test_book_counts_divisions_as_multiplications():
    assert Tally(mul=3, add=5, div=2, sqrt=7, trig=1).operations == (5, 5)


def test_kind():
    x = Tally().scalar(1.0)
    assert kind_of(x, 2.0).name == "counted"
    assert repr(x) == "Counted(1.0)"
    assert isinstance(x + 1, Counted)
