"""Commands about a model: info, check, accuracy, export, convert."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from knuckle.cli.failures import FAILED, UnusableError, clean_errors
from knuckle.cli.options import Base, BaseOption, DegreesOption, File, JsonOption, MimicOption
from knuckle.errors import printable


class Language(StrEnum):
    """What code is written in."""

    c = "c"
    llvm = "llvm"


class Precision(StrEnum):
    """The numbers that code computes with."""

    float64 = "float64"
    float32 = "float32"


def info(
    file: File,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
    degrees: DegreesOption = False,
    json: JsonOption = False,
) -> None:
    """What is in a model: its size, its joints with their limits, its actuators, its frames.

    Examples: `knuckle info robot.urdf`, `knuckle info arm --degrees`, `knuckle info arm --json` (always in radians)
    """
    from knuckle.cli.model_argument import open_model
    from knuckle.cli.output.describe import describe
    from knuckle.cli.output.tables import console, extras, joint_table, print_json, summary

    with clean_errors():
        about = describe(open_model(file, base.value, mimic))
        if json:
            print_json(about)
            return
        out = console()
        out.print(summary(about), joint_table(about["joints"], degrees=degrees))
        for line in extras(about):
            out.print(line, highlight=False, markup=False)


def check(file: File, base: BaseOption = Base.fixed, mimic: MimicOption = True, json: JsonOption = False) -> None:
    """What a careful engineer would want to know about a model file before using it.

    The exit code is 0 if the model is fit for use, 1 if the audit found errors or the file holds no model, 2 if there
    is no such file.

    Examples: `knuckle check robot.urdf`, `knuckle check robot.urdf --json`
    """
    from knuckle.cli.model_argument import open_model
    from knuckle.cli.output.tables import console, print_json
    from knuckle.model import audit

    from .check import as_json, as_text

    with clean_errors():
        found = audit(open_model(file, base.value, mimic, tells=False))
        if json:
            print_json(as_json(found))
        else:
            console().print(as_text(found), soft_wrap=True, end="")
        if not found.ok:
            raise typer.Exit(FAILED)


def accuracy(
    file: File,
    states: Annotated[int, typer.Option("--states", "-n", min=1, help="How many random states.")] = 20,
    digits: Annotated[int, typer.Option("--digits", min=20, help="Digits of the reference.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="Of the random states.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Where to write the picture.", show_default="FILE's name, accuracy.png"),
    ] = None,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
    json: JsonOption = False,
) -> None:
    """How many digits of its dynamics are right, in double and single precision, and what would help.

    Every function is compared with the same text in fifty digits. Needs mpmath; gmpy2 makes it fast.

    Examples: `knuckle accuracy robot.urdf`, `knuckle accuracy humanoid --base floating --states 100 --plot digits.png`
    """
    from knuckle.accuracy import assess
    from knuckle.cli.model_argument import open_model
    from knuckle.cli.output.tables import print_json

    from .accuracy_report import as_json, picture

    with clean_errors():
        report = assess(open_model(file, base.value, mimic), states=states, digits=digits, seed=seed)
        if json:
            print_json(as_json(report))
            return
        for line in (*repr(report).splitlines(), "", picture(report, plot, file)):
            print(printable(line))


def _complete_function(incomplete: str) -> list[str]:
    from .export import functions

    return [name for name in functions() if name.startswith(incomplete)]


def export(
    file: File,
    function: Annotated[
        str,
        typer.Option("--function", "-f", help="A function of the library.", autocompletion=_complete_function),
    ] = "inverse_dynamics",
    language: Annotated[Language, typer.Option("--language", "-l", help="What to write.")] = Language.c,
    dtype: Annotated[Precision, typer.Option("--dtype", help="The precision of its numbers.")] = Precision.float64,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write it.", show_default="standard output")
    ] = None,
    frame: Annotated[
        str | None, typer.Option("--frame", help="The frame, for functions of one.", show_default=False)
    ] = None,
    external: Annotated[bool, typer.Option("--external-forces", help="Take a force on every body as well.")] = False,
    prefix: Annotated[str, typer.Option("--prefix", help="Before the function's name.", show_default=False)] = "",
    header: Annotated[
        Path | None, typer.Option("--header", help="Where to write the header of the C.", show_default=False)
    ] = None,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
) -> None:
    """A function of the library for this model, as source code: C99 without dependencies, or LLVM.

    The comment at its head says in which order the joints come, and in which frame and units everything is.

    Examples: `knuckle export arm -o arm.c --prefix arm_ --header arm.h`, `knuckle export arm -f jacobian --frame tool0
    --dtype float32`, `knuckle export robot.urdf -f forward_dynamics --language llvm`
    """
    from knuckle.cli.model_argument import open_model

    from .export import written

    with clean_errors():
        if header is not None and language is not Language.c:
            raise UnusableError(f"--header {header}: {language.value} has no headers; --language c has")
        model = open_model(file, base.value, mimic)
        text, declared = written(model, function, language.value, dtype.value, frame, external, prefix)
        if header is not None:
            header.write_text(declared, encoding="utf-8")
        if out is None:
            print(text, end="")
        else:
            out.write_text(text, encoding="utf-8")
            print(printable(f"{out}: {function} for {file}, {len(text.splitlines())} lines of {language.value}"))


def convert(
    file: File,
    out: Annotated[Path, typer.Argument(help="What to write: .urdf, .xml (MJCF) or .json (everything).")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse to write a file that cannot say everything.")
    ] = False,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
    merge: Annotated[
        bool, typer.Option("--merge/--no-merge", help="Whether links on fixed joints become part of their parents.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """The same model in another format, and what that format could not say.

    Examples: `knuckle convert robot.urdf robot.xml`, `knuckle convert robot.xml robot.urdf --strict`,
    `knuckle convert humanoid humanoid.json`
    """
    from knuckle.cli.model_argument import open_model
    from knuckle.cli.output.tables import print_json

    from .convert import converted, report

    with clean_errors():
        lost = converted(open_model(file, base.value, mimic, merge), out, lossy=not strict)
        if json:
            print_json({"file": str(out), "lost": [{"subject": where, "text": what} for where, what in lost]})
        else:
            report(out, lost)
