"""JSON values to frozen dataclasses, by their type hints; every complaint has the JSON path of its cause."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from knuckle.errors import ModelError
from knuckle.formats.xml import shorten
from knuckle.joints import Joint
from knuckle.model import Geometry, Limits
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import PLANAR, Algebra, Inertia, Matrix, Transform, Vector

from .schema import REFERENCES

_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


class Decoder:
    """Makes the values that hints ask for. `refer` gives the number of the body or joint a reference names."""

    def __init__(
        self,
        file: str | None,
        joints: Mapping[str, type[Joint]],
        algebra: Algebra,
        refer: Callable[[str, Any, str], int],
    ) -> None:
        self.file, self.joints, self.refer = file, joints, refer
        self.planar = algebra is PLANAR

    def error(self, path: str, message: str) -> ModelError:
        return ModelError(message, file=self.file, element=path)

    def wrong(self, path: str, value: Any, expected: str) -> ModelError:
        found = _NAMES.get(type(value)) or f"the number {shorten(repr(value))}"
        detail = f" {shorten(repr(value))}" if isinstance(value, str) else ""
        return self.error(path, f"found {found}{detail}; expected {expected}")

    def decode(self, value: Any, hint: Any, path: str) -> Any:
        """`value` as `hint` asks for it."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return self.anything(value, path)
        if hint is float or hint is int:
            return self.number(value, path, whole=hint is int)
        if hint is str or hint is bool:
            if type(value) is not hint:
                raise self.wrong(path, value, _NAMES[hint])
            return value
        if origin in (types.UnionType, typing.Union):
            return self._one_of(value, arguments, path)
        if origin is tuple:
            return self._tuple(value, arguments, path)
        if isinstance(hint, type):
            return self._class(value, hint, path)
        raise self.error(path, "a value of this kind cannot be read from JSON")

    def anything(self, value: Any, path: str) -> Any:
        """A value without a hint: scalars with structural zeros and ones restored, lists of such, joints, words."""
        if isinstance(value, list):
            return tuple(self.anything(item, f"{path}[{k}]") for k, item in enumerate(value))
        if isinstance(value, dict):
            return self.joint(value, path)
        if value is None or isinstance(value, (str, bool)):
            return value
        return self.scalar(value, path)

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

    def joint(self, value: Any, path: str) -> Joint:
        """A joint by the name of its type."""
        if not isinstance(value, dict):
            raise self.wrong(path, value, "a joint: an object with a type")
        name = value.get("type")
        if not isinstance(name, str):
            raise self.error(f"{path}.type", "a joint needs the name of its type")
        if name not in self.joints:
            if ":" in name:
                cls = shorten(name.partition(":")[2])
                text = f"joint type {shorten(name)!r} is not knuckle's; import it and pass joint_types=[{cls}]"
                raise self.error(f"{path}.type", text)
            known = ", ".join(sorted(self.joints))
            raise self.error(f"{path}.type", f"there is no joint type {shorten(name)!r}; there are: {known}")
        return self.fields({k: v for k, v in value.items() if k != "type"}, self.joints[name], path)

    def fields(self, value: Any, cls: type, path: str) -> Any:
        """A dataclass by its fields."""
        if not isinstance(value, dict):
            raise self.wrong(path, value, f"an object ({cls.__name__})")
        known = {f.name: f for f in dataclasses.fields(cls) if f.init}
        for key in value:
            if key not in known:
                listed = ", ".join(known) or "none"
                raise self.error(path, f"{cls.__name__} has no {shorten(key)!r}; its keys are: {listed}")
        hints, references = _hints(cls), REFERENCES.get(cls, {})
        made: dict[str, Any] = {}
        for name, field in known.items():
            place = f"{path}.{name}"
            if name in value:
                refers = references.get(name)
                made[name] = self.refer(refers, value[name], place) if refers else self._field(cls, name, value, hints, place)
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

    def _field(self, cls: type, name: str, value: Mapping[str, Any], hints: Mapping[str, Any], path: str) -> Any:
        if cls is Limits:
            return self._bounds(value[name], path)
        if cls is Geometry and self.planar:
            return dataclasses_spatial(self).decode(value[name], hints[name], path)
        return self.decode(value[name], hints.get(name, Any), path)
