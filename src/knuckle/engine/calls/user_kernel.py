"""`kernel`: a function of the user's, written with the library's, becomes one piece of native code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.symbolic_matrices import Symbolic
from knuckle.engine.trace import Program
from knuckle.model import Model
from knuckle.scalar import inside_a_kernel, is_inside

from .choose_container import container_of
from .numpy_arrays import Lanes
from .source_code import Language, Precision, about, source_of, traced
from .traced_scalars import composed
from .user_arguments import Given, as_shape, given_as, is_array, shape_by_name
from .user_specialization import UserRecipe, compute_numbers

P = ParamSpec("P")


class Compiled(Generic[P]):
    """A user's function of a model and arrays as native code, with the function itself as `reference`.

    An array argument holds one vector on its last axis and any batch axes before it (`f_ext`: a wrench per body on its
    last two); a Python number or an array without axes is a scalar. Keyword-only arguments, names, booleans and None
    are options: constants of the code. The function sees one state: vectors, a matrix for `f_ext`, and scalars; the
    library's functions take these and give such. It returns a scalar, a vector, a matrix, or a tuple or dict of them.
    """

    __name__: str
    __qualname__: str

    def __init__(self, text: Callable[Concatenate[Model, P], Any]) -> None:
        functools.update_wrapper(self, text)
        self.__signature__ = inspect.signature(text)
        parameters = list(self.__signature__.parameters.values())
        if not parameters or parameters[0].kind not in (inspect.Parameter.POSITIONAL_ONLY, _NAMED):
            raise TypeError(f"{self.__name__} takes no model first, and a kernel does")
        for parameter in parameters[1:]:
            if parameter.kind not in (_NAMED, inspect.Parameter.KEYWORD_ONLY):
                raise TypeError(f"{self.__name__}: the arguments of a kernel have names, which {parameter} has not")
        self._text = text
        self._options = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    def __call__(self, model: Model, *args: P.args, **kwargs: P.kwargs) -> Any:
        if is_inside():
            return self.reference(model, *args, **kwargs)
        given, options = self._sorted(model, *args, **kwargs)
        recipe = self._recipe(model, {name: x.shape for name, x in given.items()}, options)
        arrays = {name: x.carried for name, x in given.items()}
        container = container_of(value for value, _ in arrays.values())
        if isinstance(container, Lanes):
            return compute_numbers(recipe, arrays, {name for name, x in given.items() if type(x.value) in (int, float)})
        flat = container.compute(recipe, arrays)
        if isinstance(container, Symbolic):
            entries = np.empty(recipe.layout().size, object)
            entries[:] = [flat[k, 0] for k in range(len(entries))]
            return recipe.layout().together(entries, lambda part, shape: container.together(list(part), shape))
        return recipe.layout().together(flat, lambda part, shape: part.reshape(flat.shape[:-1] + shape)[()])

    def reference(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """The function itself, on vectors of scalars: one state, for debugging and as an oracle."""
        given, options = self._sorted(model, *args, **kwargs)
        values = {name: composed(name, x.value, x.shape) if x.shape else x.value for name, x in given.items()}
        with inside_a_kernel():
            return self._text(model, **options, **values)  # type: ignore[call-arg]

    def program(self, model: Model, *shapes: Any, **named: Any) -> Program:
        """The scalar operations that remain when the function runs on symbols (RBDA 10.4).

        Args:
            model: the mechanism.
            shapes: the shapes of the array arguments for one state, in order: () for a number, (n,) for a vector.
                Arguments called q, v, a, tau, f_ext, or like q_ref or v0, need none.
            named: the same by name, and the options.
        """
        _must_be_model(self.__name__, model)
        _, *parameters = self.__signature__.parameters.values()
        positional = [p.name for p in parameters if p.kind is _NAMED]
        if len(shapes) > len(positional):
            raise TypeError(
                f"{self.__name__} has {len(positional)} array arguments, and {len(shapes)} shapes are given"
            )
        said = dict(zip(positional, shapes, strict=False)) | named
        arrays: dict[str, Shape] = {}
        options: dict[str, Any] = {}
        for p in parameters:
            value = said.pop(p.name, p.empty)
            if p.name in self._options or (value is p.empty and not is_array(p.default, p.empty)):
                if value is p.empty and p.default is p.empty and p.name not in self._options:
                    arrays[p.name] = self._shape_by_name(model, p.name)
                else:
                    options[p.name] = self._option(p, value)
            else:
                arrays[p.name] = as_shape(p.name, np.shape(p.default) if value is p.empty else value)
        if said:
            raise TypeError(f"{self.__name__} has no argument {' or '.join(said)}")
        carried = {name: shape or (1,) for name, shape in arrays.items()}
        return traced(self._recipe(model, arrays, options), carried)

    def source(
        self, model: Model, *shapes: Any, language: Language = "llvm", dtype: Precision = "float64", **named: Any
    ) -> str:
        """The kernel in another language: "llvm" or "c"; shapes and options as for `program`."""
        return source_of(self.program(model, *shapes, **named), self.__name__, language, dtype, about(model, named))

    def _option(self, parameter: inspect.Parameter, value: Any) -> Any:
        if value is parameter.empty and parameter.default is parameter.empty:
            raise TypeError(f"{self.__name__} needs the option {parameter.name}")
        return parameter.default if value is parameter.empty else value

    def _shape_by_name(self, model: Model, name: str) -> Shape:
        shape = shape_by_name(model, name)
        if shape is None:
            raise TypeError(
                f"{self.__name__} needs the shape of {name}: {name}=() for a number, {name}=(n,) for a vector"
            )
        return shape

    def _recipe(self, model: Model, shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> UserRecipe:
        single = tuple(name for name, shape in shapes.items() if not shape)
        return UserRecipe(self.__qualname__, self._text, model, tuple(options.items()), single)

    def _sorted(self, model: Model, *args: Any, **kwargs: Any) -> tuple[dict[str, Given], dict[str, Any]]:
        """The array arguments and the options of a call."""
        _must_be_model(self.__name__, model)
        try:
            bound = self.__signature__.bind(model, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        _, *others = bound.arguments.items()
        arrays = {k: given_as(k, x) for k, x in others if k not in self._options and is_array(x)}
        options = {k: x for k, x in others if k not in arrays}
        for name, value in options.items():
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"{self.__name__}: the option {name} is a {type(value).__name__}, which cannot be a constant of "
                    "the code; arrays of numbers are no keyword-only arguments"
                ) from None
        return arrays, options

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<knuckle kernel {self.__name__}{self.__signature__}>"


_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD


def kernel(function: Callable[Concatenate[Model, P], Any]) -> Compiled[P]:
    """Makes one compiled function of a function that is written with the library's.

        @kn.kernel
        def gravity_compensated_pd(model, q, v, q_ref, kp, kd):
            return kn.inverse_dynamics(model, q, v, kp * (q_ref - q) - kd * v)

    It is called with arrays of any batch shape, like the library's own functions, and compiled when it is first called
    on a model. See `Compiled` for what its arguments are. Numbers, arrays and functions that it takes from around
    itself are constants of the code, which is made anew when one of them has changed. Choices go through `kn.where`.
    """
    return Compiled(function)


def _must_be_model(name: str, model: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"{name} needs a knuckle.Model first, not {type(model).__name__}")
