"""Makes the pictures of the gallery, its replays, and the moving picture of the first page, from the examples.

`make pictures`, or `python docs/gallery/make_pictures.py [NAME …]` for some of them. Needs Chromium, playwright, Pillow
and matplotlib. Every example is run; what it calls `motion` is written as a replay, and photographed in the browser.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import knuckle as kn

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
INK, ORANGE, BLUE = "#5b6673", "#d9661f", "#2b7fb8"


@dataclass(frozen=True)
class Scene:
    """Moments of a motion side by side, in pixels each, from a camera that may be turned (degrees) and be nearer."""

    moments: tuple[float, ...]
    width: int = 300
    height: int = 300
    azimuth: float | None = None
    elevation: float | None = None
    nearer: float = 1.0
    window: tuple[float, float] | None = None
    """The part of the motion that the camera looks at, in which moments are counted; all of it, if not given"""


SCENES = {
    "arm_reaching": Scene((0.0, 1.5, 3.0, 4.5), 225, azimuth=-95, nearer=1.65),
    "somersault": Scene((0.0, 0.3, 0.6, 0.85, 1.1), 180, azimuth=-75, elevation=8, nearer=1.5),
    "quadruped_turning": Scene((0.0, 1.25, 2.5, 3.75), 225, elevation=32, nearer=1.25),
    "quadruped_trot": Scene((0.0, 0.1, 0.2, 0.3), 225, 200, azimuth=-70, elevation=14, nearer=0.95, window=(1.6, 1.91)),
    "quadruped_push": Scene((0.0, 0.22, 0.4, 0.9), 225, 200, azimuth=-70, elevation=14, nearer=1.1, window=(0.55, 1.5)),
    "humanoid_walk": Scene((0.0, 0.3, 0.6, 0.9), 225, 300, azimuth=-62, elevation=8, nearer=1.85, window=(6.3, 7.25)),
    "quadruped_jump": Scene((0.0, 0.12, 0.2, 0.26, 0.35), 180, 260, azimuth=-70, elevation=8, nearer=1.2),
    "cart_pole": Scene((0.0, 1.9, 6.0), 300, 200, azimuth=-85, elevation=10, nearer=1.25),
    "satellite": Scene((0.0, 3.0, 30.0), 300, 240, azimuth=-30, elevation=22, nearer=1.1),
    "four_bar": Scene((0.0, 0.08, 0.2), 200, azimuth=-80, elevation=12, nearer=1.35),
    "inverse_kinematics": Scene((0.0, 1.0, 2.0, 3.0), 225, 260, azimuth=-25, nearer=1.3),
    "pass_the_object": Scene((0.6, 1.3, 2.2, 3.1, 4.0), 190, 200, azimuth=20, elevation=20, nearer=1.75),
    "soft_block": Scene((0.0, 0.5, 0.8, 0.86), 225, 260, azimuth=-75, elevation=14, nearer=1.2),
    "muscle_arm": Scene((0.0, 0.35, 0.8, 1.15, 1.6), 180, 240, azimuth=-84, elevation=6, nearer=1.6),
    "bouncing_arm": Scene((0.0, 0.15, 0.3, 0.6), 225, 260, nearer=1.25),
}
REPLAYS: dict[str, tuple[str, float | None, float]] = {  # title, how many seconds of it, speed
    "arm_reaching": ("An arm reaches", None, 1.0),
    "somersault": ("A somersault", None, 0.25),
    "quadruped_trot": ("A quadruped trots", None, 1.0),
    "quadruped_push": ("A quadruped is pushed and steps", None, 1.0),
    "humanoid_walk": ("A humanoid walks, and is pushed", None, 1.0),
    "satellite": ("A satellite points its dish", 12.0, 1.0),
    "muscle_arm": ("Six muscles reach", None, 0.5),
    "pass_the_object": ("Two arms pass a parcel", None, 1.0),
    "soft_block": ("Two fingers squeeze a soft block", None, 0.5),
}
HERO = ("arm_reaching", "somersault", "quadruped_turning")


def run(name: str, *arguments: str) -> dict[str, Any]:
    """What an example leaves behind, run in an empty folder."""
    before, told = Path.cwd(), sys.argv
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        sys.argv = [name, *arguments]
        try:
            return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        finally:
            os.chdir(before)
            sys.argv = told


# In the browser


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("no Chromium here: install one, or name it in the environment variable CHROMIUM")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield running
        running.close()


def opened(running: Any, file: Path, scene: Scene, width: int, height: int) -> Page:
    """The replay with nothing but its scene, twice as fine as the picture will be."""
    page = running.new_page(viewport={"width": width, "height": height}, device_scale_factor=2)
    page.goto(file.as_uri())
    for _ in range(600):  # the page forbids `eval`, which playwright's own waiting needs
        if page.evaluate("Boolean(window.replay && window.replay.ready)"):
            break
        page.wait_for_timeout(50)
    page.evaluate(
        "for (const id of ['heading', 'grid-size', 'lines-legend', 'bar', 'side'])"
        "  document.getElementById(id).style.display = 'none';"
        "document.body.classList.add('alone')"
    )
    page.wait_for_timeout(100)
    camera = page.evaluate("({...replay.camera})")
    wanted = {
        "azimuth": camera["azimuth"] if scene.azimuth is None else np.radians(scene.azimuth),
        "elevation": camera["elevation"] if scene.elevation is None else np.radians(scene.elevation),
        # the replay's camera suits a picture that is wider than high
        "distance": camera["distance"] / scene.nearer * max(1.0, 1.2 * height / width),
    }
    page.evaluate("(camera) => { Object.assign(replay.camera, camera); }", wanted)
    return page


def photograph(page: Page, time: float, width: int, height: int) -> Image.Image:
    page.evaluate(f"replay.pause(); replay.seek({time}); replay.draw()")
    picture = Image.open(io.BytesIO(page.locator("#scene").screenshot())).convert("RGB")
    return picture.resize((width, height), Image.Resampling.LANCZOS)


def beside(pictures: Sequence[Image.Image], gap: int = 0) -> Image.Image:
    width = sum(picture.width for picture in pictures) + gap * (len(pictures) - 1)
    whole = Image.new("RGB", (width, pictures[0].height), "white")
    x = 0
    for picture in pictures:
        whole.paste(picture, (x, 0))
        x += picture.width + gap
    return whole


def strip(running: Any, name: str, motion: Any, folder: Path) -> Image.Image:
    scene = SCENES[name]
    part = motion if scene.window is None else motion[slice(*scene.window)]
    file = kn.viewer.replay_html(part, folder / f"{name}.html", playing=False, theme="light")
    page = opened(running, file, scene, scene.width, scene.height)
    pictures = [photograph(page, t, scene.width, scene.height) for t in scene.moments]
    page.close()
    return beside(pictures)


def moving(running: Any, motions: dict[str, Any], folder: Path, frames: int = 90, rate: int = 20) -> None:
    """Three examples side by side, in motion. Each fills the time with its whole length."""
    columns: list[list[Image.Image]] = []
    for name in HERO:
        motion = motions[name]
        file = kn.viewer.replay_html(motion, folder / f"{name}.html", playing=False, theme="light")
        page = opened(running, file, SCENES[name], 280, 300)
        end = motion.duration
        columns.append([photograph(page, end * k / (frames - 1), 280, 300) for k in range(frames)])
        page.close()
    pictures = [beside(row) for row in zip(*columns, strict=True)]
    first, *others = pictures
    first.save(
        HERE / "moving.webp", save_all=True, append_images=others, duration=1000 // rate, loop=0, quality=60, method=6
    )


# Plots


def axes(count: int, **options: Any) -> tuple[Any, Any]:
    spines = {"axes.spines.top": False, "axes.spines.right": False}
    colors = dict.fromkeys(("axes.edgecolor", "text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    plt.rcParams.update(**{"font.size": 9, "axes.titlesize": 9}, **spines, **colors)
    return plt.subplots(1, count, figsize=(9.0, 3.0), layout="constrained", **options)


def keep(figure: Any, name: str) -> None:
    data = io.BytesIO()
    figure.savefig(data, dpi=200)
    plt.close(figure)
    picture = Image.open(data).convert("RGB")
    picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.LANCZOS).save(
        HERE / f"{name}.webp", quality=85
    )


def chaos() -> None:
    found = run("chaos", "420")
    figure, (left, right) = axes(2, width_ratios=(1.0, 1.35))
    seconds = np.where(np.isinf(found["first"]), np.nan, found["first"])
    box = (-180, 180, -180, 180)
    shown = left.imshow(seconds.T, origin="lower", extent=box, cmap="magma_r", norm="log", interpolation="nearest")
    left.set(xlabel="upper angle (°)", ylabel="lower angle (°)", title="time until the lower rod goes over (s)")
    left.set_xticks((-180, 0, 180))
    left.set_yticks((-180, 0, 180))
    figure.colorbar(shown, ax=left, ticks=(0.5, 1, 2, 5, 10), format="%g")
    right.semilogy(found["near"].times, found["gap"], color=ORANGE)
    right.set(xlabel="time (s)", ylabel="distance (rad)", title="two pendulums, a millionth of a degree apart")
    keep(figure, "chaos")


def payloads() -> None:
    found = run("payloads")
    figure, (left, right) = axes(2)
    order = np.argsort(found["mass"])[:: len(found["mass"]) // 60]
    colors = plt.get_cmap("viridis")(found["mass"][order] / 3.0)
    for k, color in zip(order, colors, strict=True):
        left.plot(found["found"].times, found["hand"][k, :, 2], color=color, lw=0.8)
    left.set(xlabel="time (s)", ylabel="height of the hand (m)", title="sixty of a thousand trajectories")
    shown = right.scatter(
        found["mass"], -1e3 * found["sag"], c=found["payload"]["height"][:, 0] * 100, s=6, cmap="viridis"
    )
    right.set(xlabel="payload (kg)", ylabel="sag (mm)", title="where the hand ends, below where it should be")
    figure.colorbar(shown, ax=right, label="distance from the flange (cm)")
    keep(figure, "payloads")


def identification() -> None:
    found = run("identification")
    figure, (left, right) = axes(2, width_ratios=(1.5, 1.0))
    t = np.linspace(0, 10, len(found["torque"]))
    for k, color in ((1, ORANGE), (3, BLUE)):
        left.plot(t, found["torque"][:, k], color=color, lw=3, alpha=0.35, label=found["arm"].joint_names[k])
        left.plot(t, found["predicted"][:, k], color=color, lw=1)
    left.legend(frameon=False)
    left.set(
        xlabel="time (s)", ylabel="torque (N m)", title="torques of another motion: true (broad) and predicted (thin)"
    )
    off = (found["beta"] - found["truth"]) / found["spread"]
    right.hist(off, bins=np.arange(-4, 4.1, 0.5), color=BLUE)
    right.set(
        xlabel="error in standard deviations", ylabel="base parameters", title="what was found, against the truth"
    )
    keep(figure, "identification")


def arm_ilqr() -> None:
    found = run("arm_ilqr")
    figure, (left, middle, right) = axes(3)
    left.semilogy(found["costs"], ".-", color=BLUE)
    left.set(xlabel="iteration", title="cost")
    times = found["motion"][1]
    middle.plot(times, np.linalg.norm(found["hand"] - found["goal"], axis=-1), color=ORANGE)
    middle.set(xlabel="time (s)", title="the hand's distance from its goal (m)", ylim=(0, None))
    for k, (name, color) in enumerate(zip(found["arm"].joint_names[:4], (BLUE, ORANGE, INK, "#4a9c5d"), strict=True)):
        right.plot(times[:-1], found["tau"][:, k], color=color, label=name.replace("_", " "), lw=1.2)
    right.legend(frameon=False, fontsize=7)
    right.set(xlabel="time (s)", title="torques (N m)")
    keep(figure, "arm_ilqr")


def many_hands() -> None:
    found = run("many_hands")
    figure, (left, right) = axes(2, width_ratios=(1.4, 1.0))
    history = np.maximum(np.array(found["history"]), 1e-17)
    left.semilogy(history[:25, ::10], color=BLUE, lw=0.6, alpha=0.4)
    left.set(xlabel="step", ylim=(1e-17, 10), title="error of a hundred of a thousand poses (rad, m)")
    right.hist(found["steps"], bins=np.arange(0.5, 25), color=ORANGE)
    right.set(xlabel="steps", ylabel="goals", title="steps to 1e-9")
    keep(figure, "many_hands")


def mass_from_motion() -> None:
    found = run("mass_from_motion")
    payloads, losses = (np.array(x) for x in zip(*found["history"], strict=True))
    figure, (left, right) = axes(2)
    left.plot(payloads[:, 0], color=ORANGE)
    left.axhline(found["truth"][0], color=INK, lw=0.8, ls=":")
    left.set(xlabel="rollout", title="mass (kg), and what it is", ylim=(0, None))
    right.semilogy(losses / (0.5 * found["measured"].size), color=BLUE)
    right.axhline(1.0, color=INK, lw=0.8, ls=":")
    right.set(xlabel="rollout", title="squares of what is left, over those of the noise")
    keep(figure, "mass_from_motion")


def policy_torch() -> None:
    found = run("policy_torch")
    figure, (left, middle, right) = axes(3)
    left.plot(found["losses"], color=BLUE, lw=1)
    left.set(xlabel="step of Adam", title="loss of 64 swings", ylim=(0, None))
    motion = found["motion"]
    middle.plot(motion.times, np.degrees(motion.q[:, 0] - found["top"]), color=ORANGE)
    for turn in (-360, 0, 360):
        middle.axhline(turn, color=INK, lw=0.8, ls=":")
    middle.set(xlabel="time (s)", title="angle from upright (°)")
    right.plot(motion.times, motion.tau[:, 0] / found["WEIGHT"], color=BLUE, lw=1)
    right.set(xlabel="time (s)", title="torque, over what lifts it", ylim=(-1, 1))
    keep(figure, "policy_torch")


def cable_bridge() -> None:
    found = run("cable_bridge")
    n, sag, counts, speed = found["N"], found["sag"], found["counts"], found["SPEED"]
    figure, rows = axes(3, width_ratios=(1.7, 1.5, 0.9))
    left, middle, right = rows
    for side, foot in enumerate((n / 4, 3 * n / 4)):
        left.plot([foot, foot], [0, n / 5], color=INK, lw=3)
        for k in range(found["CABLES"] // 2):
            left.plot([foot, side * n / 2 + (k + 0.5) * n / found["CABLES"]], [n / 5, 0], color=INK, lw=0.3)
    x, moments = np.arange(1, n + 1), (4, 9, 14, 18)
    for t, color in zip(moments, plt.get_cmap("viridis")(np.linspace(0, 0.85, len(moments))), strict=True):
        at = int(speed * t)
        left.plot(x, 1000 * sag[10 * t], color=color, lw=1.2)
        left.plot([at], [1000 * sag[10 * t][at]], "v", color=color, ms=5)
        middle.plot(x, 1e3 * sag[10 * t], color=color, label=f"{t} s")
    left.set(xlabel="m", title=f"100 t on {n} links; the deck's deflection a thousand times")
    middle.set(xlabel="m", title="deflection of the deck (mm)")
    middle.legend(frameon=False, fontsize=8, ncols=2)
    right.step(np.arange(len(counts)), counts, where="post", color=ORANGE)
    right.set(xlabel="time (s)", title="iterations in a step", ylim=(0, 1.5 * max(counts)))
    keep(figure, "cable_bridge")
    title = "A locomotive on a bridge; deflections a thousand times"
    kn.viewer.replay_html(run("cable_bridge", "200")["motion"], HERE / "cable_bridge.html", title=title, rate=10)


def rubbing_linkage() -> None:
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "linkage.png"
        found = run("rubbing_linkage", str(drawn))
        picture = Image.open(drawn).convert("RGB")
    picture.resize((900, 900 * picture.height // picture.width), Image.Resampling.LANCZOS).save(
        HERE / "rubbing_linkage.webp", quality=88
    )
    title = "A linkage whose pins rub"
    kn.viewer.replay_html(found["motion"], HERE / "rubbing_linkage.html", title=title, rate=30, speed=0.25)


def coupler_curve(linkage: Image.Image, found: dict[str, Any]) -> None:
    """The four-bar's pictures, with the curve of its coupler point beside them."""
    figure, curve = plt.subplots(figsize=(3.0, 3.0), layout="constrained")
    x, _, z = found["curve"].T
    curve.plot(x, z, color=ORANGE)
    curve.set_aspect("equal")
    curve.set(xlabel="x (m)", ylabel="z (m)", title="the coupler point")
    data = io.BytesIO()
    figure.savefig(data, dpi=100)
    plt.close(figure)
    beside([linkage, Image.open(data).convert("RGB")]).save(HERE / "four_bar.webp", quality=85)


