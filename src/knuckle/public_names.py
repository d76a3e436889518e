"""The public functions and what they return: registered where they are made.

`knuckle` exports all of them, `Bound` has those that take a model and arrays as methods, and the page of the API shows
them; tests compare these with what is registered.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

PUBLIC: dict[str, Any] = {}
"""What is registered, by name."""


def public(value: T) -> T:
    """Registers a function or a class under its name."""
    PUBLIC[value.__name__] = value  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    return value
