"""Joints of the user's own, tried on numbers when they are built in: what is wrong is said before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.joints import FunctionJoint, Joint
from knuckle.scalar import Dual
from knuckle.spatial import Transform, Vector

_UNITS = ("rad", "m", "1")
_SAME = 1e-9
_OURS = "knuckle."


def check_own_joint(kind: Joint, name: str) -> None:
    """An error unless a joint that is not the library's does what a joint has to do.

    At one position away from the neutral one: its transform is a rotation and a translation, on plain and on dual
    numbers; its subspace and its rate, where it gives them, are those that follow from the transform; `integrate`,
    `difference` and `rate` belong together. Joints with symbols for parameters are not tried.
    """
    if type(kind).__module__.startswith(_OURS) and not isinstance(kind, FunctionJoint):
        return
    _OwnJoint(kind, name).check()


class _OwnJoint:
    def __init__(self, kind: Joint, name: str) -> None:
        self.kind, self.name, self.word = kind, name, type(kind).__name__

    def check(self) -> None:
        kind = self.kind
        if strange := [unit for unit in (*kind.q_units, *kind.v_units) if unit not in _UNITS]:
            raise self._error(f'its units are "rad", "m" or "1", not {strange[0]!r}')
        start = self._tried("neutral", kind.neutral)
        self._count("neutral", start, kind.nq)
        dv = Vector([0.37 / (k + 1) for k in range(kind.nv)])
        q = self._tried("integrate", lambda: kind.integrate(start, dv))
        self._count("integrate", q, kind.nq)
        X = self._tried("transform", lambda: kind.transform(q))
        if not isinstance(X, Transform):
            raise self._error(f"transform gives {type(X).__name__}, and a Transform is needed")
        E = _numbers(x for row in X.E for x in row)
        if E is None or _numbers(X.r) is None:  # symbols
            return
        R = E.reshape(3, 3)
        if not np.allclose(R @ R.T, np.eye(3), atol=_SAME) or np.linalg.det(R) < 0:
            raise self._error(f"transform turns by a matrix that is no rotation at q = {_shown(q)}: {_shown(E)}")
        self._motions(q, dv)
        self._coordinates(start, q, dv)

    def _motions(self, q: Vector, v: Vector) -> None:
        """S and S̊ beside those that follow from the transform."""
        kind = self.kind
        exact = self._tried("transform", lambda: Joint.subspace(kind, q), "on dual numbers")
        own = self._tried("subspace", lambda: kind.subspace(q))
        self._count("subspace", own, kind.nv)
        S = self._same("subspace", own, exact, "the derivative of its transform")
        if np.linalg.matrix_rank(S, tol=_SAME * max(1.0, float(np.abs(S).max(initial=0.0)))) < kind.nv:
            raise self._error(f"subspace has columns that depend on each other at q = {_shown(q)}: use fewer variables")
        rate = self._tried("subspace_rate", lambda: kind.subspace_rate(q, v))
        follows = self._tried("subspace", lambda: Joint.subspace_rate(kind, q, v), "on dual numbers")
        self._same("subspace_rate", rate, follows, "the rate of its subspace")

    def _coordinates(self, start: Vector, q: Vector, dv: Vector) -> None:
        """q̇ is the derivative of `integrate`, and `difference` goes where `integrate` went."""
        kind = self.kind
        moving = self._tried(
            "integrate", lambda: kind.integrate(q, Vector(Dual(0.0, x) for x in dv)), "on dual numbers"
        )
        rate = _numbers(self._tried("rate", lambda: kind.rate(q, dv)))
        along = _numbers(x.derivative if isinstance(x, Dual) else 0.0 for x in moving)
        if rate is None or along is None or not np.allclose(rate, along, atol=_SAME):
            raise self._error(f"rate gives q̇ = {_shown(rate)} and integrate goes {_shown(along)} at q = {_shown(q)}")
        way = self._tried("difference", lambda: kind.difference(start, q))
        self._count("difference", way, kind.nv)
        there, back = kind.transform(q), kind.transform(kind.integrate(start, way))
        one, other = (_numbers([*(x for row in X.E for x in row), *X.r]) for X in (there, back))
        if one is None or other is None or not np.allclose(one, other, atol=1e-6):
            raise self._error(f"difference from {_shown(start)} to {_shown(q)} leads elsewhere: {_shown(way)}")

    def _same(self, method: str, own: Any, exact: Any, what: str) -> NDArray[Any]:
        a, b = (np.array([_numbers(column.components) for column in S], float) for S in (own, exact))
        if not np.allclose(a, b, rtol=_SAME, atol=_SAME):
            raise self._error(f"{method} is not {what}: it gives {_shown(a)}, and {_shown(b)} follows")
        return a

    def _count(self, method: str, values: Any, count: int) -> None:
        if len(values) != count:
            raise self._error(f"{method} gives {len(values)} entries, and {count} are needed")

    def _tried(self, method: str, call: Callable[[], Any], how: str = "") -> Any:
        try:
            return call()
        except NotImplementedError as error:
            raise self._error(str(error)) from error
        except Exception as error:
            advice = "; sin, cos, sqrt and choices are those of knuckle.scalar" if how else ""
            words = f"{method} fails{' ' + how if how else ''}: {type(error).__name__}: {error}{advice}"
            raise self._error(words) from error

    def _error(self, text: str) -> ModelError:
        return ModelError(f"this {self.word} is no joint yet: {text}", element=self.name)


def _numbers(values: Iterable[Any]) -> NDArray[Any] | None:
    """Plain numbers; None for symbols."""
    try:
        return np.array([float(x) for x in values])
    except TypeError:
        return None


def _shown(values: Any) -> str:
    if values is None:
        return "no numbers"
    numbers: list[Any] = np.ravel(np.array(values, dtype=object)).tolist()
    return f"({', '.join(f'{float(x):.4g}' for x in numbers)})"
