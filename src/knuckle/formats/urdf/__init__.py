"""URDF in and out."""

from .read import read_urdf

__all__ = ["read_urdf"]
