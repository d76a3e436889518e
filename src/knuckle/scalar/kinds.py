"""One table per kind of scalar: how it computes what the operators do not say."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from .structural import _Structural


@dataclass(frozen=True)
class Kind:
    """The functions of one kind of scalar. `rank` decides which kind computes a mixed expression: the highest.

    `functions` has all of `operations.FUNCTIONS` by their names; `functions_of` takes them from a module. Two kinds of
    the same rank do not mix. `value` gives the plain number that stands for the scalar in comparisons (the real part of
    a complex number). A kind that has its own magnitude, minimum and maximum names them; for the others they are made
    of `less` and `select`. A kind that records what is done to it may keep a piece of text that is `called` or
    `repeated` as one operation (`spatial.pieces`), equations of many unknowns as loops (`spatial.elimination`), tables
    as tables (`grid`), and products of large matrices as loops (`arrays.large_products`) or in tiles
    (`spatial.linear.sparse_rows`).
    """

    name: str
    rank: int
    functions: Mapping[str, Callable[..., Any]]
    less: Callable[[Any, Any], Any]
    select: Callable[[Any, Any, Any], Any]
    value: Callable[[Any], Any]
    equal: Callable[[Any, Any], Any] = operator.eq
    absolute: Callable[[Any], Any] | None = None
    minimum: Callable[[Any, Any], Any] | None = None
    maximum: Callable[[Any, Any], Any] | None = None
    called: Callable[[dict[Any, Any], Any, list[Any], bool, bool], list[Any]] | None = None
    repeated: Callable[[Any, list[Any], int, bool], list[Any] | None] | None = None
    ruled: Callable[[Any, list[Any], Any], list[Any] | None] | None = None
    looped: Callable[[str, int, list[Any]], list[Any]] | None = None
    looked_up: Callable[[Any, Any, Any], Sequence[Any]] | None = None
    multiplied: Callable[[Sequence[Sequence[Any]], Sequence[Any]], list[Any] | None] | None = None
    sparse_product: Callable[[Any, Any, bool], list[dict[int, Any]] | None] | None = None


def functions_of(module: Any, **own: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The functions as a module has them, but for some of the kind's own."""
    from .operations import FUNCTIONS

    return {f.name: own.get(f.name) or getattr(module, f.library) for f in FUNCTIONS}


def _on_floats() -> dict[str, Callable[..., Any]]:
    from .operations import FUNCTIONS

    return {f.name: f.value for f in FUNCTIONS}


def _refused(*_: Any) -> Any:
    raise TypeError("a fraction has no exact sine, square root or other function: use floats, mpmath or SymPy here")


def _complex_arctan2(y: Any, x: Any) -> Any:
    """Continuation of atan2 to complex arguments near the real axis, exact to first order (complex step)."""
    y, x = complex(y), complex(x)
    squared = x.real * x.real + y.real * y.real
    return complex(math.atan2(y.real, x.real), (x.real * y.imag - y.real * x.imag) / squared)


def _complex_floor(x: Any) -> Any:
    return complex(math.floor(complex(x).real))


def _less(a: Any, b: Any) -> Any:
    return a < b


def _choose(condition: Any, x: Any, y: Any) -> Any:
    return x if condition else y


def _itself(x: Any) -> Any:
    return x


@cache
def _integer() -> Kind:
    return Kind("integer", 0, _on_floats(), _less, _choose, _itself)


@cache
def _fraction() -> Kind:
    from .operations import FUNCTIONS

    return Kind("fraction", 1, {f.name: _refused for f in FUNCTIONS}, _less, _choose, _itself)


@cache
def _float() -> Kind:
    return Kind("float", 2, _on_floats(), _less, _choose, _itself)


@cache
def _complex() -> Kind:
    return Kind(
        "complex", 3, functions_of(cmath, arctan2=_complex_arctan2, floor=_complex_floor),
        lambda a, b: a.real < b.real, _choose, lambda x: x.real,
    )  # fmt: skip


