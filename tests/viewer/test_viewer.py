"""The viewer without a browser: what the scene holds, who may connect, what is refused, what is imported when."""

import inspect
import re
import socket
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import Body, Geometry, Mesh

pytest.importorskip("viser", reason="the viewer is an extra")

from knuckle.viewer import Recording, play, view
from knuckle.viewer.controls.body_words import body_words
from knuckle.viewer.controls.player import filmed
from knuckle.viewer.controls.sliders import random_posture
from knuckle.viewer.live.live_mechanism import STEP
from knuckle.viewer.scene.poses import poses, quaternions


class Client:
    """Stands for a browser: what a callback gets to know of it."""


def slide(handle: Any, value: float) -> None:
    """What a browser does when its user moves a slider."""
    from viser._gui_handles import GuiEvent

    handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(GuiEvent(client=Client(), client_id=0, target=handle))  # type: ignore[arg-type]


def test_the_scene_has_the_poses_of_the_library():
    model = kn.robots.load("quadruped")
    q = kn.random_configuration(model, 0)
    with view(model, q, port=0, block=False) as viewer:
        for x in (q, kn.random_configuration(model, 1)):
            viewer.show(x)
            T = viewer.stage.placements[0] @ poses(model, x)
            nodes = viewer.panels[0].view.bodies
            assert np.allclose([node.position for node in nodes], T[:, :3, 3])
            assert np.allclose([node.wxyz for node in nodes], quaternions(T[:, :3, :3]))
        assert len(viewer.panels[0].view.meshes) == sum(len(b.visuals) for b in (model.base, *model.bodies))


def test_sliders_move_joints_and_follow_them():
    arm = kn.robots.load("arm")
    with view(arm, port=0, block=False) as viewer:
        panel = viewer.panels[0]
        slide(panel.sliders[3][1], 0.7)
        assert np.allclose(panel.q, [0, 0, 0, 0.7, 0, 0, 0])
        assert np.allclose(panel.view.bodies[4].position, poses(arm, panel.q)[4, :3, 3])
        viewer.show(np.full(7, 0.2))
        assert [handle.value for _, handle in panel.sliders] == pytest.approx([0.2] * 7)
        assert panel.live is not None
        panel.start(True)
        slide(panel.sliders[0][1], 0.5)
        assert panel.live.reference[0] == 0.5, "while it runs, sliders set the posture that is held"
        panel.start(False)


@pytest.mark.parametrize(
    "what",
    ["frames", "names", "centre of mass", "inertia", "joint axes", "surfaces", "see-through", "collision shapes"],
)
def test_what_can_be_shown_besides(what: str):
    model = kn.robots.load("quadruped")
    with view(model, port=0, block=False) as viewer:
        robot, q = viewer.panels[0].view, viewer.panels[0].q
        robot.toggle(what, True, q)
        made = robot.extras.get(what, [])
        counts = {
            "frames": len(model.frame_names),
            "names": model.nb + 1,
            "centre of mass": 1,
            "inertia": model.nb,
            "joint axes": model.nv,
            "collision shapes": sum(len(body.collisions) for body in (model.base, *model.bodies)),
        }
        assert len(made) == counts.get(what, 0)
        if what == "centre of mass":
            assert np.allclose(made[0].position, kn.center_of_mass(model, q))
        if what == "see-through":
            assert all(mesh.opacity == pytest.approx(0.35) for _, mesh in robot.meshes)
        robot.toggle(what, False, q)
        assert not any(node.visible for node in made)
        assert all(mesh.visible for _, mesh in robot.meshes) == (what != "surfaces")


def test_the_centre_of_mass_goes_along():
    arm = kn.robots.load("arm")
    with view(arm, port=0, block=False) as viewer:
        robot = viewer.panels[0].view
        robot.toggle("centre of mass", True, viewer.panels[0].q)
        q = np.array([0.1, 0.9, 0.0, 0.5, 0.0, 0.0, 0.0])
        viewer.show(q)
        assert np.allclose(robot.com.position, kn.center_of_mass(arm, q))


