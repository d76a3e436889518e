"""Public functions: a text over scalars, called with arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias

from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.model import Model

from .containers import Shape, container_of

P = ParamSpec("P")

Array: TypeAlias = Any
"""What a text returns: scalars, which the caller gets as an array of the kind of the arguments."""

ARGUMENTS: Mapping[str, Callable[[Model], Shape]] = {
    "q": lambda model: (model.nq,),
    "v": lambda model: (model.nv,),
    "f": lambda model: (model.nb, model.algebra.dimension),
    "w": lambda model: (model.algebra.dimension,),
}
"""What an array argument holds: positions, velocity-like variables, a force per body, one force."""


class Function(Generic[P]):
    """A function of a model and arrays. `reference` is its plain Python text, over scalars of any kind.

    Array arguments may have any batch axes before their last; they broadcast against each other.
    """

    def __init__(self, text: Callable[Concatenate[Model, P], Any], arguments: Mapping[str, str], loops: bool) -> None:
        functools.update_wrapper(self, text)
        self.__signature__ = inspect.signature(text)
        self._text, self._arguments, self._loops = text, arguments, loops

    def __call__(self, model: Model, /, *args: P.args, **kwargs: P.kwargs) -> NDArray[Any]:
        if not isinstance(model, Model):
            raise TypeError(f"{self.__name__} needs a knuckle.Model first, not {type(model).__name__}")
        if model.loops and not self._loops:
            raise ModelError(
                f"{self.__name__} knows trees, and this mechanism has loop joints "
                f"({', '.join(loop.name for loop in model.loops)}); model.without_loops() is its spanning tree"
            )
        bound = self.__signature__.bind(model, *args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        del values[next(iter(values))]
        arrays = {
            name: (values.pop(name), ARGUMENTS[kind](model))
            for name, kind in self._arguments.items()
            if values[name] is not None
        }

        def text(scalars: Mapping[str, Any]) -> Any:
            return self._text(model, **scalars, **values)  # type: ignore[call-arg]

        return container_of([value for value, _ in arrays.values()]).compute(text, arrays)

    def reference(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """The text itself, on flat sequences of scalars: for debugging and as an oracle."""
        return self._text(model, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<knuckle function {self.__name__}{self.__signature__}>"


def function(*, loops: bool = False, **arguments: str) -> Callable[[Callable[Concatenate[Model, P], Any]], Function[P]]:
    """Makes a public function of a text. `arguments` says what each array argument holds (see `ARGUMENTS`).

    `loops` says that the result is right for a mechanism with loop joints too.
    """
    return lambda text: Function(text, arguments, loops)
