"""`knuckle demo`: what the library does, in five seconds on a bundled arm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import knuckle as kn
from knuckle import robots

from .describe import describe
from .errors import fail
from .plot import INSTALL_PLOT, can_plot, save_plot
from .swing import Swing, swing
from .tables import joint_table, matrix_table

POSTURE = (-0.4, 2.0, -0.2, 0.4, 0.5, -0.8, 0.0)
DURATION, STEPS = 1.0, 500
KEPT = 1e-8
"""How well the demo keeps the energy: its largest error over the greatest kinetic energy."""

DEFAULT_OUT = Path("knuckle-demo.png")


def run_demo(out: Path | None, console: Console) -> bool:
    """Prints the tour and writes the plot; true if the energy was kept."""
    if out is not None and not can_plot():
        raise fail(f"--out needs matplotlib, which is not installed: {INSTALL_PLOT}")
    model = robots.load("arm")
    q, v = np.array(POSTURE), np.zeros(model.nv)
    _heading(console, f"knuckle {kn.__version__}: an arm of seven joints")
    console.print(joint_table(describe(model)["joints"], full=False))
    at = ", ".join(f"{x:g}" for x in POSTURE)
    _heading(console, "Its mass matrix H(q) in kg m²", f"kn.mass_matrix(model, q) at q = ({at})")
    console.print(matrix_table(kn.mass_matrix(model, q).tolist(), model.joint_names))
    _heading(console, "The torques that hold it there, in N m", "kn.inverse_dynamics(model, q, v, a) with v = a = 0")
    for name, torque in zip(model.joint_names, kn.inverse_dynamics(model, q, v, v), strict=True):
        console.print(f"  {name:<16}{round(torque, 3) + 0.0:>10.3f}".replace("-", "−"), highlight=False)
    _heading(console, "One second of free swing", "kn.forward_dynamics(model.without_friction(), q, v, 0)")
    motion = _watched_swing(model.without_friction(), q, v, console)
    error = float(np.max(np.abs(motion.drift)))
    console.print(
        f"  {STEPS} Runge-Kutta steps of {1e3 * DURATION / STEPS:g} ms; no friction, no stops at the limits",
        highlight=False,
    )
    console.print(f"  energy before  {motion.energy[0]:.9f} J", highlight=False)
    console.print(f"  energy after   {motion.energy[-1]:.9f} J", highlight=False)
    console.print(f"  largest error  [bold]{error:.1e}[/] of {motion.kinetic.max():.1f} J of motion", highlight=False)
    _picture(motion, model.joint_names, out, console)
    console.print("Next: [bold]knuckle info arm[/], [bold]knuckle check[/] on a file of yours, and the README")
    return error < KEPT


def _heading(console: Console, title: str, code: str = "") -> None:
    console.print()
    console.print(f"[bold]{title}[/]", highlight=False)
    if code:
        console.print(f"[dim]  {code}[/]", highlight=False)


def _watched_swing(model: kn.Model, q: np.ndarray, v: np.ndarray, console: Console) -> Swing:
    columns = TextColumn("  swinging"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=STEPS)
        return swing(model, q, v, DURATION, STEPS, tick=lambda: progress.advance(task))


def _picture(motion: Swing, names: tuple[str, ...], out: Path | None, console: Console) -> None:
    console.print()
    if not can_plot():
        console.print(f"[yellow]No plot: matplotlib is not installed.[/] {escape(INSTALL_PLOT)}", highlight=False)
        return
    target = out or DEFAULT_OUT
    save_plot(motion, names, "A second of free swing, without friction", target)
    console.print(f"Plot: [bold]{escape(str(target))}[/]", highlight=False, soft_wrap=True)