def test_several_robots_have_panels_of_their_own():
    models = [kn.robots.load(name) for name in ("arm", "pendulum")]
    with view(models, port=0, block=False) as viewer:
        viewer.show([0.4], robot=1)
        assert viewer.panels[1].q == pytest.approx([0.4])
        assert np.allclose(viewer.panels[0].q, 0)
        a, b = (T[1, 3] for T in viewer.stage.placements)
        assert b > a


def test_sliders_keep_loops_closed():
    model = kn.robots.load("four_bar")
    with view(model, port=0, block=False) as viewer:
        panel = viewer.panels[0]
        before = panel.q.copy()
        for angle in np.linspace(before[0], before[0] + 0.3, 7):
            slide(panel.sliders[0][1], float(angle))
            assert panel.q[0] == pytest.approx(angle, abs=1e-9)
            assert np.abs(kn.loops.gap(model, panel.q)).max() < 1e-7
        assert np.abs(panel.q[1:] - before[1:]).max() > 0.05
        assert [handle.value for _, handle in panel.sliders] == pytest.approx(panel.q, abs=1e-3)


def test_playing_goes_through_the_motion():
    pendulum = kn.robots.load("pendulum")
    times = np.linspace(0.0, 2.0, 121)
    with play((pendulum, times, np.sin(times)[:, None]), port=0, block=False, speed=0.5, loop=False) as viewer:
        player = viewer.player
        assert player is not None
        assert player.playing
        player.play(False)
        player.seek(1.0)
        assert viewer.panels[0].q == pytest.approx([np.sin(1.0)])
        T = viewer.stage.placements[0] @ poses(pendulum, viewer.panels[0].q)
        assert np.allclose(viewer.panels[0].view.bodies[1].position, T[1, :3, 3])
        with player.lock:  # so that the clock waits
            player.playing = True
            player.tick(0.4, True)
            assert player.time == pytest.approx(1.2)
            player.tick(10.0, True)
            assert player.time == 2.0
            assert not player.playing
            player.play(True)
            assert player.time == 0.0
        slide(player.scrub, 0.5)
        assert not player.playing
        assert player.time == 0.5


def test_a_missing_mesh_is_said_once():
    arm = kn.robots.load("arm")
    lost = Body("turret", arm.bodies[0].inertia, (Geometry(Mesh("lost.stl")),))
    with view(arm.replace(bodies=(lost, *arm.bodies[1:])), port=0, block=False) as viewer:
        (problem,) = viewer.panels[0].view.figure.problems
        assert "lost.stl" in problem


def test_sliders_follow_the_simulation_but_for_those_in_use():
    arm = kn.robots.load("arm")
    with view(arm, np.full(7, 0.4), port=0, block=False) as viewer:
        panel = viewer.panels[0]
        assert panel.live is not None
        with panel.lock:  # so that the clock waits
            panel.running = True
            slide(panel.sliders[6][1], 0.1)
            panel.q = np.full(7, 0.25)
            panel.follow()
            panel.running = False
        values = [handle.value for _, handle in panel.sliders]
        assert values[:6] == pytest.approx([0.25] * 6)
        assert values[6] == 0.1
        assert panel.live.reference == pytest.approx([0.4] * 6 + [0.1]), "the others are held where they were"


def test_one_step_is_one_step_and_speed_is_a_factor():
    pendulum = kn.robots.load("pendulum")
    with view(pendulum, [0.5], port=0, block=False) as viewer:
        panel = viewer.panels[0]
        live = panel.live
        assert live is not None
        panel.step()
        assert live.time == pytest.approx(STEP)
        panel.step(4)
        assert live.time == pytest.approx(5 * STEP)
        assert panel.q == pytest.approx(live.q)
        assert panel.v == pytest.approx(live.v)
        assert not panel.running
        viewer.close()  # and its clock
        panel.running, panel.speed, before = True, 0.1, live.time
        for _ in range(50):
            panel.tick(0.02, False)
        assert live.time - before == pytest.approx(0.1, abs=STEP)


