"""Errors in the words of a command: one line, as all others are."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from .failures import fail


class OneLineErrors(TyperGroup):
    """Commands whose wrong options are one line on stderr, and which end quietly where nobody reads on."""

    def main(self, *args: Any, standalone_mode: bool = True, **kwargs: Any) -> Any:
        """Runs a command; a usage error is a line and the exit code 2."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **kwargs)
        try:
            code = super().main(*args, standalone_mode=False, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            nobody_reads()
            code = 0
        except typer.Abort:
            sys.exit(130)
        except Exception as error:
            text = getattr(error, "format_message", None)
            if text is None:
                raise
            if not text():  # the help was shown instead
                sys.exit(getattr(error, "exit_code", 2))
            context = getattr(error, "ctx", None)
            where = f"; {context.command_path} --help says more" if context is not None else ""
            sys.exit(fail(f"{text().rstrip('.')}{where}", getattr(error, "exit_code", 2)).exit_code)
        sys.exit(code if isinstance(code, int) else 0)


def nobody_reads() -> None:
    """Standard output goes nowhere from here on: what read it, such as `head`, has ended."""
    with open(os.devnull, "w") as nothing:
        try:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
        except (OSError, ValueError):  # a stream that is no file
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
