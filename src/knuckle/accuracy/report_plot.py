"""The picture of a study of accuracy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from knuckle.extras import need

if TYPE_CHECKING:
    from .report import AccuracyReport

COLORS = {"float64": "#0072B2", "float32": "#D55E00"}
SHOWN = 15
"""Joints at most."""


def plot(report: AccuracyReport, path: str | os.PathLike[str] | None) -> Any:
    """Errors on the left, what the accelerations depend on on the right."""
    figure_module = need("matplotlib.figure", "plots need", "plot")
    names = list(dict.fromkeys(entry.function for entry in report.errors))
    rows = sorted(report.sensitivities, key=lambda r: -max(r.torque, r.length, r.inertia))[:SHOWN]
    figure = figure_module.Figure(
        figsize=(12.0, max(4.0, 0.45 * max(len(names), len(rows)) + 1.6)), layout="constrained"
    )
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for entry in report.errors:
        y = len(names) - names.index(entry.function) + (0.14 if entry.precision == "float64" else -0.14)
        shown = np.maximum(entry.errors, 1e-18)
        color = COLORS[entry.precision]
        left.plot(shown, np.full(len(shown), y), "|", color=color, alpha=0.35, markersize=7)
        label = entry.precision if entry.function == names[0] else None
        left.plot([entry.median], [y], "o", color=color, markersize=6, label=label)
        left.plot([entry.rounding * max(1.0, np.median(entry.condition))], [y], "x", color="#2b2f36", markersize=6)
    left.plot([], [], "x", color="#2b2f36", label="rounded inputs would cost this")
    left.set_xscale("log")
    left.set_yticks(range(len(names), 0, -1), [name.replace("_", " ") for name in names])
    left.set_xlabel("relative error of a state; dots are medians")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False)
    left.set_title(f"{report.model.name}: against {report.digits} digits", loc="left")
    for k, (name, color) in enumerate((("torque", "#009E73"), ("length", "#0072B2"), ("inertia", "#E69F00"))):
        values = [float(getattr(row, name)) for row in rows]
        right.barh(np.arange(len(rows), 0, -1) + 0.26 * (1 - k), values, height=0.24, color=color, label=name)
    right.set_yticks(range(len(rows), 0, -1), [row.joint for row in rows])
    right.set_xscale("log")
    right.set_xlim(left=1e-3)
    right.set_xlabel("% of acceleration for 1 % of it")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False)
    right.set_title("what the accelerations depend on", loc="left")
    for axis in (left, right):
        axis.grid(axis="x", color="#d9dce1", linewidth=0.7)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure
