"""URDF in and out."""

from .read import read_urdf
from .write import to_urdf, write_urdf

__all__ = ["read_urdf", "to_urdf", "write_urdf"]
