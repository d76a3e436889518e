"""Warnings that point at the caller's line, not at ours."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path


def warn(message: str) -> None:
    """Warns at the nearest line outside of this library."""
    level, frame = 2, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "knuckle",
        "contextlib",
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level)


def line_of(error: BaseException) -> str:
    """Where an error arose, by the innermost line outside of this library: ", line 7 of arm.py", or nothing."""
    found, step = "", error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals.get("__name__", "").partition(".")[0] != "knuckle":
            found = f", line {step.tb_lineno} of {Path(step.tb_frame.f_code.co_filename).name}"
        step = step.tb_next
    return found
