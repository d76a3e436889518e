"""Warnings that point at the caller's line, not at ours."""

from __future__ import annotations

import sys
import warnings


def warn(message: str) -> None:
    """Warns at the nearest line outside of this library."""
    level, frame = 2, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "knuckle",
        "contextlib",
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level)
