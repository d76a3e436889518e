"""All deformable bodies of a mechanism, on numbers: nodes one after the other, cells in groups of one kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.elements.elastic_stress import BlockText, ProductText, PullTerms, StressTerms
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.deformables import ElasticMaterial
from knuckle.model.deformables.elastic_materials import HingeBending
from knuckle.public_names import public_in
from knuckle.solvers.block_matrix import BlockMatrix
from knuckle.solvers.incomplete_factor import IncompleteFactor
from knuckle.spatial import Matrix

from .carrier_terms import CarriedNodes
from .cell_geometry import CellGeometry, cell_geometry, hinge_geometry, node_masses
from .cell_loops import Cells, add_blocks, add_cells

Array: TypeAlias = NDArray[Any]

_NOTHING = Model(bodies=(), joints=())
"""Texts of cells are about no mechanism."""


@dataclass(frozen=True)
class CellGroup:
    """Cells of one kind and material: numbers, and the code of their stress."""

    cells: Cells
    damping: float
    pull: Code
    stress: Code
    products: Code
    block: Code


@public_in("elements")
class SoftBodies:
    """The deformable bodies of a mechanism: forces, energy and stiffness of nodes at positions x with velocities u.

    x and u have a row for every node, in the order of `model.deformables`; `part(name)` are the rows of one of them. It
    holds memory for its results: not for two threads at once.
    """

    def __init__(self, model: Model) -> None:
        if not model.deformables:
            raise ModelError(f"{model.name} has no deformable bodies")
        self.model, self.rigid = model, model.without_deformables()
        sizes = [len(soft.mesh.nodes) for soft in model.deformables]
        starts = np.cumsum(sizes) - sizes
        self._parts = {
            x.name: slice(int(a), int(a) + n) for x, a, n in zip(model.deformables, starts, sizes, strict=True)
        }
        self.count = sum(sizes)
        """nodes"""
        kinds: list[tuple[CellGeometry, ElasticMaterial, float]] = []
        masses: list[Array] = []
        for soft, start in zip(model.deformables, starts, strict=True):
            geometry = cell_geometry(soft)
            masses.append(node_masses(soft, geometry))
            kinds.append((_moved(geometry, int(start)), soft.material, soft.damping))
            if soft.bending:
                kinds.append((_moved(hinge_geometry(soft), int(start)), HingeBending(soft.bending), soft.damping))
        self.masses: Array = np.concatenate(masses)
        """(n,) in kg"""
        self.drag: Array = np.repeat([soft.drag for soft in model.deformables], sizes)
        self.matrix, slots = BlockMatrix.of(self.count, [geometry.node for geometry, _, _ in kinds])
        self._groups = [_group(*kind, slot) for kind, slot in zip(kinds, slots, strict=True)]
        self._attach(starts)

    def _attach(self, starts: Array) -> None:
        places: list[tuple[str, Array]] = []
        nodes: list[Array] = []
        for soft, start in zip(self.model.deformables, starts, strict=True):
            for part in soft.attachments:
                places.append((part.frame, np.array(part.points, float).reshape(-1, 3)))
                nodes.append(start + np.array(part.nodes, np.int64))
        self.carried: NDArray[np.int64] = np.concatenate([*nodes, np.zeros(0, np.int64)]).astype(np.int64)
        """The rows of nodes that bodies carry"""
        self.is_free = np.ones(self.count, np.int64)
        self.is_free[self.carried] = 0
        self.carriers = CarriedNodes(self.rigid, places)
        resting = [(x.on, np.array(x.mesh.nodes, float)) for x in self.model.deformables]
        self._resting = CarriedNodes(self.rigid, resting)

    @cached_property
    def factor(self) -> IncompleteFactor:
        """Room for incomplete factors of `matrix`, without nodes that bodies carry."""
        return IncompleteFactor.of(self.matrix, self.is_free)

    def part(self, name: str) -> slice:
        """The rows of a deformable body, by its name."""
        self.model.deformable(name)  # says which there are
        return self._parts[name]

    def start(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """(x, u) before a motion that begins with q and v: at rest on the frames that the bodies are on."""
        q, v = np.asarray(q, float), np.asarray(v, float)
        motion = self._resting(t, q, v)
        return self.placed(motion.x, motion.u, t, q, v)

    def placed(self, x: Array, u: Array, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """x and u with carried nodes where bodies have them."""
        there = self.carriers(t, q, v)
        x, u = x.copy(), u.copy()
        x[self.carried], u[self.carried] = there.x, there.u
        return x, u

    def forces(self, x: ArrayLike, u: ArrayLike | None = None) -> Array:
        """(n, 3) in newtons: what cells do to their nodes, where these move with u also by damping."""
        x, u = self._state(x, u)
        force = np.zeros_like(x)
        for group in self._groups:
            group.cells.viscosity[:] = group.damping, 0.0
            add_cells(group.cells, group.pull, x, u, force)
        return force.reshape(-1, 3)

    def energy(self, x: ArrayLike) -> float:
        """The elastic energy, in joules."""
        x, u = self._state(x, None)
        force = np.zeros_like(x)
        return sum(add_cells(group.cells, group.pull, x, u, force) for group in self._groups)

    def potential_energy(self, x: ArrayLike) -> float:
        """The elastic energy and that of height, in joules."""
        heights = np.asarray(x, float).reshape(-1, 3) @ np.array(self.model.gravity, float)
        return self.energy(x) - float(self.masses @ heights)

    def kinetic_energy(self, u: ArrayLike) -> float:
        """In joules."""
        speeds = np.asarray(u, float).reshape(-1, 3)
        return float(self.masses @ (speeds * speeds).sum(axis=1)) / 2

    def stiffness(self, x: ArrayLike) -> Array:
        """(3 n, 3 n) in N/m: K = −∂f/∂x, exact."""
        return self._matrix(x, 1.0, 0.0)

    def viscosity(self, x: ArrayLike) -> Array:
        """(3 n, 3 n) in N s/m: D = −∂f/∂u, exact, without drag."""
        return self._matrix(x, 0.0, 1.0)

    def _matrix(self, x: ArrayLike, elastic: float, viscous: float) -> Array:
        """elastic K + viscous D."""
        total = np.zeros((3 * self.count, 3 * self.count))
        for scale, rate in ((1.0, 1.0), (1.0, 0.0)):
            x, u = self._state(x, None)
            self.matrix.blocks[:] = 0.0
            self._add(x, u, np.zeros_like(x), scale, rate, -1.0)
            part = self.matrix.dense()
            total += viscous * part if rate else (elastic - viscous) * part
        return total

    def assemble(self, x: Array, u: Array, dt: float, *, positive: bool) -> Array:
        """The forces (3 n,) of cells, and into `matrix` M (1 + h α) + h D + h² K of a step of the length h.

        Where it is to be positive, cells give no negative directions of stiffness.
        """
        force = np.zeros_like(x)
        self.matrix.blocks[:] = 0.0
        diagonal = self.matrix.blocks.reshape(-1, 9)
        diagonal[self.matrix.first[:-1, None], [0, 4, 8]] = (self.masses * (1 + dt * self.drag))[:, None]
        self._add(x, u, force, dt * dt, 1.0 / dt, 0.0 if positive else -1.0)
        return force

    def _add(self, x: Array, u: Array, force: Array, scale: float, rate: float, shift: float) -> None:
        for group in self._groups:
            group.cells.viscosity[:] = group.damping, group.damping * rate
            codes = group.stress, group.products, group.block
            add_blocks(group.cells, *codes, x, u, force, self.matrix.blocks, scale, shift)

    def _state(self, x: ArrayLike, u: ArrayLike | None) -> tuple[Array, Array]:
        where = np.array(x, float)
        if where.size != 3 * self.count:
            raise ValueError(f"x has shape {where.shape}, and must have shape ({self.count}, 3)")
        moving = np.zeros(where.size) if u is None else np.array(u, float)
        if moving.size != where.size:
            raise ValueError(f"u has shape {moving.shape}, and must have shape ({self.count}, 3)")
        return where.reshape(-1), moving.reshape(-1)


def _moved(geometry: CellGeometry, start: int) -> CellGeometry:
    return geometry._replace(node=geometry.node + start).sorted()


def _group(geometry: CellGeometry, material: ElasticMaterial, damping: float, slot: NDArray[np.int64]) -> CellGroup:
    count, points, n, d = geometry.gradient.shape
    constants = np.array([float(getattr(material, name)) for name in material.constant_names])
    if damping and material.dissipation(*(_unit(d),) * 2) is None:
        raise ModelError(f"{type(material).__name__} has no `dissipation`, and damping is {damping}")
    size = 1 + 3 * d + 9 * d * d
    of = material.with_constants([1.0] * len(constants)), d, damping > 0
    shapes = {"F": (3 * d,), "rate": (3 * d,), "constants": (max(1, len(constants)),), "viscosity": (2,)}
    pull = code_of(_specialization("pull", PullTerms(*of)), shapes)
    stress = code_of(_specialization("stress", StressTerms(*of)), shapes)
    products = code_of(
        _specialization("stiffness product", ProductText(d)), {"H": (9 * d * d,), "gradient": (d,), "weight": (1,)}
    )
    block = code_of(_specialization("stiffness block", BlockText(d)), {"Q": (9 * d,), "gradient": (d,)})
    cells = Cells(
        count, n, points, d, geometry.node.reshape(-1), slot.reshape(-1), geometry.gradient.reshape(-1).copy(),
        geometry.weight.reshape(-1).copy(), np.append(constants, [0.0] * (not len(constants))), np.zeros(2),
        np.zeros(3 * d), np.zeros(3 * d), np.zeros(size), np.zeros(1), np.zeros(9 * d), np.zeros(9),
        np.zeros(9 * d * d), np.zeros(9 * d * d),
    )  # fmt: skip
    return CellGroup(cells, damping, pull, stress, products, block)


def _specialization(name: str, text: Any) -> Specialization:
    return Specialization(name, text, _NOTHING, is_users=True)


def _unit(d: int) -> Matrix:
    return Matrix([[1.0 if i == k else 0.0 for k in range(d)] for i in range(3)])
