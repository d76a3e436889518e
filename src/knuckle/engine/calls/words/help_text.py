"""What `help` says of a function: its docstring, what its arguments hold, and how it is called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

_BY_NAME = {
    "q": "positions (..., nq).",
    "v": "velocity variables (..., nv).",
    "a": "their rates (..., nv).",
    "tau": "joint forces (..., nv).",
    "f_ext": "a wrench (moment, force) on each body in its own coordinates (..., nb, 6).",
    "frame": "the name of a frame, of a body or of the base.",
    "expressed_in": '"body", the frame\'s own coordinates; "world", the base\'s; or "aligned", the frame\'s origin and '
    "the base's axes.",
    "stabilization": "the time in seconds in which errors of closed loops decay; None adds nothing.",
    "choice": "what `kn.loops.independent_variables` chose.",
}
_BY_KIND = {
    "q": "positions (..., nq).",
    "v": "one number for each velocity variable (..., nv).",
    "f": "one wrench (moment, force) for each body (..., nb, 6).",
    "w": "a wrench or twist, angular part first (..., 6).",
    "l": "forces at the loop joints.",
    "m": "one number for each muscle; those of the muscles' laws, if not given.",
    "e": "lengths of the fibers at elastic tendons, in metres; in equilibrium, if not given.",
}
_WIDTH = 112
_FRAME = "model.body_names[-1]"


def help_text(
    place: str, signature: inspect.Signature, doc: str | None, kinds: Mapping[str, str], has_model: bool = True
) -> str:
    """The docstring of a function that people know as `place` ("kn.pose"), with what it leaves unsaid.

    `kinds` says what the array arguments hold; a method of a bound model has no model of its own.
    """
    text = inspect.cleandoc(doc or "")
    parts = [text]
    if "Args:" not in text:
        parts.append("\n".join(["Args:", *_arguments(signature, kinds, has_model)]))
    if "Example" not in text:
        parts.append(f"Example:\n    {example(place, signature, has_model)}")
    return "\n\n".join(parts)


def example(place: str, signature: inspect.Signature, has_model: bool = True) -> str:
    """A call with what it cannot do without."""
    _, *parameters = signature.parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty]
    words = [_FRAME if name == "frame" else name for name in needed]
    return f"{place}({', '.join(['model', *words] if has_model else words)})"


def _arguments(signature: inspect.Signature, kinds: Mapping[str, str], has_model: bool) -> Iterator[str]:
    import textwrap

    _, *parameters = signature.parameters.values()
    if has_model:
        yield "    model: the mechanism."
    for p in parameters:
        words = _BY_NAME.get(p.name) or _BY_KIND.get(kinds.get(p.name, ""), "see above.")
        optional = p.name in kinds and p.default is None and "not given" not in words
        line = f"{p.name}: {words}{' It may be left out.' if optional else ''}"
        yield textwrap.indent("\n    ".join(textwrap.wrap(line, _WIDTH)), "    ")


def without_annotations(signature: inspect.Signature) -> str:
    """The names and defaults of a signature."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(parameters))
