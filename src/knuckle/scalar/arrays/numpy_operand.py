"""What NumPy's functions take: scalars of ours, and vectors and matrices of them.

NumPy hands a call over to its operand (NEP 13 and 18); `ufuncs` and `array_functions` have what is then done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from knuckle.scalar.inside_kernel import is_of_one_state

_REFLECTED: dict[Any, str] = {
    np.add: "__radd__", np.subtract: "__rsub__", np.multiply: "__rmul__", np.true_divide: "__rtruediv__",
    np.less: "__gt__", np.greater: "__lt__", np.less_equal: "__ge__", np.greater_equal: "__le__",
    np.equal: "__eq__", np.not_equal: "__ne__",
}  # fmt: skip


class NumPyOperand:
    """Base of what NumPy's functions take, in the text of a kernel as if it were an array or a number of NumPy's."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and len(inputs) == 2 and inputs[1] is self and not is_of_one_state():
            reflected = _REFLECTED.get(ufunc)  # an array that is a scalar of many states, on the left of an operator
            if reflected is not None:
                return getattr(self, reflected)(inputs[0])
        from .ufuncs import applied

        return applied(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        from .array_functions import called

        return called(function, args, kwargs)
