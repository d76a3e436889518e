"""A motion as one HTML file that needs nothing else: opened by double-click, sent by mail, put on a page."""

from __future__ import annotations

import base64
import html
import json
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from knuckle.functions.loops.freedoms_at_start import freedoms_at_start
from knuckle.model import ROOT

from .notebook.html_pieces import framed
from .recording import Recording, recordings
from .scene.element_lines import ACTIVE_COLOR, REST_COLOR, SLACK_COLOR, TAUT_COLOR, ElementLines
from .scene.figure import Figure, Part, figure
from .scene.force_arrows import SLIP_COLOR, STICK_COLOR, ForceArrows, moving_size, scale_of
from .scene.poses import quaternions
from .scene.slopes import with_slopes
from .scene.soft_skin import SoftSkin, reach, soft_skins
from .scene.stage import ELEVATION, stage
from .scene.triangles import Array

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("matrices.js", "renderer.js", "plots.js", "player.js")
_ASPECT = 1.2
"""Width over height of the scene on the page, about."""
_ENERGY_COLORS = {"kinetic": "#d9661f", "potential": "#2b7fb8", "total": "#7d8794"}


def replay_html(
    trajectory: Any,
    path: str | Path,
    *,
    title: str | None = None,
    rate: float = 60.0,
    most_faces: int = 120_000,
    speed: float = 1.0,
    playing: bool = True,
    spacing: float | None = None,
    theme: Literal["light", "dark"] | None = None,
    contacts: bool = True,
) -> Path:
    """Writes a motion as an HTML file that any browser opens from disk, without network or server.

    Args:
        trajectory: a trajectory, a tuple (model, times, q) or (model, times, q, v), or a list of them, or a small
            rollout: several robots.
        path: the file to write.
        title: what the page is called; the robots' names if not given.
        rate: moments kept per second; the page moves smoothly between them.
        most_faces: meshes are made coarser until a robot has about this many triangles.
        speed: 0.1, 0.25, 0.5, 1, 2 or 4 times real time, to begin with.
        playing: whether the page starts to play when it is opened.
        spacing: the distance between several robots; None keeps them apart, 0 puts them in one place.
        theme: "light" or "dark"; None follows the reader's system.
        contacts: whether the forces of contacts, where the motion knows them, are arrows to begin with: blue where a
            contact sticks, orange where it slides. A key hides and shows them.

    Returns:
        The path of the file.
    """
    _check_page(rate, theme)
    target = Path(path)
    page = replay_page(trajectory, title, rate, most_faces, speed, playing, spacing, theme, contacts)
    target.write_text(page, "utf-8")
    return target


class ReplayOptions(TypedDict, total=False):
    """The options of `replay`."""

    height: int
    title: str | None
    rate: float
    most_faces: int
    speed: float
    playing: bool
    spacing: float | None
    theme: Literal["light", "dark"] | None
    contacts: bool


@dataclass(frozen=True, repr=False)
class Replay:
    """A motion as a page of its own. A notebook shows it in place; `save` writes it to a file."""

    page: str
    """The text of the page"""
    height: int
    """Of its frame in a notebook, in pixels"""

    def save(self, path: str | Path) -> Path:
        """Writes the page as an HTML file that any browser opens."""
        Path(path).write_text(self.page, "utf-8")
        return Path(path)

    def __repr__(self) -> str:
        return f"<knuckle replay, {len(self.page) / 1e3:.0f} kB: shown in a notebook, written by save(path)>"

    def _repr_html_(self) -> str:
        return framed(self.page, self.height)


def replay(
    trajectory: Any,
    *,
    height: int = 420,
    title: str | None = None,
    rate: float = 60.0,
    most_faces: int = 40_000,
    speed: float = 1.0,
    playing: bool = True,
    spacing: float | None = None,
    theme: Literal["light", "dark"] | None = None,
    contacts: bool = True,
) -> Replay:
    """A motion as a page that a notebook shows in place, with play, pause and plots; the options of `replay_html`.

    Example:
        kn.simulate(model, duration=2.0).replay()

    Args:
        trajectory: a trajectory, a tuple (model, times, q) or (model, times, q, v), a list of them, or a small rollout.
        height: of the frame, in pixels.
        title, rate, most_faces, speed, playing, spacing, theme, contacts: as for `replay_html`.
    """
    _check_page(rate, theme)
    return Replay(
        replay_page(trajectory, title, rate, most_faces, speed, playing, spacing, theme, contacts), int(height)
    )


