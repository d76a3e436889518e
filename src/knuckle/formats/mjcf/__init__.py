"""MJCF in, through MuJoCo's own parser (`pip install knuckle[mjcf]`), and out."""

from .read import from_mujoco, read_mjcf
from .write import to_mjcf, write_mjcf

__all__ = ["from_mujoco", "read_mjcf", "to_mjcf", "write_mjcf"]
