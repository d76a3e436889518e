"""The texts of the closed-chain forward dynamics: steps A, B, C and E for one system of trees.

They are written with the operators, over scalars of any kind, and compiled once for a model and its points. What
changes when something is grasped or let go, the matrix A of the closures, is no part of them.
"""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.functions.dynamics import bias_force
from knuckle.model import Frame, Model
from knuckle.spatial import Matrix, Vector

from .application import applied, apply
from .operator_entries import Configuration
from .operators_at import motion_terms
from .spaces import TWIST
from .symbols import B, D_inverse, H, J, phi, psi, whitening


def free_motion(
    model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, *, points: tuple[Frame, ...]
) -> dict[str, Any]:
    """Steps A, B and C: what the system would do if nothing were closed, and how its points give way.

    Returns:
        `beta`, β̇ᶠ (nv); `alpha`, α̂ᶠ = J β̇ᶠ; `Lambda`, Λ; and of the points their places `pose`, their velocities
        `velocity` = J β and the accelerations `bias` = J̇ β that they have without those of the joint variables.
    """
    c = Configuration(model, q, points)
    T_bar = Vector(tau) - bias_force.reference(model, q, v, f_ext)
    nu = applied(D_inverse @ whitening, c, T_bar)
    a, _ = motion_terms(c, model.velocities(q, v), gravity=False)
    return {
        "beta": applied(whitening.T, c, nu),  # (0.31)
        "alpha": applied(B.T @ psi.T @ H.T, c, nu),  # (0.32) by lemma 0.4
        "Lambda": _whole(c.admittance(), model.algebra.dimension),  # (0.34), (.43)
        "velocity": applied(J, c, v),
        "bias": TWIST.flat(apply(B.T @ phi.T, c, a)),
        "pose": poses(model, q, points),
    }


def correction(model: Model, q: Any, x: Any, *, points: tuple[Frame, ...]) -> Vector:
    """Step E: β̇ᵟ = −[I − HψK]* D⁻¹ Hψ B x (0.36) for the forces x = A* f̂ at the points.

    By lemma 0.4 the recursion is z(k) = ψ(k, k−1) z(k−1) + x̂(k), ν(k) = D⁻¹(k) H(k) z(k) with x̂ = −B x; (.44) as
    printed takes K(k, k−1) x̂(k−1), which does not fit, and the other sign of H z.
    """
    c = Configuration(model, q, points)
    return -applied(whitening.T @ D_inverse @ H @ psi @ B, c, x)


def poses(model: Model, q: Any, points: tuple[Frame, ...]) -> Vector:
    """E and r of each point from the base: twelve numbers, the rows of E first."""
    X0 = positions(model, model.positions(q))
    return Vector(x for point in points for x in _numbers(point.X @ X0[point.body]))


def _numbers(X: Any) -> list[Any]:
    return [*(x for row in X.E for x in row), *X.r]


def _whole(blocks: list[list[Matrix]], n: int) -> Matrix:
    """Blocks as one matrix."""
    return Matrix(([x for block in row for x in block[k]] for row in blocks for k in range(n)), n * len(blocks))
