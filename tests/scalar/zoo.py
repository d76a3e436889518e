"""Scalars of every kind, each with a way to read its number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import sympy as sp

from knuckle.scalar import ONE, ZERO, Dual

DIGITS = 40

_X = sp.Symbol("x", real=True)
_SX, _MX = ca.SX.sym("x"), ca.MX.sym("x")


@dataclass(frozen=True)
class Scalar:
    """One kind: `make` gives the scalar of a number, `read` the number (or numbers) of what was computed with it.

    A symbol stands for the number last asked for, so a test has one symbolic argument; the others are constants of the
    same package.
    """

    make: Callable[[float], Any]
    constant: Callable[[float], Any]
    read: Callable[[Any, float], Any]
    precision: float
    trigonometry: bool = True


def _number(y: Any, x: float) -> Any:
    return np.asarray(plain(y), dtype=complex if np.iscomplexobj(y) else float)


def plain(y: Any) -> Any:
    """A structural number as a plain one."""
    return int(y) if y is ZERO or y is ONE else y


def _sympy(y: Any, x: float) -> Any:
    return float(sp.sympify(y).subs(_X, x).evalf(20))


def _casadi(symbol: Any) -> Callable[[Any, float], Any]:
    return lambda y, x: float(ca.Function("f", [symbol], [type(symbol)(plain(y))])(x))


def _dual(y: Any, x: float) -> Any:
    return _dual(y.value, x) if isinstance(y, Dual) else float(y)


def _scalar(make: Any, read: Any = _number, precision: float = 1e-15, **options: Any) -> Scalar:
    return Scalar(make, make, read, precision, **options)


ZOO: dict[str, Scalar] = {
    "float": _scalar(float),
    "complex": _scalar(complex),
    "numpy float64": _scalar(np.float64),
    "numpy float32": _scalar(np.float32, precision=3e-7),
    "numpy complex64": _scalar(np.complex64, precision=3e-7),
    "0-d array": _scalar(np.array),
    "lanes": _scalar(lambda x: np.array([x, x])),
    "float32 lanes": _scalar(lambda x: np.array([x, x], np.float32), precision=3e-7),
    "complex lanes": _scalar(lambda x: np.array([x, x], complex)),
    "fraction": _scalar(Fraction, trigonometry=False),
    "mpf": _scalar(mp.mpf, lambda y, x: float(y)),
    "mpc": _scalar(mp.mpc, lambda y, x: complex(y)),
    "sympy symbol": Scalar(lambda x: _X, sp.Rational, _sympy, 1e-15),
    "sympy number": _scalar(sp.Rational, _sympy),
    "SX": Scalar(lambda x: _SX, ca.SX, _casadi(_SX), 1e-15),
    "MX": Scalar(lambda x: _MX, ca.MX, _casadi(_MX), 1e-15),
    "DM": _scalar(ca.DM, lambda y, x: float(y)),
    "dual": _scalar(lambda x: Dual(float(x), 1.0), _dual),
    "dual of duals": _scalar(lambda x: Dual(Dual(float(x), 1.0), Dual(1.0, 0.0)), _dual),
    "dual lanes": _scalar(lambda x: Dual(np.array([x, x]), 1.0), lambda y, x: y.value if isinstance(y, Dual) else y),
}


def kind_name(x: Any) -> type:
    """The type of a scalar, with NumPy's arrays of no dimensions and scalars counted as one by their dtype."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.type
    if isinstance(x, sp.Basic):
        return sp.Basic
    return type(x)


STRUCTURAL = {"ZERO": (ZERO, 0), "ONE": (ONE, 1)}
