"""A deformable body: a mesh, what it is made of, and the nodes that bodies carry."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from knuckle.errors import ModelError
from knuckle.public_names import public_in

from .elastic_materials import ElasticMaterial
from .node_mesh import NodeMesh, Point3


@public_in("elements")
@dataclass(frozen=True)
class Attachment:
    """Nodes that move with a body or frame, and where on it they are (notes 2.84: attached nodes)."""

    frame: str
    nodes: tuple[int, ...]
    points: tuple[Point3, ...]
    """the place of each node, in the coordinates of the frame"""


@public_in("elements")
@dataclass(frozen=True)
class Deformable:
    """A deformable body. `Builder.deformable` makes one.

    Its nodes have states of their own beside q and v: positions and velocities in base coordinates. Where a motion
    begins they are at rest on the frame `on`, and the mesh is in its coordinates. Nodes that are attached to a frame
    move with it, and what pulls at them pulls at its body.
    """

    name: str
    mesh: NodeMesh
    material: ElasticMaterial
    density: float
    """in kg/m³; kg/m² of triangles and kg/m of edges, where the section is 1"""
    on: str
    attachments: tuple[Attachment, ...] = ()
    section: float = 1.0
    """what cells have besides their extent: the thickness of triangles in m, the area of edges in m²"""
    damping: float = 0.0
    """β in seconds: stress of a strain rate is β times that of the strain (Rayleigh's βK, but turning is free)"""
    drag: float = 0.0
    """α in 1/s: force against velocity is α times mass (Rayleigh's αM)"""
    bending: float = 0.0
    """the flexural rigidity of triangles in N m, E t³ / 12 (1 − ν²) of a plate; none for cloth that drapes freely"""

    masses: tuple[float, ...] = ()
    """of all nodes in kg, where these are not those of the cells"""
    surface: str = ""
    """what it is made of where it touches, by its name in the model's contact rules"""
    contact_type: int = 1
    """bits, as those of shapes (`Geometry`): it touches what has one of them in its affinity, or the other way round"""
    contact_affinity: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, NodeMesh):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"mesh is a kn.elements.NodeMesh, not {self.mesh!r}", element=self.name)
        if not isinstance(self.material, ElasticMaterial):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(
                f"material is one of kn.elements, such as NeoHookean, not {self.material!r}", element=self.name
            )
        if self.mesh.dimension not in self.material.dimensions:
            text = f"{type(self.material).__name__} is no material of {self.mesh.kind}"
            raise ModelError(text, element=self.name)
        for name, least in (
            ("density", True),
            ("section", True),
            ("damping", False),
            ("drag", False),
            ("bending", False),
        ):
            x = getattr(self, name)
            if not math.isfinite(x) or x < 0 or (least and not x):
                raise ModelError(
                    f"{name}={x!r} is a finite number {'above zero' if least else 'from 0 on'}", element=self.name
                )
        if self.bending and self.mesh.dimension != 2:
            raise ModelError(f"bending is of triangles, and the mesh has {self.mesh.kind}", element=self.name)
        if self.masses and len(self.masses) != len(self.mesh.nodes):
            raise ModelError(f"{len(self.masses)} masses, and {len(self.mesh.nodes)} nodes", element=self.name)
        seen: set[int] = set()
        for part in self.attachments:
            if len(part.nodes) != len(part.points):
                raise ModelError(
                    f"{len(part.nodes)} nodes on {part.frame!r}, and {len(part.points)} points", element=self.name
                )
            for k in part.nodes:
                if not 0 <= k < len(self.mesh.nodes):
                    raise ModelError(f"node {k} does not exist: there are {len(self.mesh.nodes)}", element=self.name)
                if k in seen:
                    raise ModelError(f"node {k} is attached twice", element=self.name)
                seen.add(k)
        for k, mass in enumerate(self.masses):
            if not (math.isfinite(mass) and (mass > 0 or (mass == 0 and k in seen))):
                raise ModelError(f"masses[{k}] is {mass!r}; nodes that move freely have some", element=self.name)

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the bodies and frames that it is on and attached to."""
        return tuple(dict.fromkeys((self.on, *(part.frame for part in self.attachments))))

    def renamed(self, name: str, frame: Callable[[str], str]) -> Deformable:
        """The same under another name, on frames that have other names."""
        parts = tuple(dataclasses.replace(part, frame=frame(part.frame)) for part in self.attachments)
        return dataclasses.replace(self, name=name, on=frame(self.on), attachments=parts)
