"""URDF in and out."""

from .urdf_reader import read_urdf
from .urdf_writer import to_urdf, write_urdf

__all__ = ["read_urdf", "to_urdf", "write_urdf"]
