"""JSON to `Model`."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

from knuckle.errors import ModelError
from knuckle.formats.xml import shorten
from knuckle.model import ROOT, Body, ContactRules, Coupling, Frame, Keyframe, LoopJoint, Model, Provenance, TreeJoint
from knuckle.model.actuators import Actuator
from knuckle.model.deformables import Deformable
from knuckle.model.elements import ForceElement
from knuckle.spatial import PLANAR, SPATIAL

from .json_schema import BODY, FORMAT, VERSION, named_classes
from .json_values import Decoder

MAX_BYTES = 16 * 2**20
_ALGEBRAS = {"spatial": SPATIAL, "planar": PLANAR}
_PARTS: dict[str, Any] = {
    "name": str,
    "gravity": tuple[float, float, float],
    "base": Body,
    "bodies": tuple[Body, ...],
    "joints": tuple[TreeJoint, ...],
    "frames": tuple[Frame, ...],
    "loops": tuple[LoopJoint, ...],
    "couplings": tuple[Coupling, ...],
    "keyframes": tuple[Keyframe, ...],
    "contact": ContactRules,
    "elements": tuple[ForceElement, ...],
    "deformables": tuple[Deformable, ...],
    "actuators": tuple[Actuator, ...],
    "provenance": Provenance,
}


def read_json(data: bytes | str, *, file: str | None = None, joint_types: Iterable[type] = ()) -> Model:
    """The model a JSON document describes.

    Args:
        data: the document, as `to_json` writes it.
        file: its path, for errors.
        joint_types: classes of your own that the document names: joints, laws of driven joints and of couplings, force
            elements, laws of tension and elastic materials.

    Raises:
        ModelError: the document cannot be used; the message has the JSON path of the place.
    """
    try:
        return _model(_parsed(data, file), file, joint_types)
    except RecursionError:
        raise ModelError("nested too deep", file=file) from None


def _parsed(data: bytes | str, file: str | None) -> Any:
    if len(data) > MAX_BYTES:
        raise ModelError(f"{len(data)} bytes; the limit is {MAX_BYTES // 2**20} MiB", file=file)

    def refuse(word: str) -> NoReturn:
        raise ModelError(f"{word} is not a number a model can have", file=file)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
            raise ModelError(f"the key {shorten(twice)!r} stands twice in the same object", file=file)
        return found

    try:
        return json.loads(data, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ModelError(f"not valid JSON: {error.msg}", file=file, line=error.lineno) from None
    except UnicodeDecodeError as error:
        raise ModelError(f"not valid JSON: it cannot be decoded ({error.reason})", file=file) from None
    except ModelError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise ModelError(f"not valid JSON: {error}", file=file) from None


def _model(document: Any, file: str | None, joint_types: Iterable[type]) -> Model:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(
            f'not a model of knuckle\'s: expected an object with "format": "{FORMAT}"', file=file, element="$"
        )
    version = document.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ModelError(
            f"expected a whole number from 1, found {shorten(repr(version))}", file=file, element="$.version"
        )
    if version > VERSION:
        text = f"version {version} is newer than {VERSION}, the newest this knuckle reads: update knuckle"
        raise ModelError(text, file=file, element="$.version")
    algebra = document.get("algebra", "spatial")
    if not isinstance(algebra, str) or algebra not in _ALGEBRAS:
        text = f'expected "spatial" or "planar", found {shorten(repr(algebra))}'
        raise ModelError(text, file=file, element="$.algebra")
    decoder = Decoder(file, named_classes(joint_types), _ALGEBRAS[algebra], _References(document, file))
    for key in document:
        if key not in _PARTS and key not in ("format", "version", "algebra"):
            raise decoder.error("$", f"a model has no {shorten(key)!r}; its keys are: {', '.join(_PARTS)}")
    for key in ("bodies", "joints"):
        if key not in document:
            raise decoder.error(f"$.{key}", "missing; a model needs it")
    parts = {key: decoder.decode(document[key], hint, f"$.{key}") for key, hint in _PARTS.items() if key in document}
    for k, joint in enumerate(parts["joints"]):
        _check_sizes(decoder, joint, f"$.joints[{k}]")
    if "base" not in parts:
        parts["base"] = Body("base", _ALGEBRAS[algebra].Inertia.zero())
    return decoder.build(Model, {**parts, "algebra": _ALGEBRAS[algebra]}, "$")


def _check_sizes(decoder: Decoder, joint: TreeJoint, path: str) -> None:
    nq, nv = joint.type.nq, joint.type.nv
    for key, n in (("lower", nq), ("upper", nq), ("velocity", nv), ("effort", nv)):
        found = len(getattr(joint.limits, key))
        if found != n:
            raise decoder.error(f"{path}.limits.{key}", f"found {found} entries; expected {n}")
    for key in ("damping", "friction", "rotor_inertia", "stiffness", "rest"):
        if not all(math.isfinite(x) for x in getattr(joint, key)):
            raise decoder.error(f"{path}.{key}", "expected finite numbers")


class _References:
    """Numbers of bodies and joints by their names, as the document lists them."""

    def __init__(self, document: dict[str, Any], file: str | None) -> None:
        self.file = file
        base = document.get("base", {})
        bodies, joints = (_names(document.get(key)) for key in ("bodies", "joints"))
        self.sizes = {BODY: len(bodies), "joint": len(joints)}
        self.numbers = {
            BODY: {**{name: k for k, name in bodies.items()}, **_base_name(base)},
            "joint": {name: k for k, name in joints.items()},
        }

    def __call__(self, what: str, value: Any, path: str) -> int:
        if isinstance(value, str):
            if value not in self.numbers[what]:
                raise ModelError(f"there is no {what} called {shorten(value)!r}", file=self.file, element=path)
            return self.numbers[what][value]
        lowest = ROOT if what == BODY else 0
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value < self.sizes[what]:
            text = f"expected the name of a {what} or a number from {lowest} to {self.sizes[what] - 1}"
            raise ModelError(f"{text}, found {shorten(repr(value))}", file=self.file, element=path)
        return value


def _names(entries: Any) -> dict[int, str]:
    if not isinstance(entries, list):
        return {}
    return {k: str(entry.get("name")) if isinstance(entry, dict) else "" for k, entry in enumerate(entries)}


def _base_name(base: Any) -> dict[str, int]:
    name = base.get("name", "base") if isinstance(base, dict) else "base"
    return {name: ROOT} if isinstance(name, str) else {}
