"""NumPy's functions of numbers, entry by entry, on scalars of any kind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from knuckle.scalar import conditions, elementary
from knuckle.scalar.derived_functions import DERIVED
from knuckle.scalar.inside_kernel import is_of_one_state

from .conversion import COMPOSED, are_numbers, objects_of, together

_DIRECT = (np.add, np.subtract, np.multiply, np.true_divide, np.negative)
"""Those that NumPy does to objects by the operators of Python."""


def _itself(x: Any) -> Any:
    return x


def _logical(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: f(*map(conditions.condition_of, args))


def _bitwise(f: Callable[..., Any]) -> Callable[..., Any]:
    def of(*args: Any) -> Any:
        if not all(map(conditions.is_condition, args)):
            raise TypeError("&, |, ^ and ~ join comparisons, as in (q > 0) & (v < 1): numbers have no bits here")
        return f(*args)

    return of


_BY_NAME: dict[str, Callable[..., Any]] = {
    **{name: getattr(elementary, name) for name in (
        "sin", "cos", "sqrt", "arctan2", "exp", "log", "tanh", "sinh", "cosh", "floor", "absolute", "sign", "minimum",
        "maximum",
    )},
    **DERIVED,
    "fabs": elementary.absolute, "deg2rad": DERIVED["radians"], "rad2deg": DERIVED["degrees"],
    "conjugate": _itself, "positive": _itself, "float_power": DERIVED["power"],
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": conditions.equal, "not_equal": conditions.not_equal,
    "logical_and": _logical(conditions.both), "logical_or": _logical(conditions.either),
    "logical_not": _logical(conditions.neither), "logical_xor": _logical(conditions.one_of_two),
    "bitwise_and": _bitwise(conditions.both), "bitwise_or": _bitwise(conditions.either),
    "invert": _bitwise(conditions.neither), "bitwise_xor": _bitwise(conditions.one_of_two),
}  # fmt: skip

UFUNCS: dict[Any, Any] = {f: f for f in _DIRECT} | {
    getattr(np, name): np.frompyfunc(f, getattr(np, name).nin, 1) for name, f in _BY_NAME.items()
}
"""What does the work of each, on arrays of objects."""

_INSTEAD = {
    "log1p": "np.log(1 + x)", "expm1": "np.exp(x) - 1", "exp2": "2.0 ** x",
    "cbrt": "np.sign(x) * np.abs(x) ** (1 / 3)",
    "arcsinh": "np.log(x + np.sqrt(x * x + 1))", "arccosh": "np.log(x + np.sqrt(x * x - 1))",
    "arctanh": "np.log((1 + x) / (1 - x)) / 2", "isnan": "x != x", "isfinite": "np.abs(x) < np.inf",
    "isinf": "np.abs(x) == np.inf",
    "fmod": "np.remainder(x, y)", "fmin": "np.minimum(x, y)", "fmax": "np.maximum(x, y)",
    "divmod": "np.floor_divide and np.remainder", "modf": "np.trunc(x) and x - np.trunc(x)",
    "logaddexp": "np.log(np.exp(x) + np.exp(y))",
}  # fmt: skip


def refused(name: str, instead: str) -> TypeError:
    """The error for a function of NumPy's that no code can be made of."""
    return TypeError(f"np.{name} has no operation in the text of a kernel: write {instead}")


def applied(ufunc: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """A function of NumPy's on scalars, vectors and matrices, and its `reduce`, `accumulate` and `outer`."""
    name = ufunc.__name__
    if ufunc is np.matmul and method == "__call__":
        return product(*inputs)
    if options.get("out") is not None or options.get("where", True) is not True:
        raise refused(f"{name} with out or where", f"y = np.{name}(x), and np.where(condition, y, x)")
    if ufunc not in UFUNCS or method not in ("__call__", "reduce", "accumulate", "outer"):
        if are_numbers(inputs):  # a text that runs as it stands
            return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, COMPOSED) else x for x in inputs), **options)
        written = f"{name}.{method}" if ufunc in UFUNCS else name
        raise refused(written, _INSTEAD.get(name, "it with operations that docs/kernels.md lists"))
    arrays = [objects_of(x) for x in inputs]
    if method == "__call__":
        return together(UFUNCS[ufunc](*fitting(arrays)))
    kept = {key: options[key] for key in ("axis", "keepdims") if key in options}
    if method == "reduce" and kept.get("axis", 0) is None:
        arrays, kept = [arrays[0].ravel()], {}
    return together(getattr(UFUNCS[ufunc], method)(*arrays, **kept))


def fitting(arrays: list[Any]) -> list[Any]:
    """Arrays that broadcast, or an error that names their shapes."""
    try:
        np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        raise ValueError(_misfit(*(x.shape for x in arrays if x.ndim))) from None
    return arrays


def _misfit(*shapes: tuple[int, ...]) -> str:
    match [len(shape) for shape in shapes]:
        case [1, 1]:
            return f"vectors of lengths {shapes[0][0]} and {shapes[1][0]} do not fit"
        case [2, 2]:
            return " and ".join(f"{m}x{n}" for m, n in shapes) + " do not fit"
        case _:
            return f"arrays of shapes {' and '.join(map(str, shapes))} do not fit"


def product(a: Any, b: Any) -> Any:
    """a @ b."""
    if not is_of_one_state() and not all(isinstance(x, COMPOSED) for x in (a, b)):
        raise TypeError("outside of kernels an array is one scalar, of many states: it has no matrix product")
    a, b = (x if isinstance(x, COMPOSED) else together(objects_of(x)) for x in (a, b))
    if not all(isinstance(x, COMPOSED) for x in (a, b)):
        raise ValueError("a matrix product, @, has no scalars: * scales")
    if a.ndim > 2 or b.ndim > 2:
        return together(np.matmul(objects_of(a), objects_of(b)))
    return a @ b
