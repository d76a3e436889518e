"""Meshes of simple shapes: chains, sheets and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from knuckle.errors import ModelError
from knuckle.public_names import public_in

from .node_mesh import MIDDLES, NodeMesh, Point3

_EVEN = (
    ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)),
    ((1, 0, 0), (1, 1, 0), (0, 0, 0), (1, 0, 1)),
    ((0, 1, 0), (0, 0, 0), (1, 1, 0), (0, 1, 1)),
    ((0, 0, 1), (1, 0, 1), (0, 0, 0), (0, 1, 1)),
    ((1, 1, 1), (1, 0, 1), (0, 1, 1), (1, 1, 0)),
)
"""A cube in five tetrahedra: one amidst four at every second corner. Neighbours have its mirror image."""


@public_in("elements")
def chain_mesh(length: float, cells: int) -> NodeMesh:
    """A straight chain of edges from the origin along x."""
    (n,), (size,) = _counts((cells,)), _sizes((length,))
    return NodeMesh(tuple((size * i / n, 0.0, 0.0) for i in range(n + 1)), tuple((i, i + 1) for i in range(n)))


@public_in("elements")
def grid_mesh(size: Sequence[float], cells: Sequence[int]) -> NodeMesh:
    """A sheet of triangles in the xy plane around the origin: two for each cell, cut along changing diagonals.

    Args:
        size: its lengths along x and y, in metres.
        cells: how many cells there are along x and y. The node (i, k) is number i (cells[1] + 1) + k.
    """
    (a, b), (m, n) = _sizes(size, 2), _counts(cells, 2)
    nodes = tuple((a * (i / m - 0.5), b * (k / n - 0.5), 0.0) for i in range(m + 1) for k in range(n + 1))
    triangles: list[tuple[int, ...]] = []
    for i, k in product(range(m), range(n)):
        p, q, r, s = (u * (n + 1) + w for u, w in ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)))
        triangles += [(p, q, r), (p, r, s)] if (i + k) % 2 == 0 else [(p, q, s), (q, r, s)]
    return NodeMesh(nodes, tuple(triangles))


@public_in("elements")
def box_mesh(size: Sequence[float], cells: Sequence[int], *, quadratic: bool = False) -> NodeMesh:
    """A box around the origin, in tetrahedra: five for each cell.

    Args:
        size: its lengths along x, y and z, in metres.
        cells: how many cells there are along x, y and z.
        quadratic: whether tetrahedra have nodes in the middles of their edges as well. They bend and keep their volume
            as they should in coarse meshes, where linear ones are too stiff.
    """
    lengths, counts = _sizes(size, 3), _counts(cells, 3)
    grid = list(product(*(range(n + 1) for n in counts)))
    number = {place: k for k, place in enumerate(grid)}
    nodes: list[Any] = [
        tuple(a * (i / n - 0.5) for a, i, n in zip(lengths, place, counts, strict=True)) for place in grid
    ]
    tetrahedra: list[tuple[int, ...]] = []
    for cell in product(*map(range, counts)):
        mirrored = sum(cell) % 2
        for corners in _EVEN:
            places = [(cell[0] + (i ^ mirrored), cell[1] + j, cell[2] + k) for i, j, k in corners]
            a, b, c, d = (number[place] for place in places)
            tetrahedra.append((a, c, b, d) if mirrored else (a, b, c, d))
    return _with_middles(nodes, tetrahedra) if quadratic else NodeMesh(tuple(nodes), tuple(tetrahedra))


def _with_middles(nodes: list[Point3], tetrahedra: list[tuple[int, ...]]) -> NodeMesh:
    """Quadratic tetrahedra of linear ones."""
    nodes, middle = list(nodes), dict[tuple[int, int], int]()
    cells: list[tuple[int, ...]] = []
    for cell in tetrahedra:
        pairs = [(min(cell[a], cell[b]), max(cell[a], cell[b])) for a, b in MIDDLES]
        for pair in pairs:
            if pair not in middle:
                middle[pair] = len(nodes)
                p, q = (nodes[i] for i in pair)
                nodes.append(((p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2))
        cells.append((*cell, *(middle[pair] for pair in pairs)))
    return NodeMesh(tuple(nodes), tuple(cells))


def _sizes(size: Sequence[float], n: int = 1) -> tuple[float, ...]:
    lengths = tuple(float(x) for x in size)
    if len(lengths) != n or not all(0 < x < float("inf") for x in lengths):
        raise ModelError(f"size has {n} finite lengths above zero, not {size!r}")
    return lengths


def _counts(cells: Sequence[int], n: int = 1) -> tuple[int, ...]:
    counts = tuple(cells)
    if len(counts) != n or not all(isinstance(x, int) and x >= 1 for x in counts):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"cells has {n} whole numbers from 1 on, not {cells!r}")
    return counts
