"""Tables that are read at numbers of any kind."""

import math
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from knuckle.scalar import Dual, Grid

GRID = Grid(tuple(float(k) for k in range(20)), columns=5, high=2, wide=3)


@pytest.mark.parametrize(
    ("row", "column", "start"),
    [(0, 0, (0, 0)), (1.9, 1.2, (1, 1)), (-3, 7.5, (0, 2)), (2.0, 2.0, (2, 2)), (1e300, -1e300, (2, 0))],
)
def test_the_window_begins_at_the_whole_numbers_below(row: float, column: float, start: tuple[int, int]):
    i, k, numbers = GRID.window(row, column)
    assert (i, k) == start
    assert numbers == [5 * (i + r) + k + c for r in range(2) for c in range(3)]


@pytest.mark.parametrize(
    "kind", [float, complex, np.float64, mp.mpf, lambda x: Dual(x, 2.0), lambda x: Dual(Dual(x, 1), 1)]
)
def test_every_kind_of_number_reads_the_same(kind: Any):
    assert GRID.window(kind(1.9), kind(0.3)) == GRID.window(1.9, 0.3)


def test_many_places_at_once():
    rng = np.random.default_rng(0)
    rows, columns = rng.uniform(-2, 5, 50), rng.uniform(-2, 7, 50)
    rows[0] = np.nan
    i, k, numbers = GRID.window(rows, columns)
    for n, (row, column) in enumerate(zip(rows, columns, strict=True)):
        assert (i[n], k[n], [x[n] for x in numbers]) == GRID.window(row, column)


def test_what_is_not_a_number_reads_the_beginning():
    assert GRID.window(math.nan, math.nan)[:2] == (0, 0)


@pytest.mark.parametrize("symbol", [sp.Symbol("x"), ca.SX.sym("x")])
def test_symbols_are_refused(symbol: Any):
    with pytest.raises(TypeError, match=r"a table is read at numbers, and (sympy|casadi) has none here"):
        GRID.window(symbol, 0.0)


def test_a_window_must_fit():
    with pytest.raises(ValueError, match="20 numbers in 5 columns have no 5 by 1"):
        Grid(GRID.values, 5, 5, 1)
    with pytest.raises(ValueError, match="19 numbers in 5 columns have no 1 by 1"):
        Grid(GRID.values[1:], 5, 1, 1)
