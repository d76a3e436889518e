"""Pictures and tables of the study for docs/accuracy.md: `python benchmarks/accuracy/plots.py [FOLDER]`.

Reads benchmarks/results/accuracy_*.json, writes accuracy_robots.png, accuracy_book.png and accuracy_drift.png, and
prints the table of robots and the rows in which knuckle is not first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

RESULTS = Path(__file__).resolve().parent.parent / "results"
COLORS = {"knuckle": "#0072B2", "Pinocchio": "#E69F00", "MuJoCo": "#009E73", "Drake": "#CC79A7"}
COLORS["knuckle float32"] = "#D55E00"
OURS = ("knuckle", "knuckle text")
OTHER_MECHANISM = 1e-10
"""A library whose errors are above this reads another mechanism from the file."""
AS_GOOD = 1.5
"""Errors that differ by less are the same: half a rounding."""


def read(name: str) -> Any:
    path = RESULTS / f"accuracy_{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def mine(errors: dict[str, list[float]], ending: str = "") -> list[float] | None:
    """knuckle's, by its kernels where they were measured, else by its texts."""
    return errors.get(f"knuckle{ending}", errors.get(f"knuckle{ending} text"))


def compared(row: dict[str, Any]) -> dict[str, dict[str, list[float]]]:
    """The errors by function and library, without libraries that read another mechanism."""
    foreign = {
        library
        for errors in row["errors"].values()
        for library, (median, _) in errors.items()
        if library in ("Pinocchio", "MuJoCo", "Drake") and (median is None or not median < OTHER_MECHANISM)
    }
    found: dict[str, dict[str, list[float]]] = {}
    for name, errors in row["errors"].items():
        kept = {k: v for k, v in errors.items() if k in ("Pinocchio", "MuJoCo", "Drake") and k not in foreign}
        for label, ending in (("knuckle", ""), ("knuckle float32", " float32")):
            own = mine(errors, ending)
            if own is not None:
                kept[label] = own
        found[name] = kept
    return found


def pairs_of(rows: list[dict[str, Any]], name: str, library: str) -> list[list[float]]:
    """Median and worst of the robots that have the function and that the library reads as the others do."""
    found = (compared(row).get(name, {}).get(library) for row in rows)
    return [pair for pair in found if pair is not None]


def robots(folder: Path) -> None:
    rows = read("robots")
    names = list(dict.fromkeys(name for row in rows for name in row["errors"]))
    figure = Figure(figsize=(13, 8.5), layout="constrained")
    axes = figure.subplots(2, 3)
    for axis, name in zip(axes.flat, names, strict=True):
        for library, color in COLORS.items():
            pairs = pairs_of(rows, name, library)
            if not pairs:
                continue
            rounding = 2.0**-24 if "32" in library else 2.0**-53
            for values, line, label in zip(
                np.array(pairs, float).T / rounding, ("-", ":"), (library, None), strict=True
            ):
                share = (np.arange(len(values)) + 0.5) / len(values)
                axis.plot(np.sort(np.maximum(values, 1e-2)), 100 * share, line, color=color, label=label, linewidth=1.6)
        axis.set_xscale("log")
        axis.set_title(name.replace("_", " "), loc="left")
        axis.set_xlabel("relative error, in roundings of the precision")
        axis.set_ylabel("% of robots below")
        style(axis)
    axes[0, 0].legend(frameon=False, loc="lower right")
    count = len({(row["folder"], row["robot"]) for row in rows})
    figure.suptitle(
        f"{count} mechanisms, fixed and floating, {rows[0]['states']} states each, against their files in thirty "
        "digits: lines are medians over the states, dots the worst"
    )
    figure.savefig(folder / "accuracy_robots.png", dpi=110)
    tell(rows, names)


