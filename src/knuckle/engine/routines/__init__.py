"""Loops over numbers in memory, written in plain Python and compiled as they stand."""

from .codes import code_of
from .language import Code, Codes, Reals, Wholes, apply
from .routine import BoundRoutine, Routine, routine
from .to_llvm import Record

__all__ = ["BoundRoutine", "Code", "Codes", "Reals", "Record", "Routine", "Wholes", "apply", "code_of", "routine"]
