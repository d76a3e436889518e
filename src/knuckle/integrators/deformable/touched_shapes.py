"""What nodes of deformable bodies can touch: shapes of the base and of bodies, which may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.contact.detection import is_known
from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.model import ROOT, Model
from knuckle.model.contact.contact_candidates import welds
from knuckle.model.deformables import Deformable
from knuckle.model.parts import Geometry, Shape, Sphere
from knuckle.spatial import IDENTITY, Transform
from knuckle.warning import warn

Array: TypeAlias = NDArray[Any]

POINT = Sphere(0.0)
STILL = -1
"""The number of what stands still, among bodies that move."""


@dataclass(frozen=True)
class TouchedShape:
    """A shape, where it is on its body, which nodes may touch it, and their friction."""

    shape: Shape
    X: Transform
    """from the body's coordinates; from those of the base, where it stands still"""
    meets: Array
    friction: Array
    body: int
    """which of the bodies that move, or `STILL`"""


def placed_shapes(model: Model) -> list[tuple[Geometry, Transform, int]]:
    """The shapes that deformable bodies may touch by their bits, where they are, and the numbers of their bodies.

    What is fixed to the base has the number of the base, and its place from there.
    """
    weld = welds(model)
    still = [i for i in range(model.nb) if weld[i] == ROOT]
    X0: Any = positions(model, model.positions(model.start)) if still else {}
    every = [(model.base, IDENTITY, ROOT)]
    every += [
        (body, X0[i] if i in still else IDENTITY, ROOT if i in still else i) for i, body in enumerate(model.bodies)
    ]
    return [
        (x, x.X @ X, i)
        for body, X, i in every
        for x in body.collisions
        if any(_may_touch(x, y) for y in model.deformables)
    ]


def _may_touch(shape: Geometry, soft: Deformable) -> bool:
    """Whether the bits of a shape and a deformable body say so."""
    return bool(shape.contact_type & soft.contact_affinity or shape.contact_affinity & soft.contact_type)


def _carriers(model: Model, soft: Deformable) -> set[int]:
    """The bodies that carry nodes of a deformable body, as what they are welded to."""
    weld, named = welds(model), model.frame_table
    return {weld[named[part.frame].body] for part in soft.attachments if named[part.frame].body != ROOT}


def touched(bodies: SoftBodies) -> tuple[list[TouchedShape], tuple[str, ...]]:
    """The shapes that nodes can touch, and the names of bodies among them that move; a warning for shapes of which the
    way is not known.

    A deformable body does not touch bodies that carry nodes of it.
    """
    model, shapes, unknown, moving = bodies.model, list[TouchedShape](), set[str](), list[int]()
    weld, carriers = welds(model), {soft.name: _carriers(model, soft) for soft in model.deformables}
    for geometry, X, i in placed_shapes(model):
        friction, meets = np.zeros(bodies.count), np.zeros(bodies.count, bool)
        for soft in model.deformables:
            friction[bodies.part(soft.name)] = model.contact.between(soft.surface, geometry.surface).friction
            is_apart = i == ROOT or weld[i] not in carriers[soft.name]
            meets[bodies.part(soft.name)] = is_apart and _may_touch(geometry, soft)
        if not meets.any():
            continue
        if not is_known(POINT, geometry.shape):
            unknown.add(type(geometry.shape).__name__.lower())
            continue
        if i != ROOT and i not in moving:
            moving.append(i)
        shapes.append(TouchedShape(geometry.shape, X, meets, friction, STILL if i == ROOT else moving.index(i)))
    if unknown:
        kinds = ", ".join(sorted(unknown))
        warn(f"nodes of deformable bodies pass through a {kinds} of {model.name}: they touch planes, terrain, balls, "
             "boxes and capsules")  # fmt: skip
    return shapes, tuple(model.body_names[i] for i in moving)
