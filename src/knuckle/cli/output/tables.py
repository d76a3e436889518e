"""Tables for the terminal."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from knuckle.errors import printable

_AXES = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z",
         (-1.0, 0.0, 0.0): "−x", (0.0, -1.0, 0.0): "−y", (0.0, 0.0, -1.0): "−z"}  # fmt: skip


def print_json(value: Any) -> None:
    """A value as JSON on stdout, for other programs."""
    print(json.dumps(value, indent=2, allow_nan=False))


def summary(about: dict[str, Any]) -> RenderableType:
    """What a model is, in a few lines."""
    shapes, frames = about["shapes"], [frame["name"] for frame in about["frames"]]
    pictures = f"{shapes['visual']} visual, {shapes['collision']} collision"
    if shapes["meshes"]:
        pictures += f"; {shapes['meshes_found']} of {shapes['meshes']} meshes found"
    rows = [
        ("file", about["file"] and printable(f"{about['file']} ({about['format']})")),
        ("bodies", f"{about['bodies']} on {about['base']}, {about['mass']:.4g} kg in motion"),
        ("variables", f"nq = {about['nq']} positions, nv = {about['nv']} velocities"),
        ("mobility", about["mobility"]),
        ("gravity", "({:g}, {:g}, {:g}) m/s²".format(*about["gravity"])),
        ("frames", ", ".join(frames[:12]) + (f" and {len(frames) - 12} more" if len(frames) > 12 else "")),
        ("shapes", pictures if shapes["visual"] or shapes["collision"] else ""),
    ]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value:
            grid.add_row(name, escape(value))
    return Group(Text(about["name"], style="bold"), grid)


def joint_table(joints: Sequence[dict[str, Any]], full: bool = True, degrees: bool = False) -> Table:
    """The joints in order; with `full`, also where they hang, and their limits of force and their resistance."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 0))
    table.add_column("q", justify="right", style="dim", no_wrap=True)
    table.add_column("joint", overflow="fold")
    table.add_column("type", no_wrap=True)
    if full:
        table.add_column("parent → body", overflow="fold")
    table.add_column("range", justify="right", no_wrap=True)
    if full:
        table.add_column("effort", justify="right", no_wrap=True)
    table.add_column("damping", justify="right", no_wrap=True)
    for joint in joints:
        start, stop = joint["q"]
        place = str(start) if stop - start == 1 else f"{start}-{stop - 1}" if stop > start else ""
        kind = joint["type"] + ("" if joint["axis"] is None else f" {_axis(joint['axis'])}")
        row = [place, escape(joint["name"]), kind]
        if full:
            row.append(escape(f"{joint['parent']} → {joint['body']}"))
        row.append(escape(_range(joint, degrees)))
        if full:
            row.append(_each(joint["effort"]))
        table.add_row(*row, _each(joint["damping"]))
    return table


def extras(about: dict[str, Any]) -> Iterable[str]:
    """A line each for what is not in the table: couplings, loops, friction, rotors, springs, force elements."""
    for joint in about["joints"]:
        name = joint["name"]
        if follows := joint["follows"]:
            yield f"q[{name}] = {follows['law']}"
        for key in ("friction", "rotor_inertia", "stiffness"):
            if any(joint[key]):
                yield f"{name}: {key.replace('_', ' ')} {_each(joint[key])}"
    for x in about["actuators"]:
        ranges = (f"{what} {low:g} … {high:g}".replace("-", "−") for what, (low, high) in x["ranges"].items())
        state = (f"state of a {x['state']}",) if x["state"] else ()
        yield f"{x['name']}: {', '.join((x['type'] + ' actuator ' + x['at'], *state, *ranges))}"
    for loop in about["loops"]:
        yield f"{loop['name']}: {loop['type']} loop joint from {loop['predecessor']} to {loop['successor']}"
    for element in about["elements"]:
        yield f"{element['name']}: {element['type'].lower()} at {', '.join(element['frames'])}"


def matrix_table(rows: Sequence[Sequence[float]], names: Sequence[str]) -> Table:
    """A square matrix with the names of its rows."""
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim", padding=(0, 1))
    table.add_column("", style="dim")
    for j in range(len(rows)):
        table.add_column(str(j), justify="right")
    largest = max((abs(x) for row in rows for x in row), default=1.0)
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        table.add_row(f"{i} {escape(name)}", *(_entry(x, largest, i == j) for j, x in enumerate(row)))
    return table


def _entry(x: float, largest: float, diagonal: bool) -> str:
    text = f"{x:.4f}".replace("-", "−") if round(x, 4) else "0"
    return f"[bold]{text}[/]" if diagonal else f"[dim]{text}[/]" if abs(x) < 1e-3 * largest else text


def _axis(axis: Sequence[float]) -> str:
    known = _AXES.get(tuple(float(x) + 0.0 for x in axis))  # type: ignore[arg-type]
    return known or "({:.3g}, {:.3g}, {:.3g})".format(*axis)


def _range(joint: dict[str, Any], degrees: bool = False) -> str:
    if joint["follows"]:
        return "follows"
    pairs = [(a, b) for a, b in zip(joint["lower"], joint["upper"], strict=True) if a is not None or b is not None]
    if not pairs:
        return "unlimited" if joint["lower"] else ""
    if len(pairs) > 1:
        return f"{len(pairs)} limits"
    (low, high), unit = pairs[0], joint["q_units"][0] if len(joint["q_units"]) == 1 else ""
    scale, unit = (180 / math.pi, "°") if degrees and unit == "rad" else (1.0, unit)
    ends = ["∞" if x is None else f"{scale * x:.4g}".replace("-", "−") for x in (low, high)]
    return f"{ends[0]} … {ends[1]} {unit}".strip()


def _each(values: Sequence[float | None]) -> str:
    shown = ["∞" if x is None else f"{x:g}" for x in values]
    return shown[0] if len(set(shown)) == 1 else ", ".join(shown)


def console() -> Console:
    """Standard output; wide where it goes to a file or another program."""
    out = Console(emoji=False)
    return out if out.is_terminal or "COLUMNS" in os.environ else Console(width=120, emoji=False)
