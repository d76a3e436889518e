"""JSON values to frozen dataclasses, by their type hints; every complaint has the JSON path of its cause."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from knuckle.errors import ModelError, printable
from knuckle.formats.xml import shorten
from knuckle.joints import Joint, Law
from knuckle.model import CouplingLaw, Geometry, Limits
from knuckle.model.deformables import ElasticMaterial
from knuckle.model.elements import ForceElement, TensionLaw
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import PLANAR, SPATIAL, Algebra, Inertia, Matrix, Transform, Vector

from .json_schema import PLAIN, REFERENCES

_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


class Decoder:
    """Makes the values that hints ask for. `refer` gives the number of the body or joint a reference names."""

    def __init__(
        self,
        file: str | None,
        named: Mapping[str, type],
        algebra: Algebra,
        refer: Callable[[str, Any, str], int],
    ) -> None:
        self.file, self.named_classes, self.refer = file, named, refer
        self.planar = algebra is PLANAR

    def error(self, path: str, message: str) -> ModelError:
        return ModelError(message, file=self.file, element=path)

    def wrong(self, path: str, value: Any, expected: str) -> ModelError:
        found = _NAMES.get(type(value)) or f"the number {shorten(repr(value))}"
        detail = f" {shorten(repr(value))}" if isinstance(value, str) else ""
        return self.error(path, f"found {found}{detail}; expected {expected}")

    def decode(self, value: Any, hint: Any, path: str) -> Any:
        """`value` as `hint` asks for it; in knuckle's own classes, `Any` asks for a scalar."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return self.scalar(value, path)
        if hint is float or hint is int:
            return self.number(value, path, whole=hint is int)
        if hint is str or hint is bool:
            if type(value) is not hint:
                raise self.wrong(path, value, _NAMES[hint])
            return self.text(value, path) if isinstance(value, str) else value
        if origin in (types.UnionType, typing.Union):
            return self._one_of(value, arguments, path)
        if origin is typing.Literal:
            if value not in arguments:
                raise self.error(path, f"expected {' or '.join(map(repr, arguments))}, found {shorten(repr(value))}")
            return value
        if origin is tuple:
            return self._tuple(value, arguments, path)
        if isinstance(hint, type):
            return self._class(value, hint, path)
        raise self.error(path, "a value of this kind cannot be read from JSON")

    def anything(self, value: Any, path: str) -> Any:
        """A field of a class of the caller's that has no hint: scalars, lists of such, joints, words."""
        if isinstance(value, list):
            return tuple(self.anything(item, f"{path}[{k}]") for k, item in enumerate(value))
        if isinstance(value, dict):
            return self.named(value, path)
        if isinstance(value, str):
            return self.text(value, path)
        return value if value is None or isinstance(value, bool) else self.scalar(value, path)

    def text(self, value: str, path: str) -> str:
        """A text of whole characters without control characters; those are escaped in what is only told (notes)."""
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self.error(path, "the text holds half a character (a lone surrogate)") from None
        if printable(value) != value and not path.startswith("$.provenance"):
            raise self.error(path, f"the text holds a control character: {shorten(repr(value))}")
        return printable(value)

    def number(self, value: Any, path: str, whole: bool = False) -> Any:
        """A finite number; Python's `bool` is none."""
        kinds = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise self.wrong(path, value, "a whole number" if whole else "a number")
        if isinstance(value, int) and abs(value) > 2**63:
            raise self.error(path, "the number is too large")
        if not math.isfinite(value):
            raise self.error(path, f"found {value}; expected a finite number")
        return value

    def scalar(self, value: Any, path: str) -> Any:
        """A number of an inertia or transform: an integer 0 or 1 is structural."""
        number = self.number(value, path)
        return (ZERO, ONE)[number] if isinstance(number, int) and number in (0, 1) else number

    def named(self, value: Any, path: str, kind: type = object) -> Any:
        """A joint, a law or a force element by the name of its type. Its own transforms are spatial in any model."""
        if not isinstance(value, dict):
            raise self.wrong(path, value, "an object with a type")
        name = value.get("type")
        if not isinstance(name, str):
            raise self.error(f"{path}.type", "missing; expected the name of a type")
        cls = self.named_classes.get(name)
        if cls is None and ":" in name:
            own = shorten(name.rpartition(":")[2])
            text = f"{shorten(name)!r} is not knuckle's own; import the class and pass joint_types=[{own}]"
            raise self.error(f"{path}.type", text)
        if cls is None:
            known = ", ".join(sorted(name for name, cls in self.named_classes.items() if issubclass(cls, kind)))
            raise self.error(f"{path}.type", f"there is no type {shorten(name)!r}; there are: {known}")
        return self._spatial().fields({k: v for k, v in value.items() if k != "type"}, cls, path)

    def fields(self, value: Any, cls: type, path: str) -> Any:
        """A dataclass by its fields."""
        if not isinstance(value, dict):
            raise self.wrong(path, value, f"an object ({cls.__name__})")
        known = {f.name: f for f in dataclasses.fields(cls) if f.init}
        for key in value:
            if key not in known:
                listed = ", ".join(known) or "none"
                raise self.error(path, f"{cls.__name__} has no {shorten(key)!r}; its keys are: {listed}")
        made: dict[str, Any] = {}
        for name, field in known.items():
            place = f"{path}.{name}"
            if name in value:
                made[name] = self._field(value[name], cls, name, _hints(cls).get(name, Any), place)
            elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                raise self.error(place, f"missing; {cls.__name__} needs it")
        return self.build(cls, made, path)

    def build(self, cls: Callable[..., Any], arguments: Mapping[str, Any], path: str) -> Any:
        """Call a class; whatever it objects to is an error at `path`."""
        try:
            return cls(**arguments)
        except ModelError as error:
            where = f"{path}: {error.element}" if error.element else path
            raise self.error(where, error.message) from None
        except (ValueError, TypeError, ArithmeticError, AttributeError, LookupError) as error:
            raise self.error(path, str(error)) from None

    def _field(self, value: Any, cls: type, name: str, hint: Any, path: str) -> Any:
        if name in REFERENCES.get(cls, {}):
            what = REFERENCES[cls][name]
            if name == "sources":
                return tuple(self.refer(what, x, f"{path}[{k}]") for k, x in enumerate(self._list(value, path)))
            return self.refer(what, value, path)
        if cls is Limits:
            return self._bounds(value, path)
        shapes_are_spatial = self.planar and cls is Geometry
        decoder = self._spatial() if shapes_are_spatial else self
        if hint is Any and not cls.__module__.startswith("knuckle."):
            return decoder.anything(value, path)
        return decoder.decode(value, hint, path)

    def _spatial(self) -> Decoder:
        return Decoder(self.file, self.named_classes, SPATIAL, self.refer)

    def _bounds(self, value: Any, path: str) -> tuple[float, ...]:
        items = self._list(value, path)
        return tuple(
            _INFINITE[x] if isinstance(x, str) and x in _INFINITE else self.number(x, f"{path}[{k}]")
            for k, x in enumerate(items)
        )

    def _one_of(self, value: Any, hints: tuple[Any, ...], path: str) -> Any:
        """A union: null, or the class that the type names, or the one that is written without it, or the only other."""
        if value is None and type(None) in hints:
            return None
        others = [hint for hint in hints if hint is not type(None)]
        if len(others) == 1:
            return self.decode(value, others[0], path)
        classes = {hint.__name__: hint for hint in others if isinstance(hint, type)}
        plain = [hint for hint in classes.values() if hint in PLAIN]
        if len(plain) == 1 and isinstance(value, dict) and "type" not in value:
            return self.fields(value, plain[0], path)
        if not isinstance(value, dict) or not isinstance(name := value.get("type"), str) or name not in classes:
            raise self.error(path, f"expected an object whose type is one of: {', '.join(classes)}")
        return self.fields({k: v for k, v in value.items() if k != "type"}, classes[name], path)

    def _list(self, value: Any, path: str, length: int | None = None) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong(path, value, "a list" if length is None else f"a list of {length}")
        if length is not None and len(value) != length:
            raise self.error(path, f"found {len(value)} entries; expected {length}")
        return value

    def _tuple(self, value: Any, hints: tuple[Any, ...], path: str) -> tuple[Any, ...]:
        if len(hints) == 2 and hints[1] is Ellipsis:
            return tuple(self.decode(x, hints[0], f"{path}[{k}]") for k, x in enumerate(self._list(value, path)))
        items = self._list(value, path, len(hints))
        return tuple(self.decode(x, h, f"{path}[{k}]") for k, (x, h) in enumerate(zip(items, hints, strict=True)))

    def _class(self, value: Any, cls: type, path: str) -> Any:
        if self.planar:
            cls = {Transform: PLANAR.Transform, Inertia: PLANAR.Inertia}.get(cls, cls)
        if cls is Law:
            law = self.named(value, path)
            if not callable(law):
                raise self.error(path, f"found {type(law).__name__}; expected a law of time")
            return law
        if issubclass(cls, (Joint, CouplingLaw, ForceElement, TensionLaw, ElasticMaterial)):
            part = self.named(value, path, cls)
            if not isinstance(part, cls):
                raise self.error(path, f"found {type(part).__name__}; expected a {cls.__name__}")
            return part
        if dataclasses.is_dataclass(cls):
            return self.fields(value, cls, path)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            names: tuple[str, ...] = getattr(cls, "_fields")  # noqa: B009
            items = self._list(value, path, len(names))
            return cls(
                *(
                    self.decode(x, _hints(cls)[n], f"{path}[{k}]")
                    for k, (x, n) in enumerate(zip(items, names, strict=True))
                )
            )
        if cls is Vector:
            return Vector(self.anything(self._list(value, path), path))
        if cls is Matrix:
            rows = self.anything(self._list(value, path), path)
            return self.build(Matrix, {"rows": rows}, path)
        raise self.error(path, f"a {cls.__name__} cannot be read from JSON")


@cache
def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except NameError:  # a class of the caller's whose annotations name what was not imported at run time
        return {}
