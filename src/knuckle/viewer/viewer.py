"""The viewer in the browser: a scene with controls, served from this computer."""

from __future__ import annotations

import contextlib
import io
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.extras import need
from knuckle.functions import neutral
from knuckle.functions.loops.assembly import close as close_loops
from knuckle.model import Model

from .controls.panel import RobotPanel
from .controls.player import Player
from .live.live_steps import standing
from .notebook.html_pieces import linked
from .recording import Recording, recordings
from .scene.figure import figure
from .scene.robot_view import RobotView
from .scene.slopes import with_slopes
from .scene.soft_skin import node_places, reach
from .scene.stage import Stage, stage
from .scene.triangles import Array

LOCAL = "127.0.0.1"
_FRAMES, _SLOW = 50.0, 6.0
"""Moments per second, and how many of them also renew plots and sliders."""
PATIENCE, _NAP = 20.0, 0.25
"""Seconds after which a viewer that nobody looks at sleeps, and between looks whether somebody does."""
_MOST_FACES = 400_000
"""Triangles of a scene; meshes are made coarser until there are about so many."""
_INK = (150, 160, 172)
_ASPECT = 0.85
"""Width over height of the scene between the panels, about."""


class Viewer:
    """A running viewer. `url` is where a browser finds it; it runs until `close` is called or the program ends.

    `with kn.view(model, block=False) as viewer:` closes it at the end of the block.
    """

    def __init__(self, server: Any, on: Stage, panels: Sequence[RobotPanel], player: Player | None) -> None:
        self.server, self.stage, self.panels, self.player = server, on, tuple(panels), player
        self._closed = threading.Event()
        self._seen = time.monotonic()
        self._clock = threading.Thread(target=self._run, name="knuckle-viewer", daemon=True)
        self._clock.start()

    @property
    def port(self) -> int:
        """The port that the viewer got: the one asked for or, if that was taken, the next free one."""
        return int(self.server.get_port())

    @property
    def url(self) -> str:
        """What to open in a browser."""
        host = str(self.server.get_host())
        shown = "localhost" if host in ("0.0.0.0", "::", LOCAL) else host
        return f"http://{shown}:{self.port}"

    def show(self, q: ArrayLike, robot: int = 0) -> None:
        """Shows a robot at positions `q` (nq,), for a program that moves it itself."""
        panel = self.panels[robot]
        panel.put(_positions(panel.model, q))
        panel.follow()

    def wait(self) -> None:
        """Waits until the viewer is closed; Ctrl-C closes it."""
        with contextlib.suppress(KeyboardInterrupt):
            while not self._closed.wait(0.2):
                pass
        self.close()

    def close(self) -> None:
        """Stops the server; a second call does nothing."""
        if not self._closed.is_set():
            self._closed.set()
            if threading.current_thread() is not self._clock:
                self._clock.join(timeout=5.0)
            with _quiet():
                self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def sleeps(self) -> bool:
        """Whether nobody has looked for a while: then nothing moves, until somebody looks again."""
        return time.monotonic() - self._seen > PATIENCE

    def _run(self) -> None:
        last = start = time.monotonic()
        beat = 0
        while not self._closed.wait(max(0.0, 1 / _FRAMES - (time.monotonic() - last))):
            now = time.monotonic()
            passed, last = now - last, now
            if self.server.get_clients():
                self._seen = now
            if self.sleeps:
                self._closed.wait(_NAP)
                last = time.monotonic()
                continue
            slow = int((now - start) * _SLOW) != beat
            beat = int((now - start) * _SLOW)
            for part in (*self.panels, *([self.player] if self.player else [])):
                try:
                    part.tick(passed, slow)
                except Exception:  # of one robot: the others go on
                    part.stop()
                    traceback.print_exc()

    def __repr__(self) -> str:
        return f"<knuckle viewer at {self.url}>"

    def _repr_html_(self) -> str:
        """In a notebook: the viewer in place, and a link to it."""
        return linked(self.url, 520)


