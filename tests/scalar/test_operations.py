"""The table of operations: values, derivatives and names hold together."""

import math
from typing import Any

import mpmath as mp
import pytest

from knuckle.scalar import elementary, kind_of
from knuckle.scalar.operations import CONDITIONS, FUNCTIONS, OPERATIONS, Operation

SMOOTH = [operation for operation in OPERATIONS.values() if operation.name not in CONDITIONS]
ARGUMENTS = {1: (0.7,), 2: (0.7, -1.3), 3: (True, 0.7, -1.3)}
POSITIVE = {1: (0.7,), 2: (0.7, 1.3), 3: (False, 0.7, -1.3)}


def exact(operation: Operation, *args: Any) -> Any:
    """The operation in fifty digits."""
    if operation in FUNCTIONS:
        return getattr(elementary, operation.name)(*args)
    return operation.value(*args)


@pytest.mark.parametrize("operation", SMOOTH, ids=lambda x: x.name)
@pytest.mark.parametrize("points", [ARGUMENTS, POSITIVE], ids=["mixed signs", "positive"])
def test_tangents_are_slopes_of_the_values(operation: Operation, points: dict[int, tuple[Any, ...]]):
    """Against differences in fifty digits, along each argument and along all at once."""
    with mp.workdps(50):
        args = [x if isinstance(x, bool) else mp.mpf(x) for x in points[operation.arity]]
        z, h = exact(operation, *args), mp.mpf(10) ** -20
        slopes = operation.partials(z, *args)
        along = mp.mpf(0)
        for k, x in enumerate(args):
            if isinstance(x, bool):
                continue
            up, down = ([*args[:k], x + s * h, *args[k + 1 :]] for s in (1, -1))
            slope = (exact(operation, *up) - exact(operation, *down)) / (2 * h)
            assert abs(slopes[k] - slope) < 1e-30
            along += slope * (k + 2)
        rates = [mp.mpf(k + 2) for k in range(operation.arity)]
        assert abs(operation.tangent(z, args, rates) - along) < 1e-30


@pytest.mark.parametrize("operation", FUNCTIONS, ids=lambda x: x.name)
def test_every_function_has_a_face_and_every_kind_has_it(operation: Operation):
    assert callable(getattr(elementary, operation.name))
    for x in (1, 0.5, 0.5 + 0j, mp.mpf("0.5")):
        assert operation.name in kind_of(x).functions


@pytest.mark.parametrize("operation", FUNCTIONS, ids=lambda x: x.name)
@pytest.mark.parametrize("x", [-math.inf, -1.0, -0.0, 0.0, 1.0, 1e3, math.inf, math.nan])
def test_values_end_as_ieee_has_it(operation: Operation, x: float):
    """No error of Python's: a float, and NaN for NaN."""
    for args in ((x,),) if operation.arity == 1 else ((x, 1.0), (1.0, x)):
        value = operation.value(*args)
        assert isinstance(value, float)
        assert math.isnan(value) or not math.isnan(x)


def test_equal_arguments_share_the_slope():
    for name in ("min", "max"):
        assert OPERATIONS[name].partials(1.0, 1.0, 1.0) == (0.5, 0.5)
