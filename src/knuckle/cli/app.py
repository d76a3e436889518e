"""The command `knuckle` and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from .commands import on_machine, on_models, on_motion, on_studies
from .one_line_errors import OneLineErrors

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    """Rigid-body dynamics: look into model files, check them, watch them move, measure, export.

    FILE is a model file or the name of a bundled robot: arm, humanoid, quadruped and others.

    Exit codes: 0 all is well, 1 the model is bad or a check failed, 2 the command cannot be used like that.

    Examples:

    - `knuckle demo` moves an arm, and writes a plot and a replay for the browser

    - `knuckle info robot.urdf` lists joints, limits and frames

    - `knuckle check robot.urdf --json` says what is wrong with a file, for a program

    - `knuckle accuracy robot.urdf` says how many digits of its dynamics are right

    - `knuckle simulate arm --duration 2 --plot swing.png` lets a robot move

    - `knuckle view humanoid` opens it in the browser

    - `knuckle sweep study.toml --plot study.png` computes a study of many motions

    - `knuckle bench arm` measures this machine

    - `knuckle export arm --function inverse_dynamics --out arm.c` writes C

    - `knuckle convert robot.urdf robot.xml` writes MJCF

    - `knuckle cache` lists the compiled kernels on disk

    - `knuckle --install-completion` teaches your shell to complete all of this
    """


for command in (
    on_models.info,
    on_models.check,
    on_models.accuracy,
    on_motion.simulate,
    on_motion.view,
    on_studies.sweep,
    on_machine.bench,
    on_models.export,
    on_models.convert,
    on_machine.cache,
    on_motion.demo,
):
    app.command()(command)
