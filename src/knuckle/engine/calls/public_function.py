"""Public functions: a text over scalars, called with arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.base import Shape
from knuckle.engine.kernels.specialization import Recipe
from knuckle.engine.trace import Program
from knuckle.errors import ModelError
from knuckle.model import Model

from .choose_container import container_of, unpacked
from .numpy_arrays import Lanes, checked
from .source_code import Language, Precision, about, source_of, traced

P = ParamSpec("P")


@dataclass(frozen=True)
class Stages:
    """Another way for NumPy arrays: by other functions and matrices of numbers, where that is faster than any kernel.

    `applies(model, options)` says where; `compute` is called with the model, the arrays and the options by name.
    """

    applies: Callable[[Model, Mapping[str, Any]], bool]
    compute: Callable[..., Any]


Array: TypeAlias = Any
"""What a text returns: scalars, which the caller gets as an array of the kind of the arguments."""

ARGUMENTS: Mapping[str, Callable[[Model], Shape]] = {
    "q": lambda model: (model.nq,),
    "v": lambda model: (model.nv,),
    "f": lambda model: (model.nb, model.algebra.dimension),
    "w": lambda model: (model.algebra.dimension,),
    "l": lambda model: (sum(loop.kind.nv for loop in model.loops),),
}
"""What an array argument holds: positions, velocity-like variables, forces on bodies, one force, forces at loops."""


class Function(Generic[P]):
    """A function of a model and arrays. `reference` is its plain Python text, over scalars of any kind.

    Array arguments may have any batch axes before their last; they broadcast against each other. The result is an array
    of the same kind: NumPy's (a single number as NumPy's scalar) for numbers and lists of them, float32 if all
    arguments are; an array of objects for mpmath, SymPy and other numbers in lists or arrays; a matrix of CasADi, SymPy
    or mpmath for theirs. Arguments are never written to. Inside the text of a `kernel`, arguments and results are
    vectors and matrices of scalars.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        text: Callable[Concatenate[Model, P], Any],
        arguments: Mapping[str, str],
        loops: bool,
        stages: Stages | None = None,
        instead: str = "",
    ) -> None:
        functools.update_wrapper(self, text)
        self.__signature__ = inspect.signature(text)
        self._text, self._arguments, self._loops, self._stages = text, arguments, loops, stages
        self._instead = f"; {instead}" if instead else ""
        _, *others = self.__signature__.parameters.values()
        self._defaults = {x.name: x.default for x in others}
        self._in_order = [x.name for x in others if x.kind is x.POSITIONAL_OR_KEYWORD]
        self._needed = [x.name for x in others if x.default is x.empty]

    def __call__(self, model: Model, *args: P.args, **kwargs: P.kwargs) -> NDArray[Any]:
        self._check(model)
        values = self._bound(model, *args, **kwargs)
        shapes = {name: ARGUMENTS[kind](model) for name, kind in self._arguments.items()}
        arrays = {
            name: (unpacked(values.pop(name)), shape)
            for name, shape in shapes.items()
            if self._is_given(name, values[name], shape)
        }
        container = container_of(value for value, _ in arrays.values())
        if isinstance(container, Lanes) and self.goes_by_stages(model, values):
            assert self._stages is not None
            given, asked = checked(arrays)
            with np.errstate(all="ignore"):
                return self._stages.compute(model, **values, **given).astype(asked, copy=False)
        recipe = Recipe(self.__qualname__, self._text, model, tuple(values.items()))
        return container.compute(recipe, arrays)

    def goes_by_stages(self, model: Model, options: Mapping[str, Any]) -> bool:
        """Whether NumPy arrays are better off without a kernel, for this model."""
        return self._stages is not None and self._stages.applies(model, {**self._defaults, **options})

    def _check(self, model: Any) -> None:
        """An error unless the model is one, of the kind that this function knows."""
        if not isinstance(model, Model):
            raise TypeError(f"{self.__name__} needs a knuckle.Model first, not {type(model).__name__}")
        if model.loops and not self._loops:
            raise ModelError(
                f"{self.__name__} knows trees, and this mechanism has loop joints "
                f"({', '.join(loop.name for loop in model.loops)}); model.without_loops() is its spanning tree"
                f"{self._instead}"
            )

    def _bound(self, model: Model, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The arguments after the model, by name."""
        if not kwargs and len(args) <= len(self._in_order):
            given = dict(zip(self._in_order, args, strict=False))
            if all(name in given for name in self._needed):
                return {**self._defaults, **given}
        try:
            bound = self.__signature__.bind(model, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        _, *others = bound.arguments.items()
        return dict(others)

    def _is_given(self, name: str, value: Any, shape: Shape) -> bool:
        """Whether an array argument is there; None stands for those that may be left out only."""
        if value is None and self._defaults[name] is not None:
            wanted = ", ".join(["...", *map(str, shape)])
            raise TypeError(f"{name} is None, and must be an array of shape ({wanted})")
        return value is not None

    def reference(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """The text itself, on flat sequences of scalars: for debugging and as an oracle."""
        return self._text(model, *args, **kwargs)

    def program(self, model: Model, **options: Any) -> Program:
        """The scalar operations that remain when the text runs on symbols (RBDA 10.4).

        Args:
            model: the mechanism.
            options: those of the call, such as `frame`. An array argument that may be left out is left out, unless it
                is named here: `f_ext=True`.
        """
        self._check(model)
        fixed: dict[str, Any] = {}
        left_out: set[str] = set()
        for name, parameter in list(self.__signature__.parameters.items())[1:]:
            given = options.pop(name, parameter.default)
            if name not in self._arguments:
                if given is parameter.empty:
                    raise TypeError(f"{self.__name__} needs the option {name}")
                fixed[name] = given
            elif given is None:
                left_out.add(name)
        if options:
            raise TypeError(f"{self.__name__} has no argument {' or '.join(options)}")
        shapes = {name: ARGUMENTS[kind](model) for name, kind in self._arguments.items() if name not in left_out}
        fixed |= dict.fromkeys(left_out)
        return traced(Recipe(self.__qualname__, self._text, model, tuple(fixed.items())), shapes)

    def source(self, model: Model, *, language: Language = "llvm", dtype: Precision = "float64", **options: Any) -> str:
        """The text of the kernel in another language: "llvm" or "c"; options as for `program`."""
        return source_of(self.program(model, **options), self.__name__, language, dtype, about(model, options))

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<knuckle function {self.__name__}{self.__signature__}>"


def function(
    *,
    loops: bool = False,
    joint_space: bool = False,
    stages: Stages | None = None,
    instead: str = "",
    **arguments: str,
) -> Callable[[Callable[Concatenate[Model, P], Any]], Function[P]]:
    """Makes a public function of a text. `arguments` says what each array argument holds (see `ARGUMENTS`).

    `loops` says that the result is right for a mechanism with loop joints too, and `instead`, where it is not, what to
    call for one; `joint_space` that it is about the joints only, so that its kernel may be made from any dynamically
    equivalent model.
    """

    def make(text: Callable[Concatenate[Model, P], Any]) -> Function[P]:
        text.joint_space = joint_space  # type: ignore[attr-defined]
        return Function(text, arguments, loops, stages, instead)

    return make