def test_postures():
    arm = kn.robots.load("arm")
    with view(arm, np.full(7, 0.4), port=0, block=False) as viewer:
        panel = viewer.panels[0]
        panel.pose(np.zeros(7))
        assert panel.live is not None
        assert np.allclose(panel.live.q, 0)
        assert [handle.value for _, handle in panel.sliders] == pytest.approx([0.0] * 7)
    limits = np.array([(j.limits.lower[0], j.limits.upper[0]) for j in arm.joints])
    many = np.array([random_posture(arm, np.random.default_rng(k)) for k in range(20)])
    assert np.all((many > limits[:, 0]) & (many < limits[:, 1]))
    assert np.all(np.ptp(many, axis=0) > 0.5 * np.ptp(limits, axis=1))


def test_a_body_that_is_clicked_on_says_what_it_is():
    arm = kn.robots.load("arm")
    with view(arm, port=0, block=False) as viewer:
        panel = viewer.panels[0]
        panel.inspection.choose(arm.body_index("forearm"))
        words = panel.inspection.words.content
        assert "**forearm**" in words
        assert "forearm_roll: revolute z, on elbow" in words
        assert "mass 2 kg" in words
        panel.v = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        panel.inspection.refresh()
        assert "turns with 2 rad/s" in panel.inspection.words.content
    assert "base_link" in body_words(arm, -1, np.zeros(7))


def test_a_trail_is_where_a_frame_was():
    arm = kn.robots.load("arm")
    with view(arm, port=0, block=False) as viewer:
        panel = viewer.panels[0]
        panel.inspection.follow_frame("tool0")
        angles = np.linspace(0.0, 1.0, 9)
        for angle in angles:
            viewer.show(np.full(7, angle))
        there = [kn.pose(arm, np.full(7, angle), "tool0")[:3, 3] for angle in angles]
        points = np.array(panel.view.trail_node.points)
        assert np.allclose(points[:, 0], there[:-1], atol=1e-6)
        assert np.allclose(points[:, 1], there[1:], atol=1e-6)
        panel.inspection.follow_frame("no frame")
        assert not panel.view.trail_node.visible


def test_it_sleeps_when_nobody_looks(monkeypatch: pytest.MonkeyPatch):
    with view(kn.robots.load("pendulum"), [0.5], port=0, block=False) as viewer:
        assert not viewer.sleeps
        ticks = []
        monkeypatch.setattr(viewer.panels[0], "tick", lambda *_: ticks.append(1))
        monkeypatch.setattr("knuckle.viewer.viewer.PATIENCE", 0.0)
        time.sleep(0.3)
        assert viewer.sleeps
        ticks.clear()
        time.sleep(0.3)
        assert not ticks
        monkeypatch.setattr(viewer.server, "get_clients", lambda: {0: object()})
        monkeypatch.setattr("knuckle.viewer.viewer.PATIENCE", 60.0)
        end = time.monotonic() + 10
        while not ticks:
            assert time.monotonic() < end
            time.sleep(0.02)


def test_a_player_goes_step_by_step_and_shows_forces():
    pendulum = kn.robots.load("pendulum")
    times = np.linspace(0.0, 1.0, 41)
    tau = np.sin(times)[:, None]
    motion = kn.Trajectory(pendulum, times, np.sin(times)[:, None], np.cos(times)[:, None], tau)
    with play(motion, port=0, block=False) as viewer:
        player = viewer.player
        assert player is not None
        player.play(False)
        player.seek(0.5)
        player.step(1)
        assert player.time == pytest.approx(0.525)
        player.step(-2)
        assert player.time == pytest.approx(0.475)
        ((charts, _),) = player.charts
        (chart,) = charts.forces
        shown = dict(zip(*(np.round(np.asarray(x, float), 6) for x in chart.handle.data[:2]), strict=True))
        assert shown[0.25] == pytest.approx(np.sin(0.25), abs=1e-5)


