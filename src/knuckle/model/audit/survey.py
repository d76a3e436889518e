"""A model in plain numbers: masses, principal moments, sizes, and its inertia matrix at a position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from knuckle.errors import ModelError
from knuckle.model.build.solids import volume
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, Shape, Sphere
from knuckle.model.reduction import rows
from knuckle.spatial import SPATIAL, Inertia, Transform, Vector

_ROUNDING = 1e-13
"""What is left of a zero moment about the centre of mass after it was moved to the body's origin and back."""

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Bulk:
    """How a body's mass is spread: total, centre, and principal moments about the centre, in ascending order."""

    mass: float
    com: Point
    moments: Point

    @property
    def empty(self) -> bool:
        """No mass and no rotational inertia."""
        return self.mass == 0 and not any(self.moments)

    @property
    def gyration(self) -> float:
        """The radius at which the mass, put in a ring, has the largest moment."""
        return math.sqrt(max(self.moments[2], 0.0) / self.mass) if self.mass > 0 else 0.0


@dataclass(frozen=True)
class Extent:
    """What is known of the space a body's shapes fill: a box around them, their volume, and whether that is all."""

    low: Point
    high: Point
    volume: float
    complete: bool

    @property
    def size(self) -> float:
        """The length of the box's diagonal."""
        return math.dist(self.low, self.high)

    def distance(self, p: Point) -> float:
        """How far a point is outside the box."""
        outside = [max(lo - x, 0.0, x - hi) for lo, x, hi in zip(self.low, p, self.high, strict=True)]
        return math.hypot(*outside)


def bulk(inertia: Inertia) -> Bulk | None:
    """The spread of an inertia; nothing if it is not made of plain numbers."""
    try:
        mass = float(inertia.mass)
        h = [float(x) for x in inertia.h]
        about_origin = [float(x) for x in inertia.I]
    except (TypeError, ValueError):
        return None
    com = (h[0] / mass, h[1] / mass, h[2] / mass) if mass else (0.0, 0.0, 0.0)
    x, y, z = com
    shift = (y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y)
    about_com = [a - mass * s for a, s in zip(about_origin, shift, strict=True)]
    noise = _ROUNDING * max(map(abs, about_origin))
    a, b, c = (0.0 if abs(moment) < noise else moment for moment in principal_moments(about_com))
    return Bulk(mass, com, (a, b, c))


def principal_moments(lower: Sequence[float]) -> Point:
    """Eigenvalues, ascending, of a symmetric 3x3 matrix by its lower triangle (xx, xy, yy, xz, yz, zz)."""
    import numpy as np

    xx, xy, yy, xz, yz, zz = lower
    if not all(map(math.isfinite, lower)):
        return math.nan, math.nan, math.nan
    a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    return a, b, c


def extent(shapes: Iterable[Geometry]) -> Extent | None:
    """The box around shapes in body axes; nothing if there is no shape of known size."""
    corners: list[Point] = []
    filled, complete = 0.0, True
    for geometry in shapes:
        half = _half_sizes(geometry.shape)
        if half is None:
            complete = False
            continue
        filled += volume(geometry.shape) or 0.0
        for signs in ((i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)):
            x, y, z = geometry.X.inv.point((signs[0] * half[0], signs[1] * half[1], signs[2] * half[2]))
            corners.append((float(x), float(y), float(z)))
    if not corners:
        return None
    (x0, y0, z0), (x1, y1, z1) = ([f(axis) for axis in zip(*corners, strict=True)] for f in (min, max))
    return Extent((x0, y0, z0), (x1, y1, z1), filled, complete)


def _half_sizes(shape: Shape) -> Point | None:
    match shape:
        case Box((x, y, z)):
            return x / 2, y / 2, z / 2
        case Cylinder(radius, length):
            return radius, radius, length / 2
        case Capsule(radius, length):
            return radius, radius, length / 2 + radius
        case Sphere(radius):
            return radius, radius, radius
        case Ellipsoid(radii):
            return radii
        case _:
            return None


