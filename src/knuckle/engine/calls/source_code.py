"""What a function becomes: its operations, counted, or printed in another language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias, get_args

from knuckle.engine.arrays.base import never_defined
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.kernels.specialization import Arguments, Specialization, UntraceableError
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Count, Program
from knuckle.model import Model
from knuckle.public_names import public_in

Language: TypeAlias = Literal["llvm", "c"]
Precision: TypeAlias = Literal["float64", "float32"]
_SHORT = {"float64": "f64", "float32": "f32"}


class HasProgram(Protocol):
    """A function of the library, or a kernel."""

    def program(self, model: Model, **options: Any) -> Program: ...


@public_in("compilation")
def operation_count(function: HasProgram, model: Model, **options: Any) -> Count:
    """The scalar operations that a function needs for one state, after simplification: mul, add, div, sqrt, trig.

    Args:
        function: a function of the library, or a kernel.
        model: the mechanism.
        options: those of the call, such as `frame`; see the function's `program`.
    """
    if not hasattr(function, "program"):
        raise TypeError(f"operations are counted of the library's functions and of kernels, not of {function!r}")
    return function.program(model, **options).count()


def traced(specialization: Specialization, shapes: Arguments) -> Program:
    """The program of a specialization. Errors of the text are raised as they are, a division by zero as the model's."""
    try:
        return specialization.program(shapes)
    except UntraceableError as error:
        if isinstance(error.__cause__, ZeroDivisionError):
            raise never_defined(error.__cause__) from error
        raise (error.__cause__ or error) from None


def about(model: Model, options: Mapping[str, Any]) -> str:
    """What a function was printed for, in a line for its head: the mechanism, and the options."""
    return ", ".join([f"for {model.name or 'a mechanism'}", *(f"{name}={value!r}" for name, value in options.items())])


def source_of(program: Program, name: str, language: Language, dtype: Precision, about: str) -> str:
    """A program in a language, as a function of this name; `about` says what for."""
    name = re.sub(r"\W+", "_", name).strip("_") or "kernel"
    if dtype not in _SHORT:
        raise ValueError(f'dtype is "float64" or "float32", not {dtype!r}')
    match language:
        case "llvm":
            return to_llvm(program, Lanes(_SHORT[dtype], machine_code.host().lanes(_SHORT[dtype])), name)
        case "c":
            from knuckle.engine.emit.c_code import to_c

            return to_c(program, name, _SHORT[dtype], about)
        case _:
            known = " or ".join(f'"{word}"' for word in get_args(Language))
            raise ValueError(f"language is {known}, not {language!r}")
