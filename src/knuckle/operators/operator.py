"""Operators of a mechanism at a configuration: to multiply, to apply to arrays, and to hand to SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from knuckle.engine.arrays.base import must_end_in
from knuckle.engine.arrays.result_layout import Layout, laid_out
from knuckle.engine.calls.choose_container import container_of, unpacked
from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.kernels.specialization import Specialization
from knuckle.model import Frame, Model
from knuckle.scalar import is_inside
from knuckle.spatial import Matrix, Vector

from . import symbols
from .application import applied
from .operator_entries import Configuration
from .operator_expression import Identity, OperatorExpression
from .spaces import Space

if TYPE_CHECKING:
    from .operators_at import Operators

Array: TypeAlias = np.ndarray[Any, Any]


def apply_operator(
    model: Model, q: Any, x: Any, *, expression: OperatorExpression, points: tuple[Frame, ...]
) -> Vector:
    """The text of an operator's application: what its kernel is made from."""
    return applied(expression, Configuration(model, q, points), x)


class Operator:
    """A linear operator that is applied by recursions over the bodies, never as a matrix.

    `A @ x` applies it to a vector (m,) or to the columns of a matrix (m, k); `A @ B`, `A + B`, `A - B`, `2 * A`, `A.T`
    and `A.inverse` are operators, put together and not computed. It has what SciPy asks of a linear operator.
    """

    __array_ufunc__ = None
    __array_priority__ = 1000

    def __init__(self, at: Operators, expression: OperatorExpression) -> None:
        self.at, self.expression = at, expression

    def __repr__(self) -> str:
        size = "" if self.expression.domain is None else f" {self.shape[0]}x{self.shape[1]}"
        return f"<knuckle operator {self.expression}{size} of {self.at.model.name}>"

    # the algebra

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Operator):
            return self._with(other, self.expression @ other.expression)
        return self.matvec(other)

    def __add__(self, other: Operator) -> Operator:
        return self._with(other, self.expression + other.expression)

    def __sub__(self, other: Operator) -> Operator:
        return self._with(other, self.expression - other.expression)

    def __neg__(self) -> Operator:
        return Operator(self.at, -self.expression)

    def __mul__(self, factor: float) -> Operator:
        if isinstance(factor, Operator):
            raise TypeError("the product of operators is @; * is for numbers")
        return Operator(self.at, self.expression * float(factor))

    __rmul__ = __mul__

    @property
    def T(self) -> Operator:
        """The adjoint, the paper's superscript *."""
        return Operator(self.at, self.expression.T)

    @property
    def H(self) -> Operator:
        """The adjoint under SciPy's name for it."""
        return self.T

    @property
    def inverse(self) -> Operator:
        """The inverse, where one is known that is applied in O(n); else a ValueError that lists those."""
        try:
            return Operator(self.at, self.expression.inverse)
        except ValueError:
            newton_euler = self.expression + symbols.R if self._is_of_joints() and not self.at.has_rotors else None
            if newton_euler is None:
                raise
            return Operator(self.at, newton_euler.inverse)

    def _is_of_joints(self) -> bool:
        return (self.expression.domain, self.expression.codomain) == (symbols.R.domain, symbols.R.codomain)

    def _with(self, other: Any, expression: OperatorExpression) -> Operator:
        if other.at is not self.at:
            raise ValueError(
                f"{self.expression} and {other.expression} are operators of different configurations: "
                "take both from one `operators.at`"
            )
        return Operator(self.at, expression)

    # as a matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix that it stands for."""
        return self._size(self.expression.codomain), self._size(self.expression.domain)

    def _size(self, space: Space | None) -> int:
        if space is None:
            raise TypeError("I alone has no size: it takes that of the operators beside it")
        return sum(space.sizes(self.at.model, self.at.points))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its entries."""
        return self.at.dtype

    def matvec(self, x: ArrayLike) -> Any:
        """A x for one vector (m,), or for the columns of a matrix."""
        return self.matmat(x) if isinstance(x, np.ndarray) and x.ndim == 2 else self._computed(x)

    def rmatvec(self, x: ArrayLike) -> Any:
        """A* x for one vector."""
        return self.T.matvec(x)

    def matmat(self, x: ArrayLike) -> Array:
        """A X for the columns of a matrix (m, k)."""
        columns = np.asarray(x)
        if columns.ndim != 2:
            raise ValueError(
                f"x has shape {columns.shape}, and must have shape ({self.shape[1]},) or ({self.shape[1]}, k)"
            )
        return np.swapaxes(self._computed(columns.T), -1, -2)

    def rows(self, x: ArrayLike) -> Array:
        """A x for vectors on the last axis (..., m), the way the rest of the library has it."""
        return self._computed(x)

    def rmatmat(self, x: ArrayLike) -> Array:
        """A* X for the columns of a matrix."""
        return self.T.matmat(x)

    def dense(self) -> Any:
        """The dense matrix: as many applications as it has columns."""
        if isinstance(self.expression, Identity) and self.expression.space is None:
            raise TypeError("I alone has no size: it takes that of the operators beside it")
        if self.expression == symbols.Lambda:
            return self.at.admittance()
        if is_inside():
            return Matrix.columns((self @ Vector(row) for row in Matrix.identity(self.shape[1]).rows), self.shape[0])
        return np.swapaxes(np.asarray(self._computed(np.eye(self.shape[1]), compile=False)), -1, -2)

    def aslinearoperator(self) -> Any:
        """As `scipy.sparse.linalg.LinearOperator`, for SciPy's solvers."""
        from scipy.sparse import linalg

        make: Any = linalg.LinearOperator
        ways = {name: getattr(self, name) for name in ("matvec", "rmatvec", "matmat", "rmatmat")}
        return make(self.shape, dtype=self.dtype, **ways)

    # application

    def _computed(self, x: Any, compile: bool = True) -> Any:
        """A x for vectors on the last axis."""
        size = self.shape[1]
        value = unpacked(x)
        at = self.at
        container = container_of((at.given, value))
        arrays = {"q": (at.given, (at.model.nq,)), "x": (value, (size,))}
        if isinstance(container, NumPyArrays):
            array = np.asarray(value)
            must_end_in("x", array.shape, (size,))
            specialization = Specialization("operators.apply", apply_operator, at.model, self._options())
            if compile and self._is_worth_a_kernel(specialization, arrays, array):
                return container.compute(specialization, arrays)
        return container.compute(self._applied, arrays)

    def _applied(self, scalars: Mapping[str, Any]) -> tuple[list[Any], Layout]:
        result = applied(self.expression, self.at.configuration, scalars["x"])
        return laid_out(result, "operators.apply", of_one_state=False)

    def _options(self) -> tuple[tuple[str, Any], ...]:
        return ("expression", self.expression), ("points", self.at.points)

    def _is_worth_a_kernel(self, specialization: Specialization, arrays: Any, x: Array) -> bool:
        shapes = {name: shape for name, (_, shape) in arrays.items()}
        dtype = np.result_type(self.dtype, x.dtype, np.float32)
        return kernels.find(specialization, shapes, np.dtype(dtype), x.shape[:-1]) is not None
