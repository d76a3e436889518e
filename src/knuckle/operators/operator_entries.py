"""The entries of the spatial operators at one configuration, over scalars of any kind (appendix A, .39 and .43)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from knuckle.model import ROOT, Frame, Model
from knuckle.scalar import ZERO, sqrt
from knuckle.spatial import Matrix, Subspace, Vector


class Configuration:
    """A tree of bodies at the position q, with points on it. Entries are computed when they are first asked for.

    The paper numbers bodies from the tip and has no coordinates; here a body comes after its parent and everything of
    it is in its own frame, so that φ(k+1, k) is Xᵀ of body k, and H(k) is Sᵀ of its joint.
    """

    def __init__(self, model: Model, q: Any, points: Sequence[Frame] = ()) -> None:
        self.model, self.q, self.points = model, q, tuple(points)

    @cached_property
    def positions(self) -> tuple[Vector, ...]:
        """q of each joint."""
        return self.model.positions(self.q)

    @cached_property
    def X(self) -> dict[int, Any]:
        """From the parent's frame to the body's: φ*(k+1, k)."""
        q = self.positions
        return {i: joint.transform(q[i]) @ self.model.X_tree[i] for i, _, joint in self.model.outward()}

    @cached_property
    def S(self) -> dict[int, Subspace]:
        """H*(k): how the joint moves the body."""
        q = self.positions
        return {i: joint.subspace(q[i]) for i, _, joint in self.model.outward()}

    @cached_property
    def _articulated(self) -> tuple[dict[int, Any], dict[int, Subspace], dict[int, Matrix], dict[int, Matrix]]:
        """P, U = P H*, D and D⁻¹ (.39)."""
        model, X, S = self.model, self.X, self.S
        P = {ROOT: model.algebra.ArticulatedInertia.zero()}
        U, D, inverse = {}, {}, {}
        for i, _, _ in model.outward():
            P[i] = model.algebra.ArticulatedInertia.of(model.I[i])
        for i, p, _ in model.inward():
            U[i] = P[i] @ S[i]
            D[i] = S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])
            inverse[i] = D[i].inverse()
            P[p] = P[p] + X[i].T @ (P[i] - U[i].dyadic(inverse[i])) @ X[i]
        return P, U, D, inverse

    @property
    def P(self) -> dict[int, Any]:
        """The articulated-body inertia of each body (0.25)."""
        return self._articulated[0]

    @property
    def U(self) -> dict[int, Subspace]:
        """P H* (0.26)."""
        return self._articulated[1]

    @property
    def D(self) -> dict[int, Matrix]:
        """H P H* + R (0.26)."""
        return self._articulated[2]

    @property
    def D_inverse(self) -> dict[int, Matrix]:
        """D⁻¹."""
        return self._articulated[3]

    @cached_property
    def D_root(self) -> dict[int, Matrix]:
        """A lower triangular D^½ with D = D^½ (D^½)*."""
        roots: dict[int, Matrix] = {}
        for i, _, _ in self.model.outward():
            L, d = self.D[i].ldl()
            roots[i] = L @ Matrix.diagonal(sqrt(x) for x in d)
        return roots

    @cached_property
    def Upsilon(self) -> dict[int, Matrix]:
        """Υ(k) = ψ*(k+1, k) Υ(k+1) ψ(k+1, k) + H*(k) D⁻¹(k) H(k), from the base outward (.43)."""
        n = self.model.algebra.dimension
        Upsilon = {ROOT: Matrix.zero(n, n)}
        for i, p, _ in self.model.outward():
            psi = Subspace(self.model.algebra.Force, (self.articulated_force(i, f) for f in self._units)).matrix
            own = (self.S[i] @ self.D_inverse[i]).matrix @ self.S[i].matrix.T
            Upsilon[i] = psi.T @ (Upsilon[p] @ psi) + own
        return Upsilon

    @property
    def _units(self) -> tuple[Any, ...]:
        return self.model.algebra.Force.basis()

    def articulated_force(self, i: int, f: Any) -> Any:
        """ψ(k+1, k) f = φ(k+1, k) τ̄(k) f: what a force on body i is to its parent, the joint being free."""
        return self.X[i].T @ self.passed(i, f)

    def articulated_motion(self, i: int, m: Any) -> Any:
        """ψ*(k+1, k) m = τ̄*(k) φ*(k+1, k) m: how body i follows its parent, the joint being free."""
        return self.followed(i, self.X[i] @ m)

    def passed(self, i: int, f: Any) -> Any:
        """τ̄ f = f − P H* D⁻¹ H f (0.26)."""
        return f - self.U[i] @ (self.D_inverse[i] @ (self.S[i].T @ f))

    def followed(self, i: int, m: Any) -> Any:
        """τ̄* m = m − H* D⁻¹ H P m."""
        return m - self.S[i] @ (self.D_inverse[i] @ (self.U[i].T @ m))

    def admittance(self) -> list[list[Matrix]]:
        """Λ by blocks (.43): entry (k, m) is how point k moves under a force at point m.

        Bodies k and m of different branches meet at a body j, and Ω(k, m) = ψ*(j, k) Υ(j) ψ(j, m). The paper has zero
        there, which holds only where the branches meet at the base.
        """
        n, count = self.model.algebra.dimension, len(self.points)
        ways = [_way(self.model, point.body) for point in self.points]
        forces = [self._inward(point, way) for point, way in zip(self.points, ways, strict=True)]
        rows = [[Matrix.zero(n, n)] * count for _ in range(count)]
        for k in range(count):
            for m in range(k + 1):
                j = next((body for body in ways[k] if body in forces[m]), ROOT)
                if j == ROOT:
                    continue
                left, right = forces[k][j], forces[m][j]
                block = left.matrix.T @ (self.Upsilon[j] @ right.matrix)
                rows[k][m], rows[m][k] = block, block.T
        return rows

    def _inward(self, point: Frame, way: Sequence[int]) -> dict[int, Subspace]:
        """ψ(j, k) B: unit forces at a point as they arrive at each body j on the way to the base."""
        F = Subspace(self.model.algebra.Force, (point.X.T @ e for e in self._units))
        arrived: dict[int, Subspace] = {}
        for i in way:
            arrived[i] = F
            F = Subspace(F.vector, (self.articulated_force(i, f) for f in F))
        return arrived


def _way(model: Model, body: int) -> list[int]:
    """The body and its ancestors, without the base."""
    way: list[int] = []
    while body != ROOT:
        way.append(body)
        body = model.parents[body]
    return way


def lower_solve(L: Matrix, b: Vector) -> Vector:
    """x with L x = b for a lower triangular L."""
    x: list[Any] = []
    for i in range(len(b)):
        x.append((b[i] - sum((L[i][j] * x[j] for j in range(i)), ZERO)) / L[i][i])
    return Vector(x)


def upper_solve(L: Matrix, b: Vector) -> Vector:
    """x with Lᵀ x = b for a lower triangular L."""
    n, x = len(b), list(b)
    for i in reversed(range(n)):
        x[i] = (x[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), ZERO)) / L[i][i]
    return Vector(x)
