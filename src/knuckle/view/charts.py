"""Plots beside the scene: energy and joint values over time, drawn again as time goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from knuckle.model import Model

from .extras import need
from .recording import variable_names
from .surface import Array

COLORS = ("#d9661f", "#2b7fb8", "#2f9e6e", "#c2455c", "#7a5fb5", "#c79a1c", "#3aa3a8", "#8a6d52")
MOST = len(COLORS)
"""Lines in one chart; the joints of larger robots come in several charts."""
_POINTS = 240


class Chart:
    """A chart of at most `MOST` lines with one axis of time."""

    def __init__(self, server: Any, title: str, names: Sequence[str], height: int) -> None:
        uplot = need("viser", "the viewer").uplot
        self.count = min(len(names), MOST)
        lines = [uplot.Series(label=name, stroke=color, width=1.6) for name, color in zip(names, COLORS, strict=False)]
        axis = {"stroke": "#8a94a0", "grid": {"stroke": "rgba(130,140,150,0.18)", "width": 1}, "size": 46}
        self.handle = server.gui.add_uplot(
            self._data(np.array([0.0, 1.0]), np.zeros((2, self.count))),
            (uplot.Series(label="t [s]"), *lines),
            title=title,
            scales={"x": uplot.Scale(time=False), "y": uplot.Scale(auto=True)},
            axes=({**axis, "size": 30}, axis),
            legend=uplot.Legend(show=True, live=False),
            height=height,
            padding=(6, 14, 0, 0),
        )

    def _data(self, times: Array, rows: Array) -> tuple[Array, ...]:
        pick = np.unique(np.linspace(0, len(times) - 1, min(len(times), _POINTS)).astype(int))
        return (np.asarray(times, float)[pick], *(np.ascontiguousarray(rows[pick, k], float) for k in range(self.count)))

    def draw(self, times: Array, rows: Array) -> None:
        """Shows rows (n, lines) over times (n,)."""
        self.handle.data = self._data(times, rows)

    def span(self, first: float, last: float, rows: Array) -> None:
        """Fixes both axes: the times, and room for all of the rows."""
        low, high = float(np.min(rows)), float(np.max(rows))
        room = 0.06 * (high - low) or 1.0
        x = {"time": False, "auto": False, "min": first, "max": last}
        self.handle.scales = {"x": x, "y": {"auto": False, "min": low - room, "max": high + room}}


class Charts:
    """The charts of one robot: its energies, and its position variables, `MOST` to a chart."""

    def __init__(self, server: Any, model: Model, energies: Sequence[str]) -> None:
        self.energy = Chart(server, "energy [J]", energies, 165)
        names = [name if unit == "1" else f"{name} [{unit}]" for name, unit in variable_names(model)]
        groups = [names[k : k + MOST] for k in range(0, len(names), MOST)]
        self.joints = [Chart(server, "joint positions", group, 190) for group in groups]

    def _each(self, energies: Array, q: Array) -> list[tuple[Chart, Array]]:
        return [(self.energy, energies), *((chart, q[:, k * MOST :]) for k, chart in enumerate(self.joints))]

    def draw(self, times: Array, energies: Array, q: Array) -> None:
        """Shows energies (n, lines) and positions (n, nq) over times (n,); one moment as a line that stays."""
        if len(times) == 1:
            times, energies, q = np.array([times[0], times[0] + 1.0]), np.repeat(energies, 2, 0), np.repeat(q, 2, 0)
        for chart, rows in self._each(energies, q):
            chart.draw(times, rows)

    def span(self, times: Array, energies: Array, q: Array) -> None:
        """Makes the axes those of the whole motion."""
        last = max(float(times[-1]), float(times[0]) + 1e-9)
        for chart, rows in self._each(energies, q):
            chart.span(float(times[0]), last, rows[:, : chart.count])
