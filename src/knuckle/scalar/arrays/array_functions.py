"""NumPy's functions of arrays, on vectors and matrices of scalars of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from knuckle.scalar import conditions, elementary

from . import equations
from .conversion import are_numbers, holds_scalars, objects_of, together
from .ufuncs import fitting, product, refused

_MOVING: tuple[str, ...] = (
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block", "broadcast_arrays", "broadcast_to",
    "column_stack", "concatenate", "copy", "cross", "cumprod", "cumsum",
    "delete", "diag", "diagflat", "diagonal", "diff",
    "dsplit", "dstack", "einsum", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "insert", "kron",
    "moveaxis", "outer", "prod", "ravel", "repeat", "reshape", "roll", "rollaxis", "rot90", "split", "squeeze", "stack",
    "sum", "swapaxes", "take", "tensordot", "tile", "trace", "transpose", "tril", "triu", "vsplit", "vstack",
)  # fmt: skip
"""Functions that put entries elsewhere, add and multiply them: NumPy's own text does, on arrays of objects."""


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """As numpy.where, of three arguments."""
    if x is None or y is None:
        raise refused("where(condition)", "np.where(condition, x, y): which entries it holds for is not known")
    choose: Any = np.frompyfunc(conditions.chosen, 3, 1)
    return together(choose(*fitting([objects_of(a) for a in (condition, x, y)])))


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for condition, x in reversed(list(zip(condlist, choicelist, strict=True))):
        result = _where(condition, x, result)
    return result


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        a = np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _reduced(pair: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The largest, smallest … along an axis, by pairs."""
    of: Any = np.frompyfunc(pair, 2, 1)

    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        if out is not None:
            raise refused("reduction with out", "y = np.max(x)")
        entries = objects_of(a)
        if not entries.size:
            raise ValueError("of no entries there is no largest and no smallest, and none that holds")
        if axis is None:
            whole = of.reduce(entries.ravel())
            return together(np.full((1,) * entries.ndim, whole, object)) if keepdims else whole
        return together(of.reduce(entries, axis=axis, keepdims=bool(keepdims)))

    return reduce


def _mean(a: Any, axis: Any = None, *, keepdims: Any = False, **_: Any) -> Any:
    entries = objects_of(a)
    count = entries.size if axis is None else entries.shape[axis]
    return together(np.sum(entries, axis=axis, keepdims=bool(keepdims))) / count


def _variance(a: Any, axis: Any = None, *, ddof: int = 0, **_: Any) -> Any:
    entries = objects_of(a)
    count = entries.size if axis is None else entries.shape[axis]
    apart = entries - objects_of(_mean(a, axis, keepdims=True))
    return together(np.sum(apart * apart, axis=axis)) / (count - ddof)


def _deviation(a: Any, axis: Any = None, *, ddof: int = 0, **_: Any) -> Any:
    return np.sqrt(_variance(a, axis, ddof=ddof))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """As numpy.linalg.norm, of vectors (2, 1 and ∞) and of all entries of a matrix together."""
    entries = objects_of(x)
    is_whole = axis is None and (ord in (None, "fro") or entries.ndim == 1)
    if ord in (None, 2, "fro") and (is_whole or isinstance(axis, int)):
        return np.sqrt(np.sum(together(entries * entries), axis=axis, keepdims=bool(keepdims)))
    if ord in (1, np.inf) and (is_whole or isinstance(axis, int)):
        sizes = np.abs(together(entries))
        return (np.sum if ord == 1 else np.max)(sizes, axis=axis, keepdims=bool(keepdims))
    raise refused(f"linalg.norm with ord={ord} and axis={axis}", "a norm of vectors: ord 2, 1 or np.inf, one axis")


def _dot(a: Any, b: Any) -> Any:
    return product(a, b) if np.ndim(a) and np.ndim(b) else a * b


def _inner(a: Any, b: Any) -> Any:
    return product(a, b) if np.ndim(b) == 1 else product(a, np.transpose(b))


def _round(a: Any, decimals: int = 0, **_: Any) -> Any:
    return np.rint(a) if decimals == 0 else np.rint(a * 10.0**decimals) / 10.0**decimals


def _filled(value: float) -> Callable[..., Any]:
    return lambda a, *_, **__: together(np.full(objects_of(a).shape, value, object))


def _full_like(a: Any, fill_value: Any, *_: Any, **__: Any) -> Any:
    return together(np.broadcast_to(objects_of(fill_value), objects_of(a).shape))


def _shape(a: Any) -> tuple[int, ...]:
    return objects_of(a).shape


def _size(a: Any, axis: int | None = None) -> int:
    return objects_of(a).size if axis is None else objects_of(a).shape[axis]


def _matrices(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numpy.linalg by one of ours, of nested rows."""

    def of(a: Any, *others: Any) -> Any:
        entries = objects_of(a)
        name = f.__name__.strip("_")
        if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
            raise ValueError(f"np.linalg.{name} needs one square matrix, and this has shape {entries.shape}")
        if len(entries) > equations.MOST:
            raise refused(f"linalg.{name} of {len(entries)} unknowns", equations.INSTEAD)
        return together(f(entries, *(objects_of(x) for x in others)))

    return of


def _largest(name: str) -> Any:
    return _reduced(getattr(elementary, name))


_OWN: dict[str, Callable[..., Any]] = {
    "where": _where, "select": _select, "clip": _clip, "mean": _mean, "var": _variance, "std": _deviation,
    "max": _largest("maximum"), "amax": _largest("maximum"), "min": _largest("minimum"), "amin": _largest("minimum"),
    "any": _reduced(lambda x, y: conditions.either(conditions.condition_of(x), conditions.condition_of(y))),
    "all": _reduced(lambda x, y: conditions.both(conditions.condition_of(x), conditions.condition_of(y))),
    "dot": _dot, "vdot": _dot, "inner": _inner, "round": _round, "around": _round,
    "zeros_like": _filled(0.0), "ones_like": _filled(1.0), "full_like": _full_like,
    "shape": _shape, "ndim": lambda a: len(_shape(a)), "size": _size, "real": lambda a: a,
    "linalg.norm": _norm, "linalg.solve": _matrices(equations.solve), "linalg.inv": _matrices(equations.inv),
    "linalg.det": _matrices(equations.det),
}  # fmt: skip

_INSTEAD = {
    "argmax": "kn.where(x > y, …): the place of an entry is not known", "argmin": "kn.where(x < y, …), as for argmax",
    "sort": "np.minimum and np.maximum of pairs", "argsort": "np.minimum and np.maximum of pairs",
    "median": "np.mean, or np.minimum and np.maximum of pairs", "nonzero": "np.where(condition, x, y)",
    "searchsorted": "np.sum(x > bounds)", "interp": "np.where(x < x1, y0 + slope0 * (x - x0), …), piece by piece",
    "allclose": "np.all(np.abs(x - y) < tolerance)", "isclose": "np.abs(x - y) < tolerance",
    "array_equal": "np.all(x == y)", "linspace": "start + (stop - start) * np.linspace(0, 1, n)",
    "linalg.eigh": "a kernel without it: eigenvalues have no operation", "linalg.pinv": "np.linalg.solve(J @ J.T, x)",
    "linalg.lstsq": "np.linalg.solve(A.T @ A, A.T @ b)", "linalg.svd": "np.linalg.solve",
    "linalg.qr": "np.linalg.solve",
    "linalg.cholesky": "np.linalg.solve(A, b)", "linalg.matrix_power": "A @ A", "fill_diagonal": "A + np.diag(d)",
    "put": "np.where(condition, x, y)", "copyto": "np.where(condition, x, y)", "average": "np.sum(w * x) / np.sum(w)",
    "nan_to_num": "np.where(x == x, x, 0)", "unwrap": "np.arctan2(np.sin(x), np.cos(x))", "trapezoid": "np.sum",
}  # fmt: skip


def _named(name: str) -> Any:
    place: Any = np
    for part in name.split("."):
        place = getattr(place, part)
    return place


_FUNCTIONS: dict[Any, Callable[..., Any] | None] = {
    **{_named(name): None for name in _MOVING},
    **{_named(name): f for name, f in _OWN.items()},
}


def called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy's whose arguments are vectors, matrices and scalars of ours, or hold them."""
    if function not in _FUNCTIONS:
        if are_numbers((*args, *kwargs.values())):  # a text that runs as it stands
            return function(*map(_numbers, args), **{name: _numbers(x) for name, x in kwargs.items()})
        module = getattr(function, "__module__", "") or ""
        name = f"{module.partition('.')[2]}.{function.__name__}".strip(".")
        raise refused(name, _INSTEAD.get(name, "it with operations that docs/kernels.md lists"))
    own = _FUNCTIONS[function]
    if own is not None:
        return own(*args, **kwargs)
    if kwargs.get("out") is not None:
        raise refused(f"{function.__name__} with out", f"y = np.{function.__name__}(x)")
    convert = _nested if function is np.block else _converted
    return together(function(*map(convert, args), **{name: convert(x) for name, x in kwargs.items()}))


def _numbers(x: Any) -> Any:
    """An argument with NumPy's arrays of numbers for vectors and matrices of them."""
    if isinstance(x, (list, tuple)) and holds_scalars(x):
        return [_numbers(part) for part in cast("Sequence[Any]", x)]
    return np.asarray(x) if holds_scalars(x) else x


def _converted(x: Any) -> Any:
    """An argument with arrays of objects for vectors, matrices and scalars of ours, in a list of them too."""
    if isinstance(x, (list, tuple)) and holds_scalars(x):
        return [objects_of(part) for part in cast("Sequence[Any]", x)]
    return objects_of(x) if holds_scalars(x) else x


def _nested(x: Any) -> Any:
    """The same with lists of lists left as they are."""
    return [_nested(part) for part in cast("Sequence[Any]", x)] if isinstance(x, list) else _converted(x)
