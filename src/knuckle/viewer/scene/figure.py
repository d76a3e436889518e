"""What a model looks like: coloured surfaces on its bodies, from its visuals, or from its inertia and joint axes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from knuckle.model import ROOT, Body, Geometry, HeightField, Mesh, Model, Plane

from .ellipsoids import principal
from .mesh_file import Color, UnreadableMeshError, read
from .poses import matrix, poses
from .skeleton import LINKS, skeleton
from .triangles import Array, Triangles, box, decimated, primitive

NEUTRAL: tuple[Color, ...] = ((0.80, 0.81, 0.83, 1.0), (0.62, 0.65, 0.70, 1.0))
"""For visuals without a colour: body by body in turn, so that neighbours can be told apart."""
GROUND: Color = (0.56, 0.61, 0.57, 1.0)
"""For terrain and planes without a colour."""
MISSING: Color = (0.85, 0.35, 0.55, 1.0)
"""For the boxes that stand for missing meshes."""


@dataclass(frozen=True, eq=False)
class Part:
    """A surface in the coordinates of a body (ROOT for the base), and its colour."""

    body: int
    name: str
    surface: Triangles
    color: Color


@dataclass(frozen=True, eq=False)
class Figure:
    """A model as it is drawn: its parts, and what could not be drawn as the file wanted."""

    model: Model
    parts: tuple[Part, ...]
    problems: tuple[str, ...] = ()
    reach: Array | None = None
    """(2, 3): the least and the greatest coordinates of its deformable bodies, in base coordinates"""

    def bounds(self, q: Array) -> Array:
        """(2, 3): the least and the greatest coordinates of the figure over positions q (..., nq)."""
        T = poses(self.model, q).reshape(-1, 1 + self.model.nb, 4, 4)
        low, high = (np.full(3, np.inf), np.full(3, -np.inf)) if self.reach is None else self.reach
        for part in self.parts:
            R, p = T[:, part.body + 1, :3, :3], T[:, part.body + 1, None, :3, 3]
            there = np.einsum("nij,kj->nki", R, part.surface.outermost) + p
            low, high = np.minimum(low, there.min(axis=(0, 1))), np.maximum(high, there.max(axis=(0, 1)))
        return np.array([low, high]) if self.parts or self.reach is not None else np.array([[-0.5] * 3, [0.5] * 3])


def figure(model: Model, most_faces: int | None = None) -> Figure:
    """The figure of a model: its visuals.

    Where no moving body has any, it is the shapes that collide, and of bodies without such shapes a skeleton of joint
    axes and inertia.

    Args:
        model: the mechanism.
        most_faces: meshes are made coarser until the figure has about this many triangles; None leaves them alone.
    """
    bodies = list(enumerate((model.base, *model.bodies), ROOT))
    bare = not any(body.visuals for body in model.bodies)
    solid = {i for i, body in bodies if bare and i != ROOT and _has_surface(body)}
    parts = [Part(*part) for part in skeleton(model) if part[0] not in solid] if bare else []
    problems: dict[str, None] = {}
    for i, body in bodies:
        parts += _drawn(i, replace(body, visuals=body.collisions) if i in solid else body, problems, i in solid)
    return Figure(model, _within(parts, most_faces), tuple(problems))


def collision_parts(model: Model) -> tuple[list[Part], tuple[str, ...]]:
    """The shapes that collide, as they are drawn, and what could not be: hulls of meshes where they are known."""
    problems: dict[str, None] = {}
    parts: list[Part] = []
    for i, body in enumerate((model.base, *model.bodies), ROOT):
        parts += _drawn(i, replace(body, visuals=body.collisions), problems, True) if body.collisions else []
    return parts, tuple(problems)


def _has_surface(body: Body) -> bool:
    """Whether all shapes of a body that collide can be drawn without a file."""
    return bool(body.collisions) and all(primitive(x.shape) is not None for x in body.collisions)


def _drawn(i: int, body: Body, problems: dict[str, None], is_bare: bool = False) -> list[Part]:
    """The parts of one body; the box of its inertia if meshes are missing and nothing else is left to draw.

    Bodies that are `is_bare` of colours have one of their own each.
    """
    parts: list[Part] = []
    lost: list[str] = []
    for k, visual in enumerate(body.visuals):
        try:
            surfaces = _surfaces(visual)
        except UnreadableMeshError as error:
            lost.append(str(error))
            continue
        for n, (surface, color) in enumerate(surfaces):
            name = f"{body.name}/{visual.name or k}" + (f"/{n}" if len(surfaces) > 1 else "")
            ground = GROUND if isinstance(visual.shape, (HeightField, Plane)) else None
            own = LINKS[i % len(LINKS)] if is_bare else NEUTRAL[i % 2]
            parts.append(Part(i, name, surface.moved(matrix(visual.X)), color or ground or own))
    solid = principal(body.inertia) if lost and not parts else None
    what = "is drawn as a box of its inertia" if solid else "is drawn without a part of it"
    for error in lost:
        problems[f"body {body.name!r} {what}: {error}"] = None
    if solid is not None:
        sides = np.maximum(solid.sides, 0.1 * solid.sides.max() or 0.05)
        parts.append(Part(i, f"{body.name}/inertia", box(sides).moved(solid.pose), MISSING))
    return parts


def _surfaces(visual: Geometry) -> list[tuple[Triangles, Color | None]]:
    """The surfaces of one visual in its own coordinates. A colour in the mesh file counts before the model's."""
    color = visual.material.color if visual.material else None
    if not isinstance(visual.shape, Mesh):
        surface = primitive(visual.shape)
        return [] if surface is None else [(surface, color)]
    if visual.shape.path is None:
        raise UnreadableMeshError(f"the mesh {visual.shape.uri} was not found")
    scale = np.diag([*visual.shape.scale, 1.0])
    return [(surface.moved(scale), own or color) for surface, own in read(visual.shape.path)]


def _within(parts: list[Part], most: int | None) -> tuple[Part, ...]:
    """The parts with at most about `most` triangles in all: the large ones give up what is too much."""
    sizes = np.array([len(part.surface.faces) for part in parts])
    if most is None or sizes.sum() <= most:
        return tuple(parts)
    low, high = 0.0, float(sizes.max())
    while high - low > 1.0:  # the cap on each part that makes the sum right
        cap = (low + high) / 2
        low, high = (cap, high) if np.minimum(sizes, cap).sum() <= most else (low, cap)
    cap = max(int(low), 200)
    return tuple(Part(part.body, part.name, decimated(part.surface, cap), part.color) for part in parts)
