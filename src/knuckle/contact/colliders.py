"""Distances of any two convex shapes by the colliders of other libraries: coal, or MuJoCo's."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple, Protocol

import numpy as np

from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from knuckle.model.parts import Shape

Array = np.ndarray[Any, Any]

LIBRARIES = ("coal", "mujoco")
"""The libraries in the order in which they are looked for."""
CONVEX = (Sphere, Capsule, Box, Cylinder, Ellipsoid, Mesh)
"""The shapes that colliders know; a mesh by its hull."""
TOLERANCES, ITERATIONS = (1e-10, 1e-8, 1e-6, 1e-4), 500
"""Coal's search for the depth of an overlap may fail where it is to be very exact; then it is repeated less exactly."""
NEAR, APART = 1e-8, 1e-5
"""The distance below which MuJoCo's points are too near for a direction, and how far the shapes are moved for it."""


class Nearest(NamedTuple):
    """Two shapes: how far they are apart (negative where they overlap), and the nearest point of each."""

    distance: float
    first: Array
    second: Array
    normal: Array
    """From the second to the first."""


class Collider(Protocol):
    """Two shapes that are placed by rotations and origins."""

    def nearest(self, R: Array, r: Array, S: Array, s: Array) -> Nearest:
        """Where they are nearest."""
        ...


def installed_library() -> str | None:
    """The first of the libraries that is installed."""
    return next((name for name in LIBRARIES if importlib.util.find_spec(name) is not None), None)


def collider(library: str, first: Shape, second: Shape) -> Collider:
    """Two convex shapes, for the collider of a library."""
    return CoalPair(first, second) if library == "coal" else MujocoPair(first, second)


class CoalPair:
    """Two shapes for coal."""

    def __init__(self, first: Shape, second: Shape) -> None:
        coal: Any = importlib.import_module("coal")
        self._coal, self._shapes = coal, (_in_coal(coal, first), _in_coal(coal, second))
        self._names = type(first).__name__.lower(), type(second).__name__.lower()
        self._are_symmetric = not any(isinstance(shape, Mesh) for shape in (first, second))
        self._requests = [_request(coal, tolerance) for tolerance in TOLERANCES]

    def nearest(self, R: Array, r: Array, S: Array, s: Array) -> Nearest:
        coal, (first, second) = self._coal, self._shapes
        places = coal.Transform3s(R, r), coal.Transform3s(S, s)
        for request in self._requests:
            result = coal.DistanceResult()
            distance = float(coal.distance(first, places[0], second, places[1], request, result))
            a, b = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
            normal = -np.array(result.normal)
            if abs(distance) < 1e100 and np.isfinite([*a, *b, *normal]).all():
                found = Nearest(distance, a, b, normal)
                return _on_the_near_side(found, r, s) if self._are_symmetric else found
        raise ArithmeticError(f"coal finds no distance of this {self._names[0]} and {self._names[1]}")


def _on_the_near_side(found: Nearest, r: Array, s: Array) -> Nearest:
    """The same along the same line, towards the first shape's own side: coal may take the long way out of an overlap.

    For shapes that are symmetric about their origins: so are the points that lie farthest along a line.
    """
    way = float(found.normal @ (np.asarray(r) - np.asarray(s)))
    if found.distance >= 0 or way >= 0:
        return found
    normal, distance = -found.normal, found.distance - 2 * way
    between = r + s - (found.first + found.second) / 2
    return Nearest(distance, between + distance / 2 * normal, between - distance / 2 * normal, normal)


def _request(coal: Any, tolerance: float) -> Any:
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = tolerance
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    return request


def _in_coal(coal: Any, shape: Shape) -> Any:
    match shape:
        case Box((x, y, z)):
            return coal.Box(x, y, z)
        case Sphere(radius):
            return coal.Sphere(radius)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Ellipsoid((x, y, z)):
            return coal.Ellipsoid(x, y, z)
        case Mesh(hull=hull) if hull:
            corners = coal.StdVec_Vec3s()
            for corner in hull:
                corners.append(np.array(corner))
            return coal.Convex.convexHull(corners, False, "Qt")
        case _:
            raise TypeError(f"a {type(shape).__name__} is no shape for a collider")


class MujocoPair:
    """Two shapes for MuJoCo, each on a body of its own."""

    def __init__(self, first: Shape, second: Shape) -> None:
        mujoco: Any = importlib.import_module("mujoco")
        spec = mujoco.MjSpec()
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
        for number, shape in enumerate((first, second)):
            body = spec.worldbody.add_body(
                mass=1.0, inertia=(1.0, 1.0, 1.0), ipos=(0.0, 0.0, 0.0), explicitinertial=True
            )
            body.add_freejoint()
            _put_on(mujoco, spec, body, shape, f"hull{number}")
        self._mujoco, self._model = mujoco, spec.compile()
        self._model.opt.ccd_tolerance, self._model.opt.ccd_iterations = TOLERANCES[0], ITERATIONS
        self._data = mujoco.MjData(self._model)

    def nearest(self, R: Array, r: Array, S: Array, s: Array) -> Nearest:
        found = self._nearest(R, r, S, s)
        if abs(found.distance) > NEAR:
            return found
        way = np.asarray(r) - np.asarray(s)
        length = float(np.linalg.norm(way))
        shift = APART * (way / length if length > 0 else np.array([0.0, 0.0, 1.0]))
        apart = self._nearest(R, np.asarray(r) + shift, S, s)
        first = apart.first - shift
        return Nearest(float(apart.normal @ (first - apart.second)), first, apart.second, apart.normal)

    def _nearest(self, R: Array, r: Array, S: Array, s: Array) -> Nearest:
        mujoco, model, data = self._mujoco, self._model, self._data
        for k, (turn, at) in enumerate(((R, r), (S, s))):
            data.qpos[7 * k : 7 * k + 3] = at
            mujoco.mju_mat2Quat(data.qpos[7 * k + 3 : 7 * k + 7], np.ravel(turn))
        mujoco.mj_kinematics(model, data)
        ends = np.zeros(6)
        distance = float(mujoco.mj_geomDistance(model, data, 0, 1, 1e10, ends))
        a, b = ends[:3].copy(), ends[3:].copy()
        way = (a - b) if distance > 0 else (b - a)
        return Nearest(distance, a, b, way / max(float(np.linalg.norm(way)), 1e-300))


def _put_on(mujoco: Any, spec: Any, body: Any, shape: Shape, name: str) -> None:
    kinds = mujoco.mjtGeom
    match shape:
        case Box((x, y, z)):
            body.add_geom(type=kinds.mjGEOM_BOX, size=(x / 2, y / 2, z / 2))
        case Sphere(radius):
            body.add_geom(type=kinds.mjGEOM_SPHERE, size=(radius, 0, 0))
        case Capsule(radius, length):
            body.add_geom(type=kinds.mjGEOM_CAPSULE, size=(radius, length / 2, 0))
        case Cylinder(radius, length):
            body.add_geom(type=kinds.mjGEOM_CYLINDER, size=(radius, length / 2, 0))
        case Ellipsoid((x, y, z)):
            body.add_geom(type=kinds.mjGEOM_ELLIPSOID, size=(x, y, z))
        case Mesh(hull=hull) if hull:
            spec.add_mesh(name=name, uservert=np.ravel(hull).tolist())
            body.add_geom(type=kinds.mjGEOM_MESH, meshname=name)
        case _:
            raise TypeError(f"a {type(shape).__name__} is no shape for a collider")
