"""The exceptions knuckle raises on purpose."""

from __future__ import annotations


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
        super().__init__(": ".join(part for part in (place, element, message) if part))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.message, self.file, self.line, self.element)


def _rebuild(message: str, file: str | None, line: int | None, element: str | None) -> ModelError:
    return ModelError(message, file=file, line=line, element=element)
