"""The exceptions knuckle raises on purpose, and how foreign text is shown in them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys or cannot show: control characters, ends of lines, turns of direction, halves of characters."""


def printable(text: str) -> str:
    """The text on one line, with every character escaped that a terminal would obey instead of showing it."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class ModelError(ValueError):
    """A model or model file that cannot be used: says where, what was found and what was expected.

    Args:
        message: what is wrong and what to do about it.
        file: the file it was found in, if any.
        line: the line in that file, counted from one.
        element: the element, joint or body it was found at.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, element: str | None = None
    ) -> None:
        self.message, self.file, self.line, self.element = message, file, line, element
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(printable(": ".join(part for part in (place, element, message) if part)))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.message, self.file, self.line, self.element)


def _rebuild(message: str, file: str | None, line: int | None, element: str | None) -> ModelError:
    return ModelError(message, file=file, line=line, element=element)


class ConvergenceError(RuntimeError):
    """Equations that were not solved: those of an implicit step, or of forces between bounds."""


def near(name: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: what it may have meant, or what there is."""
    import difflib

    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=3)
    if close:
        return f"; did you mean {', '.join(map(repr, close))}?"
    return f"; there are {', '.join(map(repr, known[:20]))}" + (" and more" if len(known) > 20 else "") if known else ""