def main(names: Sequence[str]) -> None:
    wanted = set(names)
    plots = {
        "chaos": chaos, "payloads": payloads, "identification": identification, "cable_bridge": cable_bridge,
        "arm_ilqr": arm_ilqr, "many_hands": many_hands, "mass_from_motion": mass_from_motion,
        "policy_torch": policy_torch,
        "rubbing_linkage": rubbing_linkage,
    }  # fmt: skip
    for name, plot in plots.items():
        if not wanted or name in wanted:
            plot()
    axes(1)
    plt.close("all")
    motions: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        for name in SCENES:
            if wanted and name not in wanted and not ("moving" in wanted and name in HERO):
                continue
            found = run(name)
            motions[name] = found["motion"]
            picture = strip(running, name, found["motion"], Path(folder))
            if name == "four_bar":
                coupler_curve(picture, found)
            else:
                picture.save(HERE / f"{name}.webp", quality=85, method=6)
            if name in REPLAYS:
                title, seconds, speed = REPLAYS[name]
                motion = found["motion"] if seconds is None else found["motion"][0.0:seconds]
                kn.viewer.replay_html(motion, HERE / f"{name}.html", title=title, rate=30, speed=speed)
        if not wanted or "moving" in wanted:
            moving(running, motions, Path(folder))
    for file in sorted(HERE.iterdir()):
        print(f"{file.name:28} {file.stat().st_size / 1000:7.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
