"""Packages that come with the extra `view`, imported when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any


def need(package: str, what: str) -> Any:
    """The package, or an ImportError that says what needs it and how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != package:
            raise
        message = f"{what} needs {package}, which is not installed: pip install 'knuckle[view]'"
        raise ImportError(message, name=package) from None
