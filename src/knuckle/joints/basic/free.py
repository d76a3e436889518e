"""The free joint: six freedoms, Euler parameters and a position (RBDA table 4.1 and 4.5; made consistent)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints.base import ConstantSubspace
from knuckle.joints.rotations.spherical import random_quaternion
from knuckle.scalar import Dual, derivative
from knuckle.spatial import Force, Inertia, Motion, Subspace, Transform, Vector, lie, rotation
from knuckle.spatial.series import log_factor
from knuckle.spatial.spinning import spun
from knuckle.spatial.three import ZERO3, Vec3, add, cross, dot, halved, matvec, neg, scale, sub, tmatvec


@dataclass(frozen=True)
class Free(ConstantSubspace):
    """No constraint. q = (w, x, y, z, px, py, pz), p in predecessor coordinates; v = (ω, v) in successor coordinates.

    The rates of p are Eᵀv: the printed table leaves them open, and p in successor coordinates would change fast on a
    distant spinning body.
    """

    _q = ("1", "1", "1", "1", "m", "m", "m")
    _v = ("rad", "rad", "rad", "m", "m", "m")
    _symmetrical = True

    def transform(self, q: Vector) -> Transform:
        return Transform(rotation.from_quaternion(q.items[:4]), q.items[4:])

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, Motion.basis())

    def rate(self, q: Vector, v: Vector) -> Vector:
        E = rotation.from_quaternion(q.items[:4])
        return Vector([*rotation.quaternion_rate(q.items[:4], v.items[:3]), *tmatvec(E, v.items[3:])])

    def velocity(self, q: Vector, rate: Vector) -> Vector:
        E = rotation.from_quaternion(q.items[:4])
        return Vector([*rotation.quaternion_velocity(q.items[:4], rate.items[:4]), *matvec(E, rate.items[4:])])

    def neutral(self) -> Vector:
        return Vector([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def random(self, rng: Any) -> Vector:
        return Vector([*random_quaternion(rng), *(rng.uniform(-1.0, 1.0) for _ in range(3))])

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        p, r = q.items[:4], q.items[4:]
        step = lie.exp(Motion(dv.items[:3], dv.items[3:]))
        turned = rotation.normalized(rotation.multiply(p, rotation.quaternion_exp(dv.items[:3])))
        return Vector([*turned, *add(r, tmatvec(rotation.from_quaternion(p), step.r))])

    def coasted(
        self, q: Vector, v: Vector, dt: Any, body: Inertia | None = None, turn: Vector | None = None
    ) -> tuple[Vector, Vector]:
        """The centre of mass goes straight ahead; it is the origin, if there is no body."""
        p, r, w, u = q.items[:4], q.items[4:], v.items[:3], v.items[3:]
        E, c, way = rotation.from_quaternion(p), _centre(body), scale(dt, (v if turn is None else turn).items[:3])
        turned = rotation.normalized(rotation.multiply(p, rotation.quaternion_exp(way)))
        F, ahead, swing = rotation.exp(way), add(u, cross(w, c)), cross(w, c)
        there = add(r, tmatvec(E, add(scale(dt, ahead), sub(c, tmatvec(F, c)))))
        return Vector([*turned, *there]), Vector([*w, *sub(matvec(F, ahead), swing)])

    def coasting(self, v: Vector, dt: Any, body: Inertia | None = None) -> tuple[Vector, Vector]:
        w, u, c = v.items[:3], v.items[3:], _centre(body)
        later, dw = (w, ZERO3) if body is None else spun(body.I_com, w, dt)
        rate = sub(neg(cross(w, add(u, cross(w, c)))), cross(dw, c))
        return Vector([*later, *add(u, cross(c, sub(later, w)))]), Vector([*dw, *rate])

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        p0, p1 = q0.items[:4], q1.items[:4]
        phi = rotation.quaternion_log(rotation.normalized(rotation.multiply(rotation.conjugate(p0), p1)))
        r = matvec(rotation.from_quaternion(p0), sub(q1.items[4:], q0.items[4:]))
        return Vector([*phi, *lie.left_jacobian_inverse(phi, r)])

    def difference_rate(self, u: Vector, v: Vector) -> Vector:
        """φ̇ as for a ball, and d/dt of J⁻¹(φ) r while r moves with Eᵀv."""
        phi, rho = u.items[:3], u.items[3:]
        dphi = lie.left_jacobian_inverse(neg(phi), v.items[:3])
        r, dr = lie.left_jacobian(phi, rho), tmatvec(rotation.exp(phi), v.items[3:])
        drho = lie.left_jacobian_inverse(tuple(map(Dual, phi, dphi)), tuple(map(Dual, r, dr)))  # type: ignore[arg-type]
        return Vector([*dphi, *(x.derivative for x in drho)])

    def displacement_velocity(self, u: Vector, rate: Vector) -> Vector:
        """ω as for a ball, and E d/dt of r = J(φ) ρ."""
        phi, rho, dphi, drho = u.items[:3], u.items[3:], rate.items[:3], rate.items[3:]
        dr = lie.left_jacobian(tuple(map(Dual, phi, dphi)), tuple(map(Dual, rho, drho)))  # type: ignore[arg-type]
        ahead = matvec(rotation.exp(phi), tuple(x.derivative for x in dr))  # type: ignore[arg-type]
        return Vector([*lie.left_jacobian(neg(phi), dphi), *ahead])

    def velocity_force(self, u: Vector, f: Vector) -> Vector:
        """R = [A 0; GA A] with A as for a ball and G = ∂/∂φ J⁻¹(φ) r, so that Rᵀ(n, f) = (Aᵀ(n + Gᵀf), Aᵀf)."""
        phi, n = u.items[:3], add(f.items[:3], _coupling(u, f.items[3:]))
        return Vector([*lie.left_jacobian_inverse(phi, n), *lie.left_jacobian_inverse(phi, f.items[3:])])

    def displacement_force(self, u: Vector, f: Vector) -> Vector:
        phi = u.items[:3]
        linear = lie.left_jacobian(phi, f.items[3:])
        return Vector([*sub(lie.left_jacobian(phi, f.items[:3]), _coupling(u, linear)), *linear])

    @property
    def has_charts(self) -> bool:
        return False

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return Vector([*rotation.normalized(q.items[:4]), *q.items[4:]]), v

    def constraints(self, q: Vector) -> Subspace:
        return Subspace(Force)

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis())

    def locate(self, X: Transform) -> Vector:
        return Vector([*rotation.to_quaternion(X.E), *X.r])


def _coupling(u: Vector, f: Any) -> Any:
    """Gᵀf: the gradient in φ of f·J⁻¹(φ) r, which is f·r − ½ f·φ×r + γ f·φ×(φ×r), for r = J(φ) ρ."""
    phi, r = u.items[:3], lie.left_jacobian(u.items[:3], u.items[3:])
    gamma, slope = derivative(log_factor, dot(phi, phi))
    along_r, along_f, both = dot(phi, r), dot(phi, f), dot(r, f)
    twice = sub(add(scale(along_r, f), scale(along_f, r)), scale(2 * both, phi))
    steeper = scale(2 * slope * (along_f * along_r - both * dot(phi, phi)), phi)
    return add(sub(scale(gamma, twice), halved(cross(r, f))), steeper)


def _centre(body: Inertia | None) -> Vec3:
    """The centre of mass, or the origin."""
    return ZERO3 if body is None else body.com
