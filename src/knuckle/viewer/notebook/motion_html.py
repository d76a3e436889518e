"""Motions in a notebook: a summary and a plot; of many, how they spread."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from knuckle.extras import install
from knuckle.model.labels import position_labels, position_units
from knuckle.simulation.rollout.rollout_result import Rollout
from knuckle.trajectory.trajectory import Trajectory
from knuckle.trajectory.trajectory_plot import draw_on, panels

from .html_pieces import FAINT, escaped, heading, table

_MOST_ROWS = 16
_PLOTTED = ("q", "tau", "energy", "contact")


def motion_html(motion: Trajectory | Rollout) -> str:
    """One motion, or many."""
    return rollout_html(motion) if isinstance(motion, Rollout) else trajectory_html(motion)


def trajectory_html(motion: Trajectory) -> str:
    """What the motion is, and its plot."""
    first, *more = repr(motion).strip("<>").removeprefix("knuckle.").split("\n")
    title, _, about = first.partition(": ")
    return heading(title, about) + _lines(more) + plot_image(motion)


def rollout_html(rollout: Rollout) -> str:
    """What the rollout is, where its trajectories begin and end, and its plot."""
    first, *more = repr(rollout).strip("<>").removeprefix("knuckle.simulation.").split("\n")
    title, _, about = first.partition(": ")
    return heading(title, about) + _lines(more) + _spread(rollout) + plot_image(rollout)


def _lines(lines: list[str]) -> str:
    return "".join(f'<div style="{FAINT}">{escaped(line.strip())}</div>' for line in lines)


def _spread(rollout: Rollout) -> str:
    """The medians of first and last positions, and the range that nine of ten are in."""
    model = rollout.model
    there = rollout.finite
    if not np.any(there):
        return ""
    ends = rollout.q[..., [0, -1], :][there].reshape(-1, 2, model.nq)
    low, middle, high = np.quantile(ends, (0.05, 0.5, 0.95), axis=0)
    rows = []
    for k, (label, unit) in enumerate(zip(position_labels(model), position_units(model), strict=True)):
        name = label if unit == "1" else f"{label} [{unit}]"
        cells = [f"{middle[i, k]:.4g}  ({low[i, k]:.4g} … {high[i, k]:.4g})" for i in (0, 1)]
        rows.append((name, *cells))
    left = len(rows) - _MOST_ROWS
    rest = [(f"and {left} more", "", "")] if left > 0 else []
    return table(("", "at first: median (nine of ten)", "at last"), [*rows[:_MOST_ROWS], *rest])


def plot_image(motion: Any) -> str:
    """The plot as a picture in the page; where matplotlib is not installed, how to get it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return f'<div style="{FAINT}">a plot needs matplotlib: {escaped(install("plot"))}</div>'
    memory, figure = io.BytesIO(), Figure()
    draw_on(figure, motion, panels(motion, _PLOTTED, None))
    figure.savefig(memory, format="png", dpi=80)
    data = base64.b64encode(memory.getvalue()).decode("ascii")
    return f'<img alt="its plot" src="data:image/png;base64,{data}" style="max-width:100%;background:white"/>'
