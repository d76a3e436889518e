"""Arguments and options that several commands have, and how the shell completes them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

MODEL_SUFFIXES = (".urdf", ".xml", ".mjcf", ".json")


class Base(StrEnum):
    """Where the root link of a file is."""

    fixed = "fixed"
    floating = "floating"


def complete_model(incomplete: str) -> list[str]:
    """Bundled robots, model files and folders that begin as what was typed so far."""
    from knuckle import robots

    typed = Path(incomplete)
    folder = typed if incomplete.endswith(("/", "\\")) else typed.parent
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    files = [f"{p}/" if p.is_dir() else str(p) for p in found if p.is_dir() or p.suffix.lower() in MODEL_SUFFIXES]
    return [name for name in (*robots.names(), *files) if name.startswith(incomplete)]


File = Annotated[
    str,
    typer.Argument(
        help="A model file (.urdf, .xml, .json), or the name of a bundled robot.", autocompletion=complete_model
    ),
]
BaseOption = Annotated[Base, typer.Option("--base", help="Whether the root link stands still or floats.")]
MimicOption = Annotated[bool, typer.Option("--mimic/--no-mimic", help="Whether mimic joints follow their source.")]
DegreesOption = Annotated[bool, typer.Option("--degrees", help="Angles are in degrees, given and shown.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]
