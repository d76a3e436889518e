"""One of every joint, on coordinate and skew axes, reversed, composed and nested; and how to differentiate them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.joints import (
    Composite,
    Continuous,
    Cylindrical,
    Euler,
    ExponentialSpherical,
    Fixed,
    Free,
    FunctionJoint,
    Helical,
    Joint,
    Planar,
    PlanarLocal,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    Spherical,
    SplineCurve,
    SplineSurface,
    Translational,
    Universal,
    YawPitchRoll,
)
from knuckle.scalar import cos, sin
from knuckle.spatial import Force, Matrix, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import matmul, tmatvec

SKEW, ASKEW = (1.0, -2.0, 0.5), (0.3, 0.4, 1.0)
STEP = 1e-30


def crank(q: Vector) -> Transform:
    """A crank pin on a circle, turned twice as fast: a joint that no file of the library has."""
    return Transform(rotation.rz(2 * q[0]), (0.3 * cos(q[0]), 0.3 * sin(q[0]), 0.1 * q[0]))


@dataclass(frozen=True)
class Wobble(Joint):
    """A joint of one's own: units and a transform are all it says."""

    tilt: float = 0.3
    _q = ("rad", "m")
    _v = ("rad", "m")

    def transform(self, q: Vector) -> Transform:
        E = matmul(rotation.rx(self.tilt * sin(q[0])), rotation.rz(q[0]))
        return Transform(E, (q[1] * cos(q[0]), q[1] * sin(q[0]), q[1]))


