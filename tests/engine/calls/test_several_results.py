"""Several results of one state, straight from native code: arrays that share a memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit.llvm.python_calls.call_form import KEPT
from knuckle.engine.kernels.kernel_registry import CALLS

from .interpreters import on_cpython
from .mechanisms import states, tree

pytestmark = [pytest.mark.usefixtures("native"), on_cpython]


def test_they_lie_side_by_side(no_python: Callable[[], None]) -> None:
    """Named tuples, tuples and dictionaries: arrays of one memory, which ends with them and what is kept of them."""

    @kn.kernel
    def several(model: kn.Model, q: Any, v: Any) -> Any:
        return kn.mass_matrix(model, q), v @ v, 2.0 * v

    @kn.kernel
    def named(model: kn.Model, q: Any, v: Any) -> Any:
        return {"H": kn.mass_matrix(model, q), "v": 2.0 * v}

    model = tree()
    x = states(model)
    calls = [
        (kn.derivatives.inverse_dynamics, {"q": x.q, "v": x.v, "a": x.a}, "InverseDynamicsDerivatives"),
        (several, {"q": x.q, "v": x.v}, "tuple"),
        (named, {"q": x.q, "v": x.v}, "dict"),
    ]
    for function, given, _ in calls:
        for _ in range(CALLS + 2):  # until this way to call it is learned
            function(model, **given)
    no_python()
    for function, given, kind in calls:
        one, other = function(model, **given), function(model, **given)
        arrays = [y for y in (one.values() if isinstance(one, dict) else one) if isinstance(y, np.ndarray)]
        again = [y for y in (other.values() if isinstance(other, dict) else other) if isinstance(y, np.ndarray)]
        assert type(one).__name__ == kind
        assert len({id(y.base) for y in arrays}) == 1
        assert all(y.flags.writeable and y.flags.c_contiguous for y in arrays)
        arrays[0][...] = 12345.0
        assert all((y != 12345.0).all() for y in (*arrays[1:], *again))
        base = weakref.ref(arrays[0].base)
        del one, arrays
        many = [function(model, **given) for _ in range(KEPT + 1)]
        assert base() is None
        assert len(many) > KEPT