def view(
    model: Model | Sequence[Model],
    q: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    port: int = 8080,
    host: str = LOCAL,
    block: bool | None = None,
    spacing: float | None = None,
    controller: Callable[..., Any] | ArrayLike | Sequence[Any] | None = None,
    parameters: Mapping[str, ArrayLike] | Sequence[Any] | None = None,
    contacts: bool | None = None,
    run: bool = False,
) -> Viewer:
    """Opens a viewer of one model or of several, with sliders for the joints and a live simulation.

    A model with a ground is simulated with contact, as `kn.simulate` does it: it stands, and can be pushed over.

    Args:
        model: the mechanism, or several.
        q: positions (nq,), for several models a list of them; the neutral ones if not given, above the ground.
        port: where it is served; if taken, the next free port. 0 takes any.
        host: who may connect: this computer alone, unless you say "0.0.0.0".
        block: whether to return only when the viewer is closed; by default in a script, not in an interactive session.
        spacing: the distance between several robots; None keeps them apart, 0 puts them in one place.
        controller: what drives the joints in the live simulation: as for `kn.simulate`, for several models a list.
        parameters: what the controller asks for besides t, q and v, by name; for several models a list.
        contacts: whether the live simulation solves contacts; if not given, where something may touch the ground.
        run: whether the simulation runs from the beginning.

    Example:
        viewer = kn.view(kn.robots.load("arm"), block=False)
        viewer.show([0.3, 0.8, 0.0, 1.2, 0.0, -0.5, 0.0])
        viewer.close()
    """
    models = [model] if isinstance(model, Model) else list(model)
    if not models:
        raise ValueError("there is nothing to show: the list of models is empty")
    given: list[Any] = [q] if isinstance(model, Model) else [None] * len(models) if q is None else list(q)  # type: ignore[arg-type]
    if len(given) != len(models):
        raise ValueError(f"q has {len(given)} entries for {len(models)} models; give one for each, or none at all")
    drives = _drives(isinstance(model, Model), len(models), controller, parameters, contacts)
    positions = [standing(one) if x is None else _positions(one, x) for one, x in zip(models, given, strict=True)]
    positions = [close_loops(one, x).q if one.loops else x for one, x in zip(models, positions, strict=True)]
    return _opened(models, positions, None, port, host, block, spacing, drives, run)


def play(
    trajectory: Any,
    *,
    port: int = 8080,
    host: str = LOCAL,
    block: bool | None = None,
    speed: float = 1.0,
    loop: bool = True,
    spacing: float | None = None,
    contacts: bool = True,
) -> Viewer:
    """Opens a viewer that plays a motion, or several side by side, with plots of energy and joints.

    Args:
        trajectory: a trajectory, a tuple (model, times, q) or (model, times, q, v), a list of them, or a small rollout.
        port: where it is served; if taken, the next free port. 0 takes any.
        host: who may connect: this computer alone, unless you say "0.0.0.0".
        block: whether to return only when the viewer is closed; by default in a script, not in an interactive session.
        speed: times real time, to begin with.
        loop: whether to start again at the end.
        spacing: the distance between several robots; None keeps them apart, 0 puts them in one place.
        contacts: whether the forces of contacts, where the motion knows them, are arrows to begin with: blue where a
            contact sticks, orange where it slides.
    """
    if not speed > 0:
        raise ValueError(f"speed is a number above zero, not {speed!r}")
    motions = recordings(trajectory)
    return _opened(
        [one.model for one in motions],
        [one.q for one in motions],
        (motions, speed, loop, contacts),
        port,
        host,
        block,
        spacing,
    )


def _drives(alone: bool, count: int, controller: Any, parameters: Any, contacts: bool | None) -> list[dict[str, Any]]:
    """For each model what its live simulation is told."""
    told: dict[str, list[Any]] = {}
    for name, value in (("controller", controller), ("parameters", parameters)):
        told[name] = [value] if alone else [None] * count if value is None else value
        if not isinstance(told[name], (list, tuple)) or len(told[name]) != count:
            raise ValueError(f"{name} is a list with one entry for each of {count} models, or None, not {value!r}")
    rows = zip(told["controller"], told["parameters"], strict=True)
    return [{"controller": one, "parameters": named, "contacts": contacts} for one, named in rows]


def _positions(model: Model, q: ArrayLike | None) -> Array:
    x = neutral(model) if q is None else np.asarray(q, float)
    if x.shape != (model.nq,):
        raise ValueError(f"q has shape {x.shape}; {model.name} needs {(model.nq,)}")
    return x


