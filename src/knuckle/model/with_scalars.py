"""A model whose constants are numbers of another kind: exact fractions, more digits, symbols."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

from knuckle.scalar import ONE, ZERO, constant
from knuckle.spatial import Sym3

from .coupling import Coupling
from .elements import ForceElement
from .parts import Body, Frame, TreeJoint


def lifted(x: Any, number: Callable[[Any], Any]) -> Any:
    """`x`, a tuple or spatial quantity, with `number` applied to every number that is not structural."""
    if x is ZERO or x is ONE:
        return x
    if isinstance(x, Sym3):
        return Sym3(*(lifted(y, number) for y in x))
    if isinstance(x, tuple):
        return tuple(lifted(y, number) for y in cast(Sequence[Any], x))
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        changes = {f.name: lifted(getattr(x, f.name), number) for f in dataclasses.fields(x)}
        return dataclasses.replace(x, **changes)
    return number(x)


def nonzero(number: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`number` for what is not plainly zero."""
    return lambda x: x if constant(x) is ZERO else number(x)


def lifted_body(body: Body, number: Callable[[Any], Any]) -> Body:
    """The body with its inertia in other numbers."""
    return dataclasses.replace(body, inertia=lifted(body.inertia, number))


def lifted_joint(joint: TreeJoint, number: Callable[[Any], Any]) -> TreeJoint:
    """The joint with its placement and its forces in other numbers."""

    names = ("damping", "friction", "rotor_inertia", "stiffness")
    coefficients = {name: lifted(getattr(joint, name), nonzero(number)) for name in names}
    return dataclasses.replace(joint, X_tree=lifted(joint.X_tree, number), **coefficients)


def lifted_frame(frame: Frame, number: Callable[[Any], Any]) -> Frame:
    """The frame with its placement in other numbers."""
    return dataclasses.replace(frame, X=lifted(frame.X, number))


def lifted_coupling(coupling: Coupling, number: Callable[[Any], Any]) -> Coupling:
    """The coupling with its coefficients in other numbers."""
    return dataclasses.replace(coupling, law=coupling.law.with_scalars(number))


def lifted_element(element: ForceElement, number: Callable[[Any], Any]) -> ForceElement:
    """The force element with its lengths and coefficients in other numbers."""

    def of(x: Any) -> Any:
        return x if isinstance(x, (str, bool)) or x is None or constant(x) is ZERO else number(x)

    return lifted(element, of)
