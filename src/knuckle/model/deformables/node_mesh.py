"""Meshes of deformable bodies: nodes, and cells between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from knuckle.errors import ModelError
from knuckle.public_names import public_in

Point3: TypeAlias = "tuple[float, float, float]"

KINDS = {2: "edges", 3: "triangles", 4: "tetrahedra", 10: "quadratic tetrahedra"}
"""What cells are, by how many nodes they have."""
DIMENSIONS = {2: 1, 3: 2, 4: 3, 10: 3}
MIDDLES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
"""The corners between which the nodes from the fifth on of a quadratic tetrahedron lie."""


@public_in("elements")
@dataclass(frozen=True)
class NodeMesh:
    """Nodes, and cells of one kind between them: edges, triangles or tetrahedra, by how many nodes a cell has.

    A cell of ten nodes is a quadratic tetrahedron: four corners, then the middles of 01, 12, 02, 03, 13 and 23. Nodes
    and cells may be given as arrays.
    """

    nodes: tuple[Point3, ...]
    """(n, 3) in metres"""
    cells: tuple[tuple[int, ...], ...]
    """(m, 2), (m, 3), (m, 4) or (m, 10): numbers of nodes"""

    def __post_init__(self) -> None:
        nodes: tuple[Any, ...] = tuple(tuple(float(x) for x in node) for node in self.nodes)
        cells = tuple(tuple(_whole(k) for k in cell) for cell in self.cells)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "cells", cells)
        for k, node in enumerate(nodes):
            if len(node) != 3 or not all(map(math.isfinite, node)):
                raise ModelError(f"nodes[{k}] is {node}; a node has three finite coordinates")
        widths = {len(cell) for cell in cells}
        if len(widths) != 1 or not widths <= KINDS.keys():
            known = ", ".join(f"{n} ({name})" for n, name in KINDS.items())
            raise ModelError(f"cells have {sorted(widths)} nodes; all have the same number of them: {known}")
        for k, cell in enumerate(cells):
            if not all(0 <= i < len(nodes) for i in cell) or len(set(cell)) < len(cell):
                raise ModelError(f"cells[{k}] is {cell}: its nodes are different ones, from 0 to {len(nodes) - 1}")

    @property
    def kind(self) -> str:
        """What its cells are: "edges", "triangles", "tetrahedra" or "quadratic tetrahedra"."""
        return KINDS[len(self.cells[0])]

    @property
    def dimension(self) -> int:
        """Of its cells: 1 for edges, 2 for triangles, 3 for tetrahedra."""
        return DIMENSIONS[len(self.cells[0])]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The edges of all cells, each once; in parts, where there are nodes in their middles."""
        return tuple(dict.fromkeys((min(a, b), max(a, b)) for cell in self.cells for a, b in _edges(cell)))

    @property
    def net(self) -> NodeMesh:
        """The mesh of its edges: a net of springs."""
        return NodeMesh(self.nodes, self.edges)

    @property
    def surface(self) -> tuple[tuple[int, int, int], ...]:
        """The triangles that one sees, the outer side turning left: of solids those that belong to one cell."""
        if self.dimension < 3:
            return tuple((a, b, c) for a, b, c in self.cells) if self.dimension == 2 else ()
        seen: dict[tuple[int, ...], tuple[int, ...] | None] = {}
        for cell in self.cells:
            for face in _faces(cell, self.nodes):
                key = tuple(sorted(face))
                seen[key] = None if key in seen else face
        return tuple(part for face in seen.values() if face is not None for part in _parts(face))

    def where(self, holds: Callable[[float, float, float], bool]) -> tuple[int, ...]:
        """The numbers of the nodes for which a function of x, y and z is true."""
        return tuple(k for k, node in enumerate(self.nodes) if holds(*node))


def _edges(cell: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    if len(cell) == 10:
        halves = ((cell[a], cell[4 + k], cell[b]) for k, (a, b) in enumerate(MIDDLES))
        return tuple(edge for a, m, b in halves for edge in ((a, m), (m, b)))
    return tuple(combinations(cell, 2))


def _faces(cell: tuple[int, ...], nodes: tuple[Point3, ...]) -> list[tuple[int, ...]]:
    """The faces of a tetrahedron, seen from outside: three corners, and the middles of its sides, if it has some."""
    between = {frozenset(pair): cell[4 + k] for k, pair in enumerate(MIDDLES)} if len(cell) == 10 else {}
    a, b, c, d = (nodes[i] for i in cell[:4])
    (u, v, w) = ([y - x for x, y in zip(a, p, strict=True)] for p in (b, c, d))
    volume = sum(u[i] * (v[i - 2] * w[i - 1] - v[i - 1] * w[i - 2]) for i in range(3))
    corners = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    faces = corners if volume > 0 else [(p, r, q) for p, q, r in corners]
    return [
        (*(cell[i] for i in face), *(between[frozenset((face[i], face[i - 2]))] for i in range(3) if between))
        for face in faces
    ]


def _parts(face: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """A face in triangles: with the middles of its sides there are four."""
    if len(face) == 3:
        return [(face[0], face[1], face[2])]
    a, b, c, ab, bc, ca = face
    return [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]


def _whole(k: Any) -> int:
    if isinstance(k, bool) or int(k) != k:
        raise ModelError(f"cells are numbers of nodes, and one is {k!r}")
    return int(k)
