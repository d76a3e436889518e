"""What goes wrong on the command line: one clean line on stderr and an exit code, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from knuckle.errors import ModelError, printable

FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
"""Exit codes: the model is bad or a check failed; the command cannot be used like that; Ctrl-C."""


class UnusableError(Exception):
    """What was asked for cannot be done as it was asked for: a file that is not there, words that do not exist."""


def tell(message: str) -> None:
    """Prints a line on stderr."""
    typer.echo(printable(" ".join(message.split())), err=True)


def fail(message: str, code: int = UNUSABLE) -> typer.Exit:
    """Prints the message in red and returns the exception to raise."""
    line = printable(" ".join(message.split()))
    Console(stderr=True, soft_wrap=True, emoji=False).print(
        f"[bold red]error:[/] [red]{escape(line)}[/]", highlight=False
    )
    return typer.Exit(code)


@contextmanager
def clean_errors() -> Iterator[None]:
    """Turns a bad model, a missing file, a package that is not installed and Ctrl-C into a line each."""
    try:
        yield
    except BrokenPipeError:  # what read our output has ended: no error
        raise
    except ModelError as error:
        raise fail(str(error), FAILED) from None
    except (UnusableError, ImportError) as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)) from None
    except KeyboardInterrupt:
        Console(stderr=True).print("stopped")
        raise typer.Exit(INTERRUPTED) from None
