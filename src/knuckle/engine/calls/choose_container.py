"""Arrays of every kind in, the same kind out: which container takes the arguments of a call.

A container takes arrays apart into scalars, which the algorithms work on, and puts results back together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from knuckle.engine.arrays.base import Container, plain
from knuckle.engine.arrays.object_arrays import Objects
from knuckle.engine.arrays.symbolic_matrices import CasADi, MPMath, SymPy
from knuckle.engine.trace import Expression
from knuckle.scalar import is_inside
from knuckle.spatial import Matrix, Vector

from .numpy_arrays import NumPyArrays
from .traced_scalars import Scalars

_NUMBERS = NumPyArrays()
_NUMERIC = (int, float, complex, np.generic, np.ndarray, str, bytes, type(None))
"""What NumPy makes an array of by itself, or refuses with an error that we pass on."""


def unpacked(value: Any) -> Any:
    """Vectors and matrices of ours as nested lists of numbers; anything else as it is."""
    if isinstance(value, Vector):
        return [plain(x) for x in value]
    return [[plain(x) for x in row] for row in value.rows] if isinstance(value, Matrix) else value


def container_of(values: Iterable[Any]) -> Container:
    """The container that takes these arguments: CasADi's, SymPy's or mpmath's matrices, objects, or numbers.

    Symbols of a trace, and everything inside a kernel's text, are scalars already.
    """
    if is_inside():
        return Scalars()
    others = [value for value in values if type(value) is not np.ndarray or value.dtype.hasobject]
    if not others:
        return _NUMBERS
    containers: dict[str, Container] = {}
    objects = False
    for leaf in (leaf for value in others for leaf in _leaves(value)):
        match package_of(leaf), type(leaf).__name__:
            case "casadi", "SX" | "MX" | "DM" as kind:
                if kind != "DM" or "casadi" not in containers:
                    containers["casadi"] = CasADi(type(leaf))
            case "sympy", _ if hasattr(leaf, "tolist"):
                containers.setdefault("sympy", SymPy(type(leaf)))
            case "mpmath", _ if hasattr(leaf, "rows"):
                containers.setdefault("mpmath", MPMath())
            case "torch", _:
                return _torch()
            case "jax" | "jaxlib", _:
                return _jax()
            case _ if isinstance(leaf, Expression):
                return Scalars()
            case _:
                objects = objects or _is_object(leaf)
    if len(containers) > 1:
        raise TypeError(f"arrays of {' and '.join(containers)} do not go into one call")
    return next(iter(containers.values()), Objects() if objects else _NUMBERS)


def _torch() -> Container:
    from .torch_tensors import TorchTensors

    return TorchTensors()


def _jax() -> Container:
    from .jax_arrays import JAXArrays

    return JAXArrays()


def package_of(x: Any) -> str:
    """The package that a value comes from."""
    return type(x).__module__.partition(".")[0]


def _leaves(value: Any) -> Iterator[Any]:
    """What an argument is made of: the entries of lists and of arrays of objects, else itself."""
    if isinstance(value, (list, tuple)):
        for item in cast("Iterable[Any]", value):
            yield from _leaves(item)
    elif isinstance(value, np.ndarray) and cast("np.ndarray[Any, Any]", value).dtype == object:
        yield from cast("np.ndarray[Any, Any]", value).flat
        yield _OBJECT
    else:
        yield value


def _is_object(x: Any) -> bool:
    """Whether NumPy keeps `x` as an object: it is neither a number of its own nor made into an array of numbers."""
    if isinstance(x, _NUMERIC):
        return False
    try:
        return bool(np.asarray(x).dtype == object)
    except (TypeError, ValueError):
        return False  # for `numbers` to complain about, which knows the argument's name


_OBJECT = object()
"""Says that an array of objects was given: the result is one too, even if all of them are floats."""
