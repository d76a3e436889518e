"""The commands and their options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .errors import FAILED, clean_errors

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Base(StrEnum):
    """Where the root link of a file is."""

    fixed = "fixed"
    floating = "floating"


File = Annotated[str, typer.Argument(help="A model file (.urdf, .xml, .json), or the name of a bundled robot.")]
BaseOption = Annotated[Base, typer.Option("--base", help="Whether the root link stands still or floats.")]
MimicOption = Annotated[bool, typer.Option("--mimic/--no-mimic", help="Whether mimic joints follow their source.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]


def _version(asked: bool) -> None:
    if asked:
        import knuckle

        print(f"knuckle {knuckle.__version__}")
        raise typer.Exit


@app.callback()
def knuckle(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Rigid-body dynamics: look into model files, check them, see a demonstration.

    Examples:

    - `knuckle demo` shows an arm swinging, and writes a plot

    - `knuckle info robot.urdf` lists joints, limits and frames

    - `knuckle check robot.urdf --json` says what is wrong with a file, for a program

    - `knuckle info arm --base floating` uses a bundled robot, with a floating base

    - `knuckle cache` lists the compiled kernels on disk
    """


@app.command()
def info(file: File, base: BaseOption = Base.fixed, mimic: MimicOption = True, json: JsonOption = False) -> None:
    """What is in a model: its size, its joints with their limits, its frames.

    Examples: `knuckle info robot.urdf`, `knuckle info arm --json`
    """
    from .describe import describe
    from .source import open_model
    from .tables import console, extras, joint_table, print_json, summary

    with clean_errors():
        about = describe(open_model(file, base.value, mimic))
        if json:
            print_json(about)
            return
        out = console()
        out.print(summary(about), joint_table(about["joints"]))
        for line in extras(about):
            out.print(line, highlight=False, markup=False)


@app.command()
def check(file: File, base: BaseOption = Base.fixed, mimic: MimicOption = True, json: JsonOption = False) -> None:
    """What a careful engineer would want to know about a model file before using it.

    The exit code is 0 if the model is fit for use, 1 if the audit found errors, 2 if the file cannot be read.

    Examples: `knuckle check robot.urdf`, `knuckle check robot.urdf --json`
    """
    from knuckle.model import audit

    from .check import as_json, as_text
    from .source import open_model
    from .tables import console, print_json

    with clean_errors():
        found = audit(open_model(file, base.value, mimic))
        if json:
            print_json(as_json(found))
        else:
            console().print(as_text(found), soft_wrap=True, end="")
        if not found.ok:
            raise typer.Exit(FAILED)


@app.command()
def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write the plot.", show_default="knuckle-demo.png")
    ] = None,
) -> None:
    """A bundled arm: its mass matrix, the torques that hold it, a second of free swing with the energy kept, a plot.

    Examples: `knuckle demo`, `knuckle demo --out swing.png`
    """
    from .demo import run_demo
    from .tables import console

    with clean_errors():
        if not run_demo(out, console()):
            raise typer.Exit(FAILED)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Throw all of them away.")] = False, json: JsonOption = False
) -> None:
    """The compiled kernels that are kept on disk: for which model and function, how large, how old.

    They are made again when they are needed. The environment variable KNUCKLE_CACHE_DIR says where they are.

    Examples: `knuckle cache`, `knuckle cache --clear`
    """
    from knuckle.run import store

    from .cache import kept, kernel_table, size
    from .tables import console, print_json

    with clean_errors():
        if clear:
            cleared = store.clear()
            if json:
                print_json({"folder": str(store.folder()), "cleared": cleared})
            else:
                print(f"{cleared} kernel{'' if cleared == 1 else 's'} thrown away from {store.folder()}")
            return
        about = kept()
        if json:
            print_json(about)
            return
        if about["kernels"]:
            console().print(kernel_table(about))
        print(f"{len(about['kernels'])} kernels, {size(about['bytes'])}, in {about['folder']}")
