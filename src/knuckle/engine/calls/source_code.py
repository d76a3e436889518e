"""What a function becomes: its operations, counted, or printed in another language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

from knuckle.engine.arrays.base import never_defined
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.kernels.specialization import Arguments, Specialization, UntraceableError
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Count, Program
from knuckle.model import ROOT, Model
from knuckle.model.labels import position_labels, position_units, velocity_labels, velocity_units
from knuckle.public_names import public_in

if TYPE_CHECKING:
    from knuckle.engine.emit.c_code import About

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


_FRAMES = {
    "body": "the coordinates of the frame itself",
    "world": "the coordinates of the base",
    "aligned": "the axes of the base, at the origin of the frame",
}


def about(model: Model, kinds: Mapping[str, str], options: Mapping[str, Any]) -> About:
    """What a function was printed for: the mechanism and the options, the order of variables, frames and axes.

    `kinds` says which arguments are positions ("q"), go by the velocity variables ("v"), or are wrenches ("f").
    """
    said = ", ".join([f"for {model.name or 'a mechanism'}", *(f"{name}={value!r}" for name, value in options.items())])
    variables = {
        "q": zip(position_labels(model), position_units(model), strict=True),
        "v": zip(velocity_labels(model), velocity_units(model), strict=True),
    }
    words = {kind: ", ".join(f"{name} [{unit}]" for name, unit in each) for kind, each in variables.items()}
    by_joint = ", ".join(velocity_labels(model))
    words["f"] = "a wrench (moment, then force) on each body in its own coordinates: " + ", ".join(model.body_names)
    contents = {
        name: words["v"] if (name, kind) == ("v", "v") else by_joint if kind == "v" else words.get(kind, "")
        for name, kind in kinds.items()
    }
    notes = ["SI units. Angular parts come before linear ones. Quaternions are (w, x, y, z)."]
    if any(joint.type.nv == 6 for joint in model.joints):
        notes.append("The velocity of a body on a joint of six freedoms is in the body's own coordinates.")
    if options.get("frame") is not None:
        frame = model.frame(options["frame"])
        body = model.base.name if frame.body == ROOT else model.bodies[frame.body].name
        axes = _FRAMES[options.get("expressed_in", "body")]
        notes.append(f"The frame {frame.name} is on {body}; twists, wrenches and Jacobians of it are in {axes}.")
    from knuckle.engine.emit.c_code import About

    return About(said, contents, notes)


def header_of(program: Program, name: str, dtype: Precision, about: About) -> str:
    """The C header of `source_of`'s function."""
    if dtype not in _SHORT:
        raise ValueError(f'dtype is "float64" or "float32", not {dtype!r}')
    from knuckle.engine.emit.c_code import to_c_header

    return to_c_header(program, _word(name), _SHORT[dtype], about)


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "kernel"


def source_of(program: Program, name: str, language: Language, dtype: Precision, about: About) -> str:
    """A program in a language, as a function of this name; `about` says what for."""
    name = _word(name)
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
