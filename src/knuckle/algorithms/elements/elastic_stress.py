"""Stress and stiffness of elastic materials: the slopes of their energy, by dual numbers of dual numbers."""

from __future__ import annotations

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


def first_slopes(f: Callable[[Vector], Any], x: Vector) -> tuple[Any, list[Any]]:
    """(f, ∂f/∂x) of a scalar function."""
    n = len(x)
    pairs = [parts(f(Vector(Dual(a, ONE if j == i else ZERO) for j, a in enumerate(x)))) for i in range(n)]
    return pairs[0][0], [slope for _, slope in pairs]


def by_rows(n: int) -> Callable[[Vector], Matrix]:
    """F (3 × n), or its rate, as a function of its rows one after the other."""
    return lambda x: Matrix([[x[n * i + k] for k in range(n)] for i in range(3)])


@dataclass(frozen=True)
class PullTerms:
    """ψ and the stress ∂ψ/∂F + β ∂φ/∂Ḟ in a row: what of `StressTerms` forces need."""

    material: ElasticMaterial
    dimension: int
    is_damped: bool

    def __call__(self, model: Model, F: Any, rate: Any, constants: Any, viscosity: Any) -> Vector:
        material, n = self.material.with_constants(constants), self.dimension
        matrix = by_rows(n)
        energy, P = first_slopes(lambda x: material.energy(matrix(x)), F)
        if self.is_damped:
            _, Q = first_slopes(lambda x: material.dissipation(matrix(F), matrix(x)), rate)
            P = [a + viscosity[0] * b for a, b in zip(P, Q, strict=True)]
        return Vector([energy, *P])


@dataclass(frozen=True)
class StressTerms:
    """ψ, ∂ψ/∂F and ∂²ψ/∂F² of a kind of material in a row, F being given by rows; with damping those of both stresses.

    `constants` are the numbers of the material, so that all of its kind share the code. `viscosity` is (β, β/h): stress
    has β ∂φ/∂Ḟ added, and the second slope β/h ∂²φ/∂Ḟ² of the dissipation φ, as a step of the length h feels it.
    """

    material: ElasticMaterial
    dimension: int
    is_damped: bool

    def __call__(self, model: Model, F: Any, rate: Any, constants: Any, viscosity: Any) -> Vector:
        material, n = self.material.with_constants(constants), self.dimension
        matrix = by_rows(n)
        energy, P, H = slopes(lambda x: material.energy(matrix(x)), F)
        if self.is_damped:
            _, Q, D = slopes(lambda x: material.dissipation(matrix(F), matrix(x)), rate)
            P = [a + viscosity[0] * b for a, b in zip(P, Q, strict=True)]
            H = [[a + viscosity[1] * b for a, b in zip(*rows, strict=True)] for rows in zip(H, D, strict=True)]
        return Vector([energy, *P, *(x for row in H for x in row)])


@dataclass(frozen=True)
class ProductText:
    """Q = w H g in a row (3 d × 3), from H = ∂²ψ/∂F² and the gradient g of a shape function.

    The block of stiffness of two nodes is K_ab = Σ_j g_a[j] Q_b[3 i + j, k], with the same `dimension`.
    """

    dimension: int

    def __call__(self, model: Model, H: Any, gradient: Any, weight: Any) -> Vector:
        d = self.dimension
        g = [weight[0] * x for x in gradient]
        return Vector(
            sum((H[3 * d * i + d * k + j] * g[j] for j in range(d)), ZERO) for i in range(3 * d) for k in range(3)
        )


@dataclass(frozen=True)
class BlockText:
    """K_ab in a row (3 × 3), from Q of the node b and the gradient of the shape function of the node a."""

    dimension: int

    def __call__(self, model: Model, Q: Any, gradient: Any) -> Vector:
        d = self.dimension
        return Vector(
            sum((gradient[j] * Q[3 * (d * i + j) + k] for j in range(d)), ZERO) for i in range(3) for k in range(3)
        )
