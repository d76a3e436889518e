"""Stress and stiffness of elastic materials: the slopes of their energy, by dual numbers of dual numbers."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from knuckle.model import Model
from knuckle.model.deformables import ElasticMaterial
from knuckle.scalar import ONE, ZERO, Dual
from knuckle.scalar.dual import parts
from knuckle.spatial import Matrix, Vector


def slopes(f: Callable[[Vector], Any], x: Vector) -> tuple[Any, list[Any], list[list[Any]]]:
    """(f, ∂f/∂x, ∂²f/∂x²) of a scalar function."""
    n = len(x)
    value: Any = ZERO
    first: list[Any] = [ZERO] * n
    second = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        for k in range(i, n):
            ends = [(ONE if j == i else ZERO, ONE if j == k else ZERO) for j in range(n)]
            y = f(Vector(Dual(Dual(a, p), Dual(q, ZERO)) for a, (p, q) in zip(x, ends, strict=True)))
            (outer, slope) = parts(y)
            (value, first[i]), (_, curved) = parts(outer), parts(slope)
            second[i][k] = second[k][i] = curved
    return value, first, second


def with_constants(material: ElasticMaterial, constants: Any) -> ElasticMaterial:
    """The material with other numbers in its fields, in their order; nothing is checked."""
    new = copy.copy(material)
    for field, x in zip(dataclasses.fields(material), constants, strict=True):  # type: ignore[arg-type]
        object.__setattr__(new, field.name, x)
    return new


@dataclass(frozen=True)
class StressTerms:
    """ψ, ∂ψ/∂F and ∂²ψ/∂F² of a kind of material in a row, F being given by rows; with damping those of both stresses.

    `constants` are the numbers of the material, so that all of its kind share the code. `viscosity` is (β, β/h): stress
    has β ∂φ/∂Ḟ added, and the second slope β/h ∂²φ/∂Ḟ² of the dissipation φ, which is what a step of the length h feels.
    """

    material: ElasticMaterial
    dimension: int
    is_damped: bool

    def __call__(self, model: Model, F: Any, rate: Any, constants: Any, viscosity: Any) -> Vector:
        material, n = with_constants(self.material, constants), self.dimension

        def matrix(x: Vector) -> Matrix:
            return Matrix([[x[n * i + k] for k in range(n)] for i in range(3)])

        energy, P, H = slopes(lambda x: material.energy(matrix(x)), F)
        if self.is_damped:
            _, Q, D = slopes(lambda x: material.dissipation(matrix(F), matrix(x)), rate)
            P = [a + viscosity[0] * b for a, b in zip(P, Q, strict=True)]
            H = [[a + viscosity[1] * b for a, b in zip(*rows, strict=True)] for rows in zip(H, D, strict=True)]
        return Vector([energy, *P, *(x for row in H for x in row)])


@dataclass(frozen=True)
class CellTerms:
    """Forces on the nodes of a cell and the blocks of its stiffness, from the stress at one of its points, in a row.

    f_a = w P g_a and K_ab = w g_a · H · g_b for nodes a ≤ b, with the gradients g of the shape functions there.
    """

    nodes: int
    dimension: int

    def __call__(self, model: Model, stress: Any, gradient: Any, weight: Any, scale: Any) -> Vector:
        d = self.dimension
        g = [[weight[0] * x for x in gradient[d * a : d * a + d]] for a in range(self.nodes)]
        f = [[scale[0] * x for x in gradient[d * a : d * a + d]] for a in range(self.nodes)]
        P = [stress[1 + d * i : 1 + d * i + d] for i in range(3)]
        H = [stress[1 + 3 * d + 3 * d * i : 1 + 3 * d + 3 * d * i + 3 * d] for i in range(3 * d)]
        forces = [sum((p * x for p, x in zip(P[i], g[a], strict=True)), ZERO) for a in range(self.nodes) for i in range(3)]
        blocks: list[Any] = []
        for b in range(self.nodes):
            Q = [[sum((H[i][d * k + j] * f[b][j] for j in range(d)), ZERO) for k in range(3)] for i in range(3 * d)]
            blocks.append([[[sum((g[a][j] * Q[d * i + j][k] for j in range(d)), ZERO) for k in range(3)] for i in range(3)] for a in range(b + 1)])
        pairs = ((a, b) for a in range(self.nodes) for b in range(a, self.nodes))
        return Vector([*forces, *(x for a, b in pairs for row in blocks[b][a] for x in row)])
