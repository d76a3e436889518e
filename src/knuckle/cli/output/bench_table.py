"""What `knuckle bench` prints."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def show(found: dict[str, Any], console: Console) -> None:
    """The table, and a line each on what the numbers are and on what is left out."""
    threads = f"{found['threads']} thread{'' if found['threads'] == 1 else 's'}"
    bodies = f"{found['bodies']} bod{'y' if found['bodies'] == 1 else 'ies'}, nv = {found['nv']}"
    tree = ", its spanning tree without the loop joints" if found["spanning_tree"] else ""
    console.print(f"[bold]{escape(found['model'])}[/]: {bodies}{tree}", highlight=False)
    console.print(_table(found))
    console.print(
        f"Microseconds per evaluation, best of a few; in brackets, how many times knuckle's. Batches on {threads}, "
        f"single states from Python (kn.bind). Where a library has no call for a batch, it is a loop in Python. "
        f"The Jacobian is that of {escape(found['frame'])}.",
        style="dim",
        highlight=False,
    )
    if found["largest_difference"] is not None:
        text = f"All compute the same: the largest relative difference is {found['largest_difference']:.0e}."
        console.print(text, style="dim", highlight=False)
    for library, why in found["left_out"].items():
        console.print(f"[yellow]Without {library}:[/] {escape(why)}", highlight=False)


def _table(found: dict[str, Any]) -> Table:
    rows = found["functions"]
    libraries = list(rows[0]["batch_s"])
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column("", no_wrap=True)
    for setting in (f"batch of {found['batch']}", "one state"):
        for library in libraries:
            heading = f"{setting}\n{library}" if library == libraries[0] else f"\n{library}"
            table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = [_cell(row[key], library) for key in ("batch_s", "one_state_s") for library in libraries]
        table.add_row(row["function"].replace("_", " "), *cells)
    return table


def _cell(seconds: dict[str, float], library: str) -> str:
    own, taken = seconds["knuckle"], seconds[library]
    text = _microseconds(taken)
    return f"[bold]{text}[/]" if library == "knuckle" else f"{text} [dim]({taken / own:.3g}×)[/]"


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:#.3g}".removesuffix(".")
