"""`knuckle view`: robots, or trajectories, in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence

import numpy as np

from knuckle.cli.failures import UnusableError
from knuckle.cli.model_argument import open_model
from knuckle.cli.state_arguments import position
from knuckle.formats.base_link import Base
from knuckle.trajectory.trajectory import Trajectory
from knuckle.viewer import Viewer, play, view

TRAJECTORIES = (".npz", ".nc")


def show(
    files: Sequence[str],
    start: Sequence[str],
    port: int,
    host: str,
    speed: float,
    open_browser: bool,
    base: Base,
    mimic: bool,
) -> None:
    """Opens a viewer and waits until it is closed."""
    motions = [file for file in files if file.lower().endswith(TRAJECTORIES)]
    if motions and len(motions) < len(files):
        raise UnusableError(f"{motions[0]} is a trajectory, and not all of the others are: show one kind at a time")
    if start and (motions or len(files) > 1):
        raise UnusableError("--start is for one robot that stands still")
    try:
        if motions:
            opened = play([Trajectory.load(file) for file in motions], port=port, host=host, speed=speed, block=False)
        else:
            models = [open_model(file, base, mimic) for file in files]
            q = [position(model, "--start", start) for model in models]
            opened = view(models, [np.asarray(x) for x in q], port=port, host=host, block=False)
    except ValueError as error:
        raise UnusableError(str(error)) from None
    _stay(opened, open_browser)


def _stay(viewer: Viewer, open_browser: bool) -> None:
    if open_browser:
        webbrowser.open(viewer.url)
    print("Ctrl-C closes it", flush=True)
    viewer.wait()
