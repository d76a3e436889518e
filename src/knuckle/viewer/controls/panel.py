"""The controls of one robot: joints, what is shown, the live simulation, and plots."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from knuckle.functions import total_mass
from knuckle.functions.loops.assembly import close as close_loops
from knuckle.model import ROOT
from knuckle.model.elements import Line
from knuckle.viewer.live.live_mechanism import STEP, Live, Pull
from knuckle.viewer.live.live_steps import standing
from knuckle.viewer.scene.force_arrows import force_arrows, in_words, moving_size, rounded, usual_length
from knuckle.viewer.scene.robot_view import RobotView
from knuckle.viewer.scene.triangles import Array

from .charts import Charts
from .force_switch import add_force_switch
from .inspection import Inspection
from .sliders import loops_closed, position_of, random_posture, sliders, values_of

_SHOWN = {
    "surfaces": True,
    "see-through": False,
    "joint axes": False,
    "frames": False,
    "centre of mass": False,
    "inertia": False,
    "names": False,
    "collision shapes": False,
}
_SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×")
_HANDS_OFF = 1.5
"""Seconds for which a slider that somebody moved is left to them."""
_SPRING_COLOR = (220, 80, 30)
_NOBODY = "nothing"
_USUAL_WEIGHT = 9.81
"""The weight of a kilogram: of half the weight of a robot the arrow has the usual length."""


class RobotPanel:
    """The panel of one robot. The viewer's clock calls `tick`; callbacks only change what it reads."""

    def __init__(
        self, server: Any, view: RobotView, q: Array, playing: bool, plots: Any, drive: Mapping[str, Any] | None = None
    ) -> None:
        self.plots, self.lock = plots, threading.RLock()
        self.server, self.view, self.model, self.playing = server, view, view.model, playing
        self.q = np.array(q, float)
        self.v: Array | None = None
        self.speed = 1.0
        self.touched: dict[int, float] = {}
        self.drive = drive or {}
        self.live: Live | None = None
        self.running = False
        self._owed = 0.0
        self._written = values_of(self.model, self.q)
        if not playing:
            self._simulation()
            self._draw()
        self._joints()
        self._show()
        self.inspection = Inspection(server, view, lambda: (self.q, self.v))
        for problem in view.figure.problems:
            server.gui.add_markdown(f"⚠ {problem}")
        view.show(self.q)

    # joints

    def _joints(self) -> None:
        with self.server.gui.add_folder("Joints", expand_by_default=not self.playing):
            self.sliders = []
            if not self.playing:
                neutrally = self.server.gui.add_button("Neutral posture", icon="home", color="gray")
                randomly = self.server.gui.add_button("Random posture", icon="dice", color="gray")
                neutrally.on_click(lambda _: self.pose(standing(self.model)))
                randomly.on_click(lambda _: self.pose(random_posture(self.model, np.random.default_rng())))
            for slider in sliders(self.model):
                start = float(np.clip(self._written[slider.variable], slider.low, slider.high))
                step = max(10 ** np.floor(np.log10((slider.high - slider.low) / 400)), 1e-9)
                label = slider.name if slider.unit == "1" else f"{slider.name} [{slider.unit}]"
                handle = self.server.gui.add_slider(
                    label, min=slider.low, max=slider.high, step=float(step), initial_value=start, disabled=self.playing
                )
                handle.on_update(lambda event, at=slider.variable: self._slid(event, at))
                self.sliders.append((slider.variable, handle))

    def _slid(self, event: Any, variable: int) -> None:
        if event.client is None:  # set by us
            return
        with self.lock:
            self.touched[variable] = time.monotonic()
            self._written[variable] = event.target.value
            if self.live is not None and self.running:
                with self.live.lock:
                    wanted = values_of(self.model, self.live.reference)
                    wanted[variable] = event.target.value
                    self.live.reference = position_of(self.model, wanted)
                return
            q = position_of(self.model, self._written)
            closed = loops_closed(self.model, q, variable)
            self.put(self.q if closed is None else closed)
            if self.model.loops:
                self.follow()
            if self.live is not None:
                self.live.reset(self.q)
                self._show_forces()

    def put(self, q: Array, nodes: Array | None = None, v: Array | None = None) -> None:
        """Shows the robot at positions `q`, its deformable bodies with `nodes`, or at rest; lines while it has `v`."""
        with self.lock:
            self.q = np.array(q, float)
            self.view.show(self.q, v)
            if nodes is not None:
                self.view.show_nodes(nodes)

    def pose(self, q: Array) -> None:
        """Puts the robot into a posture, its loops closed, at rest; the simulation goes on from there."""
        with self.lock:
            at = close_loops(self.model, q).q if self.model.loops else q
            self.view.clear_trail()
            self.put(at)
            self.follow()
            if self.live is not None:
                self.live.reset(self.q)
                self._show_forces()

    def follow(self) -> None:
        """Lets the sliders say where the robot is, but for those that somebody is moving."""
        self._written = values_of(self.model, self.q)
        now = time.monotonic()
        for variable, handle in self.sliders:
            if self.running and now - self.touched.get(variable, -_HANDS_OFF) < _HANDS_OFF:
                continue
            handle.value = round(float(np.clip(self._written[variable], handle.min, handle.max)), 4)

    # what is shown

    def _show(self) -> None:
        with self.server.gui.add_folder("Show", expand_by_default=True):
            lines = {"lines": True} if any(isinstance(x, Line) for x in self.model.elements) else {}
            for what, on in {**_SHOWN, **lines}.items():
                box = self.server.gui.add_checkbox(what, initial_value=on)
                box.on_update(lambda event, what=what: self.view.toggle(what, event.target.value, self.q))

    # the live simulation

    def _simulation(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Simulation"):
            if not self.model.nv:
                gui.add_markdown("Nothing moves.")
                return
            live = self.live = Live(self.model, self.q, **self.drive)
            with self.plots():
                names = ("kinetic", "potential", "total")
                self.charts = Charts(self.server, self.model, names, mark=False, has_forces=True)
            self.run = gui.add_button("Run", icon="player-play", color="orange")
            single = gui.add_button("One step", icon="player-track-next", color="gray")
            reset = gui.add_button("Start again", icon="refresh", color="gray")
            speeds = gui.add_dropdown("speed", _SPEEDS, initial_value="1×")
            gravity = gui.add_checkbox("gravity", initial_value=live.gravity)
            hold = gui.add_checkbox("hold the posture", initial_value=live.hold)
            if live.has_controller:
                controller = gui.add_checkbox("controller", initial_value=True)
                controller.on_update(lambda event: setattr(live, "controlled", bool(event.target.value)))
            bodies = (_NOBODY, *self.model.body_names)
            self.pulled = gui.add_dropdown("pull at", bodies, initial_value=_NOBODY)
            strength = gui.add_slider("spring", min=0.1, max=10.0, step=0.1, initial_value=1.0)
            what = "push or pull" if live.steps.has_contacts else "pull"
            gui.add_markdown(f"*While it runs, drag a body with the mouse to {what} it.*")
            if live.steps.has_contacts:
                self.arrow_size = moving_size(self.view.figure, self.q)
                self.newtons = rounded(0.5 * _USUAL_WEIGHT * max(float(total_mass(self.model)), 1e-6))
                scale = in_words(self.newtons, usual_length(self.arrow_size))
                add_force_switch(gui, True, scale, self.show_forces)
        self.spring = self.server.scene.add_line_segments(
            f"{self.view.name}/spring",
            np.zeros((1, 2, 3)),
            _SPRING_COLOR,
            thickness=0.012 * self.view.size,
            visible=False,
        )
        self.handle = self.server.scene.add_transform_controls(
            f"{self.view.name}/handle",
            scale=0.25 * self.view.size,
            disable_rotations=True,
            depth_test=False,
            visible=False,
        )
        stiffness = live.stiffness
        self.run.on_click(lambda _: self.start(not self.running))
        single.on_click(lambda _: self.step())
        speeds.on_update(lambda event: setattr(self, "speed", float(event.target.value.rstrip("×"))))
        reset.on_click(lambda _: self.restart())
        gravity.on_update(lambda event: setattr(live, "gravity", bool(event.target.value)))
        hold.on_update(lambda event: self._hold(bool(event.target.value)))
        strength.on_update(lambda event: setattr(live, "stiffness", stiffness * float(event.target.value)))
        self.pulled.on_update(lambda event: self.pull_at(event.target.value))
        self.handle.on_update(lambda event: live.drag(self.view.to_base(event.target.position)))

    def _hold(self, on: bool) -> None:
        if self.live is not None:
            with self.live.lock:
                self.live.hold, self.live.reference = on, self.live.q.copy()

    def start(self, on: bool) -> None:
        """Runs or pauses the simulation; while it runs, bodies can be dragged."""
        with self.lock:
            if self.live is None or on == self.running:
                return
            self.running = on
        self.run.label, self.run.icon = ("Pause", "player-pause") if on else ("Run", "player-play")
        for body, mesh in self.view.meshes:
            if body == ROOT:
                continue
            if on:
                mesh.on_drag("left")(self._drag_of(body))
            else:
                mesh.remove_drag_callback("all")
        if not on:
            self.follow()

    def step(self, count: int = 1) -> None:
        """Pauses, and takes some steps of the simulation."""
        self.start(False)
        if self.live is not None:
            self._prepare()
            for _ in range(count):
                self.live.advance(STEP)
            self._show_live()
            self.follow()
            self._draw()
            self.inspection.refresh()

    def _show_live(self) -> None:
        if self.live is not None:
            with self.lock:
                self.v = self.live.v
                self.put(self.live.q, self.live.nodes, self.live.v)
                self._show_forces()

    def show_forces(self, on: bool) -> None:
        """Shows or hides the forces of contacts in the live simulation."""
        with self.lock:
            self.view.shows_pushes = on
            self._show_forces()

    def _show_forces(self) -> None:
        """The forces of the last step; nothing where none was taken since the robot was put somewhere."""
        if self.live is None or not self.live.steps.has_contacts:
            return
        contacts = self.live.contacts() if self.view.shows_pushes else None
        if contacts is None:
            self.view.show_forces(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool))
        else:
            self.view.show_forces(*force_arrows(self.model, contacts, self.arrow_size, self.newtons).at(0))

    def restart(self) -> None:
        """The simulation from its beginning."""
        if self.live is not None:
            self.view.clear_trail()
            self.live.reset()
            self.pulled.value = _NOBODY
            self.put(self.live.q)
            self._show_forces()
            self.follow()
            self._draw()

    def _drag_of(self, body: int) -> Any:
        async def drag(event: Any) -> None:
            live = self.live
            if live is None:
                return
            if event.phase == "start":
                live.grab(body, self.view.to_base(np.array(event.start_position)))
            if event.phase == "end":
                live.release()
            else:
                live.drag(self.view.to_base(np.array(event.end_position)))

        return drag

    def pull_at(self, name: str) -> Pull | None:
        """Fastens the spring with its handle to a body, by name, or takes it away."""
        if self.live is None:
            return None
        if name == _NOBODY:
            self.live.release()
            self.handle.visible = False
            return None
        pull = self.live.grab(self.model.body_index(name))
        self.handle.position = self.view.to_world(pull.target)
        self.handle.visible = True
        return pull

    # time

    def tick(self, passed: float, slow: bool) -> None:
        """A moment later: moves the simulation and shows it; `slow` is true a few times per second, for plots."""
        if self.live is None:
            return
        if self.running:
            self._prepare()
            self._owed += self.speed * min(passed, 0.05)
            if self._owed >= 0.5 * STEP:
                self.live.advance(self._owed)
                self._owed -= max(1, round(self._owed / STEP)) * STEP
                if self.running:
                    self._show_live()
        ends = self.live.spring_ends()
        if self.spring.visible != (ends is not None):
            self.spring.visible = ends is not None
        if ends is not None:
            self.spring.points = np.array([[self.view.to_world(end) for end in ends]], np.float32)
        if slow and self.running:
            self._draw()
            self.follow()
            self.inspection.refresh()

    def _prepare(self) -> None:
        """Code for the steps, which may take seconds to make the first time; the button says so."""
        if self.live is None or self.live.is_prepared:
            return
        self.run.label = "Preparing…"
        self.live.prepare()
        self.run.label = "Pause" if self.running else "Run"

    def _draw(self) -> None:
        """Renews the plots of the simulation."""
        if self.live is None:
            return
        with self.live.lock:
            past = list(self.live.history)
        times, q, kinetic, potential, tau = (np.array(column) for column in zip(*past, strict=True))
        self.charts.draw(times, np.stack([kinetic, potential, kinetic + potential], -1), q, times[-1], tau)

    def stop(self) -> None:
        """Pauses, whatever it was doing."""
        self.running = False
