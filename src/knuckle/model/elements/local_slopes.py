"""How the forces of an element change with its frames: springs and dampers along some directions (notes 1.30, 2.75).

What is left out is that forces turn with the bodies: the term (∂Jᵀ/∂q) f of −∂τ/∂q. What remains is Σ Gᵀ K G, which is
symmetric, and of elements that store energy and dissipate it never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from knuckle.scalar import ONE, ZERO, Dual, constant, less, maximum, select
from knuckle.spatial import Force, Matrix, Motion, Transform, Vector
from knuckle.spatial.three import Vec3, cross

if TYPE_CHECKING:
    from .base import ForceElement


class LocalSlopes(NamedTuple):
    """Directions G, each of them a force on every frame in its coordinates, and K and D along them.

    Forces change by −Gᵀ(K G x + D G v) for small motions x and v of the frames.
    """

    directions: list[list[Force]]
    stiffness: Matrix
    damping: Matrix

    @classmethod
    def along(cls, springs: Sequence[tuple[Any, Any, list[Force]]]) -> LocalSlopes:
        """Of springs and dampers, each along one direction."""
        K, D = (Matrix.diagonal(Vector(row[k] for row in springs)) for k in (0, 1))
        return cls([pulls for _, _, pulls in springs], K, D)


def differentiated(element: ForceElement, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
    """Of any element, by dual numbers; the symmetric part of them."""
    zero, n = [Force.zero()] * len(X), len(X)
    directions = [
        [*zero[:k], Force.of([ONE if i == j else ZERO for i in range(6)]), *zero[k + 1 :]]
        for k in range(n)
        for j in range(6)
    ]
    K = [_derivatives(element.forces(_with(X, k, _moved(X[k], j)), V)) for k in range(n) for j in range(6)]
    D = [_derivatives(element.forces(X, _with(V, k, _faster(V[k], j)))) for k in range(n) for j in range(6)]
    return LocalSlopes(directions, _symmetric(K), _symmetric(D))


def _with(items: Sequence[Any], k: int, item: Any) -> list[Any]:
    return [*items[:k], item, *items[k + 1 :]]


def _moved(X: Transform, j: int) -> Transform:
    """A frame that moves along one of its own six directions: Ė = −ω × E, ṙ = Eᵀ v (RBDA 2.45)."""
    e = tuple(ONE if i == j % 3 else ZERO for i in range(3))
    if j < 3:
        columns = [cross(e, (X.E[0][i], X.E[1][i], X.E[2][i])) for i in range(3)]
        E: Any = tuple(tuple(Dual(X.E[i][k], -columns[k][i]) for k in range(3)) for i in range(3))
        return Transform(E, X.r)
    r: Any = tuple(Dual(x, X.E[j - 3][i]) for i, x in enumerate(X.r))
    return Transform(X.E, r)


def _faster(V: Motion, j: int) -> Motion:
    return Motion.of([Dual(x, ONE if i == j else ZERO) for i, x in enumerate(V.components)])


def _derivatives(forces: Sequence[Force]) -> Vector:
    return Vector(-x.derivative if isinstance(x, Dual) else ZERO for f in forces for x in f.components)


def _symmetric(columns: list[Vector]) -> Matrix:
    n = len(columns)
    return Matrix([[(columns[i][k] + columns[k][i]) / 2 for k in range(n)] for i in range(n)], n)


def across(d: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors across a unit vector and each other, for any direction (Duff et al., 2017)."""
    x, y, z = d
    side = select(less(z, 0), -1.0, 1.0)
    a = constant(-1.0) / (side + z)
    b = x * y * a
    return (1 + side * x * x * a, side * b, -side * x), (b, side + y * y * a, -y)


def law_slopes(law: Any, length: Any, rate: Any) -> tuple[Any, Any]:
    """∂T/∂l and ∂T/∂l̇ as far as they are not negative."""
    by_length, by_rate = law.tension(Dual(length, ONE), rate), law.tension(length, Dual(rate, ONE))
    k, d = (maximum(x.derivative, 0.0) if isinstance(x, Dual) else ZERO for x in (by_length, by_rate))
    return k, d