@cache
def _numpy() -> Kind:
    import numpy as np

    def arctan2(y: Any, x: Any) -> Any:
        if np.iscomplexobj(y) or np.iscomplexobj(x):
            yr, xr = np.real(y), np.real(x)
            slope = (xr * np.imag(y) - yr * np.imag(x)) / (xr * xr + yr * yr)
            return np.arctan2(yr, xr) + 1j * slope
        return np.arctan2(y, x)

    def floor(x: Any) -> Any:
        return np.floor(np.real(x)).astype(np.result_type(x, np.float32), copy=False)

    def less(a: Any, b: Any) -> Any:
        return np.real(a) < np.real(b)

    def looked_up(grid: Any, row: Any, column: Any) -> list[Any]:
        starts = (
            np.clip(np.nan_to_num(np.real(x)), 0, n).astype(int) for x, n in zip((row, column), grid.last, strict=True)
        )
        i, k = np.broadcast_arrays(*starts)
        table = np.reshape(grid.values, (-1, grid.columns))
        return [i, k, *(table[i + r, k + c] for r in range(grid.high) for c in range(grid.wide))]

    return Kind(
        "numpy", 4, functions_of(np, arctan2=arctan2, floor=floor), less, np.where, np.real, looked_up=looked_up
    )


@cache
def _mpmath() -> Kind:
    import mpmath as mp

    def arctan2(y: Any, x: Any) -> Any:
        if isinstance(y, (complex, mp.mpc)) or isinstance(x, (complex, mp.mpc)):
            yr, xr = mp.re(y), mp.re(x)
            return mp.mpc(mp.atan2(yr, xr), (xr * mp.im(y) - yr * mp.im(x)) / (xr * xr + yr * yr))
        return mp.atan2(y, x)

    def floor(x: Any) -> Any:
        return mp.floor(mp.re(x)) + 0 * x

    def less(a: Any, b: Any) -> Any:
        return mp.re(a) < mp.re(b)

    return Kind("mpmath", 5, functions_of(mp, arctan2=arctan2, floor=floor), less, _choose, mp.re)


@cache
def _sympy() -> Kind:
    import sympy as sp

    def select(condition: Any, x: Any, y: Any) -> Any:
        return sp.Piecewise((x, condition), (y, True))

    def less(a: Any, b: Any) -> Any:
        return sp.StrictLessThan(a, b)

    return Kind("sympy", 6, functions_of(sp), less, select, _itself, equal=sp.Eq)


@cache
def _casadi() -> Kind:
    import casadi as ca  # pyright: ignore[reportMissingTypeStubs]

    return Kind("casadi", 6, functions_of(ca), ca.lt, ca.if_else, _itself)


_BUILTIN: dict[type, Callable[[], Kind]] = {int: _integer, Fraction: _fraction, float: _float, complex: _complex}
_PACKAGE: dict[str, Callable[[], Kind]] = {"numpy": _numpy, "mpmath": _mpmath, "sympy": _sympy, "casadi": _casadi}


@cache
def _kind_of_type(t: type) -> Kind:
    own: Any = getattr(t, "scalar_kind", None)
    if own is not None:
        return own if isinstance(own, Kind) else own()
    if issubclass(t, _Structural):
        return _integer()
    for base in t.__mro__:
        make = _BUILTIN.get(base) or _PACKAGE.get(base.__module__.partition(".")[0])
        if make is not None:
            return make()
    raise TypeError(f"{t.__module__}.{t.__qualname__} is not a kind of scalar knuckle knows")


def kind_of(*values: Any) -> Kind:
    """The kind that computes an expression of `values`: the highest in rank among them."""
    highest = _kind_of_type(type(values[0]))
    for x in values[1:]:
        kind = _kind_of_type(type(x))
        if kind.rank == highest.rank and kind is not highest:
            raise TypeError(f"{highest.name} and {kind.name} scalars do not mix")
        if kind.rank > highest.rank:
            highest = kind
    return highest
