"""Deformable bodies written in Python: the part of the `Builder` that is about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from knuckle.errors import ModelError
from knuckle.model.deformables import Attachment, Deformable, ElasticMaterial, NodeMesh
from knuckle.model.model import Model
from knuckle.model.placement import Placement, to_transform
from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3, add, matvec, sub, tmatvec

from .element_builder import ElementBuilder

Nodes: TypeAlias = "Mapping[str, Iterable[int]]"


class Soft(NamedTuple):
    """A deformable body, and the nodes that are to be attached to frames."""

    body: Deformable
    attach: tuple[tuple[str, tuple[int, ...]], ...]


class DeformableBuilder(ElementBuilder):
    """Collects deformable bodies."""

    def __init__(self) -> None:
        super().__init__()
        self._soft: list[Soft] = []

    def deformable(
        self,
        name: str,
        mesh: NodeMesh,
        *,
        material: ElasticMaterial,
        density: float,
        attach: Nodes | None = None,
        on: str | None = None,
        at: Placement = None,
        section: float = 1.0,
        damping: float = 0.0,
        drag: float = 0.0,
        bending: float = 0.0,
        surface: str = "",
    ) -> str:
        """A deformable body: a net of springs, a cloth or a solid. Returns its name.

        Args:
            name: its name.
            mesh: its nodes and cells, of edges, triangles or tetrahedra: `kn.elements.box_mesh(…)`, …
            material: what it is made of: `kn.elements.NeoHookean(E, nu)`, …
            density: in kg/m³, of cells with their section.
            attach: nodes that bodies or frames carry, by the names of these; on the base they are pins. Where on a body
                they are is where they are as the mechanism starts.
            on: the body or frame on which it is at rest before a motion; the base if not given.
            at: where the mesh is in the frame of `on`.
            section: the thickness of triangles in m, or the area of edges in m².
            damping: in seconds: stress of a strain rate is so many times that of the strain.
            drag: in 1/s: force against velocity, in parts of mass.
            bending: the flexural rigidity of triangles, in N m.
            surface: what it is made of where it touches the ground, by name: `Builder.surface`.
        """
        if name in (x.body.name for x in self._soft):
            raise ModelError(f"a deformable is called {name!r} already: each name is used once", element=name)
        host = self._frame(on, f"the deformable {name!r} is on")
        attached = tuple((frame, tuple(int(k) for k in nodes)) for frame, nodes in (attach or {}).items())
        for frame, _ in attached:
            self._frame(frame, f"what {name!r} is attached to")
        X = to_transform(at, "at", element=name)
        if not isinstance(mesh, NodeMesh):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"mesh is a kn.elements.NodeMesh, not {mesh!r}", element=name)
        placed = NodeMesh(tuple(map(_floats, (_base_point(X, node) for node in mesh.nodes))), mesh.cells)
        body = Deformable(
            name, placed, material, float(density), host.name, (), float(section), float(damping), float(drag),
            float(bending), surface=surface,
        )  # fmt: skip
        self._soft.append(Soft(body, attached))
        return name


def with_attached_points(model: Model, soft: Iterable[Soft]) -> Model:
    """The model with deformable bodies, attached where their nodes are as the mechanism starts."""
    bodies = list(soft)
    if not bodies:
        return model
    now = model.at_time(0.0) if model.depends_on_time else model
    q, X0 = now.positions(now.start), {-1: now.algebra.Transform.identity()}
    for i, p, joint in now.outward():
        X0[i] = joint.transform(q[i]) @ now.X_tree[i] @ X0[p]

    def placed(name: str) -> Transform:
        frame = now.frame(name)
        return frame.X @ X0[frame.body]

    deformables: list[Deformable] = []
    for body, attach in bodies:
        host = placed(body.on)
        parts: list[Attachment] = []
        for frame, nodes in attach:
            missing = [k for k in nodes if not 0 <= k < len(body.mesh.nodes)]
            if missing:
                text = f"attach[{frame!r}] has node {missing[0]}; there are {len(body.mesh.nodes)}"
                raise ModelError(text, element=body.name)
            there = placed(frame)
            points = tuple(_floats(_local_point(there, _base_point(host, body.mesh.nodes[k]))) for k in nodes)
            parts.append(Attachment(frame, nodes, points))
        deformables.append(dataclasses.replace(body, attachments=tuple(parts)))
    return model.replace(deformables=(*model.deformables, *deformables))


def _base_point(X: Transform, point: Vec3) -> Vec3:
    """A point in the coordinates that a transform leads from: r + Eᵀ p."""
    return add(X.r, tmatvec(X.E, point))


def _local_point(X: Transform, point: Vec3) -> Vec3:
    """A point in the coordinates that a transform leads to: E (p − r)."""
    return matvec(X.E, sub(point, X.r))


def _floats(point: Vec3) -> tuple[float, float, float]:
    try:
        x, y, z = (float(x) for x in point)
    except TypeError:
        raise ModelError("places of nodes are numbers, and the mechanism has symbols") from None
    return x, y, z
