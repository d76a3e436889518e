"""MuJoCo's geoms as shapes of ours: those in the groups MuJoCo draws are visuals, those that collide collisions."""

from __future__ import annotations

import os
from typing import Any

from knuckle.formats.mjcf.mjcf_source import MjcfSource, numbers, transform
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Material, Mesh, Plane, Shape, Sphere
from knuckle.spatial import Transform

_DRAWN_GROUPS = range(3)
_MOST_HEIGHTS = 2**22


def shapes(
    source: MjcfSource, b: int, origin: tuple[float, ...], file: str | None
) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
    """The visuals and collisions of a body, whose frame of ours has its origin at `origin` in MuJoCo's."""
    m, contacts = source.m, source.contacts
    visuals: list[Geometry] = []
    collisions: list[Geometry] = []
    first = int(m.body_geomadr[b])
    for g in range(first, first + int(m.body_geomnum[b])):
        X = transform(m.geom_pos[g], m.geom_quat[g], origin)
        shape, X = _shape(source, g, X, file)
        name = source.mujoco.mj_id2name(m, source.mujoco.mjtObj.mjOBJ_GEOM, g) or ""
        if shape is None:
            what = "a signed distance or flex shape, or a height field of millions of places"
            source.note("info", name or f"geom{g}", f"{what}: left out")
            continue
        geometry = Geometry(shape, X, name, _material(source, g))
        if int(m.geom_group[g]) in _DRAWN_GROUPS:
            visuals.append(geometry)
        if g in contacts.surface_of:
            surface, bits = contacts.surface_of[g], (contacts.types[g], contacts.affinities[g])
            collisions.append(Geometry(shape, X, name, geometry.material, surface, *bits))
    return tuple(visuals), tuple(collisions)


def _shape(source: MjcfSource, g: int, X: Transform, file: str | None) -> tuple[Shape | None, Transform]:
    m, types = source.m, source.mujoco.mjtGeom
    a, b, c = numbers(m.geom_size[g])
    match int(m.geom_type[g]):
        case types.mjGEOM_PLANE:
            return Plane((a, b)), X
        case types.mjGEOM_SPHERE:
            return Sphere(a), X
        case types.mjGEOM_CAPSULE:
            return Capsule(a, 2 * b), X
        case types.mjGEOM_ELLIPSOID:
            return Ellipsoid((a, b, c)), X
        case types.mjGEOM_CYLINDER:
            return Cylinder(a, 2 * b), X
        case types.mjGEOM_BOX:
            return Box((2 * a, 2 * b, 2 * c)), X
        case types.mjGEOM_MESH:
            return _mesh(source, int(m.geom_dataid[g]), X, file)
        case types.mjGEOM_HFIELD:
            return _height_field(source, int(m.geom_dataid[g])), X
        case _:
            return None, X


def _height_field(source: MjcfSource, k: int) -> HeightField | None:
    """Heights from the lowest place upward: MuJoCo has them from 0 to 1, by rows along x."""
    m = source.m
    ny, nx, start = (int(x[k]) for x in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
    if nx * ny > _MOST_HEIGHTS:
        return None
    x, y, top, _ = numbers(m.hfield_size[k])
    heights = m.hfield_data[start : start + nx * ny].reshape(ny, nx).astype(float) * top
    return HeightField(tuple(map(tuple, heights.tolist())), (2 * x / (nx - 1), 2 * y / (ny - 1)))


def _mesh(source: MjcfSource, k: int, X: Transform, file: str | None) -> tuple[Mesh, Transform]:
    """A mesh where its file has it: MuJoCo moves meshes to their centre and principal axes, which is undone here.

    A `refpos` or `refquat` of the mesh is not kept by the compiled model, so the shape is where it is without them.
    """
    m = source.m
    uri = _path(m, int(m.mesh_pathadr[k])) or source.name("mesh", k)
    x, y, z = numbers(m.mesh_scale[k])
    places = [os.path.join(os.path.dirname(os.path.abspath(file)), uri)] if file else []
    found = next((os.path.abspath(p) for p in places if os.path.isfile(p)), None)
    return Mesh(uri, (x, y, z), found), transform(m.mesh_pos[k], m.mesh_quat[k]).inverse() @ X


def _path(m: Any, address: int) -> str | None:
    if address < 0:
        return None
    text: bytes = m.paths[address:]
    return text[: text.index(b"\0")].decode(errors="replace")


def _material(source: MjcfSource, g: int) -> Material:
    m, k = source.m, int(source.m.geom_matid[g])
    r, green, b, a = numbers(m.mat_rgba[k] if k >= 0 else m.geom_rgba[g])
    return Material(source.name("material", k) if k >= 0 else "", (r, green, b, a))
