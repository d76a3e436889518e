"""`knuckle demo`: a bundled arm reaches for a posture, is let go and swings; a report, a plot and a replay."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape

import knuckle as kn
from knuckle import robots
from knuckle.cli.controllers import towards
from knuckle.cli.failures import fail
from knuckle.cli.output.demo_plot import can_plot, save_plot
from knuckle.cli.output.describe import describe
from knuckle.cli.output.motion_report import energy_report
from knuckle.cli.output.tables import joint_table
from knuckle.extras import install, program
from knuckle.trajectory.trajectory import Trajectory

GOAL = (0.9, 1.2, -0.4, 1.1, 0.5, -0.8, 0.6)
BANDWIDTH = 1.0
REACHING, SWINGING, STEP = 2.0, 2.0, 0.5e-3
ARRIVED = 1e-3
"""How near the goal the arm has to come, in radians."""
KEPT = 1e-8
"""How well the swing keeps the energy: its largest error over the greatest kinetic energy."""

DEFAULT_PLOT, DEFAULT_REPLAY = Path("knuckle-demo.png"), Path("knuckle-demo.html")


class Timed(NamedTuple):
    """A motion, and how many seconds of it this machine computes in one."""

    motion: Trajectory
    factor: float


def run_demo(plot: Path | None, html: Path | None, console: Console) -> bool:
    """Prints the report and writes the files; true if the arm arrived and the swing kept its energy."""
    if plot is not None and not can_plot():
        raise fail(f"--plot needs matplotlib, which is not installed: {install('plot')}")
    model = robots.load("arm")
    _heading(console, f"knuckle {kn.__version__}: an arm of seven joints", 'model = kn.robots.load("arm")')
    console.print(joint_table(describe(model)["joints"], full=False))
    reach = _reached(model, console)
    swing = _swung(model, reach.motion.q[-1], console)
    console.print()
    _picture(reach.motion, swing.motion, plot, console)
    _replay(reach.motion, swing.motion, html or DEFAULT_REPLAY, console)
    for what, command in next_commands():
        console.print(f"{what:<8}[bold]{escape(command)}[/]", highlight=False, soft_wrap=True)
    return _missed(reach.motion) < ARRIVED and energy_report(swing.motion)["drift"] < KEPT


def next_commands() -> list[tuple[str, str]]:
    """What to type next, as it works in this shell and in this folder."""
    knuckle = program()
    if importlib.util.find_spec("viser") is not None:
        viewer = f"{knuckle} view arm"
    else:
        viewer = "make view" if _is_clone(Path.cwd()) else f"{install('view')} && {knuckle} view arm"
    return [("Viewer", viewer), ("Model", f"{knuckle} info arm"), ("Help", f"{knuckle} --help")]


def _is_clone(folder: Path) -> bool:
    """Whether a folder has knuckle's own Makefile."""
    makefile = folder / "Makefile"
    return makefile.is_file() and (folder / "src" / "knuckle").is_dir() and "\nview:" in makefile.read_text("utf-8")


def _reached(model: kn.Model, console: Console) -> Timed:
    """From upright to the goal."""
    control = towards(model, kn.neutral(model), np.array(GOAL), BANDWIDTH)
    done = _timed(
        lambda duration: kn.simulate(
            model, duration=duration, dt=STEP, controller=control.controller, parameters=control.parameters
        ),
        REACHING,
    )
    _heading(
        console,
        f"It reaches for a posture: {REACHING:g} s under a PD controller",
        "kn.simulate(model, duration=2, controller=pd, ...) with τ = ID(q, v, kp (goal − q) − kd v)",
    )
    x, y, z = done.motion.frame("tool0")[-1, :3, 3]
    strongest = int(np.argmax(np.max(np.abs(done.motion.tau), axis=0)))
    greatest = float(np.max(np.abs(done.motion.tau[:, strongest])))
    _line(console, "arrived", f"within [bold]{1e3 * _missed(done.motion):.2g} mrad[/] of the goal")
    _line(console, "hand at", f"({x:.3f}, {y:.3f}, {z:.3f}) m".replace("-", "−"))
    _line(console, "torques", f"up to {greatest:.0f} N m, at {model.joint_names[strongest]}")
    _line(console, "speed", _speed(done))
    return done


def _swung(model: kn.Model, q: Any, console: Console) -> Timed:
    """Let go there, with no friction."""
    free = model.without_friction()
    done = _timed(lambda duration: kn.simulate(free, q, duration=duration, dt=STEP), SWINGING)
    _heading(
        console,
        f"It is let go: {SWINGING:g} s of free swing, no friction, no stops",
        "kn.simulate(model.without_friction(), q, duration=2)",
    )
    said = energy_report(done.motion)
    _line(console, "energy", f"{said['before']:.9f} J → {said['after']:.9f} J")
    _line(console, "drift", f"at most [bold]{said['drift']:.1e}[/] of {said['greatest_kinetic']:.1f} J of motion")
    _line(console, "speed", _speed(done))
    return done


def _timed(simulated: Callable[[float], Trajectory], duration: float) -> Timed:
    simulated(2 * STEP)  # compiles
    began = time.perf_counter()
    motion = simulated(duration)
    return Timed(motion, duration / (time.perf_counter() - began))


def _missed(reach: Trajectory) -> float:
    return float(np.max(np.abs(reach.q[-1] - np.array(GOAL))))


def _speed(done: Timed) -> str:
    steps = round(done.motion.duration / STEP)
    return f"{steps} Runge-Kutta steps, [bold]{done.factor:,.0f} times real time[/]"


def _heading(console: Console, title: str, code: str) -> None:
    console.print()
    console.print(f"[bold]{title}[/]", highlight=False)
    console.print(f"[dim]  {code}[/]", highlight=False)


def _line(console: Console, what: str, text: str) -> None:
    console.print(f"  {what:<9}{text}", highlight=False)


def _picture(reach: Trajectory, swing: Trajectory, plot: Path | None, console: Console) -> None:
    if not can_plot():
        console.print(f"[yellow]No plot: matplotlib is not installed.[/] {escape(install('plot'))}", highlight=False)
        return
    target = plot or DEFAULT_PLOT
    save_plot(reach, swing, np.array(GOAL), target)
    console.print(f"Plot    [bold]{escape(str(target))}[/]", highlight=False, soft_wrap=True)


def _replay(reach: Trajectory, swing: Trajectory, html: Path, console: Console) -> None:
    """Both motions one after the other."""
    from knuckle.viewer.replay_page import replay_html

    times = np.concatenate([reach.times, reach.times[-1] + swing.times[1:]])
    q, v = (np.concatenate([getattr(reach, x), getattr(swing, x)[1:]]) for x in ("q", "v"))
    replay_html((reach.model, times, q, v), html, title="knuckle: an arm reaches, and is let go")
    console.print(
        f"Replay  [bold]{escape(str(html))}[/] [dim](open it in any browser)[/]", highlight=False, soft_wrap=True
    )
