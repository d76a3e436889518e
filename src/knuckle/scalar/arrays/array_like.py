"""What vectors, matrices and stacks of scalars share: they are operated on as arrays of NumPy's are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from knuckle.scalar.conditions import is_condition
from knuckle.scalar.inside_kernel import is_of_one_state
from knuckle.scalar.refusals import AMBIGUOUS, IMMUTABLE, INSTEAD, MASKED
from knuckle.scalar.structural import MadeOfScalars, _Structural

from .numpy_operand import NumPyOperand


def _operator(ufunc: Any, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def of(self: Any, other: Any) -> Any:
        return self._operated(ufunc, other, reflected)

    return of


def _method(name: str) -> Callable[..., Any]:
    def of(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(np, name)(self, *args, **options)

    of.__name__, of.__doc__ = name, f"As numpy.{name}."
    return of


class ArrayLike(NumPyOperand, MadeOfScalars):
    """An immutable array of scalars. In the text of a kernel it broadcasts, with arrays of constants too.

    Elsewhere an array of NumPy's is one scalar, of many states, and shapes have to be the same.
    """

    __slots__ = ()
    __hash__: Any

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def _operated(self, ufunc: Any, other: Any, reflected: bool = False) -> Any:
        """An operation entry by entry."""
        from .ufuncs import applied

        if reflected and isinstance(other, (list, tuple)):
            return NotImplemented  # a list is made longer by +=
        if isinstance(other, MadeOfScalars) and not isinstance(other, ArrayLike):
            raise self._does_not_go(ufunc, other)
        if not is_of_one_state():
            scales = ufunc in (np.multiply, np.true_divide) and not (reflected and ufunc is np.true_divide)
            if isinstance(other, ArrayLike) if scales else type(other) is not type(self):
                raise self._does_not_go(ufunc, other)
        return applied(ufunc, "__call__", (other, self) if reflected else (self, other), {})

    def _does_not_go(self, ufunc: Any, other: Any) -> TypeError:
        own, name = type(self).__name__, type(other).__name__
        if ufunc is np.multiply:
            product = "; the matrix product is @" if self.ndim == 2 else ""
            return TypeError(f"a {own} times {name} has no meaning{product}")
        return TypeError(f"a {own} goes with a {own}, not with {name}")

    __add__, __radd__ = _operator(np.add), _operator(np.add, reflected=True)
    __sub__, __rsub__ = _operator(np.subtract), _operator(np.subtract, reflected=True)
    __mul__, __rmul__ = _operator(np.multiply), _operator(np.multiply, reflected=True)
    __truediv__, __rtruediv__ = _operator(np.true_divide), _operator(np.true_divide, reflected=True)
    __floordiv__, __rfloordiv__ = _operator(np.floor_divide), _operator(np.floor_divide, reflected=True)
    __mod__, __rmod__ = _operator(np.remainder), _operator(np.remainder, reflected=True)
    __pow__, __rpow__ = _operator(np.power), _operator(np.power, reflected=True)
    __matmul__, __rmatmul__ = _operator(np.matmul), _operator(np.matmul, reflected=True)
    __and__, __rand__ = _operator(np.bitwise_and), _operator(np.bitwise_and, reflected=True)
    __or__, __ror__ = _operator(np.bitwise_or), _operator(np.bitwise_or, reflected=True)
    __xor__, __rxor__ = _operator(np.bitwise_xor), _operator(np.bitwise_xor, reflected=True)
    __lt__, __le__ = _operator(np.less), _operator(np.less_equal)
    __gt__, __ge__ = _operator(np.greater), _operator(np.greater_equal)

    __neg__, __pos__, __abs__, __invert__ = map(_method, ("negative", "positive", "absolute", "invert"))
    dot, sum, mean, prod, max, min, clip, cumsum, ravel, squeeze, any, all, trace, diagonal, std, var, round = map(
        _method,
        (
            "dot", "sum", "mean", "prod", "max", "min", "clip", "cumsum", "ravel", "squeeze", "any", "all", "trace",
            "diagonal", "std", "var", "round",
        ),
    )  # fmt: skip
    flatten = ravel

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return np.transpose(self)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        """As numpy.transpose."""
        order = axes[0] if len(axes) == 1 else axes or None
        return np.transpose(self, order)  # type: ignore[call-overload]

    def reshape(self, *shape: Any) -> Any:
        """As numpy.reshape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)  # type: ignore[call-overload]

    def copy(self) -> Any:
        """Itself: it never changes."""
        return self

    def astype(self, dtype: Any, **_: Any) -> Any:
        """Itself, of floating numbers; conditions as ones and zeros."""
        if not np.issubdtype(dtype, np.floating):
            raise TypeError(f"astype({dtype}) of symbols has no operation: they are floating numbers; np.floor rounds")
        return self + 0 if any(map(is_condition, np.ravel(self.tolist()))) else self

    def tolist(self) -> list[Any]:
        """Nested lists of the scalars."""
        from .conversion import objects_of

        return objects_of(self).tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        from .conversion import objects_of

        entries = objects_of(self).copy()
        for place, x in np.ndenumerate(entries):
            if isinstance(x, _Structural):
                entries[place] = x.value
        is_plain = all(isinstance(x, (int, float, complex, np.generic)) for x in entries.flat)
        if dtype is not None:
            return entries.astype(dtype)
        return np.array(entries.tolist()) if is_plain else entries

    def __getitem__(self, k: Any) -> Any:
        """Entries, rows and parts, by numbers, slices, lists of numbers, None and Ellipsis."""
        from .conversion import objects_of, together

        return together(objects_of(self)[tuple(map(_place, k)) if isinstance(k, tuple) else _place(k)])

    def __setitem__(self, k: Any, value: Any) -> NoReturn:
        raise TypeError(IMMUTABLE)

    def __bool__(self) -> bool:
        if not is_of_one_state():
            return self.ndim != 1 or self.size > 0
        entries = list(np.ravel(np.array(self.tolist(), object)))
        if len(entries) < 2:
            return bool(entries and entries[0])
        if all(isinstance(x, (int, float, np.generic)) for x in entries):
            raise ValueError(AMBIGUOUS)
        raise TypeError(f"{AMBIGUOUS}: {INSTEAD}")


def _place(k: Any) -> Any:
    """A part of an index as NumPy takes it."""
    from .conversion import objects_of

    if not isinstance(k, (ArrayLike, list)):
        return k
    entries = objects_of(k)
    if any(is_condition(x) and not isinstance(x, (bool, np.bool_)) for x in entries.flat):
        raise TypeError(MASKED)
    return np.array(entries.tolist(), dtype=None if entries.size else int)
