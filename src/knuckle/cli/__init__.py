"""The command `knuckle`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line."""
    try:
        from .app import app

        app(prog_name="knuckle")
    except KeyboardInterrupt:
        sys.exit(130)
