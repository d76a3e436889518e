"""`knuckle export`: a function of the library as source code."""

from __future__ import annotations

import difflib
import inspect
import re
from typing import Any, Literal

import knuckle as kn
from knuckle.cli.failures import UnusableError
from knuckle.engine.calls.function import Function
from knuckle.model import Model
from knuckle.public_names import everything


def functions() -> dict[str, Function[..., Any]]:
    """The functions of the library that become code, by name."""
    return {name: value for name, value in everything(kn).items() if isinstance(value, Function)}


def written(
    model: Model,
    name: str,
    language: Literal["c", "llvm"],
    dtype: Literal["float64", "float32"],
    frame: str | None = None,
    external: bool = False,
    prefix: str = "",
) -> tuple[str, str]:
    """The source of a function for a model, and the header of its C. Says what is missing where the words are wrong."""
    known = functions()
    if name not in known:
        close = difflib.get_close_matches(name.replace("-", "_"), known, n=2)
        near = f"; did you mean {' or '.join(close)}?" if close else f"; there are: {', '.join(known)}"
        raise UnusableError(f"--function {name}: no such function{near}")
    parameters = inspect.signature(known[name]).parameters
    options: dict[str, Any] = {}
    if "frame" in parameters:
        if frame is None and parameters["frame"].default is inspect.Parameter.empty:
            raise UnusableError(f"--frame is missing: {name} is about one of {', '.join(model.frame_names)}")
        if frame is not None:
            if frame not in model.frame_names:
                close = difflib.get_close_matches(frame, model.frame_names, n=2) or model.frame_names
                raise UnusableError(f"--frame {frame}: no such frame; did you mean {' or '.join(close)}?")
            options["frame"] = frame
    elif frame is not None:
        raise UnusableError(f"--frame {frame}: {name} is not about a frame")
    if external:
        if "f_ext" not in parameters:
            raise UnusableError(f"--external-forces: {name} takes none")
        options["f_ext"] = True
    if prefix and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", prefix):
        raise UnusableError(f"--prefix {prefix}: letters, digits and underscores begin the name of a C function")
    source = known[name].source(model, language=language, dtype=dtype, prefix=prefix, **options)
    return source, known[name].header(model, dtype=dtype, prefix=prefix, **options) if language == "c" else ""
