"""What a simulation did, in numbers: as a table, and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from knuckle.model.labels import force_units, position_labels, position_units, velocity_labels
from knuckle.trajectory.trajectory import Trajectory

MOST_ROWS, MOST_PAIRS = 40, 2


def energy_report(trajectory: Trajectory) -> dict[str, float]:
    """Energies in joules at both ends, and what became of them.

    `work` is what the controller put in, the integral of τ·v by the trapezoidal rule. `drift` is how far the energy got
    from its first value, over the greatest kinetic energy: with no controller and no friction it is the error.
    """
    energy, kinetic = trajectory.energy, trajectory.kinetic_energy
    power = np.sum(trajectory.tau * trajectory.v, axis=-1)
    most = float(kinetic.max())
    return {
        "before": float(energy[0]),
        "after": float(energy[-1]),
        "greatest_kinetic": most,
        "work": float(np.trapezoid(power, trajectory.times)),
        "drift": float(np.max(np.abs(energy - energy[0]))) / most if most else 0.0,
    }


def contact_report(trajectory: Trajectory) -> list[dict[str, Any]] | None:
    """For each two bodies that touched: the parts of the rows in which they did and in which they slid, and the force.

    `greatest_force` in newtons is the largest of a row. None where contacts are not known.
    """
    if trajectory.contact_record is None:
        return None
    contacts, rows = trajectory.contacts, len(trajectory)
    report: list[dict[str, Any]] = []
    for first, second in dict.fromkeys(contacts.bodies):
        own = contacts.between(first, second)
        total = np.zeros((rows, 3))
        np.add.at(total, own.row, own.force)
        parts = {"touching": np.unique(own.row), "sliding": np.unique(own.row[~own.sticks])}
        greatest = float(np.linalg.norm(total, axis=1).max())
        shares = {name: len(x) / rows for name, x in parts.items()}
        report.append({"first": first, "second": second, **shares, "greatest_force": greatest})
    return report


def contact_line(trajectory: Trajectory) -> str:
    """How much contact there was: between whom, in which part of the rows, sliding, and the largest force."""
    contacts, report = trajectory.contacts, contact_report(trajectory)
    if not report:
        return "contact: nothing touched"
    names = [f"{x['first']} on {x['second']}" for x in report]
    others = f" and {len(names) - MOST_PAIRS} more" if len(names) > MOST_PAIRS else ""
    rows = [len(np.unique(x)) / len(trajectory) for x in (contacts.row, contacts.row[~contacts.sticks])]
    greatest = max(x["greatest_force"] for x in report)
    listed = escape(", ".join(names[:MOST_PAIRS])) + others
    return f"contact: {listed}; {rows[0]:.0%} of the time, {rows[1]:.0%} sliding, at most [bold]{greatest:.4g} N[/]"


def as_json(trajectory: Trajectory, wall: float, files: dict[str, str]) -> dict[str, Any]:
    """Everything `simulate` says, made of dicts, lists, strings and numbers."""
    names, moved = position_labels(trajectory.model), velocity_labels(trajectory.model)
    is_finite = trajectory.reason != "diverged"
    return {
        "model": trajectory.model.name,
        "integrator": trajectory.integrator,
        "dt": trajectory.dt,
        "duration": trajectory.duration,
        "rows": len(trajectory),
        "reason": trajectory.reason,
        "message": trajectory.message,
        "wall_s": wall,
        "real_time_factor": trajectory.duration / wall,
        "energy": energy_report(trajectory) if is_finite else None,
        "q": dict(zip(names, trajectory.q[-1].tolist(), strict=True)) if is_finite else None,
        "v": dict(zip(moved, trajectory.v[-1].tolist(), strict=True)) if is_finite else None,
        "contacts": contact_report(trajectory) if is_finite else None,
        "events": [{"name": o.name, "kind": o.kind, "time": o.time} for o in trajectory.events],
        "files": files,
    }


def show(trajectory: Trajectory, wall: float, console: Console, is_conserved: bool, degrees: bool = False) -> None:
    """A few lines and a table: how long it took, energies, where every variable went."""
    steps = f"steps of {1e3 * trajectory.dt:g} ms" if trajectory.dt else "steps of its own"
    console.print(
        f"[bold]{escape(trajectory.model.name)}[/]: {trajectory.duration:g} s, {trajectory.integrator}, {steps}, "
        f"in {wall:.3g} s: [bold]{_factor(trajectory.duration / wall)} real time[/]",
        highlight=False,
    )
    if trajectory.reason != "finished":
        console.print(f"[yellow]{trajectory.reason}[/] {escape(trajectory.message)}", highlight=False)
    if trajectory.reason == "diverged":
        return
    console.print(energy_line(trajectory, is_conserved), highlight=False)
    if trajectory.contact_record is not None:
        console.print(contact_line(trajectory), highlight=False)
    impacts = [o for o in trajectory.events if o.kind != "event" and o.name in trajectory.model.joint_names]
    if impacts:
        names = ", ".join(dict.fromkeys(o.name for o in impacts))
        console.print(f"at their stops: {escape(names)} ({len(impacts)} times)", highlight=False)
    console.print(variable_table(trajectory, degrees))


def energy_line(trajectory: Trajectory, is_conserved: bool) -> str:
    """Energy before and after; its error where nothing takes or gives any, else what the controller put in."""
    said = energy_report(trajectory)
    line = f"energy {said['before']:.6g} J → {said['after']:.6g} J"
    if is_conserved:
        return f"{line}, largest error [bold]{said['drift']:.1e}[/] of {said['greatest_kinetic']:.3g} J of motion"
    return f"{line}; the joint forces did {said['work']:.4g} J of work" if np.any(trajectory.tau) else line


def variable_table(trajectory: Trajectory, degrees: bool = False) -> Table:
    """Where each position variable began, ended and went, and the greatest force on those that have one."""
    model, q = trajectory.model, trajectory.q
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column("variable", overflow="fold")
    table.add_column("", style="dim")
    for heading in ("start", "end", "least", "most"):
        table.add_column(heading, justify="right", no_wrap=True)
    driven = bool(np.any(trajectory.tau))
    if driven:
        table.add_column("greatest force", justify="right", no_wrap=True)
    forces = dict(zip(velocity_labels(model), zip(trajectory.tau.T, force_units(model), strict=True), strict=True))
    labels = position_labels(model)
    for k, (name, unit) in enumerate(zip(labels[:MOST_ROWS], position_units(model), strict=False)):
        column, unit = (np.degrees(q[:, k]), "°") if degrees and unit == "rad" else (q[:, k], unit)
        row = [_number(x) for x in (column[0], column[-1], column.min(), column.max())]
        if driven:
            tau, force_unit = forces.get(name, (None, ""))
            row.append("" if tau is None else f"{_number(float(np.abs(tau).max()))} {force_unit}")
        table.add_row(escape(name), "" if unit == "1" else unit, *row)
    if len(labels) > MOST_ROWS:
        table.add_row(f"and {len(labels) - MOST_ROWS} more", "", *[""] * (5 if driven else 4))
    return table


def _number(x: float) -> str:
    return f"{round(x, 4) + 0.0:.4g}".replace("-", "−")


def _factor(x: float) -> str:
    return f"{x:,.0f} times" if x >= 10 else f"{x:.2g} times"
