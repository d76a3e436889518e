"""The cost per body and the time of the first call against the number of bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {"knuckle": "#1565c0", "Pinocchio": "#c62828"}
STYLES = {"chain": ("-", "o"), "binary tree": ("--", "s")}


def plot(results: dict[str, Any], path: Path) -> None:
    """Draws both, log-log, into a PNG file."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (cost, first) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    records = [r for r in results["scaling"] if "left out" not in r and r["compiled"]]
    for shape, (line, marker) in STYLES.items():
        some = [r for r in records if r["shape"] == shape]
        style: dict[str, Any] = {"linestyle": line, "marker": marker, "markersize": 4}
        for library, key in (("knuckle", "best"), ("Pinocchio", "Pinocchio")):
            x, y = zip(*((r["bodies"], r[key] / r["bodies"] * 1e9) for r in some if key in r), strict=True)
            cost.plot(x, y, color=COLOURS[library], label=f"{library}, {shape}", **style)
        x, y = zip(*((r["bodies"], r["first call"]) for r in some), strict=True)
        first.plot(x, y, color=COLOURS["knuckle"], label=f"knuckle, {shape}", **style)
    cost.set(title="Forward dynamics, batches, one thread", ylabel="time per state and body [ns]")
    first.set(title="First call: trace, compile, run (empty cache)", ylabel="time [s]")
    for axes in (cost, first):
        axes.set(xscale="log", yscale="log", xlabel="number of bodies")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.grid(True, which="major", alpha=0.4)
        axes.grid(True, which="minor", alpha=0.12)
    cost.set_ylim(1.0, 1000.0)
    cost.legend(frameon=False, loc="upper right")
    first.legend(frameon=False, loc="upper left")
    machine = results["machine"]
    said = f"{machine['processor']}, {machine['vector bits']}-bit vectors, {machine['date']}"
    figure.supxlabel(said, fontsize=8, color="0.4")
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
