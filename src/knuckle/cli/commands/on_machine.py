"""Commands about this machine: bench, cache."""

from __future__ import annotations

from typing import Annotated

import typer

from knuckle.cli.failures import UnusableError, clean_errors
from knuckle.cli.options import Base, BaseOption, JsonOption, MimicOption, complete_model
from knuckle.errors import printable


def bench(
    file: Annotated[
        str,
        typer.Argument(help="A model file, or the name of a bundled robot.", autocompletion=complete_model),
    ] = "arm",
    batch: Annotated[int, typer.Option("--batch", "-n", help="States in a batch.", min=1, max=10**7)] = 4096,
    threads: Annotated[int, typer.Option("--threads", help="Threads for batches.", min=1, max=1024)] = 1,
    frame: Annotated[
        str | None, typer.Option("--frame", help="Whose Jacobian.", show_default="the last frame of the model")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="Time for each number, about.", min=0.001, max=60.0)
    ] = 0.1,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
    json: JsonOption = False,
) -> None:
    """How fast this machine computes with a model, in batches and state by state.

    Beside Pinocchio and MuJoCo where these are installed and compute the same; that is checked first. Joint damping and
    friction are left out, as these leave them out.

    Examples: `knuckle bench`, `knuckle bench humanoid --batch 1024 --threads 2`, `knuckle bench robot.urdf --json`
    """
    from knuckle.cli.model_argument import open_model
    from knuckle.cli.output.bench_table import show
    from knuckle.cli.output.tables import console, print_json

    from .bench import measured

    with clean_errors():
        found = measured(open_model(file, base.value, mimic), batch, threads, frame, seconds)
        if json:
            print_json(found)
        else:
            show(found, console())


def cache(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[warm FILE…]", help="Compiles what is mostly needed of robots.", autocompletion=complete_model
        ),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Throw all of them away.")] = False,
    limit: Annotated[
        str | None, typer.Option("--limit", help="Keep so much from now on, such as 500MB.", show_default=False)
    ] = None,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
    json: JsonOption = False,
) -> None:
    """The compiled kernels that are kept on disk: for which model and function, how large, how old.

    They are made again when they are needed. Beyond a limit, 1 GB unless said otherwise, those that were not used for
    longest are removed. The environment variables KNUCKLE_CACHE_DIR and KNUCKLE_CACHE_LIMIT say where they are and how
    much is kept.

    `warm` makes the code of a robot beforehand: of the dynamics, of simulations, rollouts and the viewer.

    Examples: `knuckle cache`, `knuckle cache warm robot.urdf`, `knuckle cache --limit 500MB`, `knuckle cache --clear`
    """
    from knuckle.cli.output.tables import console, print_json
    from knuckle.engine.native import disk_cache
    from knuckle.engine.native.byte_sizes import parsed_size

    from .cache import kept, kernel_table, size
    from .warm_cache import files_of, warmed

    with clean_errors():
        for file in (files := files_of(arguments or [])):
            from knuckle.cli.model_argument import open_model

            for what, seconds in warmed(open_model(file, base.value, mimic)):
                if not json:
                    print(printable(f"{file}: {what}, {seconds:.2f} s"), flush=True)
        if clear:
            cleared = disk_cache.clear()
            if json:
                print_json({"folder": str(disk_cache.folder()), "cleared": cleared})
            else:
                print(f"{cleared} kernel{'' if cleared == 1 else 's'} thrown away from {disk_cache.folder()}")
            return
        if limit is not None:
            try:
                gone = disk_cache.set_limit(parsed_size(limit))
            except ValueError as error:
                raise UnusableError(f"--limit: {error}") from None
            if not json:
                print(
                    f"{size(disk_cache.limit())} are kept at most; {gone} kernel{'' if gone == 1 else 's'} thrown away"
                )
        about = kept()
        if json:
            print_json(about)
            return
        if about["kernels"] and not files:
            console().print(kernel_table(about))
        used = f"{size(about['bytes'])} of {size(about['limit_bytes'])}"
        print(f"{len(about['kernels'])} kernels, {used}, in {about['folder']}")
