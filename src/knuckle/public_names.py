"""The public functions and what they return: registered where they are made, with the group in which they are found.

`knuckle` and its groups, such as `knuckle.loops`, export them, `Bound` has those that take a model and arrays as
methods, and the page of the API shows them; tests compare these with what is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

PUBLIC: dict[str, Any] = {}
"""What is registered, by its name after `kn.`: "pose", "loops.jacobian"."""


GROUPS = (
    "actuators", "compilation", "constraints", "contact", "couplings", "derivatives", "elements", "identification",
    "jacobian_products", "lie_groups", "loops",
)  # fmt: skip
"""What completes after a dot: `kn.loops.jacobian`."""


def everything(face: ModuleType) -> dict[str, Any]:
    """All that `knuckle` exports, and what its groups do, by name: "pose", "loops", "loops.jacobian"."""
    found = {name: getattr(face, name) for name in face.__all__}
    for group in GROUPS:
        found |= {f"{group}.{name}": getattr(found[group], name) for name in found[group].__all__}
    return found


def public(value: T) -> T:
    """Registers a function or a class under its name: `kn.NAME`."""
    return public_in("")(value)


def public_in(group: str) -> Callable[[T], T]:
    """Registers a function or a class under its name in a group: `kn.GROUP.NAME`."""

    def register(value: T) -> T:
        name: str = value.__name__  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        PUBLIC[f"{group}.{name}" if group else name] = value
        return value

    return register
