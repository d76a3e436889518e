"""Rotations as coordinate transforms E (RBDA table 2.2, 4.12): rows of E are the new axes in the old frame."""

from __future__ import annotations

from typing import Any, TypeAlias

from knuckle.scalar import ONE, ZERO, arctan2, constant, cos, less, select, sin, sqrt

from .series import half_angle_sine
from .three import IDENTITY3, Mat3, Vec3, add, cross, dot, matmul, scale, sub

Quaternion: TypeAlias = tuple[Any, Any, Any, Any]


def rx(angle: Any) -> Mat3:
    """A turn of the frame about its x axis."""
    c, s = cos(angle), sin(angle)
    return (ONE, ZERO, ZERO), (ZERO, c, s), (ZERO, -s, c)


def ry(angle: Any) -> Mat3:
    """A turn of the frame about its y axis."""
    c, s = cos(angle), sin(angle)
    return (c, ZERO, -s), (ZERO, ONE, ZERO), (s, ZERO, c)


def rz(angle: Any) -> Mat3:
    """A turn of the frame about its z axis."""
    c, s = cos(angle), sin(angle)
    return (c, s, ZERO), (-s, c, ZERO), (ZERO, ZERO, ONE)


def about(axis: Vec3, angle: Any) -> Mat3:
    """A turn of the frame about a unit axis: E = c 1 − s a× + (1 − c) a aᵀ."""
    return from_cosine_sine(axis, cos(angle), sin(angle))


def from_cosine_sine(axis: Vec3, c: Any, s: Any) -> Mat3:
    """A turn about a unit axis by the angle with this cosine and sine."""
    x, y, z = axis
    d = 1 - c
    return (
        (_on_diagonal(x, c, d), x * y * d + z * s, x * z * d - y * s),
        (x * y * d - z * s, _on_diagonal(y, c, d), y * z * d + x * s),
        (x * z * d + y * s, y * z * d - x * s, _on_diagonal(z, c, d)),
    )


def _on_diagonal(x: Any, c: Any, d: Any) -> Any:
    """c + (1 − c) x², which is one when x is known to be ±1."""
    squared = constant(x * x)
    return ONE if squared is ONE else c + squared * d


def from_quaternion(p: Quaternion) -> Mat3:
    """E of the Euler parameters (RBDA 4.12), made homogeneous: a multiple of p is the same rotation.

    The diagonal is made of squares over |p|², not of one minus twice as many: what is lost of |p|² counts once.
    """
    w, x, y, z = p
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    along, across = ww + zz, xx + yy
    one = 1 / (along + across)
    two, a, b = one + one, ww - zz, xx - yy
    return (
        (one * (a + b), two * (x * y + w * z), two * (x * z - w * y)),
        (two * (x * y - w * z), one * (a - b), two * (y * z + w * x)),
        (two * (x * z + w * y), two * (y * z - w * x), one * (along - across)),
    )


def to_quaternion(E: Mat3) -> Quaternion:
    """Unit Euler parameters of E, by the largest of four candidates so that nothing cancels."""
    (a, b, c), (d, e, f), (g, h, i) = E
    candidates = [
        (1 + a + e + i, f - h, g - c, b - d),
        (f - h, 1 + a - e - i, b + d, c + g),
        (g - c, b + d, 1 - a + e - i, f + h),
        (b - d, c + g, f + h, 1 - a - e + i),
    ]
    best, size = candidates[0], candidates[0][0]
    for k, candidate in enumerate(candidates[1:], start=1):
        larger = less(size, candidate[k])
        best = tuple(select(larger, x, y) for x, y in zip(candidate, best, strict=True))
        size = select(larger, candidate[k], size)
    return normalized(best)  # type: ignore[arg-type]


def normalized(p: Quaternion) -> Quaternion:
    """p / |p|."""
    norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    return p[0] / norm, p[1] / norm, p[2] / norm, p[3] / norm


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """The product p q: turn by p, then by q in the turned frame."""
    a, u = p[0], p[1:]
    b, v = q[0], q[1:]
    x, y, z = add(add(scale(a, v), scale(b, u)), cross(u, v))
    return a * b - dot(u, v), x, y, z


def conjugate(p: Quaternion) -> Quaternion:
    """The way back."""
    return p[0], -p[1], -p[2], -p[3]


def quaternion_rate(p: Quaternion, omega: Vec3) -> Quaternion:
    """ṗ for the angular velocity in the turned frame (RBDA 4.13)."""
    w, x, y, z = multiply(p, (ZERO, *omega))
    return w / 2, x / 2, y / 2, z / 2


def quaternion_velocity(p: Quaternion, rate: Quaternion) -> Vec3:
    """The angular velocity ω in the turned frame with ṗ = ½ p∘(0, ω), but for what makes p longer (RBDA 4.13)."""
    w, x, y, z = p
    two = 2 / (w * w + x * x + y * y + z * z)
    return scale(two, multiply(conjugate(p), rate)[1:])


def quaternion_exp(phi: Vec3) -> Quaternion:
    """Unit Euler parameters of the rotation vector phi."""
    s, c = half_angle_sine(dot(phi, phi))
    x, y, z = scale(s, phi)
    return c, x, y, z


def quaternion_log(p: Quaternion) -> Vec3:
    """The rotation vector of p, no longer than π: of the two signs of p, the shorter way."""
    w, u = p[0], (p[1], p[2], p[3])
    flip = less(w, 0)
    w, u = select(flip, -w, w), tuple(select(flip, -x, x) for x in u)
    n2 = dot(u, u)  # type: ignore[arg-type]
    tiny = less(n2, 1e-30)
    n, w_tiny = sqrt(select(tiny, ONE, n2)), select(tiny, w, ONE)
    factor = select(tiny, (2 - 2 * n2 / (3 * w_tiny * w_tiny)) / w_tiny, 2 * arctan2(n, w) / n)
    return scale(factor, u)  # type: ignore[arg-type]


def from_rpy(roll: Any, pitch: Any, yaw: Any) -> Mat3:
    """E of URDF's roll-pitch-yaw: E = rx(roll) ry(pitch) rz(yaw) (RBDA 4.7)."""
    return matmul(rx(roll), matmul(ry(pitch), rz(yaw)))


def to_rpy(E: Mat3) -> Vec3:
    """Roll, pitch, yaw of E; at pitch ±90° the yaw is zero.

    The roll is that of E with the yaw taken back, E rz(−yaw) = rx(roll) ry(pitch): next to pitch ±90° roll and yaw are
    ill-determined one by one, but together they give E again.
    """
    (a, b, c), (d, e, _), (g, h, _) = E
    level = sqrt(a * a + b * b)
    locked = less(level, 1e-15)
    yaw = select(locked, ZERO, arctan2(b, a))
    cy, sy = cos(yaw), sin(yaw)
    return arctan2(sy * g - cy * h, cy * e - sy * d), arctan2(-c, level), yaw


def log(E: Mat3) -> Vec3:
    """The rotation vector that turns the frame by E: exp(log(E)) = E."""
    return quaternion_log(to_quaternion(E))


def exp(phi: Vec3) -> Mat3:
    """E of the frame turned by the rotation vector phi."""
    return from_quaternion(quaternion_exp(phi))


def perpendicular(axis: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors that complete a unit axis of plain numbers to a right-handed frame (x, y, axis)."""
    k = max(range(3), key=lambda j: abs(axis[j]))
    helper = IDENTITY3[(k + 1) % 3]
    x = sub(helper, scale(dot(helper, axis), axis))
    x = scale(1 / sqrt(dot(x, x)), x)
    return x, cross(axis, x)
