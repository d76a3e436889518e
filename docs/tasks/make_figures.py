"""Makes the figures of the task pages, from what the examples compute: `python docs/tasks/make_figures.py [NAME …]`."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

import knuckle as kn

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
INK, ORANGE, BLUE, GREY = "#5b6673", "#d9661f", "#2b7fb8", "#b8c0c8"
STYLE = {
    "font.size": 9, "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110,
    "axes.titlesize": 9.5, "legend.frameon": False,
}  # fmt: skip
Names = dict[str, Any]


def computed_torque(x: Names) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.9))
    for (name, error), color in zip(x["errors"].items(), (GREY, BLUE, ORANGE), strict=True):
        left.semilogy(x["motions"][name].times, error, color=color, label=name)
    left.set(xlabel="s", ylabel="joints off the path, degrees", title="how far off", ylim=(1e-5, 1e2))
    left.legend(loc="center right")
    motion = x["motions"]["computed torque"]
    goal = np.array([x["path"](t)[0] for t in motion.times])
    for name, color in (("springs and dampers", GREY), ("computed torque", ORANGE)):
        right.plot(motion.times, np.degrees(x["motions"][name].q[:, 3]), color=color, label=name)
    right.plot(motion.times, np.degrees(goal[:, 3]), color=INK, ls=":", label="path")
    right.set(xlabel="s", ylabel="elbow, degrees", title="the elbow", ylim=(30, 145))
    right.legend(loc="upper center", fontsize=8, ncol=2)
    return figure


def sampled_pid(x: Names) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.9))
    for (period, motion), color in zip(x["motions"].items(), (INK, BLUE, ORANGE, GREY), strict=True):
        left.plot(motion.times, np.degrees(motion.q[:, 0]), color=color, label=f"{1e3 * period:g} ms")
        if period in (0.001, 0.02):
            right.plot(motion.times, motion.tau[:, 0], color=color, label=f"{1e3 * period:g} ms")
    left.axhline(np.degrees(x["GOAL"]), color=INK, ls=":", lw=0.8)
    left.set(xlabel="s", ylabel="degrees", title="the pendulum, asked every …", ylim=(-90, 190))
    left.legend(loc="lower right", ncol=2, fontsize=8)
    right.set(xlabel="s", ylabel="N m", title="torques, held between samples", xlim=(0, 0.6))
    right.legend(loc="upper right")
    return figure


def monte_carlo(x: Names) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.9))
    rolled, stood = x["rolled"], x["stood"]
    angle = np.degrees(rolled.q[..., 1])
    angle = np.where(np.maximum.accumulate(np.abs(angle), axis=1) > 60, np.nan, angle)  # what fell lies there
    left.plot(rolled.times, angle[stood][:60].T, color=BLUE, alpha=0.25, lw=0.7)
    left.plot(rolled.times, angle[~stood][:25].T, color=ORANGE, alpha=0.6, lw=0.8)
    left.set(
        xlabel="s", ylabel="pole, degrees", title=f"{100 * stood.mean():.1f} % of {len(stood)} stand", ylim=(-60, 60)
    )
    for mask, color, name in ((stood, BLUE, "stood"), (~stood, ORANGE, "fell")):
        right.scatter(x["push"][mask], np.degrees(x["q0"][mask, 1]), s=4, color=color, alpha=0.5, lw=0, label=name)
    right.set(xlabel="wind, N", ylabel="first angle, degrees", title="which ones fall")
    right.legend(markerscale=3)
    return figure


def motor_four_bar(x: Names) -> Any:
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(8.6, 2.8))
    motion, curve = x["motion"], x["curve"]
    picture = kn.viewer.picture(x["model"], q=motion.q[int(0.3 * len(motion))], size=(480, 420))
    left.imshow(picture)
    left.set_axis_off()
    middle.plot(curve[x["steady"], 0], curve[x["steady"], 2], color=ORANGE)
    middle.set(xlabel="m", title="where the coupler's point goes", aspect="equal")
    right.plot(motion.times, x["crank"], color=BLUE, label="crank, rad/s")
    right.plot(motion.times, x["torque"], color=ORANGE, label="motor, N m")
    right.axhline(x["SPEED"], color=INK, ls=":", lw=0.8)
    right.set(xlabel="s", title="speed and torque")
    right.legend(loc="center right", fontsize=8)
    return figure


def mend_urdf(x: Names) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.9), width_ratios=(1, 1.6))
    left.imshow(kn.viewer.picture(x["again"], q=x["q"], size=(480, 420)))
    left.set_axis_off()
    names = [joint.name for joint in x["again"].joints]
    for k, (name, color) in enumerate((("theirs", GREY), ("mended", ORANGE))):
        right.barh(np.arange(7) + 0.2 - 0.4 * k, np.abs(x["torques"][name]) + 1e-3, 0.4, color=color, label=name)
    right.set_xscale("log")
    right.set_yticks(np.arange(7), names)
    right.invert_yaxis()
    right.set(xlabel="N m", title="torques that hold it in this posture", xlim=(0.3, 2e4))
    right.legend()
    return figure


def quadruped_learning(x: Names) -> Any:
    motion, history = x["motion"], np.array(x["history"])
    cart = example("cart_pole_learning")
    figure = plt.figure(figsize=(8.6, 4.4))
    top, low = figure.subfigures(2, 1, height_ratios=(1, 1.15))
    for axes, k in zip(top.subplots(1, 4), np.linspace(0.45, 0.55, 4), strict=True):
        q = motion.q[int(k * len(motion.q))]
        axes.imshow(kn.viewer.picture(x["model"], q=q, size=(360, 300)))
        axes.set_axis_off()
    left, right = low.subplots(1, 2)
    for axes, rows, title, unit in (
        (left, np.array(cart["history"]), "cart-pole", "return"), (right, history, "quadruped", "m in two seconds"),
    ):  # fmt: skip
        generations = np.arange(1, len(rows) + 1)
        axes.fill_between(generations, rows[:, 0], rows[:, 2], color=BLUE, alpha=0.25, lw=0)
        axes.plot(generations, rows[:, 1], color=BLUE)
        axes.set(xlabel="generation", ylabel=unit, title=f"{title}: 256 environments, middle and 80 %")
    low.subplots_adjust(bottom=0.22, top=0.85, wspace=0.3)
    top.subplots_adjust(left=0.02, right=0.98, wspace=0.03, top=1.0, bottom=0.0)
    return figure


FIGURES: dict[str, Callable[[Names], Any]] = {
    x.__name__: x for x in (computed_torque, sampled_pid, monte_carlo, motor_four_bar, mend_urdf, quadruped_learning)
}


def example(name: str) -> Names:
    """What an example computes, by name; it runs in a folder of its own."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        finally:
            os.chdir(here)


def main() -> None:
    plt.rcParams.update(STYLE)
    for name in sys.argv[1:] or FIGURES:
        figure = FIGURES[name](example(name))
        if name != "quadruped_learning":
            figure.tight_layout()
        figure.savefig(HERE / f"{name}.png")
        print(HERE / f"{name}.png")


if __name__ == "__main__":
    main()
