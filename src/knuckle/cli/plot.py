"""The picture of the demo: joint angles and energies over time."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .swing import Swing

INSTALL_PLOT = "pip install 'knuckle[plot]'"
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7A5C3E")  # told apart by everyone
_INK, _GRID = "#2b2f36", "#d9dce1"


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def save_plot(motion: Swing, names: Sequence[str], title: str, out: Path) -> None:
    """Writes the picture as PNG: angles with their names, the two energies and their sum, and how well it is kept."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MultipleLocator

    style: dict[Any, Any] = {
        "font.size": 10, "axes.edgecolor": _INK, "axes.labelcolor": _INK, "text.color": _INK, "xtick.color": _INK,
        "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
        "grid.color": _GRID, "grid.linewidth": 0.7, "lines.linewidth": 1.8,
    }  # fmt: skip
    with plt.rc_context(style):
        figure, (angles, energies, drift) = plt.subplots(
            3, 1, figsize=(9.0, 8.0), sharex=True, height_ratios=(3, 2.2, 1.2), layout="constrained"
        )
        figure.suptitle(title, fontsize=13, fontweight="bold", x=0.02, ha="left")
        for k, name in enumerate(names):
            angles.plot(
                motion.t, np.degrees(motion.q[:, k]), color=_COLORS[k % len(_COLORS)], label=name.replace("_", " ")
            )
        angles.set_ylabel("joint angle [°]")
        angles.yaxis.set_major_locator(MultipleLocator(45))
        energies.plot(motion.t, motion.kinetic, color=_COLORS[3], label="kinetic")
        energies.plot(motion.t, motion.potential, color=_COLORS[0], label="potential")
        energies.plot(motion.t, motion.energy, color=_INK, label="total", linestyle=(0, (5, 2)))
        energies.margins(y=0.12)
        energies.set_ylabel("energy [J]")
        drift.plot(motion.t, 1e9 * motion.drift, color=_INK, linewidth=1.3)
        drift.set_ylabel("energy error\n[10⁻⁹ of kinetic]")
        drift.set_xlabel("time [s]")
        drift.set_xlim(motion.t[0], motion.t[-1])
        for axes in (angles, energies):
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        figure.align_ylabels()
        figure.savefig(out, dpi=150, format="png")
        plt.close(figure)
