"""Shapes of a model as geoms of MJCF, with the materials and meshes they use."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from knuckle.formats.mjcf.mjcf_losses import has_mesh, is_ground
from knuckle.model import ROOT, Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Mesh, Model, Plane, Sphere
from knuckle.spatial import Transform, rotation

from .write_contact import GeomNames, contact_words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Color: TypeAlias = tuple[float, float, float, float]

_DRAWN = {"group": "2", "contype": "0", "conaffinity": "0"}
_COLLIDING = {"group": "3"}
_BELOW = 1.0
"""How far a height field reaches below its lowest place, in metres."""


def add_assets(root: Element, model: Model) -> None:
    """The materials, by name, the meshes that were found, each once for every scale, and the height fields."""
    from xml.etree.ElementTree import SubElement

    meshes, materials, fields = _meshes(model), shared_materials(model), height_fields(model)
    if not meshes and not materials and not fields:
        return
    assets = SubElement(root, "asset")
    for name, color in materials.items():
        SubElement(assets, "material", name=name, rgba=_texts(color))
    for name, shape in meshes.items():
        SubElement(assets, "mesh", name=name, file=shape.path or shape.uri, scale=_texts(shape.scale))
    for field, name in fields.items():
        SubElement(assets, "hfield", {"name": name, **_field_words(field)})


def height_fields(model: Model) -> dict[HeightField, str]:
    """The height fields, with a name each."""
    fields = dict.fromkeys(g.shape for g in _geometries(model) if isinstance(g.shape, HeightField))
    return {field: f"terrain{k}" for k, field in enumerate(fields)}


def _field_words(field: HeightField) -> dict[str, str]:
    """A grid with its rows from the highest y down, as MJCF has them, and heights from 0 to 1."""
    rows, (dx, dy) = field.heights[::-1], field.spacing
    low = _lowest(field)
    rise = max(map(max, rows)) - low
    nx, ny = len(rows[0]), len(rows)
    return {
        "nrow": str(ny),
        "ncol": str(nx),
        "size": _texts(((nx - 1) * dx / 2, (ny - 1) * dy / 2, rise or 1.0, _BELOW)),
        "elevation": _texts((h - low) / (rise or 1.0) for row in rows for h in row),
    }


def _lowest(field: HeightField) -> float:
    return min(map(min, field.heights))


def shared_materials(model: Model) -> dict[str, Color]:
    """The colours that have a name, and one colour for it."""
    found: dict[str, set[Color]] = {}
    for geometry in _geometries(model):
        material = geometry.material
        if material is not None and material.name and material.color is not None:
            found.setdefault(material.name, set()).add(material.color)
    return {name: next(iter(colors)) for name, colors in found.items() if len(colors) == 1}


class ShapeWriter:
    """Writes the geoms of a model's bodies, with the materials, height fields and names that it has."""

    def __init__(self, model: Model, names: GeomNames) -> None:
        self.model, self.names = model, names
        self.materials, self.fields = shared_materials(model), height_fields(model)

    def add(self, element: Element, i: int, ground: Element | None = None) -> None:
        """The geoms of body i; planes and height fields under `ground`, where there is one."""
        body = self.model.base if i == ROOT else self.model.bodies[i]
        for role, shapes in (("visuals", body.visuals), ("collisions", body.collisions)):
            for k, geometry in enumerate(shapes):
                place = ground if is_ground(geometry) else element
                if place is None:
                    continue
                words = _DRAWN if role == "visuals" else _COLLIDING | contact_words(self.model.contact, geometry)
                name = self.names.get((role, i, k))
                _add_geom(place, geometry, {"name": name} if name else {}, words, self.materials, self.fields)


def _add_geom(
    element: Element,
    geometry: Geometry,
    name: dict[str, str],
    role: dict[str, str],
    materials: Container[str],
    fields: Mapping[HeightField, str],
) -> None:
    from xml.etree.ElementTree import SubElement

    shape, X = geometry.shape, geometry.X
    if isinstance(shape, Mesh):
        if not has_mesh(geometry):
            return
        said = {"type": "mesh", "mesh": _mesh_name(shape)}
    elif isinstance(shape, HeightField):
        said, X = {"type": "hfield", "hfield": fields[shape]}, Transform.translation((0.0, 0.0, _lowest(shape))) @ X
    else:
        word, size = _size(shape)
        said = {"type": word, "size": _texts(size)}
    if any(float(x) for x in X.r):
        said["pos"] = _texts(X.r)
    quat: Any = rotation.to_quaternion(tuple(tuple(float(x) for x in row) for row in X.E))  # type: ignore[arg-type]
    if tuple(quat) != (1.0, 0.0, 0.0, 0.0):
        said["quat"] = _texts(quat)
    material = geometry.material
    if material is not None and material.color is not None:
        said |= {"material": material.name} if material.name in materials else {"rgba": _texts(material.color)}
    SubElement(element, "geom", {**name, **said, **role, "mass": "0"})


def _size(shape: Any) -> tuple[str, tuple[float, ...]]:
    """MuJoCo's word for a shape, and its half lengths."""
    match shape:
        case Box((x, y, z)):
            return "box", (x / 2, y / 2, z / 2)
        case Cylinder(radius, length):
            return "cylinder", (radius, length / 2)
        case Capsule(radius, length):
            return "capsule", (radius, length / 2)
        case Sphere(radius):
            return "sphere", (radius,)
        case Ellipsoid(radii):
            return "ellipsoid", radii
        case Plane((x, y)):
            return "plane", (x, y, 1.0)
        case _:
            raise TypeError(f"no geom for {shape!r}")


def _meshes(model: Model) -> dict[str, Mesh]:
    return {_mesh_name(g.shape): g.shape for g in _geometries(model) if isinstance(g.shape, Mesh) and has_mesh(g)}


def _geometries(model: Model) -> list[Geometry]:
    return [g for body in (model.base, *model.bodies) for g in (*body.visuals, *body.collisions)]


def _mesh_name(shape: Mesh) -> str:
    """A name that tells meshes and scales apart."""
    return f"{shape.path} {_texts(shape.scale)}"


def _texts(values: Any) -> str:
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in values)
