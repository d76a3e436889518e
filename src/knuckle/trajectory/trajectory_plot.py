"""The picture of a trajectory, or of many: variables by joint with their units, energies, and what occurred."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from knuckle.extras import install
from knuckle.model.elements.muscles.muscle_states import muscles_of
from knuckle.model.labels import force_units, position_labels, position_units, velocity_labels, velocity_units

from .contacts.contact_changes import pair_name

if TYPE_CHECKING:
    from knuckle.simulation.rollout.rollout_result import Rollout

    from .trajectory import Trajectory

_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7A5C3E")  # told apart by everyone
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
_INK, _GRID = "#2b2f36", "#d9dce1"
_STYLE: dict[str, Any] = {
    "font.size": 10, "axes.edgecolor": _INK, "axes.labelcolor": _INK, "text.color": _INK, "xtick.color": _INK,
    "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": _GRID, "grid.linewidth": 0.7, "lines.linewidth": 1.6,
}  # fmt: skip
Quantity: TypeAlias = Literal["q", "v", "tau", "activation", "energy", "contact"]
WHAT: tuple[Quantity, ...] = get_args(Quantity)
_PAIRS = 14
"""Pairs of bodies whose forces are shown at most: those with the largest."""
_LONGEST_LEGEND = 14
_MARKED = 40
"""Occurrences beyond this many are not drawn as lines: they would hide the curves."""


_SHOWN = 12
"""Of many trajectories so many are drawn one by one."""


class Panel(NamedTuple):
    """One diagram: its vertical axis, and its curves by name: (n,), or (..., n) of many trajectories."""

    title: str
    curves: dict[str, NDArray[Any]]


def plot(
    trajectory: Trajectory | Rollout,
    path: str | os.PathLike[str] | None = None,
    *,
    what: Quantity | Sequence[Quantity] = WHAT,
    joints: Iterable[str] | None = None,
    title: str | None = None,
    size: tuple[float, float] | None = None,
) -> Any:
    """Draws a trajectory, or many; see `Trajectory.plot` and `Rollout.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"plots need matplotlib, which is not installed: {install('plot')}") from None
    shown = panels(trajectory, what, None if joints is None else tuple(joints))
    if path is None:
        from .shown_figure import shown_figure

        figure: Any = shown_figure()
    else:
        figure = Figure()
    draw_on(figure, trajectory, shown, title, size)
    if path is not None:
        figure.savefig(os.fspath(path), dpi=150)
    return figure


def draw_on(
    figure: Any,
    trajectory: Trajectory | Rollout,
    shown: Sequence[Panel],
    title: str | None = None,
    size: tuple[float, float] | None = None,
) -> None:
    """Draws panels of a trajectory, or of many, on an empty figure of matplotlib's."""
    from matplotlib import rc_context

    with rc_context(_STYLE):  # pyright: ignore[reportArgumentType]
        figure.set_layout_engine("constrained")
        figure.set_size_inches(size or (9.0, 1.2 + 2.1 * len(shown)))
        axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for panel, axis in zip(shown, axes, strict=True):
            _draw(trajectory, panel, axis)
        axes[-1].set_xlabel("time [s]")
        figure.suptitle(title or _title(trajectory), fontsize=13, fontweight="bold", x=0.02, ha="left")
        figure.align_ylabels()


def _title(trajectory: Trajectory | Rollout) -> str:
    name, batch = trajectory.model.name, trajectory.q.shape[:-2]
    return f"{name}: {math.prod(batch)} trajectories" if batch else name


def panels(
    trajectory: Trajectory | Rollout, what: Quantity | Sequence[Quantity], joints: tuple[str, ...] | None
) -> list[Panel]:
    """The diagrams: one for each quantity and unit, one of the energies, and one of forces of contact."""
    model = trajectory.model
    strange = [name for name in ((what,) if isinstance(what, str) else what) if name not in WHAT]
    if strange:
        raise ValueError(f"what={strange[0]!r}; a plot shows {', '.join(map(repr, WHAT))}")
    for name in joints or ():
        model.joint_index(name)  # says which there are
    quantities = {
        "q": ("position", trajectory.q, position_labels(model), position_units(model)),
        "v": ("velocity", trajectory.v, velocity_labels(model), velocity_units(model)),
        "tau": ("force", trajectory.tau, velocity_labels(model), force_units(model)),
    }
    panels: list[Panel] = []
    for name in (what,) if isinstance(what, str) else what:
        if name == "energy":
            curves = {
                "kinetic": trajectory.kinetic_energy,
                "potential": trajectory.potential_energy,
                "total": trajectory.energy,
            }
            panels.append(Panel("energy [J]", curves))
            continue
        if name == "activation":
            panels += activation_panels(trajectory)
            continue
        if name == "contact":
            curves = contact_curves(trajectory)
            panels += [Panel("contact force [N]", curves)] if curves else []
            continue
        word, values, labels, units = quantities[name]
        for unit in dict.fromkeys(units):
            chosen = [
                k
                for k, label in enumerate(labels)
                if units[k] == unit and (joints is None or label in joints or label.rpartition(".")[0] in joints)
            ]
            if chosen and (name != "tau" or np.any(values[..., chosen])):
                heading = "quaternion" if unit == "1" else f"{word} [{unit}]"
                panels.append(Panel(heading, {labels[k]: values[..., k] for k in chosen}))
    if not panels:
        raise ValueError(f"there is nothing to plot: {model.name} has no such variables")
    return panels


def activation_panels(trajectory: Trajectory | Rollout) -> list[Panel]:
    """The activations of muscles, where these are states."""
    rows = trajectory.muscle_rows
    if rows is None or rows.activations is None:
        return []
    names = [line.name for line in muscles_of(trajectory.model.elements)]
    return [Panel("activation", {name: rows.activations[..., k] for k, name in enumerate(names)})]


def contact_curves(trajectory: Trajectory | Rollout) -> dict[str, NDArray[Any]]:
    """The size of the force between each two bodies that touch, of a single trajectory that knows its contacts."""
    if getattr(trajectory, "contact_record", None) is None:
        return {}
    contacts, curves = trajectory.contacts, dict[str, NDArray[Any]]()  # pyright: ignore[reportAttributeAccessIssue]
    for names in dict.fromkeys(contacts.bodies):
        total, own = np.zeros((len(trajectory.times), 3)), contacts.between(*names)
        np.add.at(total, own.row, own.force)
        curves[pair_name(names)] = np.linalg.norm(total, axis=1)
    shown = sorted(curves, key=lambda name: -float(curves[name].max()))[:_PAIRS]
    return {name: values for name, values in curves.items() if name in shown}


def _draw(trajectory: Trajectory | Rollout, panel: Panel, axis: Any) -> None:
    for k, (name, values) in enumerate(panel.curves.items()):
        line = {"color": _COLORS[k % len(_COLORS)], "linestyle": _DASHES[k // len(_COLORS) % len(_DASHES)]}
        if values.ndim > 1:
            shade = max(0.06, 0.3 / len(panel.curves))
            _draw_many(trajectory.times, values.reshape(-1, values.shape[-1]), axis, line | {"label": name}, shade)
        else:
            axis.plot(trajectory.times, values, label=name, **line)
    axis.set_ylabel(panel.title)
    axis.margins(x=0.0, y=0.08)
    events = getattr(trajectory, "events", ())
    if getattr(trajectory, "contact_record", None) is not None:
        events = (*events, *trajectory.contact_events)  # pyright: ignore[reportAttributeAccessIssue]
    if len(events) <= _MARKED:
        for t in {o.time for o in events}:
            axis.axvline(t, color=_INK, linewidth=0.8, linestyle=(0, (2, 3)), alpha=0.6)
    handles, labels = axis.get_legend_handles_labels()
    columns = 1 + (len(labels) - 1) // _LONGEST_LEGEND
    axis.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8, ncols=columns)


def _draw_many(times: NDArray[Any], values: NDArray[Any], axis: Any, line: dict[str, Any], shade: float) -> None:
    """The median of many curves, the range that nine of ten are in, and some of them."""
    finite = np.where(np.isfinite(values), values, np.nan)
    there = np.isfinite(finite).any(0)
    if not there.any():
        axis.plot([], [], **line)
        return
    low, middle, high = np.full((3, len(times)), np.nan)
    low[there], middle[there], high[there] = np.nanquantile(finite[:, there], (0.05, 0.5, 0.95), axis=0)
    for one in finite[:: max(1, len(finite) // _SHOWN)][:_SHOWN]:
        axis.plot(times, one, color=line["color"], linewidth=0.6, alpha=0.5)
    axis.fill_between(times, low, high, color=line["color"], alpha=shade, linewidth=0)
    axis.plot(times, middle, **line)
