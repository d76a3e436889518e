"""<visual>, <collision> and <material>: what links look like and what they bump into, kept as data."""

from __future__ import annotations

from collections.abc import Callable

from knuckle.formats.xml import Element, shorten
from knuckle.model import Box, Capsule, Cylinder, Geometry, Material, Mesh, Shape, Sphere

from .mesh_paths import Resources
from .number_attributes import number, numbers
from .origin_element import origin
from .urdf_source import UrdfSource, called


class Shapes:
    """Reads the shapes of links; remembers materials by name, and which meshes were missing."""

    def __init__(self, source: UrdfSource, resources: Resources) -> None:
        self.source, self.resources = source, resources
        self.materials: dict[str, Material] = {}
        self.missing: set[str] = set()
        self._readers: dict[str, Callable[[Element, str, str], Shape]] = {
            "box": self._box, "sphere": self._sphere, "cylinder": self._cylinder, "capsule": self._capsule,
            "mesh": self._mesh,
        }  # fmt: skip

    def define(self, element: Element) -> None:
        """A <material> of the whole robot."""
        owner = called("material", element.attributes.get("name", ""))
        material = self._material(element, owner, owner)
        if material.name in self.materials:
            self.source.note("warning", element, owner, "a second material with this name: the last one counts")
        self.materials[material.name] = material

    def of(self, link: Element, tag: str, name: str) -> tuple[Geometry, ...]:
        """The shapes of a link: its <visual> or its <collision> elements.

        Those of neighbouring links often overlap, and no URDF says which may: they touch what is around the robot, and
        not each other.
        """
        found = (self._geometry(child, name) for child in link.children if child.tag == tag)
        return tuple(geometry for geometry in found if geometry is not None)

    def _geometry(self, element: Element, link: str) -> Geometry | None:
        owner = called("link", link)
        self.source.account(element, link, ("origin", "geometry", "material"), ("name",))
        X = origin(self.source, element, owner, link)
        coat = self.source.child(element, "material", owner)
        material = None if coat is None else self._used(coat, owner, link)
        holder = self.source.child(element, "geometry", owner)
        shape = None if holder is None else self._shape(holder, owner, link)
        if shape is None:
            self.source.note("warning", element, link, f"<{element.tag}> without a shape that is known: left out")
            return None
        touches_own = 1 if element.tag == "visual" else 0
        return Geometry(shape, X, element.attributes.get("name", ""), material, contact_type=touches_own)

    def _shape(self, holder: Element, owner: str, link: str) -> Shape | None:
        self.source.account(holder, link, tuple(self._readers), ("name",))
        known = [child for child in holder.children if child.tag in self._readers]
        if len(known) > 1:
            raise self.source.error(known[1], owner, f"a second shape; <{known[0].tag}> is there already")
        return self._readers[known[0].tag](known[0], owner, link) if known else None

    def _box(self, element: Element, owner: str, link: str) -> Shape:
        self.source.account(element, link, (), ("size",))
        x, y, z = numbers(self.source, element, "size", 3, owner)
        self._doubt(element, link, x, y, z)
        return Box((x, y, z))

    def _sphere(self, element: Element, owner: str, link: str) -> Shape:
        self.source.account(element, link, (), ("radius",))
        radius = number(self.source, element, "radius", owner)
        self._doubt(element, link, radius)
        return Sphere(radius)

    def _cylinder(self, element: Element, owner: str, link: str) -> Shape:
        return Cylinder(*self._round(element, owner, link))

    def _capsule(self, element: Element, owner: str, link: str) -> Shape:
        return Capsule(*self._round(element, owner, link))

    def _round(self, element: Element, owner: str, link: str) -> tuple[float, float]:
        self.source.account(element, link, (), ("radius", "length"))
        radius, length = (number(self.source, element, key, owner) for key in ("radius", "length"))
        self._doubt(element, link, radius, length)
        return radius, length

    def _doubt(self, element: Element, link: str, *lengths: float) -> None:
        if min(lengths) < 0:
            self.source.note("warning", element, link, f"<{element.tag}> with a negative length: {min(lengths):g}")

    def _mesh(self, element: Element, owner: str, link: str) -> Shape:
        self.source.account(element, link, (), ("filename", "scale"))
        uri = self.source.attribute(element, "filename", owner)
        x, y, z = numbers(self.source, element, "scale", 3, owner, (1.0, 1.0, 1.0))
        path = self.resources.find(uri)
        if path is None and uri not in self.missing:
            self.missing.add(uri)
            self.source.note("info", element, link, f"mesh not found: {shorten(uri, 200)}")
        return Mesh(uri, (x, y, z), path)

    def _used(self, element: Element, owner: str, link: str) -> Material:
        """The material of a visual: its own, or the one of that name that was defined before."""
        if any(child.tag in ("color", "texture") for child in element.children):
            material = self._material(element, owner, link)
            if material.name:
                self.materials.setdefault(material.name, material)
            return material
        self.source.account(element, link, ("color", "texture"), ("name",))
        name = element.attributes.get("name", "")
        if name and name not in self.materials:
            self.source.note("info", element, link, f"material {shorten(name)!r} is defined nowhere before this")
        return self.materials.get(name, Material(name))

    def _material(self, element: Element, owner: str, subject: str) -> Material:
        self.source.account(element, subject, ("color", "texture"), ("name",))
        color, texture = (self.source.child(element, tag, owner) for tag in ("color", "texture"))
        rgba = file = None
        if color is not None:
            self.source.account(color, subject, (), ("rgba",))
            r, g, b, a = numbers(self.source, color, "rgba", 4, owner)
            rgba = (r, g, b, a)
            if min(rgba) < 0 or max(rgba) > 1:
                self.source.note("info", color, subject, f"colour {rgba} is not within 0 and 1")
        if texture is not None:
            self.source.account(texture, subject, (), ("filename",))
            file = texture.attributes.get("filename")
            if file is None:
                self.source.note("info", texture, subject, "<texture> without a filename ignored")
        return Material(element.attributes.get("name", ""), rgba, file)
