"""Commands about models that move: simulate, view, demo."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from knuckle.cli.failures import FAILED, INTERRUPTED, UnusableError, clean_errors
from knuckle.cli.options import Base, BaseOption, DegreesOption, File, JsonOption, MimicOption, complete_model
from knuckle.errors import printable


class Controller(StrEnum):
    """What drives the joints."""

    none = "none"
    hold = "hold"
    pd = "pd"


class Method(StrEnum):
    """How time is stepped through."""

    euler = "euler"
    heun = "heun"
    rk4 = "rk4"
    adaptive = "adaptive"
    implicit = "implicit"
    bdf1 = "bdf1"
    bdf2 = "bdf2"
    variational = "variational"
    variational4 = "variational4"
    contact = "contact"


class AtLimits(StrEnum):
    """What joint limits do."""

    none = "none"
    rigid = "rigid"
    compliant = "compliant"


def simulate(
    file: File,
    duration: Annotated[float, typer.Option("--duration", "-t", help="How long, in seconds.", min=0.0)] = 1.0,
    dt: Annotated[
        float | None, typer.Option("--dt", help="The step in seconds.", show_default="0.001, or the method's own")
    ] = None,
    controller: Annotated[
        Controller,
        typer.Option("--controller", "-c", help="Nothing, a spring to where it starts, or one to --goal."),
    ] = Controller.none,
    integrator: Annotated[
        Method | None,
        typer.Option("--integrator", "-i", help="How time is stepped through.", show_default="as the model needs it"),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option("--start", help="Where it starts: joint=value, in rad or m; several with commas.", metavar="J=X"),
    ] = None,
    speed: Annotated[
        list[str] | None, typer.Option("--speed", help="How fast it starts, in the same way.", metavar="J=X")
    ] = None,
    goal: Annotated[
        list[str] | None, typer.Option("--goal", help="Where pd pulls it; else to q = 0.", metavar="J=X")
    ] = None,
    bandwidth: Annotated[
        float, typer.Option("--bandwidth", help="How stiff hold and pd are, in Hz.", min=0.0, max=1e4)
    ] = 2.0,
    joint_limits: Annotated[AtLimits, typer.Option("--joint-limits", help="What joint limits do.")] = AtLimits.none,
    stop_bandwidth: Annotated[
        float, typer.Option("--stop-bandwidth", help="How stiff compliant limits are, in Hz.", min=0.0, max=1e4)
    ] = 20.0,
    joint_friction: Annotated[
        bool,
        typer.Option(
            "--joint-friction/--no-joint-friction", help="Whether joints have the damping and friction of the file."
        ),
    ] = True,
    ground: Annotated[bool, typer.Option("--ground", help="Put a floor under it, where it begins.")] = False,
    ground_height: Annotated[
        float | None, typer.Option("--ground-height", help="Put the floor at this height instead, in metres.")
    ] = None,
    friction: Annotated[
        float | None, typer.Option("--friction", help="Of the floor, with everything on it.", show_default="1", min=0.0)
    ] = None,
    contacts: Annotated[
        bool | None,
        typer.Option("--contacts/--no-contacts", help="Whether bodies touch.", show_default="if there is a floor"),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The trajectory, as .npz, .csv or .nc.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", "-p", help="A picture of it: .png, .pdf, .svg.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="A replay that any browser opens.")] = None,
    degrees: DegreesOption = False,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
    json: JsonOption = False,
) -> None:
    """Lets a model move: freely, held where it is, or pulled to a goal by a PD controller.

    The exit code is 1 if the motion diverged or stalled, 130 after Ctrl-C; what was computed until then is written.

    Examples:

    - `knuckle simulate double_pendulum -t 5 --start upper_pivot=2 --plot swing.png`

    - `knuckle simulate arm -c pd --goal elbow_pitch=90,shoulder_pitch=30 --degrees --html arm.html`

    - `knuckle simulate arm -t 3 --joint-limits compliant --out swing.csv`

    - `knuckle simulate robot.urdf --base floating -c hold --integrator variational --json`

    - `knuckle simulate quadruped -c hold --ground --friction 0.8 --html standing.html`
    """
    from knuckle.cli.model_argument import open_model
    from knuckle.cli.output import motion_report
    from knuckle.cli.output.tables import console, print_json

    from .simulate_model import check_suffixes, on_ground, run, write_files

    with clean_errors():
        check_suffixes(out=out, plot=plot, html=html)
        model = open_model(file, base.value, mimic)
        model = model if joint_friction else model.without_friction()
        if ground or ground_height is not None:
            model = on_ground(model, start or (), ground_height, friction, degrees)
        elif friction is not None:
            raise UnusableError("--friction is that of a floor: it goes with --ground")
        done = run(
            model, duration, dt, controller.value, integrator.value if integrator else None, contacts,
            start or (), speed or (), goal or (), bandwidth,
            None if joint_limits is AtLimits.none else joint_limits.value, stop_bandwidth, degrees,
        )  # fmt: skip
        for warning in done.warnings:
            typer.echo(f"warning: {printable(warning)}", err=True)
        files = write_files(done.trajectory, out, plot, html)
        if json:
            print_json(motion_report.as_json(done.trajectory, done.wall, files))
        else:
            screen = console()
            motion_report.show(done.trajectory, done.wall, screen, done.is_conserved, degrees)
            for what, path in files.items():
                screen.print(printable(f"{what}: {path}"), highlight=False, markup=False, soft_wrap=True)
        code = {"diverged": FAILED, "stalled": FAILED, "interrupted": INTERRUPTED}.get(done.trajectory.reason, 0)
        if code:
            raise typer.Exit(code)


def view(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Model files, bundled robots, or trajectories that simulate wrote (.npz): one or several.",
            autocompletion=complete_model,
        ),
    ],
    start: Annotated[
        list[str] | None,
        typer.Option("--start", help="Where it stands: joint=value, in rad or m.", metavar="J=X"),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Where it is served; else the next free port.", max=65535)] = 8080,
    host: Annotated[str, typer.Option("--host", help="Who may connect: 0.0.0.0 lets others in.")] = "127.0.0.1",
    speed: Annotated[float, typer.Option("--speed", help="Of a trajectory, times real time.", min=0.001)] = 1.0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser of this computer.")] = False,
    base: BaseOption = Base.fixed,
    mimic: MimicOption = True,
) -> None:
    """Shows robots in the browser, with sliders for their joints and a live simulation; or plays trajectories.

    It is served to this computer alone, unless --host says otherwise. Ctrl-C ends it.

    Examples: `knuckle view humanoid`, `knuckle view robot.urdf other.urdf --open`,
    `knuckle simulate arm --out swing.npz` and then `knuckle view swing.npz`
    """
    from .look import show

    with clean_errors():
        show(files, start or (), port, host, speed, open_browser, base.value, mimic)


def demo(
    plot: Annotated[
        Path | None, typer.Option("--plot", "-p", help="Where to write the plot.", show_default="knuckle-demo.png")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Where to write the replay.", show_default="knuckle-demo.html")
    ] = None,
) -> None:
    """A bundled arm reaches for a posture under a PD controller, is let go, and swings: a report, a plot, a replay.

    Examples: `knuckle demo`, `knuckle demo --plot arm.png --html arm.html`
    """
    from knuckle.cli.output.tables import console

    from .demo import run_demo
    from .simulate_model import check_suffixes

    with clean_errors():
        check_suffixes(plot=plot, html=html)
        if not run_demo(plot, html, console()):
            raise typer.Exit(FAILED)