@pytest.mark.slow
def test_a_player_makes_a_video():
    pendulum, times = kn.robots.load("pendulum"), np.linspace(0.0, 0.1, 5)
    name, content = filmed([Recording(pendulum, times, np.sin(times)[:, None])], 1.0, lambda part: None)
    assert name.startswith("knuckle.")
    assert len(content) > 1000


# who may connect


def test_only_this_computer_may_connect():
    with view(kn.robots.load("pendulum"), port=0, block=False) as viewer:
        assert viewer.server.get_host() == "127.0.0.1"
        assert viewer.url == f"http://localhost:{viewer.port}"
        with socket.create_connection(("127.0.0.1", viewer.port), timeout=5):
            pass
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
        for address in others:
            if not address.startswith("127."):
                with pytest.raises(OSError), socket.create_connection((address, viewer.port), timeout=5):  # noqa: PT011
                    pass


def test_a_taken_port_is_not_fought_for():
    pendulum = kn.robots.load("pendulum")
    with view(pendulum, port=0, block=False) as one, view(pendulum, port=one.port, block=False) as other:
        assert other.port != one.port


def test_closing_twice_is_closing_once():
    viewer = view(kn.robots.load("pendulum"), port=0, block=False)
    viewer.close()
    viewer.close()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", viewer.port), timeout=5):  # noqa: PT011
        pass


# what is refused, what is imported


def test_what_is_refused():
    pendulum = kn.robots.load("pendulum")
    with pytest.raises(ValueError, match=r"q has shape \(3,\); .* needs \(1,\)"):
        view(pendulum, np.zeros(3), port=0, block=False)
    with pytest.raises(ValueError, match="q has 1 entries for 2 models"):
        view([pendulum, pendulum], [np.zeros(1)], port=0, block=False)
    with pytest.raises(ValueError, match="nothing to show"):
        view([], port=0, block=False)
    with pytest.raises(ValueError, match="port is a number from 0 to 65535, not 70000"):
        view(pendulum, port=70000, block=False)
    with pytest.raises(ValueError, match=r"host '203\.0\.113\.7' is no address of this computer"):
        view(pendulum, host="203.0.113.7", port=0, block=False)
    with pytest.raises(ValueError, match="speed is a number above zero, not 0"):
        play((pendulum, [0.0], [[0.0]]), speed=0, port=0, block=False)


_MISSING = """
import sys
for name in ({package!r},):
    sys.modules[name] = None
import numpy as np
import knuckle as kn
from knuckle.viewer import replay_html, view
from knuckle.viewer.scene.figure import figure
from knuckle.model import Body, Geometry, Mesh
model = kn.robots.load("arm")
replay_html((model, [0.0, 1.0], np.zeros((2, 7))), sys.argv[1])
try:
    {use}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "use", "said"),
    [
        ("viser", "view(model, port=0, block=False)", "the viewer needs viser, which is not installed"),
        pytest.param(
            "trimesh",
            "figure(model.replace(base=Body('base', model.base.inertia, (Geometry(Mesh('a', path='a.stl')),))))",
            "the mesh a.stl needs trimesh, which is not installed",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_missing_extra_is_named_and_replays_do_without(package: str, use: str, said: str, tmp_path: Any):
    script = _MISSING.format(package=package, use=use)
    made = tmp_path / "x.html"
    done = subprocess.run([sys.executable, "-c", script, str(made)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{said}: ")
    assert re.search(r'pip install .*"viser>=', done.stdout)
    assert made.stat().st_size > 10_000


@pytest.mark.slow
def test_knuckle_imports_no_extra():
    extras = {"viser", "trimesh", "fast_simplification", "matplotlib"}
    script = f"import sys, knuckle, knuckle.viewer; print({extras} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_view_is_a_function():
    assert inspect.isfunction(kn.view)
    with kn.view(kn.robots.load("pendulum"), port=0, block=False) as viewer:
        assert viewer.port > 0