def shapes_of(body: Body) -> tuple[Geometry, ...]:
    """All of a body's shapes."""
    return (*body.visuals, *body.collisions)


def neutral(model: Model) -> Vector:
    """The position in which the model starts."""
    return Vector(model.start)


def positions(model: Model, y: Vector) -> dict[int, Transform]:
    """ⁱX_0 (RBDA example 4.3)."""
    q, X = model.positions(y), {ROOT: Transform.identity()}
    for i, p, joint in model.outward():
        X[i] = joint.transform(q[i]) @ model.X_tree[i] @ X[p]
    return X


def reach(model: Model) -> float:
    """The longest way from the base to a body or frame at the neutral position, joint by joint."""
    length = {ROOT: 0.0}
    for i, p, _ in model.outward():
        length[i] = length[p] + math.hypot(*map(float, model.X_tree[i].r))
    tips = [length[frame.body] + math.hypot(*map(float, frame.X.r)) for frame in model.frames]
    return max([*length.values(), *tips])


def joints_without_inertia(model: Model, q: Vector, threshold: float = 1e-12) -> list[int]:
    """Joints with a variable whose pivot in Gᵀ H G = Lᵀ D L is zero against the diagonal (RBDA 6.3, 7.1, 9.26).

    The pivot of a joint is the inertia its axis feels with everything outward free to move: what the articulated-body
    algorithm divides by.
    """
    H = _inertia_matrix(model, q)
    diagonal = H.diagonal().copy()
    owner = {k: i for i, s in enumerate(model.v_slices) if i not in model.coupled for k in range(s.start, s.stop)}
    found: set[int] = set()
    for k in reversed(range(model.nv)):
        if not H[k, k] > threshold * diagonal[k]:
            found.add(owner[k])
        else:
            H[:k, :k] -= H[:k, k, None] * (H[None, k, :k] / H[k, k])
    return sorted(found)


def _inertia_matrix(model: Model, y: Vector) -> Any:
    """Gᵀ H G: H_ij = S_iᵀ I^c_i S_j in base coordinates for j in κ(i), plus the rotors' (RBDA 6.15, 9.26, 9.28)."""
    import numpy as np

    sizes = [joint.type.nv for joint in model.joints]
    start = [0, *accumulate(sizes)]
    variables = [np.arange(start[i], start[i + 1]) for i in range(model.nb)]
    q, X = model.positions(y), positions(model, y)
    S: Any = np.zeros((6, start[-1]))
    for i, _, joint in model.outward():
        S[:, variables[i]] = np.array((X[i].inv @ joint.subspace(q[i])).matrix.rows, dtype=float).reshape(6, sizes[i])
    H: Any = np.zeros((start[-1], start[-1]))
    I: dict[int, Any] = {ROOT: Inertia.zero(), **{i: X[i].inv @ model.I[i] for i in range(model.nb)}}
    for i, p, _ in model.inward():
        I[p] = I[p] + I[i]
        F: Any = np.array(I[i].matrix.rows, dtype=float) @ S[:, variables[i]]
        ancestors = np.concatenate([variables[j] for j in model.ancestors(i)])
        block = F.T @ S[:, ancestors]
        H[np.ix_(variables[i], ancestors)] = block
        H[np.ix_(ancestors, variables[i])] = block.T
        H[variables[i], variables[i]] += [float(x) for x in model.rotor[i]]
    G: Any = np.zeros((start[-1], model.nv))
    for i, joint_rows in enumerate(rows(model, y)):
        for k, row in zip(variables[i], joint_rows, strict=True):
            for j, x in row.items():
                G[k, j] = float(x)
    return G.T @ H @ G


def check_spatial(model: Model) -> None:
    """Refuse a planar model."""
    if model.algebra is not SPATIAL:
        raise ModelError("audit the spatial model, before `to_planar`", element=model.name)
