"""`knuckle simulate`: a model through time, and what is left of it in files."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from knuckle.cli.controllers import ControllerChoice, soft_stops, towards
from knuckle.cli.failures import UnusableError
from knuckle.cli.state_arguments import position, velocity
from knuckle.contact import ShapeCollider, with_hulls
from knuckle.errors import ModelError
from knuckle.integrators.starting_state import DEFAULT_STEP
from knuckle.model import ROOT, Model
from knuckle.model.edit import with_ground
from knuckle.simulation.simulate import simulate
from knuckle.trajectory.trajectory import Trajectory

SUFFIXES = {
    "--out": (".npz", ".nc", ".csv"),
    "--plot": (".png", ".pdf", ".svg"),
    "--html": (".html", ".htm"),
}


@dataclass(frozen=True)
class TimedRun:
    """A simulation and the seconds it took, without those of compiling."""

    trajectory: Trajectory
    wall: float
    is_conserved: bool
    """Whether nothing gives or takes energy."""
    warnings: tuple[str, ...] = ()
    """What to know about it that the report does not say."""


def on_ground(
    model: Model, start: Sequence[str], height: float | None, friction: float | None, degrees: bool = False
) -> Model:
    """The model on a floor: at a height, or just below where it begins."""
    if height is None:
        height = _lowest(model, position(model, "--start", start, degrees))
    return with_ground(model, height, friction=friction)


def _lowest(model: Model, q: Any) -> float:
    """The height of the lowest point of what can touch a floor."""
    collider = ShapeCollider.of(with_hulls(with_ground(model)))
    owner = np.repeat([ROOT in (pair.first, pair.second) for pair in collider.pairs], collider.counts)
    above = collider.places(q)[owner.astype(bool), 0]
    if not above.size:
        raise UnusableError(f"--ground: nothing of {model.name} can touch it, for it has no shapes that collide")
    return float(above.min())


def run(
    model: Model,
    duration: float,
    dt: float | None,
    controller: str,
    integrator: str | None,
    contacts: bool | None,
    start: Sequence[str],
    speed: Sequence[str],
    goal: Sequence[str],
    bandwidth: float,
    joint_limits: str | None,
    stop_bandwidth: float = 20.0,
    degrees: bool = False,
) -> TimedRun:
    """The motion that the words of the command line ask for."""
    if dt is not None and dt > duration:
        raise UnusableError(f"--dt {dt:g} is longer than --duration {duration:g}: a step is a part of the motion")
    q0, v0 = position(model, "--start", start, degrees), velocity(model, "--speed", speed, degrees)
    if goal and controller != "pd":
        raise UnusableError(f"--goal is for --controller pd, not for {controller}")
    control = ControllerChoice()
    if controller != "none":
        wanted = q0 if controller == "hold" else position(model, "--goal", goal, degrees)
        control = towards(model, q0, wanted, bandwidth)
    options: dict[str, Any] = {
        "dt": dt,
        "integrator": integrator,
        "contacts": contacts,
        "joint_limits": soft_stops(model, q0, stop_bandwidth) if joint_limits == "compliant" else joint_limits,
        "controller": control.controller,
        "parameters": control.parameters,
    }
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", RuntimeWarning)
            simulate(model, q0, v0, min(duration, 2 * (dt or DEFAULT_STEP)), **options, progress=False)  # compiles
            raised.clear()
            began = time.perf_counter()
            trajectory = simulate(model, q0, v0, duration, **options)
            wall = time.perf_counter() - began
    except ModelError:
        raise
    except (ValueError, TypeError) as error:
        raise UnusableError(str(error)) from None
    resists = any(any((*joint.damping, *joint.friction)) for joint in model.joints)
    touches = trajectory.integrator == "contact"
    is_conserved = controller == "none" and not resists and joint_limits is None and not touches
    of_end = trajectory.reason in ("diverged", "stalled")  # which the report says
    said = () if of_end else tuple(dict.fromkeys(str(x.message) for x in raised))
    return TimedRun(trajectory, wall, is_conserved, said)


def check_suffixes(**files: Path | None) -> None:
    """Refuse a file of a kind that cannot be written, before anything is computed."""
    for name, path in files.items():
        option = f"--{name}"
        if path is not None and path.suffix.lower() not in SUFFIXES[option]:
            raise UnusableError(f"{option} {path}: expected a file that ends in {' or '.join(SUFFIXES[option])}")
        if path is not None and not path.absolute().parent.is_dir():
            raise UnusableError(f"{option} {path}: there is no folder {path.parent}")


def write_files(trajectory: Trajectory, out: Path | None, plot: Path | None, html: Path | None) -> dict[str, str]:
    """Writes what was asked for; returns the files by what they are."""
    if not np.all(np.isfinite(trajectory.q)):
        rows = np.flatnonzero(np.all(np.isfinite(trajectory.q), axis=1) & np.all(np.isfinite(trajectory.v), axis=1))
        trajectory = trajectory.rows(rows)
    if out is not None:
        trajectory.save(out)
    if plot is not None:
        trajectory.plot(plot)
    if html is not None:
        from knuckle.viewer.replay_page import replay_html

        replay_html(trajectory, html)
    named = {"trajectory": out, "plot": plot, "replay": html}
    return {what: str(path) for what, path in named.items() if path is not None}
