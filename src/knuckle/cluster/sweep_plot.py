"""The picture of a sweep: how results are distributed, and the trajectories with the largest values of one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import near
from knuckle.extras import need
from knuckle.model.labels import position_labels, position_units

from .chunk_summary import Distribution

if TYPE_CHECKING:
    from .sweep_reader import SweepResult

Array: TypeAlias = NDArray[Any]
INK, GRID, FILL = "#2b2f36", "#d9dce1", "#56B4E9"
COLORS = ("#D55E00", "#E69F00", "#CC79A7", "#0072B2", "#009E73", "#7A5C3E", "#56B4E9", "#000000")
STYLE: dict[str, Any] = {
    "font.size": 10, "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID,
    "grid.linewidth": 0.7, "axes.axisbelow": True,
}  # fmt: skip
MOST, JOINTS = 4, 4
"""Results and joints that are shown at most."""


def plot(found: SweepResult, path: str | os.PathLike[str] | None, what: str | None, worst: int) -> Any:
    """Draws a sweep; see `SweepResult.plot`."""
    need("matplotlib", "plots need", "plot")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = _shown(found, what)
    name = next(iter(shown))
    motions = _worst(found, shown[name], worst)
    if path is None:
        from knuckle.trajectory.shown_figure import shown_figure

        figure: Any = shown_figure()
    else:
        figure = Figure()
    with rc_context(STYLE):  # pyright: ignore[reportArgumentType]
        rows = max(len(shown), 0 if motions is None else len(motions[2]))
        figure.set_layout_engine("constrained")
        figure.set_size_inches((6.0 if motions is None else 11.0, 1.2 + 2.2 * rows))
        columns = figure.subfigures(1, 1 if motions is None else 2, squeeze=False)[0]
        for axis, (title, values) in zip(_axes(columns[0], len(shown)), shown.items(), strict=True):
            _histogram(axis, title, values)
        if motions is not None:
            labels, units = position_labels(found.model), position_units(found.model)
            joints = {f"{labels[j]} [{units[j]}]": motions[1][..., j] for j in motions[2]}
            _trajectories(columns[1], name, motions[0], joints, motions[3])
        figure.suptitle(_title(found), fontsize=13, fontweight="bold", x=0.02, ha="left")
    if path is not None:
        figure.savefig(os.fspath(path), dpi=150)
    return figure


def _title(found: SweepResult) -> str:
    failed, missing = found.failed, len(found.missing)
    parts = [f"{found.manifest.facts['model_name']}: {found.count:,} samples of {', '.join(found.parameters)}"]
    parts += [f"{failed:,} failed"] if failed else []
    parts += [f"{missing} of {found.chunks} chunks are not there yet"] if missing else []
    return "; ".join(parts)


def _axes(part: Any, count: int) -> Any:
    return part.subplots(count, 1, squeeze=False)[:, 0]


def _shown(found: SweepResult, what: str | None) -> dict[str, Distribution]:
    """What is drawn: the result that is asked for first, and numbers before entries of arrays."""
    known = {name: x for name, x in found.summary.items() if x.count}
    if not known:
        raise ValueError("there is nothing to draw: no result of this sweep is a number, or none is there yet")
    if what is not None and what not in known:
        raise ValueError(f"what={what!r} is no number of this sweep{near(what, known)}")
    order = sorted(known, key=lambda name: (name != what, "[" in name))
    return {name: known[name] for name in order[:MOST]}


def _histogram(axis: Any, title: str, values: Distribution) -> None:
    low, high = values.quantile(0.0), values.quantile(1.0)
    near_low, near_high = values.quantile(0.005), values.quantile(0.995)
    reach = near_high - near_low
    if reach > 0 and high - low > 3 * reach:  # a few far away would hide all others
        low, high = max(low, near_low - 0.5 * reach), min(high, near_high + 0.5 * reach)
    counts, edges = values.histogram(60, low, high)
    axis.stairs(counts, edges, fill=True, color=FILL)
    marks = {0.05: ("5 %", ":"), 0.5: ("median", "-"), 0.95: ("95 %", ":")}
    for part, (label, dash) in marks.items():
        at = values.quantile(part)
        axis.axvline(at, color=INK, linestyle=dash, linewidth=1.2, label=f"{label}: {at:.4g}")
    axis.set_xlabel(f"{title}   (largest {values.largest[0][0]:.4g}, sample {values.largest[0][1]:,})")
    axis.set_ylabel("samples")
    axis.legend(edgecolor="none", framealpha=0.8, fontsize=8)


def _worst(
    found: SweepResult, values: Distribution, count: int
) -> tuple[Array, Array, list[int], list[tuple[float, int]]] | None:
    """Times, positions, the joints that move most, and the samples with the largest values; None if not to be had."""
    if not len(found.times) or count < 1:
        return None
    samples = list(values.largest[:count])
    if "q" in found.results:
        q = np.stack([found["q"][k] for _, k in samples])
        times = found.times
    elif found.job is not None:
        each = [found.rollout([k]) for _, k in samples]
        q, times = np.concatenate([one.q for one in each]), each[0].times
    else:
        return None
    reach = np.nanmax(q, axis=(0, 1)) - np.nanmin(q, axis=(0, 1))
    joints = sorted(np.argsort(-reach, kind="stable")[:JOINTS].tolist())
    return times, q, joints, samples


def _trajectories(
    part: Any, name: str, times: Array, joints: dict[str, Array], samples: list[tuple[float, int]]
) -> None:
    axes = _axes(part, len(joints))
    for axis, (label, q) in zip(axes, joints.items(), strict=True):
        for k, (value, sample) in enumerate(samples):
            color = COLORS[k % len(COLORS)]
            axis.plot(times, q[k], color=color, linewidth=1.4, label=f"sample {sample:,}: {value:.4g}")
        axis.set_ylabel(label)
    axes[-1].set_xlabel("time [s]")
    handles, labels = axes[0].get_legend_handles_labels()
    part.legend(
        handles, labels, title=f"largest {name}", loc="outside upper center", ncols=3, fontsize=8, frameon=False
    )
