"""MJCF in, through MuJoCo's own parser (`pip install knuckle[mjcf]`)."""

from .read import from_mujoco, read_mjcf

__all__ = ["from_mujoco", "read_mjcf"]
