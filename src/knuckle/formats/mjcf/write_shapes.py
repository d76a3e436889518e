"""Shapes of a model as geoms of MJCF, with the materials and meshes they use."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any, TypeAlias

from knuckle.model import Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Model, Plane, Sphere
from knuckle.spatial import rotation

from .mjcf_losses import has_mesh

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Color: TypeAlias = tuple[float, float, float, float]

_DRAWN = {"group": "2", "contype": "0", "conaffinity": "0"}
_COLLIDING = {"group": "3"}


def add_assets(root: Element, model: Model) -> None:
    """The materials, by name, and the meshes that were found, each once for every scale."""
    from xml.etree.ElementTree import SubElement

    meshes, materials = _meshes(model), shared_materials(model)
    if not meshes and not materials:
        return
    assets = SubElement(root, "asset")
    for name, color in materials.items():
        SubElement(assets, "material", name=name, rgba=_texts(color))
    for name, shape in meshes.items():
        SubElement(assets, "mesh", name=name, file=shape.path or shape.uri, scale=_texts(shape.scale))


def shared_materials(model: Model) -> dict[str, Color]:
    """The colours that have a name, and one colour for it."""
    found: dict[str, set[Color]] = {}
    for geometry in _geometries(model):
        material = geometry.material
        if material is not None and material.name and material.color is not None:
            found.setdefault(material.name, set()).add(material.color)
    return {name: next(iter(colors)) for name, colors in found.items() if len(colors) == 1}


def add_shapes(element: Element, body: Body, materials: Container[str], still: bool = False) -> None:
    """The geoms of a body; planes only where it stands still."""
    for role, geometries in ((_DRAWN, body.visuals), (_COLLIDING, body.collisions)):
        for geometry in geometries:
            if still or not isinstance(geometry.shape, Plane):
                _add_geom(element, geometry, role, materials)


def _add_geom(element: Element, geometry: Geometry, role: dict[str, str], materials: Container[str]) -> None:
    from xml.etree.ElementTree import SubElement

    shape = geometry.shape
    if isinstance(shape, Mesh):
        if not has_mesh(geometry):
            return
        said = {"type": "mesh", "mesh": _mesh_name(shape)}
    else:
        word, size = _size(shape)
        said = {"type": word, "size": _texts(size)}
    if any(float(x) for x in geometry.X.r):
        said["pos"] = _texts(geometry.X.r)
    quat: Any = rotation.to_quaternion(tuple(tuple(float(x) for x in row) for row in geometry.X.E))  # type: ignore[arg-type]
    if tuple(quat) != (1.0, 0.0, 0.0, 0.0):
        said["quat"] = _texts(quat)
    material = geometry.material
    if material is not None and material.color is not None:
        said |= {"material": material.name} if material.name in materials else {"rgba": _texts(material.color)}
    SubElement(element, "geom", {**said, **role, "mass": "0"})


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
