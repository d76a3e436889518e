"""Exponential and logarithm of rigid motions, and small-motion coordinates (notes 1.1; RBDA A.1, 8.2)."""

from __future__ import annotations

from . import rotation
from .series import cosc, log_factor, sincc
from .three import Vec3, add, cross, dot, halved, matrix_cross, neg, scale, sub, unskew
from .transform import Transform
from .vectors import Motion


def exp(d: Motion) -> Transform:
    """The transform to a frame that moved with constant velocity `d` for a unit of time.

    exp(d) = Exp(−d×): the frame turns by d.angular and its origin goes along the screw.
    """
    phi = d.angular
    return Transform(rotation.exp(phi), left_jacobian(phi, d.linear))


def log(X: Transform) -> Motion:
    """The constant velocity that carries the frame over in a unit of time: exp(log(X)) = X; turns below π."""
    phi = rotation.log(X.E)
    return Motion(phi, left_jacobian_inverse(phi, X.r))


def left_jacobian(phi: Vec3, x: Vec3) -> Vec3:
    """(1 + cosc φ× + sincc φ×φ×) x."""
    n = dot(phi, phi)
    y = cross(phi, x)
    return add(x, add(scale(cosc(n), y), scale(sincc(n), cross(phi, y))))


def left_jacobian_inverse(phi: Vec3, x: Vec3) -> Vec3:
    """(1 − ½ φ× + γ φ×φ×) x."""
    y = cross(phi, x)
    return add(sub(x, halved(y)), scale(log_factor(dot(phi, phi)), cross(phi, y)))


def displacement(X: Transform) -> Motion:
    """d with X ≈ 1 − d×, by the skew parts of X: the book's XtoV (RBDA A.1, table 8.1, zero-DoF row)."""
    return Motion(neg(unskew(X.E)), unskew(matrix_cross(X.E, X.r)))
