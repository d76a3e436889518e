"""Printers: a program as source text for a compiler."""

from .c import to_c
from .llvm import Lanes, to_llvm

__all__ = ["Lanes", "to_c", "to_llvm"]
