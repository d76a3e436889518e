"""Play, pause and scrub: the controls of recorded motions, and their plots."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knuckle.viewer.offscreen.video import ffmpeg, video
from knuckle.viewer.recording import Recording
from knuckle.viewer.scene.force_arrows import moving_size, scale_of

from .charts import Charts
from .force_switch import add_force_switch
from .panel import RobotPanel

_SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×", "4×")
_RATE = 60.0
_STEPS = (("One step back", "player-track-prev"), ("One step on", "player-track-next"))


def filmed(motions: Sequence[Recording], speed: float, progress: Callable[[float], None]) -> tuple[str, bytes]:
    """The name and the content of a video of motions: .mp4 where there is an ffmpeg, else .gif."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "knuckle.mp4"
        try:
            ffmpeg(target)
        except ImportError:
            target = target.with_suffix(".gif")
        return target.name, video(list(motions), target, speed=speed, progress=progress).read_bytes()


class Player:
    """One clock for the motions of all robots of a scene."""

    def __init__(
        self,
        server: Any,
        motions: Sequence[Recording],
        panels: Sequence[RobotPanel],
        speed: float,
        loop: bool,
        contacts: bool = True,
    ) -> None:
        self.server, self.panels = server, panels
        self.motions = [motion.thinned(_RATE) for motion in motions]
        self.poses = [motion.poses() for motion in self.motions]
        self.nodes = [motion.node_places() for motion in self.motions]
        sizes = (
            moving_size(panel.view.figure, motion.q[0]) for panel, motion in zip(panels, self.motions, strict=True)
        )
        self.arrows = [motion.arrows(size) for motion, size in zip(self.motions, sizes, strict=True)]
        self.lines = [motion.lines(panel.view.size) for motion, panel in zip(self.motions, panels, strict=True)]
        self.first = min(float(motion.times[0]) for motion in motions)
        self.last = max(float(motion.times[-1]) for motion in motions)
        self.time, self.speed, self.playing = self.first, float(speed), False
        self.lock = threading.RLock()
        gui = server.gui
        with gui.add_folder("Motion", order=-1.0):
            self.button = gui.add_button("Play", icon="player-play", color="orange")
            span = max(self.last - self.first, 1e-9)
            self.scrub = gui.add_slider(
                "time [s]", min=self.first, max=self.first + span, step=span / 1000, initial_value=self.first
            )
            name = f"{self.speed:g}×"
            self.speeds = gui.add_dropdown(
                "speed", (*_SPEEDS, *(() if name in _SPEEDS else (name,))), initial_value=name
            )
            self.loop = gui.add_checkbox("loop", initial_value=loop)
            back, forth = (gui.add_button(word, icon=icon, color="gray") for word, icon in _STEPS)
            film = gui.add_button("Save a video", icon="movie", color="gray")
            self._forces(gui, contacts)
        self._charts()
        self.button.on_click(lambda _: self.play(not self.playing))
        back.on_click(lambda _: self.step(-1))
        forth.on_click(lambda _: self.step(1))
        film.on_click(lambda event: self._film(event.client, film))
        self.scrub.on_update(self._scrubbed)
        self.speeds.on_update(lambda event: setattr(self, "speed", float(event.target.value.rstrip("×"))))
        self.show()
        self.draw()

    def _charts(self) -> None:
        self.charts: list[tuple[Charts, Any]] = []
        for motion, panel in zip(self.motions, self.panels, strict=True):
            energies = motion.energies()
            has_forces = motion.tau is not None and bool(np.any(motion.tau))
            with panel.plots():
                charts = Charts(self.server, motion.model, tuple(energies), mark=True, has_forces=has_forces)
            self.charts.append((charts, np.stack(list(energies.values()), -1)))

    def _forces(self, gui: Any, on: bool) -> None:
        """What shows the forces of contacts, where some are known, and says what their colours mean."""
        if not any(arrows is not None and len(arrows.tail) for arrows in self.arrows):
            return
        add_force_switch(gui, on, scale_of(self.arrows), self.show_forces)
        self.show_forces(on)

    def show_forces(self, on: bool) -> None:
        """Shows or hides the forces of contacts."""
        with self.lock:
            for panel in self.panels:
                panel.view.shows_pushes = on
            self.show()

    def _scrubbed(self, event: Any) -> None:
        if event.client is None:
            return
        to = float(event.target.value)
        self.play(False)
        self.seek(to)

    def step(self, count: int) -> None:
        """Pauses, and goes some moments of the first motion on, or back."""
        self.play(False)
        times = self.motions[0].times
        k = int(np.searchsorted(times, self.time + 1e-9, side="right")) - 1 + count
        self.seek(float(times[int(np.clip(k, 0, len(times) - 1))]))
        self.follow()

    def _film(self, client: Any, button: Any) -> None:
        """Draws the motions as a video, and sends it to the user of a browser."""
        if client is None:
            return
        try:
            name, content = filmed(self.motions, self.speed, lambda part: setattr(button, "label", f"{part:.0%}"))
        finally:
            button.label = "Save a video"
        client.send_file_download(name, content)

    def play(self, on: bool) -> None:
        """Plays or pauses; at the end it begins again."""
        with self.lock:
            if on and self.time >= self.last:
                self.time = self.first
                self._clear_trails()
            self.playing = on
        self.button.label, self.button.icon = ("Pause", "player-pause") if on else ("Play", "player-play")
        if not on:
            self.follow()

    def seek(self, time: float) -> None:
        """Shows the moment."""
        with self.lock:
            self.time = float(np.clip(time, self.first, self.last))
            self.show()
            self.draw()

    def _clear_trails(self) -> None:
        for panel in self.panels:
            panel.view.clear_trail()

    def show(self) -> None:
        """Puts every robot where its motion has it now."""
        for motion, T, panel, arrows, lines, nodes in zip(
            self.motions, self.poses, self.panels, self.arrows, self.lines, self.nodes, strict=True
        ):
            k = int(np.clip(np.searchsorted(motion.times, self.time, side="right") - 1, 0, len(motion.times) - 1))
            panel.q, panel.v = motion.q[k], None if motion.v is None else motion.v[k]
            panel.view.show_poses(T[k], motion.q[k])
            if nodes is not None:
                panel.view.show_nodes(nodes[k])
            if arrows is not None:
                panel.view.show_forces(*arrows.at(k))
            if lines is not None:
                panel.view.show_lines(*lines.at(k))

    def draw(self) -> None:
        """Marks the present in the plots."""
        for motion, (charts, energies) in zip(self.motions, self.charts, strict=True):
            now = float(np.clip(self.time, motion.times[0], motion.times[-1]))
            charts.draw(motion.times, energies, motion.q, now, motion.tau if charts.forces else None)

    def stop(self) -> None:
        """Pauses, whatever it was doing."""
        self.playing = False

    def follow(self) -> None:
        """Lets the slider of time and those of the joints say where we are."""
        self.scrub.value = self.time
        for panel in self.panels:
            panel.follow()
            panel.inspection.refresh()

    def tick(self, passed: float, slow: bool) -> None:
        """A moment later."""
        with self.lock:
            if not self.playing:
                return
            self.time += passed * self.speed
            if self.time > self.last:
                self.time = self.first if self.loop.value else self.last
                self._clear_trails()
                if not self.loop.value:
                    self.play(False)
            self.show()
            if slow:
                self.draw()
                self.follow()
