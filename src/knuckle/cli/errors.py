"""What goes wrong on the command line: one clean line on stderr and an exit code, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from knuckle.errors import ModelError

FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
"""Exit codes: what was asked for was found wrong; the input cannot be used; Ctrl-C."""


def fail(message: str) -> typer.Exit:
    """Prints the message in red and returns the exception to raise."""
    line = " ".join(message.split())
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] [red]{escape(line)}[/]", highlight=False)
    return typer.Exit(UNUSABLE)


@contextmanager
def clean_errors() -> Iterator[None]:
    """Turns a bad model, a missing file, a package that is not installed and Ctrl-C into a line each."""
    try:
        yield
    except (ModelError, ImportError) as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)) from None
    except KeyboardInterrupt:
        Console(stderr=True).print("stopped")
        raise typer.Exit(INTERRUPTED) from None
