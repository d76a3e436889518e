"""MJCF in, through MuJoCo's own parser (the extra `mjcf`), and out."""

from .mjcf_reader import from_mujoco, read_mjcf
from .mjcf_writer import to_mjcf, write_mjcf

__all__ = ["from_mujoco", "read_mjcf", "to_mjcf", "write_mjcf"]