def _opened(
    models: Sequence[Model],
    positions: Sequence[Array],
    motion: tuple[list[Recording], float, bool, bool] | None,
    port: int,
    host: str,
    block: bool | None,
    spacing: float | None,
    drives: Sequence[dict[str, Any]] | None = None,
    run: bool = False,
) -> Viewer:
    server = _server(port, host)
    samples = [q[:: max(1, len(q) // 200)] if q.ndim > 1 else q for q in positions]
    rows = [None] * len(models) if motion is None else [one.nodes for one in motion[0]]
    soft = [node_places(one, q.reshape(-1, one.nq), x) for one, q, x in zip(models, positions, rows, strict=True)]
    drawn = [
        replace(figure(model, _MOST_FACES // len(models)), reach=reach(x))
        for model, x in zip(models, soft, strict=True)
    ]
    figures = [with_slopes(one, q) for one, q in zip(drawn, samples, strict=True)]
    on = stage(figures, samples, spacing)
    _scenery(server, on, room=1.2 if motion is None else 1.0)
    views = [
        RobotView(server, drawn, T, f"/robot{k}", _size(drawn, q))
        for k, (drawn, T, q) in enumerate(zip(figures, on.placements, positions, strict=True))
    ]
    panels = _panels(server, views, positions, motion is not None, drives or [{}] * len(views))
    player = None if motion is None else Player(server, motion[0], panels, *motion[1:])
    viewer = Viewer(server, on, panels, player)
    if player is not None:
        player.play(True)
    for panel in panels if run else ():
        panel.start(True)
    print(f"viewer: {viewer.url}", flush=True)
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive) or "IPython" in sys.modules
    if (not interactive) if block is None else block:
        print("Ctrl-C closes it", flush=True)
        viewer.wait()
    return viewer


def _size(drawn: Any, q: Array) -> float:
    """A length by which marks are drawn: the extent of the robot at one position."""
    low, high = drawn.bounds(q if q.ndim == 1 else q[0])
    return 0.6 * float(np.linalg.norm(high - low))


def _panels(
    server: Any, views: Sequence[RobotView], positions: Sequence[Array], playing: bool, drives: Sequence[dict[str, Any]]
) -> list[RobotPanel]:
    """The robots' controls, in tabs if there are several, and a panel for plots on the other side."""
    beside = server.gui.add_panel()
    first = [q if q.ndim == 1 else q[0] for q in positions]
    tabs = server.gui.add_tab_group() if len(views) > 1 else None
    panels: list[RobotPanel] = []
    for one, q, drive in zip(views, first, drives, strict=True):
        name = one.model.name if tabs else "Plots"
        with tabs.add_tab(name) if tabs else contextlib.nullcontext():
            panels.append(RobotPanel(server, one, q, playing, lambda name=name: beside.add_tab(name), drive))
    beside.dock_left()
    beside.set_width(310)
    return panels


def _server(port: int, host: str) -> Any:
    viser = need("viser", "the viewer needs", "view")
    if not 0 <= port < 65536:
        raise ValueError(f"port is a number from 0 to 65535, not {port!r}")
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as probe:
            probe.bind(address)
    except OSError as error:
        raise ValueError(f"host {host!r} is no address of this computer: {error}") from None
    with _quiet():  # its banner; we print where it is ourselves
        return viser.ViserServer(host=host, port=port, label="knuckle", verbose=False)


def _scenery(server: Any, on: Stage, room: float) -> None:
    """Light, ground, and a camera as far away as sees everything, times `room`."""
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(217, 102, 31))
    server.gui.main_panel.dock_right()
    scene = server.scene
    scene.world_axes.visible = False
    scene.set_up_direction("+z")
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/sky", sky_color=(240, 245, 255), ground_color=(190, 190, 196), intensity=3.2)
    scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=on.cell,
        section_size=5 * on.cell,
        cell_color=(215, 220, 226),
        section_color=_INK,
        fade_distance=16 * on.radius,
        shadow_opacity=0.28,
        position=(0.0, 0.0, on.ground - 1e-3 * on.radius),
    )
    camera = server.initial_camera
    eye = on.centre + room * (on.eye(_ASPECT) - on.centre)
    camera.position, camera.look_at, camera.up, camera.fov = eye, on.centre, (0.0, 0.0, 1.0), 0.62


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is printed, in a notebook either, where rich shows its words by themselves."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before
