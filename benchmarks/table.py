"""Results as text: tables that read well in a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median, quantiles
from typing import Any

FUNCTIONS = ("inverse dynamics", "forward dynamics", "mass matrix", "frame Jacobian")
ORDER = ("knuckle, float64", "knuckle, float32", "knuckle, bound", "knuckle", "Pinocchio", "MuJoCo", "CasADi's C")

NOTES = """\
µs per evaluation, one thread. In brackets: how many times as long as the first line of its group. The last column is
the largest relative difference from knuckle's uncompiled Python text, over all functions of the line, on 16 states.

- Pinocchio: `rneaInParallel` and `abaInParallel` on one thread for batches; it has no batch call for `crba` and
  `computeFrameJacobian`, which run in a loop in Python.
- MuJoCo: a loop in Python that sets the state and calls `mj_kinematics`, `mj_comPos` and then `mj_comVel` and
  `mj_rne`, `mj_crb` and `mj_factorM` (so the matrix is factorised too), or `mj_jacBody`; forward dynamics by
  `mj_forward` with constraints, contacts and sensors off.
- CasADi's C: knuckle's texts on CasADi's symbols, the C that CasADi generates, compiled with `cc -O3 -march=native`, in
  a loop in C for batches, by `casadi.FunctionBuffer` for one state, which is the fastest of its ways from Python.
- Pinocchio and MuJoCo are the wheels of PyPI, built for processors of any age; built from source for this one they may
  be faster.
- Damping, friction and mimic joints are off everywhere: all of them compute the same numbers."""


def grid(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with aligned columns: words to the left in the first, numbers to the right."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = (c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return f"| {' | '.join([first, *others])} |"

    rule = "|".join(["", "-" * (widths[0] + 2), *("-" * (w + 1) + ":" for w in widths[1:]), ""])
    return "\n".join([line(headings), rule, *map(line, rows)])


def digits(x: float, unit: float = 1.0) -> str:
    """Three digits, without powers of ten."""
    x /= unit
    return "-" if math.isnan(x) else f"{x:.{max(0, 2 - math.floor(math.log10(x)))}f}"


def robot(record: dict[str, Any]) -> str:
    """Everything that was measured of one mechanism."""
    lines: list[list[str]] = []
    for setting, label in (("batch", f"{record['batch']} states"), ("one state", "one state")):
        found = {(r["library"], r["function"]): r for r in record["rows"] if r["setting"] == setting}
        libraries = sorted({library for library, _ in found}, key=ORDER.index)
        for library in libraries:
            of = [found.get((library, function)) for function in FUNCTIONS]
            bases = [found.get((libraries[0], function)) for function in FUNCTIONS]
            cells = [_cell(r, base) for r, base in zip(of, bases, strict=True)]
            worst = max(r["error"] for r in of if r)
            lines.append([f"{label}: {library}", *cells, f"{worst:.0e}"])
    left_out = [f"Left out: {x['library']}, {x['function']}: {x['reason']}." for x in record["left out"]]
    title = (
        f"### {record['title']}\n\n{record['bodies']} bodies, {record['nv']} freedoms; Jacobian of `{record['frame']}`."
    )
    return "\n\n".join([title, grid(["", *FUNCTIONS, "error"], lines), *left_out])


def _cell(row: dict[str, Any] | None, base: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    times = f"({digits(row['best'] / base['best'])}×)" if base and row is not base else "(1×)"
    return f"{digits(row['best'], 1e-6)} {times}"


def start(results: dict[str, Any]) -> str:
    """The import and the first calls."""
    rows = [
        [f"{r['name']}, {r['function']}", digits(r["cold"]), digits(r["warm"], 1e-3)] for r in results["first calls"]
    ]
    said = f"`import knuckle` takes {digits(results['import'])} s."
    return "\n\n".join(
        ["### The first call", said, grid(["fresh process, one state", "empty cache [s]", "from the disk [ms]"], rows)]
    )


def scaling(records: Sequence[dict[str, Any]]) -> str:
    """Cost per body and its surroundings."""
    rows: list[list[str]] = []
    for r in records:
        label = f"{r['shape']}, {r['bodies']} bodies"
        if "left out" in r:
            rows.append([label, *["-"] * 5])
            continue
        n, theirs = r["bodies"], r.get("Pinocchio")
        peer = [digits(theirs / n, 1e-9), digits(theirs / r["best"]) + "×"] if theirs else ["-", "-"]
        ours = digits(r["best"] / n, 1e-9) + ("" if r["compiled"] else " (plain Python)")
        rows.append([label, ours, *peer, digits(r["first call"]), digits(r["memory"], 1e6)])
    headings = ["forward dynamics", "ns per body", "Pinocchio", "ratio", "first call [s]", "memory [MB]"]
    left_out = [f"Left out: {r['shape']}, {r['bodies']} bodies: {r['left out']}." for r in records if "left out" in r]
    return "\n\n".join(["### Cost per body", grid(headings, rows), *left_out])


def noise(results: dict[str, Any]) -> str:
    """How far the middle repetition was from the best."""
    spreads = [row["middle"] / row["best"] for record in results["robots"] for row in record["rows"]]
    typical, most = median(spreads), quantiles(spreads, n=10)[-1]
    machine = results["machine"]
    load = f"load {machine['load at start']} to {machine['load at end']} on {machine['cores']} cores"
    return (
        f"Best of {results['rounds']} short repetitions, taken in turns. The median repetition took {typical:.2f} times"
        f" the best in the typical row, more than {most:.2f} times in one row of ten; {load}."
    )


def machine(results: dict[str, Any]) -> str:
    """Where and when."""
    m = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items() if version)
    compiler = f", {m['compiler']}" if m["compiler"] else ""
    return (
        f"{m['date']}. {m['processor']}, {m['cores']} cores, {m['vector bits']}-bit vectors, {m['system']}, "
        f"Python {m['python']}{compiler}. {versions}."
    )


def summary(results: dict[str, Any]) -> str:
    """In one small table: times, and how many times faster than Pinocchio."""
    rows: list[list[str]] = []
    for record in results["robots"]:
        found = {(r["setting"], r["library"], r["function"]): r["best"] for r in record["rows"]}

        def against(setting: str, ours: str, function: str, found: dict[Any, float] = found) -> str:
            mine, theirs = found[setting, ours, function], found[setting, "Pinocchio", function]
            return f"{digits(mine, 1e-6)} ({theirs / mine:.1f}×)"

        cells = [against("batch", "knuckle, float64", function) for function in FUNCTIONS[:3]]
        cells += [against("one state", "knuckle, bound", function) for function in FUNCTIONS[:2]]
        rows.append([record["title"], *cells])
    headings = ["µs (times faster than Pinocchio)", "inverse", "forward", "mass matrix", "one inverse", "one forward"]
    return grid(headings, rows)


def everything(results: dict[str, Any]) -> str:
    """The whole report."""
    parts = [machine(results), noise(results), *results.get("notes", []), NOTES, *map(robot, results["robots"])]
    parts += [start(results), scaling(results["scaling"])]
    return "\n\n".join(parts) + "\n"
