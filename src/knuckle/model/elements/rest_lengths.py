"""The length at which a line does not pull, where it is that of the mechanism as it starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from knuckle.errors import ModelError

from .lines import Line

if TYPE_CHECKING:
    from knuckle.model.model import Model


def with_rest_lengths(model: Model, names: Iterable[str]) -> Model:
    """The model with the lengths that some lines have in its start as the rest lengths of their laws."""
    now = model.at_time(0.0) if model.depends_on_time else model
    q, X0 = now.positions(now.start), {-1: now.algebra.Transform.identity()}
    for i, p, joint in now.outward():
        X0[i] = joint.transform(q[i]) @ now.X_tree[i] @ X0[p]
    elements: list[Any] = list(model.elements)
    numbers, frames = {element.name: k for k, element in enumerate(elements)}, now.frame_table
    for name in names:
        k = numbers[name]
        line = elements[k]
        if not isinstance(line, Line):
            raise ModelError("it is no line, and has no length", element=name)
        try:
            rest = float(line.length([frames[frame].X @ X0[frames[frame].body] for frame in line.frames]))
        except TypeError:
            raise ModelError("lengths here are symbols: give it a rest length", element=name) from None
        law: Any = line.law
        elements[k] = dataclasses.replace(line, law=dataclasses.replace(law, rest=rest))
    return model.replace(elements=tuple(elements))
