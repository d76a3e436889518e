"""Commands about studies: sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knuckle.cli.failures import INTERRUPTED, UnusableError, clean_errors, tell
from knuckle.cli.options import JsonOption
from knuckle.errors import printable


def sweep(
    file: Annotated[Path, typer.Argument(help="A study: a .toml file.", metavar="STUDY")],
    into: Annotated[
        Path | None, typer.Option("--into", "-o", help="The folder of the results.", show_default="as the study says")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", help="Local processes, or workers of the cluster at most.", min=1)
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", help="A Ray cluster: auto, host:port, ray://host:port, or local.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", "-p", help="A picture of it: .png, .pdf, .svg.")] = None,
    what: Annotated[
        str | None, typer.Option("--what", help="Whose largest values the picture looks at.", show_default="the first")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Compare the checksums of what is there before going on.")
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar.")] = False,
    json: JsonOption = False,
) -> None:
    """Computes a study: rollouts or a kernel over many samples, here, over processes or over a Ray cluster.

    The same command goes on with what is in the folder: after Ctrl-C (exit code 130), a full disk, a crash. A study
    names functions of Python files, which are run.

    Examples:

    - `knuckle sweep study.toml --plot study.png`

    - `knuckle sweep study.toml --workers 8`

    - `knuckle sweep study.toml --address auto --json`
    """
    from knuckle.cli.commands.simulate_model import check_suffixes
    from knuckle.cli.output.tables import print_json
    from knuckle.cluster.study_file import StudyError, read_study

    with clean_errors():
        check_suffixes(out=None, plot=plot, html=None)
        try:
            study = read_study(file)
            other = {"into": into, "workers": workers, "address": address}
            found = study.sweep(
                progress=False if quiet else None, check=check, **{k: x for k, x in other.items() if x is not None}
            )
        except StudyError as error:
            raise UnusableError(str(error)) from None
        except KeyboardInterrupt as stop:
            tell(str(stop) or "stopped")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, TypeError, RuntimeError) as error:
            raise UnusableError(f"{file}: {type(error).__name__}: {error}") from None
        except OSError as error:
            notes = "; ".join(getattr(error, "__notes__", ()))
            raise UnusableError(f"{error.filename or file}: {error.strerror or error}. {notes}") from None
        if plot is not None:
            try:
                found.plot(plot, what=what)
            except ValueError as error:
                raise UnusableError(f"--what: {error}") from None
        if json:
            print_json(_as_json(found))
        else:
            print(
                "\n".join(
                    printable(line)
                    for line in repr(found).strip("<>").replace("knuckle.cluster.SweepResult", "sweep").splitlines()
                )
            )
            if plot is not None:
                print(printable(f"picture: {plot}"))


def _as_json(found: object) -> dict[str, object]:
    """A sweep in dicts, lists, strings and numbers."""
    from knuckle.cluster.sweep_reader import SweepResult

    assert isinstance(found, SweepResult)
    return {
        "folder": str(found.folder),
        "samples": found.count,
        "chunks": found.chunks,
        "failed": found.failed,
        "seconds": found.seconds,
        "instructions": found.instructions,
        "failures": [{"sample": one.sample, "reason": one.reason} for one in found.failures(20)],
        "results": {
            name: {
                "count": x.count, "mean": x.mean, "deviation": x.deviation,
                **{f"quantile_{100 * part:g}": x.quantile(part) for part in (0.0, 0.05, 0.5, 0.95, 1.0)},
                "largest": [list(one) for one in x.largest],
            }
            for name, x in found.summary.items()
        },
    }  # fmt: skip
