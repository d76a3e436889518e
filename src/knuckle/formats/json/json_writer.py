"""`Model` to JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from numbers import Integral
from typing import Any

from knuckle.errors import ModelError
from knuckle.formats.files import write_text
from knuckle.joints import Joint
from knuckle.model import ContactRules, CouplingLaw, FunctionLaw, Limits, Model, TreeJoint
from knuckle.model.deformables import ElasticMaterial
from knuckle.model.elements import ForceElement, TensionLaw
from knuckle.model.joint_position import neutral_position
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector

from .json_schema import BODY, FORMAT, PLAIN, REFERENCES, VERSION, type_name

_TOP = ("name", "gravity", "base", "bodies", "joints", "frames", "loops", "couplings")
_RARE: dict[str, Any] = {"keyframes": (), "contact": ContactRules(), "elements": (), "deformables": (), "actuators": ()}
"""What is left out where there is none."""


def to_json(model: Model, *, indent: int | None = 1, provenance: bool = True) -> str:
    """The JSON text of a model, of every joint type; `read_json` gives back an equal model.

    Args:
        model: a model of plain numbers.
        indent: spaces per level, or None for one line.
        provenance: whether to include where the model came from and the notes on it.

    Raises:
        ModelError: it holds something JSON cannot: a function, a symbol, a joint that is no dataclass.
    """
    names = {BODY: {-1: model.base.name, **dict(enumerate(model.body_names))}}
    encoder = _Encoder({**names, "joint": dict(enumerate(model.joint_names))})
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "algebra": model.algebra.name}
    for key in (*_TOP, *(key for key, default in _RARE.items() if getattr(model, key) != default)):
        document[key] = encoder.encode(getattr(model, key), f"$.{key}")
    if provenance:
        document["provenance"] = encoder.encode(model.provenance, "$.provenance")
    return _text(document, "" if indent is None else "\n", " " * (indent or 0)) + "\n"


def write_json(model: Model, path: str | os.PathLike[str], *, indent: int | None = 1, provenance: bool = True) -> None:
    """Write a model as a JSON file; see `to_json`."""
    write_text(path, to_json(model, indent=indent, provenance=provenance))


def _text(value: Any, line: str, step: str) -> str:
    """JSON with an entry per line, but lists and objects of nothing but plain values on one."""
    inside: list[Any] = list(value.values() if isinstance(value, dict) else value) if _nested(value) else []
    if not line or not any(map(_nested, inside)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = line + step
    if isinstance(value, dict):
        entries = [f"{json.dumps(key, ensure_ascii=False)}: {_text(x, inner, step)}" for key, x in value.items()]
        return "{" + inner + f",{inner}".join(entries) + line + "}"
    return "[" + inner + f",{inner}".join(_text(x, inner, step) for x in value) + line + "]"


def _nested(value: Any) -> bool:
    return isinstance(value, (dict, list))


class _Encoder:
    def __init__(self, names: dict[str, dict[int, str]]) -> None:
        self.names = names

    def encode(self, value: Any, path: str, infinite: bool = False) -> Any:
        """A value as JSON has it; `infinite` where infinities are allowed."""
        if value is ZERO or value is ONE:
            return int(value)
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, float):
            return _number(float(value), path, infinite)
        if isinstance(value, (tuple, list, Vector)):
            return [self.encode(item, f"{path}[{k}]", infinite) for k, item in enumerate(value)]
        if isinstance(value, Matrix):
            return self.encode(value.rows, path)
        if isinstance(value, FunctionLaw):
            text = "JSON cannot hold a function: make the law a frozen dataclass of your own, from CouplingLaw"
            raise ModelError(text, element=path)
        if dataclasses.is_dataclass(type(value)):
            return self._fields(value, path)
        if isinstance(value, (Joint, CouplingLaw, ForceElement, TensionLaw, ElasticMaterial)):
            text = f"JSON needs joints, laws and elements to be dataclasses; {type(value).__name__} is not"
            raise ModelError(text, element=path)
        kind = "a function" if callable(value) else f"{type(value).__module__}.{type(value).__qualname__}"
        raise ModelError(
            f"JSON cannot hold {kind}; it holds plain numbers, words and the parts of models", element=path
        )

    def _fields(self, value: Any, path: str) -> dict[str, Any]:
        cls = type(value)
        encoded: dict[str, Any] = {} if cls in PLAIN else {"type": type_name(cls)}
        references = REFERENCES.get(cls, {})
        for field in dataclasses.fields(cls):
            inner = getattr(value, field.name)
            if not field.init or _is_default(field, inner, value):
                continue
            place = f"{path}.{field.name}"
            if field.name in references:
                names = self.names[references[field.name]]
                encoded[field.name] = [names[k] for k in inner] if isinstance(inner, tuple) else names[inner]
            else:
                encoded[field.name] = self.encode(inner, place, cls is Limits)
        return encoded


def _is_default(field: Any, value: Any, owner: Any) -> bool:
    """Whether a field would come out the same if it were left out."""
    if isinstance(owner, Limits):
        return all(math.isinf(x) and (x < 0) == (field.name == "lower") for x in value)
    if field.default is not dataclasses.MISSING:
        default = field.default
    elif field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    else:
        return False
    if isinstance(value, Limits):
        return all(_is_default(f, getattr(value, f.name), value) for f in dataclasses.fields(value))
    if isinstance(owner, TreeJoint) and field.name == "start":
        return value == neutral_position(owner.type)
    if default == () and isinstance(owner, TreeJoint):
        return repr(value) == repr((0.0,) * len(value))
    return type(value) is type(default) and repr(value) == repr(default)


def _number(x: float, path: str, infinite: bool) -> float | str:
    if math.isfinite(x):
        return x
    if infinite and not math.isnan(x):
        return "inf" if x > 0 else "-inf"
    raise ModelError(f"{x} is not a number a model can have here", element=path)