def tell(rows: list[dict[str, Any]], names: list[str]) -> None:
    """The summary as a table in Markdown, and where knuckle is not first."""
    libraries = ["knuckle", "Pinocchio", "MuJoCo", "Drake", "knuckle float32"]
    print("| median of medians (worst of all) | " + " | ".join(libraries) + " |")
    print("|---|" + "---:|" * len(libraries))
    for name in names:
        cells = []
        for library in libraries:
            pairs = pairs_of(rows, name, library)
            medians, worst = np.array(pairs, float).T if pairs else (np.zeros(0), np.zeros(0))
            finite = np.isfinite(worst)
            cells.append(f"{np.nanmedian(medians):.1e} ({worst[finite].max():.0e})" if pairs else "–")
        print(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |")
    print()
    for name in names:
        counts = {"first": 0, "as good": 0, "behind": 0}
        behind: list[str] = []
        for row in rows:
            for k in (0, 1):
                errors = compared(row).get(name, {})
                others = {lib: e[k] for lib, e in errors.items() if not lib.startswith("knuckle")}
                if not others or "knuckle" not in errors:
                    continue
                best = min(others, key=lambda lib: others[lib])
                ratio = errors["knuckle"][k] / max(others[best], 1e-18)
                kind = "first" if ratio <= 1 else "as good" if ratio <= AS_GOOD else "behind"
                counts[kind] += 1
                if kind == "behind":
                    what = ("median", "worst")[k]
                    behind.append(f"{row['robot']} {row['base']} {what} {ratio:.1f}× {best}")
        print(f"{name}: {counts}")
        print("   " + "; ".join(sorted(behind, key=lambda x: -float(x.split("×")[0].split()[-1]))[:8]))
    foreign: dict[str, list[str]] = {}
    for row in rows:
        for library in ("Pinocchio", "MuJoCo", "Drake"):
            e = row["errors"]["inverse_dynamics"]
            if library in e and library not in compared(row)["inverse_dynamics"]:
                foreign.setdefault(library, []).append(f"{row['robot']} {row['base']}")
        for library, reason in row["left"].items():
            foreign.setdefault(f"{library}: {reason[:60]}", []).append(f"{row['robot']} {row['base']}")
    print("\nleft out:")
    for reason, names_left in foreign.items():
        print(f"  {reason}: {len(names_left)} ({', '.join(names_left[:4])} …)")


def book(folder: Path) -> None:
    found = read("book")
    figure = Figure(figsize=(14, 4.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    rows = found["origin"]["rows"][1:]
    for label, color, line in (
        ("float64 closed form", "#0072B2", "-"), ("float64 elimination", "#0072B2", "--"),
        ("float32 closed form", "#D55E00", "-"), ("float32 elimination", "#D55E00", "--"),
    ):  # fmt: skip
        values = [(row["distance"], row[label]) for row in rows if row[label] is not None]
        left.loglog(*zip(*values, strict=True), line, color=color, label=label)
    x = np.array([3.0, 3000.0])
    left.loglog(x, 1e-17 * x**2, ":", color="#2b2f36", label="∝ |c|²")
    left.set_xlabel("|c| in radii of gyration")
    left.set_ylabel("relative error of the acceleration at C")
    left.set_title("a body far from its origin (fig. 10.2)", loc="left")
    rows = found["condition"]["rows"][1:]
    middle.loglog([r["bodies"] for r in rows], [r["condition"] for r in rows], "o-", color="#0072B2", label="cond(H)")
    middle.loglog([r["bodies"] for r in rows], [r["4 NB^4"] for r in rows], ":", color="#2b2f36", label="4 NB⁴")
    middle.set_xlabel("identical links, straight")
    middle.set_title("condition of chains (10.2)", loc="left")
    for kind, marker in (("chain", "o-"), ("binary tree", "s--")):
        rows = [r for r in found.get("depth", {"rows": []})["rows"] if r["kind"] == kind]
        for method, color in (("RNEA", "#009E73"), ("ABA", "#0072B2"), ("CRBA", "#E69F00")):
            label = f"{method}, {kind}"
            right.loglog([r["bodies"] for r in rows], [r[method] for r in rows], marker, color=color, label=label, ms=4)
    right.set_xlabel("bodies")
    right.set_ylabel("relative error, doubles")
    right.set_title("many bodies", loc="left")
    for axis in (left, middle, right):
        axis.legend(frameon=False, fontsize=8)
        style(axis)
    figure.savefig(folder / "accuracy_book.png", dpi=110)


def drift(folder: Path) -> None:
    found = read("drift")
    panels = [("pendulum", "energy"), ("tumbling", "energy"), ("tumbling", "momentum")]
    figure = Figure(figsize=(15, 6.2), layout="constrained")
    axes = figure.subplots(1, 3)
    lines = {"knuckle": "-", "MuJoCo": "--", "Drake": ":"}
    labels = list(dict.fromkeys(label for entries in found.values() for label in entries))
    palette = [
        "#0072B2",
        "#E69F00",
        "#009E73",
        "#D55E00",
        "#56B4E9",
        "#CC79A7",
        "#7A5C3E",
        "#000000",
        "#999999",
        "#B8860B",
        "#3B1F8F",
        "#66A61E",
        "#A6761D",
        "#E7298A",
        "#1B9E77",
    ]
    methods = list(dict.fromkeys(label.split()[1] for label in labels))
    colors = {label: palette[methods.index(label.split()[1]) % len(palette)] for label in labels}
    for axis, (mechanism, what) in zip(axes, panels, strict=True):
        for label, entry in found.get(mechanism, {}).items():
            if what in entry:
                values = np.maximum.accumulate(np.maximum(np.nan_to_num(np.array(entry[what]), nan=10.0), 1e-17))
                steps = entry["steps"] * np.arange(len(values)) / (len(values) - 1)
                axis.loglog(
                    steps[1:], values[1:], lines[label.split()[0]], color=colors[label], label=label, linewidth=1.4
                )
        axis.set_xlabel("steps of a millisecond")
        axis.set_title(f"{mechanism}: largest error of {what} so far", loc="left")
        style(axis)
    shown = {name: handle for axis in axes for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=6, frameon=False, fontsize=8)
    figure.savefig(folder / "accuracy_drift.png", dpi=110)
    for mechanism, entries in found.items():
        for label, entry in entries.items():
            end = {k: f"{max(v):.1e}" for k, v in entry.items() if isinstance(v, list)}
            print(mechanism, label, entry.get("steps", entry.get("left out")), end)


def style(axis: Any) -> None:
    axis.grid(color="#e3e6ea", linewidth=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS.parent.parent / "docs"
    for name, draw in (("robots", robots), ("book", book), ("drift", drift)):
        if read(name):
            draw(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