def _check_page(rate: float, theme: str | None) -> None:
    if not rate > 0:
        raise ValueError(f"rate is a number of moments per second above zero, not {rate!r}")
    if theme not in (None, "light", "dark"):
        raise ValueError(f'theme is "light", "dark" or None, not {theme!r}')


def replay_page(
    trajectory: Any,
    title: str | None,
    rate: float,
    most_faces: int,
    speed: float,
    playing: bool,
    spacing: float | None,
    theme: str | None,
    contacts: bool = True,
) -> str:
    """The text of the page."""
    motions = [one.thinned(rate) for one in recordings(trajectory)]
    samples = [one.q[:: max(1, len(one.q) // 200)] for one in motions]
    nodes = [one.node_places() for one in motions]
    drawn = (replace(figure(one.model, most_faces), reach=reach(x)) for one, x in zip(motions, nodes, strict=True))
    figures = [with_slopes(one, q) for one, q in zip(drawn, samples, strict=True)]
    for problem in dict.fromkeys(problem for drawn in figures for problem in drawn.problems):
        warnings.warn(problem, stacklevel=3)
    on = stage(figures, samples, spacing)
    blob = _Blob()
    sizes = [moving_size(drawn, one.q[0]) for one, drawn in zip(motions, figures, strict=True)]
    arrows = [one.arrows(size) for one, size in zip(motions, sizes, strict=True)]
    lines = [one.lines(size) for one, size in zip(motions, sizes, strict=True)]
    shown = zip(motions, figures, on.placements, arrows, lines, strict=True)
    robots = [_robot(*each, x, blob) for each, x in zip(shown, nodes, strict=True)]
    name = title or ", ".join(dict.fromkeys(one.model.name for one in motions))
    header = {
        "title": name,
        "subtitle": _subtitle(motions),
        "robots": robots,
        "ground": on.ground,
        "cell": on.cell,
        "radius": on.radius,
        "speed": speed,
        "playing": playing,
        "theme": theme,
        "arrows": contacts,
        "legend": {"stick": STICK_COLOR, "slip": SLIP_COLOR, "length": scale_of(arrows)},
        "scales": _scales(lines),
        "camera": {
            "target": on.centre.tolist(),
            "distance": on.distance(_ASPECT),
            "azimuth": on.azimuth,
            "elevation": ELEVATION,
        },
    }
    text = (_PAGE / "replay.html").read_text("utf-8")
    filled = {
        "TITLE": html.escape(name),
        "STYLE": (_PAGE / "replay.css").read_text("utf-8").strip(),
        "HEADER": json.dumps(header, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        "SCRIPT": "\n".join((_PAGE / file).read_text("utf-8").strip() for file in _SCRIPTS),
        "DATA": blob.text(),
    }
    pieces = text.split("@")
    return "".join(filled.get(piece, piece) if k % 2 else piece for k, piece in enumerate(pieces))


def _subtitle(motions: Sequence[Recording]) -> str:
    longest = max(one.duration for one in motions)
    if len(motions) > 1:
        return f"{len(motions)} robots, {longest:.3g} s"
    model = motions[0].model
    closed = freedoms_at_start(model)
    freedoms = model.nv if closed is None else closed.freedoms
    noun = "degree of freedom" if freedoms == 1 else "degrees of freedom"
    return f"{model.nb} bodies, {freedoms} {noun}, {longest:.3g} s"


class _Blob:
    """Arrays one after the other, each at a multiple of four bytes, compressed in the end."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def add(self, array: Array, kind: Literal["f4", "u2", "u4"]) -> dict[str, Any]:
        """Appends an array; returns where the page finds it."""
        start = len(self.bytes)
        raw = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        self.bytes += raw + b"\0" * (-len(raw) % 4)
        return {"kind": kind, "start": start, "count": int(np.size(array))}

    def text(self) -> str:
        """All of it, deflated, in base 64."""
        return base64.b64encode(zlib.compress(bytes(self.bytes), 9)).decode("ascii")


def _robot(
    motion: Recording,
    drawn: Figure,
    placement: Array,
    arrows: ForceArrows | None,
    lines: ElementLines | None,
    nodes: Array | None,
    blob: _Blob,
) -> dict[str, Any]:
    model = motion.model
    skins = soft_skins(model) if nodes is not None else []
    T = placement @ motion.poses()
    T = np.concatenate([T, np.broadcast_to(placement, (len(T), len(skins), 4, 4))], axis=1)
    rows = np.concatenate([_continuous(quaternions(T[..., :3, :3])), T[..., :3, 3]], axis=-1)
    energies = motion.energies()
    return {
        "name": model.name,
        "bodies": [model.base.name, *model.body_names, *(skin.name for skin in skins)],
        "times": blob.add(motion.times - motion.times[0], "f4"),
        "poses": blob.add(rows, "f4"),
        "joints": [
            {"name": name, "unit": unit if unit != "1" else "", "values": blob.add(values, "f4")}
            for name, unit, values in motion.joint_values()
        ],
        "energies": [
            {"name": name, "unit": "", "color": _ENERGY_COLORS[name], "values": blob.add(values, "f4")}
            for name, values in energies.items()
        ],
        "arrows": None if arrows is None or not len(arrows.tail) else _arrows(arrows, placement, blob),
        "lines": None if lines is None else _lines(lines, placement, blob),
        "parts": [
            *(_part(part, blob) for part in drawn.parts if len(part.surface.faces)),
            *(_skin(skin, model.nb + 1 + k, nodes, blob) for k, skin in enumerate(skins) if nodes is not None),
        ],
    }


def _arrows(arrows: ForceArrows, placement: Array, blob: _Blob) -> dict[str, Any]:
    """The arrows of all moments, in the scene."""
    R, p = placement[:3, :3], placement[:3, 3]
    return {
        "start": blob.add(arrows.start, "u4"),
        "tails": blob.add(arrows.tail @ R.T + p, "f4"),
        "ways": blob.add(arrows.way @ R.T, "f4"),
        "slides": blob.add(arrows.slides, "u2"),
        "width": 0.036 * arrows.length,
        "length": arrows.length,
    }


def _lines(lines: ElementLines, placement: Array, blob: _Blob) -> dict[str, Any]:
    """The lines of all moments, in the scene; colours in 255 parts."""
    R, p = placement[:3, :3], placement[:3, 3]
    return {
        "start": blob.add(lines.start, "u4"),
        "ends": blob.add(lines.ends @ R.T + p, "f4"),
        "colors": blob.add(np.rint(255 * lines.color), "u2"),
        "widths": blob.add(0.5 * lines.width, "f4"),
    }


def _scales(lines: Sequence[ElementLines | None]) -> list[dict[str, str]]:
    """What the colours of lines mean, from one to the other."""
    there = [x for x in lines if x is not None]
    muscles = {"low": REST_COLOR, "high": ACTIVE_COLOR, "from": "at rest", "to": "activated"}
    others = {"low": SLACK_COLOR, "high": TAUT_COLOR, "from": "slack", "to": "taut"}
    is_shown = (muscles, any(x.has_muscles for x in there)), (others, any(x.has_others for x in there))
    return [scale for scale, is_there in is_shown if is_there]


def _continuous(p: Array) -> Array:
    """Quaternions (n, bodies, 4) of the sign that is nearest to the moment before."""
    turns = np.sum(p[1:] * p[:-1], axis=-1, keepdims=True) < 0
    signs = np.where(np.cumsum(turns, axis=0) % 2, -1.0, 1.0)
    return np.concatenate([p[:1], p[1:] * signs])


def _part(part: Part, blob: _Blob) -> dict[str, Any]:
    """A surface with its vertices as 16-bit fractions of its box: exact to a sixty-thousandth of its size."""
    surface = part.surface
    return _surface(part.body - ROOT, part.color, surface.vertices, surface.faces, len(surface.vertices), blob)


def _skin(skin: SoftSkin, body: int, nodes: Array, blob: _Blob) -> dict[str, Any]:
    """A deformable surface, with its vertices at every moment, one after the other."""
    vertices = skin.vertices(nodes)
    part = _surface(body, skin.color, vertices.reshape(-1, 3), skin.faces, len(skin.node), blob)
    return {**part, "moments": len(vertices)}


def _surface(body: int, color: Any, vertices: Array, faces: Array, count: int, blob: _Blob) -> dict[str, Any]:
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    step = np.where(high > low, high - low, 1.0) / 65535
    return {
        "body": body,
        "color": [round(float(x), 4) for x in color],
        "low": low.tolist(),
        "step": step.tolist(),
        "middle": ((low + high) / 2).tolist(),
        "radius": float(np.linalg.norm(high - low)) / 2,
        "vertices": blob.add(np.round((vertices - low) / step), "u2"),
        "faces": blob.add(faces, "u2" if count <= 65536 else "u4"),
    }
