"""Bounds on an MJCF file, checked before MuJoCo sees it.

A few words of MJCF make MuJoCo allocate or compute without end: copies of copies, grids, tables of any size, files
that never end; and its compiler takes time that grows with the square of the bodies. So the document is walked
first, with what it includes and attaches, and all that it asks for is added up. The bounds are far above the robots and
scenes that people use; what exceeds them and is trusted can be compiled with MuJoCo, and given to `from_mujoco`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from knuckle.errors import ModelError
from knuckle.formats.files import MAX_BYTES, check_regular, read_bytes
from knuckle.formats.xml import MAX_DEPTH, Element, parse_xml, shorten

from .image_size import cells_of_image

LIMITS = {
    "bodies": 5_000,
    "elements": 50_000,
    "copies of elements": 10_000,
    "keyframes": 10_000,
    "numbers": 2**24,
    "cells of height fields and textures": 2**26,
    "bytes of meshes, textures and other files": 2**29,
}
"""What a file may ask for in all, with copies, grids, and the files that it names."""
_AT_MOST: dict[tuple[str, str], float] = {
    ("size", "memory"): 2**34,
    ("size", "njmax"): 1_000_000,
    ("size", "nconmax"): 1_000_000,
    ("size", "nstack"): 2**31,
}
"""Bounds of single attributes."""
_NUMBERS = {("size", "nuserdata"), ("user", "dim"), ("general", "actdim"), ("plugin", "actdim"), ("numeric", "size")}
"""Attributes that say how many numbers there are."""
_STEPS = 10_000
"""Steps that MuJoCo may simulate to find the range of lengths of one muscle."""
_RESOLUTION = 1_000
_VERTICES = 2**17
"""Bounds of the parameters of a built-in mesh: each, and their product."""
_PIXELS = 2**24
"""Pixels of a camera."""
_BYTES_PER_VERTEX = 50
"""Of a mesh file, at least: every vertex of a flex becomes a body."""
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([KMGTPEkmgtpe]?)")
_FOLDERS = ("meshdir", "texturedir", "assetdir")


@dataclass
class _Cost:
    """What an element and everything in it come to."""

    elements: float = 1
    bodies: float = 0

    def add(self, other: _Cost, times: float = 1) -> None:
        self.elements += times * other.elements
        self.bodies += times * other.bodies


@dataclass
class _Document:
    """A file while it is walked: what was asked for so far, and where its files may be."""

    file: str | None
    folder: str
    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITS, 0.0))
    models: dict[str, _Cost] = field(default_factory=dict)
    parsed: dict[str, Element] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    user: float = 0.0
    keys: float = 0.0


def check_bounds(root: Element, file: str | None) -> None:
    """Refuse a document that asks MuJoCo for more than a model has, or for files that are none.

    Raises:
        ModelError: it exceeds a bound; with the file and line of the element that does.
    """
    _check(root, _Document(file, os.path.dirname(os.path.abspath(file)) if file else os.getcwd()), ())


def _check(root: Element, document: _Document, above: tuple[str, ...]) -> _Cost:
    """The cost of a document, whose folders have to be known before its files are looked for."""
    parts = list(_included(root, document, document.file, above))
    for element, _ in parts:
        if element.tag == "compiler":
            document.folders |= {element.attributes[key] for key in _FOLDERS if key in element.attributes}
    for element, file in parts:
        _check_element(element, document, file, above)
    cost = _cost(root, document, document.file, above, 0)
    last = root, document.file
    _spend(document, "numbers", document.user * cost.elements, *last)
    _spend(document, "numbers", document.keys * 7 * cost.bodies, *last)
    return cost


def _included(
    root: Element, document: _Document, file: str | None, above: tuple[str, ...]
) -> Iterator[tuple[Element, str | None]]:
    """Every element of a document and of the files it includes, with the file that it is in."""
    for element in root.walk():
        _spend(document, "elements", 1, element, file)
        yield element, file
        if element.tag == "include":
            inner = _read(element, document, file, above)
            if inner is not None:
                yield from _included(inner[0], document, inner[1], (*above, inner[1]))


def _read(
    element: Element, document: _Document, file: str | None, above: tuple[str, ...]
) -> tuple[Element, str] | None:
    """The document that an element names, and its path; nothing if there is none: MuJoCo says so then."""
    name = element.attributes.get("file", "")
    path = next((p for p in _places(name, document, file) if os.path.exists(p)), None)
    if not name or path is None:
        return None
    if path in above or len(above) > 30:
        _fail(element, file, f"{shorten(name)!r} includes itself, or files that include files more than 30 deep")
    if path not in document.parsed:
        document.parsed[path] = parse_xml(read_bytes(path), file=path)
    return document.parsed[path], path


def _cost(element: Element, document: _Document, file: str | None, above: tuple[str, ...], depth: int) -> _Cost:
    """What an element comes to, with copies, grids and included elements."""
    if depth > MAX_DEPTH:
        _fail(element, file, f"elements are nested more than {MAX_DEPTH} deep, with what is included")
    cost = _Cost()
    for child in element.children:
        cost.add(_cost(child, document, file, above, depth + 1))
    attributes = element.attributes
    if element.tag == "body":
        cost.bodies += 1
    elif element.tag == "replicate":
        times = _number(attributes.get("count", "1"))
        _spend(document, "copies of elements", times * cost.elements, element, file)
        cost = _Cost(times * cost.elements, times * cost.bodies)
    elif element.tag in ("composite", "flexcomp"):
        cost.add(_Cost(0, _vertices(element, document, file)))
    elif element.tag == "attach":
        inner = document.models.get(attributes.get("model", ""), _Cost())
        _spend(document, "copies of elements", inner.elements, element, file)
        cost.add(inner)
    elif element.tag == "include":
        inner = _read(element, document, file, above)
        if inner is not None:
            cost.add(_cost(inner[0], document, inner[1], (*above, inner[1]), depth + 1))
    for what, n in (("elements", cost.elements), ("bodies", cost.bodies)):
        if n > LIMITS[what]:
            _exceeds(what, n, element, file)
    return cost


def _vertices(element: Element, document: _Document, file: str | None) -> float:
    """Vertices of a composite or flex, at most: each may be a body."""
    count = math.prod(max(x, 1.0) for x in _numbers(element.attributes.get("count", "1")))
    points = len(element.attributes.get("point", "").split()) / 3
    places = _places(element.attributes.get("file", ""), document, file)
    size = max((os.path.getsize(p) for p in places if os.path.isfile(p)), default=0)
    return max(count, points, size / _BYTES_PER_VERTEX)


def _check_element(element: Element, document: _Document, file: str | None, above: tuple[str, ...]) -> None:
    """What one element asks for by its attributes."""
    tag, attributes = element.tag, element.attributes
    for key, value in attributes.items():
        if key.startswith("file") and tag != "include":
            _check_file(element, document, file, value)
        most = _AT_MOST.get((tag, key))
        if most is not None and _number(value) > most:
            _fail(element, file, f"{key}={shorten(value)!r} is more than {most:.0f}, the most that is read", tag)
        if (tag, key) in _NUMBERS or key == "nsample":
            _spend(document, "numbers", _number(value), element, file)
    match tag:
        case "size":
            document.user += sum(_number(value) for key, value in attributes.items() if key.startswith("nuser_"))
            document.keys = max(document.keys, _number(attributes.get("nkey", "0")))
            _spend(document, "keyframes", _number(attributes.get("nkey", "0")), element, file)
        case "key":
            _spend(document, "keyframes", 1, element, file)
        case "hfield":
            cells = _number(attributes.get("nrow", "0")) * _number(attributes.get("ncol", "0"))
            _spend(document, "cells of height fields and textures", cells, element, file)
        case "texture":
            cells = _number(attributes.get("width", "0")) * _number(attributes.get("height", "0"))
            sides = 1 if attributes.get("type") == "2d" else 6
            _spend(document, "cells of height fields and textures", sides * cells, element, file)
        case "camera":
            if math.prod(_numbers(attributes.get("resolution", "1 1"))) > _PIXELS:
                _fail(element, file, f"a resolution of more than {_PIXELS} pixels", tag)
        case "mesh" if "builtin" in attributes:
            sizes = [max(x, 1.0) for x in _numbers(attributes.get("params", ""))]
            if max(sizes, default=1.0) > _RESOLUTION or math.prod(sizes) > _VERTICES:
                _fail(element, file, f"params of more than {_RESOLUTION}, or {_VERTICES} vertices", tag)
        case "lengthrange":
            total, step = (_number(attributes.get(key, d)) for key, d in (("inttotal", "10"), ("timestep", "0.01")))
            if total > _STEPS * max(step, 1e-12):
                _fail(element, file, f"more than {_STEPS} steps to find the range of a muscle", tag)
        case "model":
            _check_model(element, document, file, above)
        case _:
            pass


def _check_model(element: Element, document: _Document, file: str | None, above: tuple[str, ...]) -> None:
    """A model that is attached, with a document of its own."""
    inner = _read(element, document, file, above)
    if inner is None:
        return
    root, path = inner
    other = _Document(path, os.path.dirname(path), document.spent, parsed=document.parsed)
    cost = _check(root, other, (*above, path))
    for name in {element.attributes.get("name", ""), root.attributes.get("model", ""), _stem(path)}:
        document.models[name] = cost


def _check_file(element: Element, document: _Document, file: str | None, name: str) -> None:
    """A file that MuJoCo would open: a regular one of bounded size, wherever it may look for it."""
    sizes, cells = [0], [0]
    for path in _places(name, document, file):
        if os.path.exists(path) and not os.path.isdir(path):
            try:
                sizes.append(check_regular(path))
            except ModelError as error:
                _fail(element, file, f"file {shorten(name)!r}: {error.message}", element.tag)
            cells.append(cells_of_image(path))
    if max(sizes) > MAX_BYTES:
        _fail(element, file, f"file {shorten(name)!r} has {max(sizes)} bytes; the limit is {MAX_BYTES}", element.tag)
    _spend(document, "bytes of meshes, textures and other files", max(sizes), element, file)
    _spend(document, "cells of height fields and textures", max(cells), element, file)


def _places(name: str, document: _Document, file: str | None) -> list[str]:
    """Where MuJoCo may look for a file."""
    folders = [document.folder, *([os.path.dirname(os.path.abspath(file))] if file else [])]
    inside = ["", *sorted(document.folders)]
    names = (name, os.path.basename(name.replace("\\", "/")))
    found = (os.path.join(a, b, c) for a in folders for b in inside for c in names if c)
    return list(dict.fromkeys(os.path.normpath(path) for path in found if "\0" not in path))


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _spend(document: _Document, what: str, n: float, element: Element, file: str | None) -> None:
    document.spent[what] += max(n, 0.0)
    if document.spent[what] > LIMITS[what]:
        _exceeds(what, document.spent[what], element, file)


def _exceeds(what: str, n: float, element: Element, file: str | None) -> NoReturn:
    found = f"{n:.0f}" if n < 1e15 else f"{n:.3g}"
    text = f"{found} {what}, with those before it; the limit is {LIMITS[what]}"
    _fail(element, file, f"{text}: if you trust it, compile it and use knuckle.formats.from_mujoco", element.tag)


def _fail(element: Element, file: str | None, message: str, tag: str = "") -> NoReturn:
    raise ModelError(message, file=file, line=element.line, element=f"<{shorten(tag or element.tag)}>")


def _numbers(text: str) -> list[float]:
    return [_number(word) for word in text.split()]


def _number(text: str) -> float:
    """The number that a text begins with, and a unit of memory after it; 0 if it is none: MuJoCo says so then."""
    found = _NUMBER.match(text)
    return float(found[1]) * _UNITS.get(found[2].upper(), 1) if found else 0.0
