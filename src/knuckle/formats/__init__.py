"""Model files: URDF, MJCF and JSON, in and out; adapters to other libraries."""

from typing import TYPE_CHECKING, Any

from .load import load, loads, save

if TYPE_CHECKING:
    from . import adapters
    from .json import read_json, to_json, write_json
    from .mjcf import from_mujoco, read_mjcf, to_mjcf, write_mjcf
    from .urdf import read_urdf, to_urdf, write_urdf

__all__ = [
    "adapters",
    "from_mujoco",
    "load",
    "loads",
    "read_json",
    "read_mjcf",
    "read_urdf",
    "save",
    "to_json",
    "to_mjcf",
    "to_urdf",
    "write_json",
    "write_mjcf",
    "write_urdf",
]

_WHERE = {
    "from_mujoco": "mjcf",
    "read_json": "json",
    "read_mjcf": "mjcf",
    "read_urdf": "urdf",
    "to_json": "json",
    "to_mjcf": "mjcf",
    "to_urdf": "urdf",
    "write_json": "json",
    "write_mjcf": "mjcf",
    "write_urdf": "urdf",
}
"""The package of each function that is loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "adapters":
        return import_module(".adapters", __name__)
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
