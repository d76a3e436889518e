"""The spline surface joint: two freedoms over a smooth sheet of frames (notes 2.4.12, algorithm 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from knuckle.joints.axis import finite
from knuckle.joints.base import Joint, JointMotion
from knuckle.joints.basic.translational import Translational
from knuckle.joints.composed.composite import Composite
from knuckle.joints.nearest_position import nearest
from knuckle.joints.rotations.euler_angles import Euler
from knuckle.scalar import constant
from knuckle.spatial import Matrix, Subspace, Transform, Vector

from .b_splines import weights

_STARTS_PER_PATCH = 4


@dataclass(frozen=True)
class SplineSurface(Joint):
    """Moves over a tensor-product cubic B-spline. q = (q₁, q₂) runs from 0 to the number of patches each way; v = q̇.

    `controls[i][j]` is (x, y, z, α, β, γ): a position in predecessor coordinates, then turns about x, the new y and the
    new z. The six numbers are interpolated one by one, so the turns should stay small (β well below 90°). In a cyclic
    direction the first controls follow the last, and q goes round and round, as over a torus.
    """

    controls: tuple[tuple[tuple[float, ...], ...], ...]
    cyclic: tuple[bool, bool] = (False, False)
    _q = ("1", "1")
    _v = ("1", "1")
    _pose: ClassVar[Joint] = Composite((Translational(), Euler("xyz")))

    def __init__(
        self, controls: Sequence[Sequence[Sequence[float]]], cyclic: bool | Sequence[bool] = (False, False)
    ) -> None:
        grid = tuple(tuple(tuple(finite(x, "controls") for x in cell) for cell in row) for row in controls)
        widths = {len(row) for row in grid}
        if len(grid) < 4 or len(widths) != 1 or min(widths) < 4:
            raise ValueError(f"controls is a grid of 4 by 4 or more, not of {len(grid)} rows of {sorted(widths)}")
        if sizes := {len(cell) for row in grid for cell in row} - {6}:
            raise ValueError(f"controls has six numbers in each place, not {sorted(sizes)}")
        both = (cyclic, cyclic) if isinstance(cyclic, bool) else tuple(map(bool, cyclic))
        if len(both) != 2:
            raise ValueError(f"cyclic says of q₁ and of q₂ whether they go round, not {cyclic!r}")
        object.__setattr__(self, "controls", grid)
        object.__setattr__(self, "cyclic", both)

    def _pose_at(self, q: Vector, *orders: tuple[int, int]) -> list[Vector]:
        """The derivatives of f(q) of the given orders by q₁ and q₂ (2.64, 2.65)."""
        counts = len(self.controls), len(self.controls[0])
        rows, columns = (weights(x, n, round) for x, n, round in zip(q, counts, self.cyclic, strict=True))
        cells = [
            (w, z, Vector(map(constant, cell)))
            for w, row in zip(rows, self.controls, strict=True)
            for z, cell in zip(columns, row, strict=True)
        ]
        return [sum((cell * (w[i] * z[j]) for w, z, cell in cells), Vector.zero(6)) for i, j in orders]

    def transform(self, q: Vector) -> Transform:
        return self._pose.transform(*self._pose_at(q, (0, 0)))

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        p, J, dJ = self._along(q, v)
        X, S, vJ, cJ = self._pose.motion(p, J @ v)
        return JointMotion(X, S @ J, vJ, cJ + S @ (dJ @ v))

    def subspace(self, q: Vector) -> Subspace:
        p, *slopes = self._pose_at(q, (0, 0), (1, 0), (0, 1))
        return self._pose.subspace(p) @ Matrix.columns(slopes, 6)

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        p, J, dJ = self._along(q, v)
        return self._pose.subspace_rate(p, J @ v) @ J + self._pose.subspace(p) @ dJ

    def _along(self, q: Vector, v: Vector) -> tuple[Vector, Matrix, Matrix]:
        """f(q), its Jacobian, and the rate of that while q moves with v."""
        p, by_1, by_2, by_11, by_12, by_22 = self._pose_at(q, (0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        rates = by_11 * v[0] + by_12 * v[1], by_12 * v[0] + by_22 * v[1]
        return p, Matrix.columns((by_1, by_2), 6), Matrix.columns(rates, 6)

    def random(self, rng: Any) -> Vector:
        return Vector(rng.uniform(0.0, end) for end in self.ends)

    @property
    def ends(self) -> tuple[float, float]:
        """The last q of the surface each way: its numbers of patches."""
        counts = len(self.controls), len(self.controls[0])
        first, second = (float(n if round else n - 3) for n, round in zip(counts, self.cyclic, strict=True))
        return first, second

    def locate(self, X: Transform) -> Vector:
        """The nearest place of the surface, looked for from several places of each patch."""
        return nearest(self, X, int(_STARTS_PER_PATCH * self.ends[0] * self.ends[1]))

    def _spread(self, fractions: Sequence[float]) -> Vector:
        return Vector(f * end for f, end in zip(fractions, self.ends, strict=True))
