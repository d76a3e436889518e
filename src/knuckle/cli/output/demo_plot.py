"""The picture of the demo: the reach on the left, the swing on the right."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.trajectory.trajectory import Trajectory

_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7A5C3E")  # told apart by everyone
_INK, _GRID = "#2b2f36", "#d9dce1"
_STYLE: dict[Any, Any] = {
    "font.size": 10, "axes.edgecolor": _INK, "axes.labelcolor": _INK, "text.color": _INK, "xtick.color": _INK,
    "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": _GRID, "grid.linewidth": 0.7, "lines.linewidth": 1.6,
}  # fmt: skip


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def save_plot(reach: Trajectory, swing: Trajectory, goal: NDArray[Any], out: Path) -> None:
    """Writes the picture: angles and torques of the reach and how near it is; angles and energies of the swing."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names = [name.replace("_", " ") for name in reach.model.joint_names]
    with rc_context(_STYLE):
        figure = Figure(figsize=(12.0, 8.0), layout="constrained")
        axes: Any = figure.subplots(3, 2, sharex="col", height_ratios=(3, 2.4, 1.6))
        for axis, motion in zip(axes[0], (reach, swing), strict=True):
            for k, name in enumerate(names):
                axis.plot(motion.times, np.degrees(motion.q[:, k]), color=_COLORS[k], label=name)
        for k, angle in enumerate(np.degrees(goal)):
            axes[0, 0].axhline(angle, color=_COLORS[k], linewidth=0.9, linestyle=(0, (1, 2)))
        axes[0, 0].set_title("a PD controller reaches for a posture (dotted)", loc="left", fontsize=11)
        axes[0, 1].set_title("let go: free swing without friction", loc="left", fontsize=11)
        axes[0, 0].set_ylabel("joint angle [°]")
        for k in range(len(names)):
            axes[1, 0].plot(reach.times, reach.tau[:, k], color=_COLORS[k])
        axes[1, 0].set_ylabel("torque [N m]")
        axes[2, 0].semilogy(reach.times, np.degrees(np.max(np.abs(reach.q - goal), axis=1)), color=_INK)
        axes[2, 0].set_ylabel("farthest joint\nfrom goal [°]")
        axes[1, 1].plot(swing.times, swing.kinetic_energy, color=_COLORS[3], label="kinetic")
        axes[1, 1].plot(swing.times, swing.potential_energy, color=_COLORS[0], label="potential")
        axes[1, 1].plot(swing.times, swing.energy, color=_INK, label="total", linestyle=(0, (5, 2)))
        axes[1, 1].set_ylabel("energy [J]")
        drift = (swing.energy - swing.energy[0]) / np.max(swing.kinetic_energy)
        axes[2, 1].plot(swing.times, 1e9 * drift, color=_INK, linewidth=1.3)
        axes[2, 1].set_ylabel("energy error\n[10⁻⁹ of kinetic]")
        for axis in axes[:2, 1]:
            axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        for axis, motion in zip(axes[2], (reach, swing), strict=True):
            axis.set_xlabel("time [s]")
            axis.set_xlim(motion.times[0], motion.times[-1])
        figure.align_ylabels()
        figure.savefig(out, dpi=130, format=out.suffix.removeprefix(".") or "png")
