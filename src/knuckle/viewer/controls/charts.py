"""Plots beside the scene: energy and joint values over time, drawn again as time goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from knuckle.extras import need
from knuckle.model import Model
from knuckle.model.labels import force_units, velocity_labels
from knuckle.viewer.recording import variable_names
from knuckle.viewer.scene.triangles import Array

COLORS = ("#d9661f", "#2b7fb8", "#2f9e6e", "#c2455c", "#7a5fb5", "#c79a1c", "#3aa3a8", "#8a6d52")
MOST = len(COLORS)
"""Lines in one chart; the joints of larger robots come in several charts."""
_POINTS = 240
_NOW = "#7d8794"


class Chart:
    """A chart of at most `MOST` lines with one axis of time; with `mark`, a line upright at the present."""

    def __init__(self, server: Any, title: str, names: Sequence[str], height: int, mark: bool) -> None:
        uplot = need("viser", "the viewer needs", "view").uplot
        self.count, self.mark, self._turn = min(len(names), MOST), mark, False
        lines = [uplot.Series(label=name, stroke=color, width=1.6) for name, color in zip(names, COLORS, strict=False)]
        now = [uplot.Series(label="now", stroke=_NOW, width=1.2, scale="mark")] if mark else []
        axis = {"stroke": "#8a94a0", "grid": {"stroke": "rgba(130,140,150,0.18)", "width": 1}, "size": 46}
        self.handle = server.gui.add_uplot(
            self._data(np.array([0.0, 1.0]), np.zeros((2, self.count)), 0.0),
            (uplot.Series(label="t [s]"), *lines, *now),
            title=title,
            scales={"x": uplot.Scale(time=False), "y": uplot.Scale(auto=True), "mark": uplot.Scale(range=(0.0, 1.0))},
            axes=({**axis, "size": 30}, axis),
            legend=uplot.Legend(show=True, live=False),
            height=height,
            padding=(6, 14, 0, 0),
        )

    def _data(self, times: Array, rows: Array, now: float) -> tuple[Array, ...]:
        """The chart's columns, thinned; the mark, on a scale of its own, goes up to 1 at the present and back to 0."""
        pick = np.unique(np.linspace(0, len(times) - 1, min(len(times), _POINTS)).astype(int))
        times, rows = np.asarray(times, float)[pick], np.asarray(rows, float)[pick, : self.count]
        if not self.mark:
            return (times, *np.ascontiguousarray(rows.T))
        k = int(np.searchsorted(times, now))
        at = np.array([np.interp(now, times, column) for column in rows.T])
        mark = np.zeros(len(times) + 3)
        mark[k + 1] = 1.0
        return (np.insert(times, k, [now] * 3), *np.insert(rows, [k] * 3, [at] * 3, axis=0).T.copy(), mark)

    def draw(self, times: Array, rows: Array, now: float) -> None:
        """Shows rows (n, lines) over times (n,), and marks the present."""
        self._turn = not self._turn
        x, *columns = self._data(times, rows, now)
        x[-1] += 1e-6 * (x[-1] - x[0]) * self._turn  # uPlot leaves out the numbers of an axis whose range is as before
        self.handle.data = (x, *columns)


class Charts:
    """The charts of one robot: its energies, its position variables, and its joint forces, `MOST` to a chart."""

    def __init__(
        self, server: Any, model: Model, energies: Sequence[str], mark: bool, has_forces: bool = False
    ) -> None:
        self.energy = Chart(server, "energy [J]", energies, 165, mark)
        names = [name if unit == "1" else f"{name} [{unit}]" for name, unit in variable_names(model)]
        groups = [names[k : k + MOST] for k in range(0, len(names), MOST)]
        self.joints = [Chart(server, "joint positions", group, 190, mark) for group in groups]
        pairs = zip(velocity_labels(model), force_units(model), strict=True)
        forces = [f"{name} [{unit}]" for name, unit in pairs]
        several = [forces[k : k + MOST] for k in range(0, len(forces), MOST)] if has_forces else []
        self.forces = [Chart(server, "joint forces", group, 190, mark) for group in several]

    def draw(self, times: Array, energies: Array, q: Array, now: float, tau: Array | None = None) -> None:
        """Shows energies (n, lines), positions (n, nq) and forces (n, nv) over times (n,).

        One moment is a line that stays.
        """
        rows = [energies, q, *([] if tau is None else [tau])]
        if len(times) == 1:
            times, rows = np.array([times[0], times[0] + 1.0]), [np.repeat(x, 2, 0) for x in rows]
        self.energy.draw(times, rows[0], now)
        charts = [(self.joints, rows[1]), *([] if tau is None else [(self.forces, rows[2])])]
        for group, values in charts:
            for k, chart in enumerate(group):
                chart.draw(times, values[:, k * MOST :], now)
