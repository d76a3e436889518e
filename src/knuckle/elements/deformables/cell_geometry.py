"""The geometry of cells at rest: gradients of their shape functions, the volumes of their points, masses of nodes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.model.deformables import Deformable
from knuckle.model.deformables.hinges import hinge_coefficients
from knuckle.model.deformables.node_mesh import MIDDLES

Array: TypeAlias = NDArray[Any]

_NEAR, _FAR = (5 + 3 * math.sqrt(5)) / 20, (5 - math.sqrt(5)) / 20
"""Where the four points lie at which quadratic polynomials are summed over a tetrahedron: exactly."""


class CellGeometry(NamedTuple):
    """Cells at rest."""

    node: NDArray[np.int64]
    """(cells, nodes)"""
    gradient: Array
    """(cells, points, nodes, dimension)"""
    weight: Array
    """(cells, points) in m³"""

    def sorted(self) -> CellGeometry:
        """The same with the nodes of each cell in order."""
        order = np.argsort(self.node, axis=1)
        node = np.take_along_axis(self.node, order, axis=1)
        return CellGeometry(node, np.take_along_axis(self.gradient, order[:, None, :, None], axis=2), self.weight)


def cell_geometry(soft: Deformable) -> CellGeometry:
    """The cells of a deformable body."""
    X, cells = np.array(soft.mesh.nodes, float), np.array(soft.mesh.cells, np.int64)
    if cells.shape[1] == 10:
        return _quadratic(soft, X, cells)
    corners = X[cells]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)  # (cells, 3, dimension): its columns are edges
    d = soft.mesh.dimension
    if d < 3:
        edges = _in_plane(edges)
    size = np.linalg.det(edges) / math.factorial(d)
    _must_have_size(soft, np.abs(size), np.linalg.norm(edges, axis=1).max(axis=1) ** d)
    rows = np.linalg.inv(edges)  # of the gradients of all nodes but the first
    gradient = np.concatenate([-rows.sum(axis=1, keepdims=True), rows], axis=1)
    return CellGeometry(cells, gradient[:, None], np.abs(size)[:, None] * soft.section)


def hinge_geometry(soft: Deformable) -> CellGeometry:
    """Pairs of triangles at an edge, as cells of one dimension: F = Σ c_a x_a is normal, and the edge times the angle.

    Weights are such that a sheet rolled to a cylinder has the energy of a thin plate, B/2 κ² per area (Seung and Nelson
    1988).
    """
    node, c, area = hinge_coefficients(np.array(soft.mesh.nodes, float), np.array(soft.mesh.cells))
    return CellGeometry(node, c[:, None, :, None], 1.0 / area[:, None])


def node_masses(soft: Deformable, cells: CellGeometry) -> Array:
    """(nodes,) in kg: the mass of each cell, shared among its nodes; of quadratic ones as their own inertias are."""
    if soft.masses:
        return np.array(soft.masses)
    mass = np.zeros(len(soft.mesh.nodes))
    shares = np.full(cells.node.shape[1], 1.0 / cells.node.shape[1])
    if len(shares) == 10:
        shares = np.array([1 / 36] * 4 + [4 / 27] * 6)
    np.add.at(mass, cells.node, soft.density * cells.weight.sum(axis=1)[:, None] * shares)
    loose = np.flatnonzero(mass == 0)
    if len(loose):
        raise ModelError(f"node {loose[0]} belongs to no cell: it has no mass", element=soft.name)
    return mass


def _in_plane(edges: Array) -> Array:
    """The edges of triangles, or of lines, in axes of their own plane: upper triangular."""
    if edges.shape[2] == 1:
        return np.linalg.norm(edges, axis=1, keepdims=True)
    first = np.linalg.norm(edges[:, :, 0], axis=1)
    with np.errstate(all="ignore"):
        along = (edges[:, :, 0] * edges[:, :, 1]).sum(axis=1) / first
        height = np.linalg.norm(np.cross(edges[:, :, 0], edges[:, :, 1]), axis=1) / first
    flat = np.zeros((len(edges), 2, 2))
    flat[:, 0, 0], flat[:, 0, 1], flat[:, 1, 1] = first, along, height
    return np.nan_to_num(flat)


def _quadratic(soft: Deformable, X: Array, cells: NDArray[np.int64]) -> CellGeometry:
    """Tetrahedra of ten nodes: N = L (2 L − 1) at corners, 4 L L' between them, of the barycentric coordinates L."""
    dL = np.vstack([-np.ones(3), np.eye(3)])
    gradients, weights = list[Array](), list[Array]()
    for k in range(4):
        L = np.full(4, _FAR)
        L[k] = _NEAR
        corner = (4 * L - 1)[:, None] * dL
        middle = [4 * (L[a] * dL[b] + L[b] * dL[a]) for a, b in MIDDLES]
        slopes = np.vstack([corner, middle])  # (10, 3)
        jacobian = np.einsum("cai,aj->cij", X[cells], slopes)
        size = np.linalg.det(jacobian) / 24
        _must_have_size(soft, np.abs(size), np.linalg.norm(jacobian, axis=(1, 2)) ** 3 / 24)
        gradients.append(np.einsum("aj,cji->cai", slopes, np.linalg.inv(jacobian)))
        weights.append(np.abs(size) * soft.section)
    return CellGeometry(cells, np.stack(gradients, axis=1), np.stack(weights, axis=1))


def _must_have_size(soft: Deformable, size: Array, scale: Array) -> None:
    flat = np.flatnonzero(~(size > 1e-9 * scale))
    if len(flat):
        nodes = soft.mesh.cells[flat[0]]
        raise ModelError(f"cells[{flat[0]}], of the nodes {nodes}, has no volume at rest", element=soft.name)