@dataclass(frozen=True)
class RollingSphere(Joint):
    """A ball that rolls on the plane z = −radius without slipping: q = (quaternion, x, y), v = ω (row C-14)."""

    radius: float = 0.5
    _q = ("1", "1", "1", "1", "m", "m")
    _v = ("rad", "rad", "rad")

    def transform(self, q: Vector) -> Transform:
        return Transform(rotation.from_quaternion(q.items[:4]), (q[4], q[5], 0.0))

    def rate(self, q: Vector, v: Vector) -> Vector:
        """The centre moves with ω × (0, 0, radius), so that the touching point rests."""
        x, y, _ = tmatvec(rotation.from_quaternion(q.items[:4]), v.items)
        return Vector([*rotation.quaternion_rate(q.items[:4], v.items), self.radius * y, -self.radius * x])

    def neutral(self) -> Vector:
        return Vector([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def control_frames(n: int, seed: int = 5) -> list[Transform]:
    rng = np.random.default_rng(seed)
    turns = rng.uniform(-0.7, 0.7, (n, 3)) * (np.arange(n)[:, None] > 0)
    places = rng.uniform(-0.3, 0.3, (n, 3)) + np.arange(n)[:, None] * [0.5, 0.1, 0.0]
    return [
        Transform(rotation.exp(tuple(map(float, phi))), tuple(map(float, p)))
        for phi, p in zip(turns, places, strict=True)
    ]


def control_grid(m: int, n: int, seed: int = 6) -> list[list[list[float]]]:
    rng = np.random.default_rng(seed)
    noise = rng.uniform(-0.2, 0.2, (m, n, 6))
    for i in range(m):
        noise[i, :, 0] += i
    for j in range(n):
        noise[:, j, 1] += j
    return noise.tolist()


ZOO: dict[str, Joint] = {
    "fixed": Fixed(),
    "revolute z": Revolute(),
    "revolute x": Revolute("x"),
    "revolute -y": Revolute((0, -1, 0)),
    "revolute skew": Revolute(SKEW),
    "continuous skew": Continuous(SKEW),
    "prismatic y": Prismatic("y"),
    "prismatic skew": Prismatic(SKEW),
    "helical z": Helical("z", 0.3),
    "helical skew": Helical(SKEW, -0.2),
    "cylindrical x": Cylindrical("x"),
    "cylindrical skew": Cylindrical(SKEW),
    "planar z": Planar(),
    "planar skew": Planar(SKEW),
    "planar local z": PlanarLocal(),
    "planar local skew": PlanarLocal(SKEW),
    "spherical": Spherical(),
    "yaw pitch roll": YawPitchRoll(),
    "euler zxz": Euler("zxz"),
    "euler yxz": Euler("yxz"),
    "euler skew": Euler((SKEW, ASKEW, "x")),
    "exponential": ExponentialSpherical(),
    "universal xy": Universal(),
    "universal skew": Universal((SKEW, ASKEW)),
    "translational": Translational(),
    "free": Free(),
    "rack z": RackAndPinion(0.4),
    "rack skew": RackAndPinion(-0.3, SKEW, (2.0, 1.0, 0.0)),
    "spline curve": SplineCurve(control_frames(4)),
    "spline curve 7": SplineCurve(control_frames(7)),
    "spline surface": SplineSurface(control_grid(4, 4)),
    "spline surface 4x5": SplineSurface(control_grid(4, 5)),
    "composite RP": Composite((Revolute("z"), Prismatic("z"))),
    "composite skew": Composite((Revolute(SKEW), Helical(ASKEW, 0.3), Prismatic("x"))),
    "composite free": Composite((Translational(), Spherical())),
    "composite nested": Composite((Composite((Prismatic("x"), Universal())), RackAndPinion(0.2).reversed())),
    "reversed rack": RackAndPinion(0.4).reversed(),
    "reversed yaw pitch roll": YawPitchRoll().reversed(),
    "reversed exponential": ExponentialSpherical().reversed(),
    "reversed planar": Planar(SKEW).reversed(),
    "reversed free": Free().reversed(),
    "reversed universal": Universal().reversed(),
    "reversed translational": Translational().reversed(),
    "reversed spline curve": SplineCurve(control_frames(5)).reversed(),
    "reversed composite": Composite((Revolute(SKEW), Prismatic("y"), Spherical())).reversed(),
    "reversed wrapper": Reversed(Revolute(SKEW)),
    "function": FunctionJoint(crank, "rad"),
    "own": Wobble(),
    "reversed own": Wobble().reversed(),
}

ALIKE = {"revolute x", "revolute -y", "prismatic y", "helical z", "cylindrical x", "planar local z", "euler yxz",
         "rack z", "spline curve", "spline surface 4x5", "composite free", "reversed exponential", "reversed planar",
         "reversed free", "reversed universal", "reversed translational", "reversed spline curve"}  # fmt: skip
"""Further axes, sizes and reversals of types that the zoo has besides."""
FEW = [name for name in ZOO if name not in ALIKE]


def state(joint: Joint, seed: int) -> tuple[Vector, Vector]:
    """A position from the joint's range and velocity variables of size one."""
    rng = np.random.default_rng([seed, 77])
    return joint.random(rng), Vector(map(float, rng.standard_normal(joint.nv)))


def twist(seed: int) -> Motion:
    return Motion.of(map(float, np.random.default_rng([seed, 78]).standard_normal(6)))


def stepped(x: Vector, dx: Vector) -> Vector:
    """x + iε dx, whose functions carry their derivative along dx in the imaginary part."""
    return Vector(complex(a) + 1j * STEP * complex(b) for a, b in zip(x, dx, strict=True))


def leaves(part: Any) -> Iterator[Any]:
    """The scalars in a motion, force, transform, subspace, vector, matrix, or a tuple of such, in order."""
    if isinstance(part, Transform):
        part = part.E, part.r
    elif isinstance(part, Motion | Force):
        part = part.components
    elif isinstance(part, Matrix):
        part = part.rows
    if isinstance(part, tuple | list | Vector | Subspace):
        for item in part:
            yield from leaves(item)
    else:
        yield part


def numbers(part: Any) -> np.ndarray:
    """The scalars in `part` as one flat array, complex if one of them is."""
    if isinstance(part, np.ndarray):
        return part.ravel()
    found = list(leaves(part))
    kind = complex if any(isinstance(x, complex) for x in found) else float
    return np.concatenate([np.ravel(x) if isinstance(x, np.ndarray) else [kind(x)] for x in found] or [[]])


def slope(part: Any) -> np.ndarray:
    """The derivative that a complex step left in the imaginary parts."""
    return np.imag(numbers(part)) / STEP


def columns(X: Transform) -> list[Motion]:
    """The columns of the 6x6 matrix of X."""
    return [X @ e for e in Motion.basis()]


def matrix(S: Any) -> np.ndarray:
    return np.array(S.matrix.rows, dtype=float).reshape(6, -1)


def close(actual: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Equal to within a tolerance, which is absolute below one and relative above."""
    a, b = numbers(actual), numbers(expected)
    assert a.shape == b.shape, f"{a.shape} numbers against {b.shape}"
    worst = np.max(np.abs(a - b), initial=0.0)
    assert worst <= tolerance * max(1.0, np.max(np.abs(b), initial=0.0)), f"{worst:.3g} apart: {a} and {b}"
