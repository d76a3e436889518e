"""The spline surface joint: two freedoms over a smooth sheet of frames (notes 2.4.12, algorithm 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from knuckle.scalar import constant
from knuckle.spatial import Matrix, Subspace, Transform, Vector

from .axis import finite
from .base import Joint, JointMotion
from .composite import Composite
from .euler import Euler
from .nearest import nearest
from .splines import weights
from .translational import Translational

_STARTS_PER_PATCH = 6


@dataclass(frozen=True)
class SplineSurface(Joint):
    """Moves over a tensor-product cubic B-spline. q = (q₁, q₂) runs from 0 to the number of patches each way; v = q̇.

    `controls[i][j]` is (x, y, z, α, β, γ): a position in predecessor coordinates, then turns about x, the new y and the
    new z. The six numbers are interpolated one by one, so the turns should stay small (β well below 90°).
    """

    controls: tuple[tuple[tuple[float, ...], ...], ...]
    _q = ("1", "1")
    _v = ("1", "1")
    _pose: ClassVar[Joint] = Composite((Translational(), Euler("xyz")))

    def __init__(self, controls: Sequence[Sequence[Sequence[float]]]) -> None:
        grid = tuple(tuple(tuple(finite(x, "controls") for x in cell) for cell in row) for row in controls)
        widths = {len(row) for row in grid}
        if len(grid) < 4 or len(widths) != 1 or min(widths) < 4:
            raise ValueError(f"controls is a grid of 4 by 4 or more, not of {len(grid)} rows of {sorted(widths)}")
        if sizes := {len(cell) for row in grid for cell in row} - {6}:
            raise ValueError(f"controls has six numbers in each place, not {sorted(sizes)}")
        object.__setattr__(self, "controls", grid)

    def _pose_at(self, q: Vector) -> tuple[Vector, Matrix, tuple[Matrix, Matrix]]:
        """f(q), its Jacobian, and the derivatives of the Jacobian by q₁ and q₂ (2.64, 2.65)."""
        rows, columns = weights(q[0], len(self.controls)), weights(q[1], len(self.controls[0]))

        def f(i: int, j: int) -> Vector:
            return sum(
                (Vector(map(constant, cell)) * (w[i] * z[j])
                 for w, row in zip(rows, self.controls, strict=True)
                 for z, cell in zip(columns, row, strict=True)),
                Vector.zero(6),
            )  # fmt: skip

        mixed = f(1, 1)
        by_first, by_second = Matrix.columns([f(2, 0), mixed], 6), Matrix.columns([mixed, f(0, 2)], 6)
        return f(0, 0), Matrix.columns([f(1, 0), f(0, 1)], 6), (by_first, by_second)

    def transform(self, q: Vector) -> Transform:
        return self._pose.transform(self._pose_at(q)[0])

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        p, J, dJ = self._pose_at(q)
        X, S, vJ, cJ = self._pose.motion(p, J @ v)
        return JointMotion(X, S @ J, vJ, cJ + S @ (_along(dJ, v) @ v))

    def subspace(self, q: Vector) -> Subspace:
        p, J, _ = self._pose_at(q)
        return self._pose.subspace(p) @ J

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        p, J, dJ = self._pose_at(q)
        return self._pose.subspace_rate(p, J @ v) @ J + self._pose.subspace(p) @ _along(dJ, v)

    def random(self, rng: Any) -> Vector:
        return Vector(rng.uniform(0.0, end) for end in self.ends)

    @property
    def ends(self) -> tuple[float, float]:
        """The last q of the surface each way: its numbers of patches."""
        return float(len(self.controls) - 3), float(len(self.controls[0]) - 3)

    def locate(self, X: Transform) -> Vector:
        """The nearest place of the surface, looked for from several places of each patch."""
        return nearest(self, X, int(_STARTS_PER_PATCH * self.ends[0] * self.ends[1]))

    def _spread(self, fractions: Sequence[float]) -> Vector:
        return Vector(f * end for f, end in zip(fractions, self.ends, strict=True))


def _along(dJ: tuple[Matrix, Matrix], v: Vector) -> Matrix:
    return dJ[0] * v[0] + dJ[1] * v[1]
