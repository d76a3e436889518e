"""A text for any part of a model that equal parts share, in every process and whatever kind of number they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

from knuckle.scalar import ONE, ZERO


def content(x: Any) -> str:
    """The text of a part: numbers by value (0, 0.0, −0.0 and the structural zero are one), dataclasses by field."""
    if x is None or isinstance(x, str):
        return repr(x)
    if x is ZERO or x is ONE or isinstance(x, (int, float)):
        return repr(float(x) + 0.0)
    if isinstance(x, (tuple, list)):
        return f"({','.join(map(content, cast(Sequence[Any], x)))})"
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        fields = (f"{f.name}={content(getattr(x, f.name))}" for f in dataclasses.fields(x) if f.compare)
        return f"{type(x).__qualname__}({','.join(fields)})"
    return repr(x)
