"""Printers: a program as source text for a compiler."""

from .llvm import Lanes, to_llvm

__all__ = ["Lanes", "to_llvm"]
