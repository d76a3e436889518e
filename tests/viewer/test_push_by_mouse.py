"""A standing quadruped is pushed with the mouse: what a browser would send, and what comes of it."""

import asyncio
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn

pytest.importorskip("viser", reason="the viewer is an extra")

from knuckle.viewer import Viewer, view

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The viewer that `examples/quadruped_push.py --view` opens, without its clock, after it has stood a while."""
    told: dict[str, Any] = {}
    with monkeypatch.context() as patch:
        patch.setattr("sys.argv", ["quadruped_push.py", "--view"])
        patch.setattr(kn, "view", lambda model, q, **options: told.update(options, model=model, q=q))
        with pytest.raises(SystemExit):
            runpy.run_path(str(EXAMPLES / "quadruped_push.py"), run_name="__main__")
    viewer = view(**told, port=0, block=False)
    viewer._closed.set()
    viewer._clock.join()
    monkeypatch.setattr(viewer.server.scene, "_get_client_handle", lambda number: object())
    assert viewer.panels[0].running
    tick(viewer, 1.0)
    yield viewer
    viewer.server.stop()


def tick(viewer: Viewer, seconds: float) -> float:
    """Time goes by; how high a foot was above the floor at most."""
    panel, highest = viewer.panels[0], 0.0
    feet = [name for name in panel.model.frame_names if name.endswith("_foot")]
    for _ in range(round(seconds / 0.02)):
        panel.tick(0.02, False)
        highest = max(highest, *(float(kn.pose(panel.model, panel.q, foot)[2, 3]) - 0.026 for foot in feet))
    return highest


def send(viewer: Viewer, phase: Any, start: np.ndarray, end: np.ndarray) -> None:
    """The message of a browser whose user drags the trunk."""
    from viser import _messages

    mesh = next(mesh for body, mesh in viewer.panels[0].view.meshes if body == 0)
    message = _messages.SceneNodeDragMessage(
        phase, mesh.name, None, tuple(start), (0.5, 0.5), tuple(end), (0.5, 0.5), "left", None
    )
    with ThreadPoolExecutor(1) as apart:  # a browser of other tests has its loop in this thread
        apart.submit(asyncio.run, viewer.server.scene._handle_node_drag(0, message)).result()


def dragged(viewer: Viewer, way: tuple[float, float, float], seconds: float) -> float:
    """Drags a point of the trunk for a while, as one does: further and further; how high a foot was at most."""
    live = viewer.panels[0].live
    assert live is not None
    start = live.q[4:7] + np.array([0.0, 0.0, 0.06])
    send(viewer, "start", start, start)
    ends = live.spring_ends()
    assert ends is not None
    assert np.allclose(ends, [start, start])
    highest = 0.0
    for part in np.linspace(0.0, 1.0, 6)[1:]:
        send(viewer, "update", start, start + part * np.array(way))
        highest = max(highest, tick(viewer, seconds / 5))
    assert viewer.panels[0].spring.visible
    send(viewer, "end", start, start + np.array(way))
    assert live.pull is None
    return highest


def test_a_drag_pulls_until_it_ends(monkeypatch: pytest.MonkeyPatch):
    """The spring goes from where the mouse took hold to where it is, and the body follows."""
    viewer = view(kn.robots.load("pendulum"), port=0, block=False, run=True)
    viewer._closed.set()
    viewer._clock.join()
    monkeypatch.setattr(viewer.server.scene, "_get_client_handle", lambda number: object())
    panel, live = viewer.panels[0], viewer.panels[0].live
    assert live is not None
    live.hold = live.gravity = False
    tip = live.grab(0).target
    live.release()
    try:
        send(viewer, "start", tip, tip)
        assert np.allclose(live.spring_ends(), [tip, tip])
        way = np.array([0.3, 0.0, 0.0])
        send(viewer, "update", tip, tip + way)
        assert np.allclose(live.spring_ends(), [tip, tip + way])
        for _ in range(5):
            panel.tick(0.02, False)
        held, end = live.spring_ends()
        assert panel.spring.visible
        assert (held - tip)[0] > 1e-3
        assert np.allclose(end, tip + way)
        assert np.allclose(panel.q, live.q)
        send(viewer, "end", tip, tip + way)
        panel.tick(0.02, False)
        assert live.pull is None
        assert not panel.spring.visible
    finally:
        viewer.server.stop()


@pytest.mark.slow
def test_it_stands_sways_steps_or_falls(standing: Viewer):
    panel, live = standing.panels[0], standing.panels[0].live
    assert live is not None
    assert np.abs(live.v).max() < 1e-2
    stood = live.q.copy()

    assert dragged(standing, (0.0, 0.04, 0.0), 0.4) < 0.005
    assert tick(standing, 1.5) < 0.005
    assert np.linalg.norm(live.q[4:7] - stood[4:7]) < 0.045, "less than what it steps for"

    assert dragged(standing, (0.0, 0.2, 0.0), 0.5) > 0.02
    tick(standing, 2.5)
    assert live.q[5] - stood[5] > 0.05, "it has stepped aside"
    assert kn.pose(live.model, live.q, "trunk")[2, 2] > 0.99
    assert live.q[6] == pytest.approx(stood[6], abs=0.02)
    assert np.allclose(panel.view.poses[1], panel.view.placement @ kn.pose(live.model, live.q, "trunk"))

    dragged(standing, (0.0, 1.5, 0.3), 0.6)
    tick(standing, 1.5)
    assert kn.pose(live.model, live.q, "trunk")[2, 2] < 0.5, "it has fallen"
    assert 0.0 < live.q[6] < 0.2, "and lies on the floor"
    panel.restart()
    assert np.array_equal(live.q, live.start)
    assert tick(standing, 1.0) < 0.005
    assert live.q[6] == pytest.approx(stood[6], abs=0.02)
