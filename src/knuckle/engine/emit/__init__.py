"""Printers: a program as source text for a compiler."""

from typing import TYPE_CHECKING, Any

from .llvm.batches.batch_loop import Lanes, to_llvm

if TYPE_CHECKING:
    from .c_code import to_c

__all__ = ["Lanes", "to_c", "to_llvm"]


def __getattr__(name: str) -> Any:
    """The printer of C is loaded when it is first asked for."""
    if name == "to_c":
        from .c_code import to_c

        return to_c
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
