"""Model files: URDF in and out, MJCF in, JSON both ways; adapters to other libraries."""

from . import adapters
from .json import read_json, to_json, write_json
from .load import load, loads, save
from .mjcf import from_mujoco, read_mjcf
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
    "to_urdf",
    "write_json",
    "write_urdf",
]
