"""Functions and kernels for CasADi: compiled values and derivatives in its expressions and solvers."""

from __future__ import annotations

import functools
from typing import Any

from knuckle.engine.calls.function import Function
from knuckle.model import Model
from knuckle.public_names import public_in

from .matrix_calls import MatrixCall, MatrixResult


@public_in("derivatives")
def casadi_callback(function: Function[..., Any], model: Model, *shapes: Any, **named: Any) -> Any:
    """A `casadi.Callback` of a function for a model: for expressions, integrators and solvers such as IPOPT.

    Values, Jacobians with their sparsity, gradients and second derivatives are compiled. Derivatives are by the entries
    of the arguments, as CasADi has them: nq of a position. Numbers and vectors are columns. CasADi does not keep
    callbacks alive: keep it as long as what is made of it.

    Args:
        function: a function of the library, or a kernel.
        model: the mechanism.
        shapes: for a kernel, the shapes of the array arguments for one state, in order: () for a number, (n,) for a
            vector. Arguments called q, v, a, tau, f_ext, or like q_ref or v0, need none.
        named: the same by name, and the options of the call, such as `frame`.
    """
    if not isinstance(function, Function):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"casadi_callback needs a function of knuckle or a kernel first, not {type(function).__name__}")
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"casadi_callback needs a knuckle.Model, not {type(model).__name__}")
    source = MatrixCall.of(function, model, function.derivatives.call_of(model, shapes, named))
    return _class()(function.__name__, source)


def _class() -> Any:
    try:
        import casadi
    except ImportError as error:
        raise ImportError("casadi_callback needs CasADi: pip install casadi") from error
    ca: Any = casadi

    class CompiledCallback(ca.Callback):
        """A function of matrices; its derivatives are functions of the same kind, which it keeps alive."""

        def __init__(
            self, name: str, source: MatrixCall, names: tuple[Any, Any] | None = None, options: Any = None
        ) -> None:
            ca.Callback.__init__(self)
            self.source, self.names, self.kept = source, names, list[Any]()
            self.patterns = [_sparsity(ca, result) for result in source.results]
            self.construct(name, options or {})

        def get_n_in(self) -> int:
            return len(self.source.arguments)

        def get_n_out(self) -> int:
            return len(self.source.results)

        def get_name_in(self, i: int) -> str:
            return self.names[0][i] if self.names else str(self.source.arguments[i].name)

        def get_name_out(self, i: int) -> str:
            return self.names[1][i] if self.names else f"o{i}"

        def get_sparsity_in(self, i: int) -> Any:
            return ca.Sparsity.dense(*self.source.arguments[i].size)

        def get_sparsity_out(self, i: int) -> Any:
            return self.patterns[i]

        def eval(self, arg: Any) -> Any:
            entries = self.source.compute([x.full() for x in arg])
            return [ca.DM(pattern, x) for pattern, x in zip(self.patterns, entries, strict=True)]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
            return self._keep(name, self.slopes, inames, onames, opts)

        def has_jac_sparsity(self, oind: int, iind: int) -> bool:
            return True

        def get_jac_sparsity(self, oind: int, iind: int, symmetric: bool) -> Any:
            return _sparsity(ca, self.slopes.results[oind * self.get_n_in() + iind])

        @functools.cached_property
        def slopes(self) -> MatrixCall:
            return self.source.jacobian()

        def has_reverse(self, nadj: int) -> bool:
            return nadj == 1 and self.source.is_whole

        def get_reverse(self, nadj: int, name: str, inames: Any, onames: Any, opts: Any) -> Any:
            return self._keep(name, self.source.reverse(), inames, onames, opts)

        def _keep(self, name: str, source: MatrixCall, inames: Any, onames: Any, opts: Any) -> Any:
            self.kept.append(CompiledCallback(name, source, (inames, onames), opts))
            return self.kept[-1]

    return CompiledCallback


def _sparsity(ca: Any, result: MatrixResult) -> Any:
    rows, columns = result.size
    if len(result.entries) == rows * columns:
        return ca.Sparsity.dense(rows, columns)
    return ca.Sparsity.triplet(rows, columns, list(result.entries % rows), list(result.entries // rows))
