"""The viewer in a real browser: the page loads, a slider moves a link, a trajectory plays, a spring pulls."""

import io
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import knuckle as kn

pytest.importorskip("viser", reason="the viewer is an extra")

from knuckle.viewer import Viewer, play, view
from knuckle.viewer.live.live_mechanism import Live
from knuckle.viewer.scene.poses import poses

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TOP, LEFT = 60, 320
POSTURE = np.array([-0.4, 0.6, -0.2, 1.0, 0.5, -0.8, 0.0])


def until(true: Callable[[], bool], page: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        page.wait_for_timeout(50)


def opened(page: Any, viewer: Viewer) -> None:
    """The page with its scene, once it has faded in."""
    page.goto(viewer.url)
    page.wait_for_selector("canvas")
    until(lambda: len(viewer.server.get_clients()) == 1, page)
    until(lambda: np.ptp(picture(page).mean(axis=-1)) > 100, page)
    page.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach(x => x.click())")


def picture(page: Any) -> np.ndarray:
    """The middle of the page, between the panels, where the robot is."""
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), float)
    return shot[TOP:, LEFT:540]


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size({"width": 860, "height": 400})
    return page


def pulled_by_the_mouse(page: Any, live: Live) -> None:
    """Drags a dark part of the arm, one above its base, and lets go of it."""
    rows, columns = np.nonzero((picture(page) < 90).all(axis=-1))
    k = len(rows) // 8
    x, y = float(columns[k] + LEFT), float(rows[k] + TOP)
    page.mouse.move(x, y)
    page.wait_for_timeout(200)
    page.mouse.down()
    away = iter(range(1000))

    def dragged() -> bool:
        page.mouse.move(x + 2 * (next(away) % 20), y)
        ends = live.spring_ends()
        return ends is not None and bool(np.linalg.norm(ends[1] - ends[0]) > 0)

    until(dragged, page)
    page.mouse.up()
    until(lambda: live.pull is None, page)


@pytest.mark.slow
def test_a_slider_moves_a_link_and_a_spring_pulls_one(page: Any, artefacts: Path):
    arm = kn.robots.load("arm")
    with view(arm, POSTURE, port=0, block=False) as viewer:
        opened(page, viewer)
        assert "shoulder_pitch" in page.inner_text("body")
        page.screenshot(path=artefacts / "viewer_start.png")
        panel = viewer.panels[0]
        before, looked = panel.view.poses.copy(), picture(page)

        thumb = page.get_by_role("slider").nth(2)  # after the spring's and the first joint's
        thumb.focus()
        for _ in range(15):
            page.keyboard.press("ArrowLeft")
        until(lambda: panel.q[1] < POSTURE[1] - 0.1, page)
        assert np.allclose(np.delete(panel.q, 1), np.delete(POSTURE, 1))
        assert np.allclose(panel.view.poses, panel.view.placement @ poses(arm, panel.q))
        assert np.abs(panel.view.poses[-1] - before[-1]).max() > 0.05
        until(lambda: np.mean(np.abs(picture(page) - looked).max(axis=-1) > 40) > 0.01, page)
        page.screenshot(path=artefacts / "viewer_slid.png")

        live = panel.live
        assert live is not None
        live.hold = True
        page.get_by_role("button", name="Run").evaluate("x => x.click()")
        until(lambda: live.time > 0.1, page)
        assert panel.running
        pulled_by_the_mouse(page, live)
        panel.pulled.value = "flange"
        assert live.pull is not None
        target = live.pull.target + np.array([0.1, 0.3, 0.2])
        live.drag(target)
        panel.handle.position = panel.view.to_world(target)
        until(lambda: np.linalg.norm(np.diff(live.spring_ends(), axis=0)) < 0.25, page)  # type: ignore[arg-type]
        assert panel.spring.visible
        assert panel.handle.visible
        panel.start(False)
        page.screenshot(path=artefacts / "viewer_pulled.png")
        panel.restart()
        assert live.pull is None
        assert np.allclose(panel.q, live.start)


def test_a_trajectory_plays_and_scrubs(page: Any, artefacts: Path):
    pendulum = kn.robots.load("double_pendulum")
    times = np.linspace(0.0, 4.0, 241)
    q = np.stack([1.2 * np.cos(2.0 * times), 0.8 * np.sin(3.0 * times)], -1)
    v = np.stack([-2.4 * np.sin(2.0 * times), 2.4 * np.cos(3.0 * times)], -1)
    with play((pendulum, times, q, v), port=0, block=False) as viewer:
        player = viewer.player
        assert player is not None
        assert player.playing
        opened(page, viewer)
        first, now = picture(page), player.time
        until(lambda: player.time != now, page)
        until(lambda: np.mean(np.abs(picture(page) - first).max(axis=-1) > 40) > 0.002, page)
        page.screenshot(path=artefacts / "viewer_playing.png")
        page.get_by_role("button", name="Pause").evaluate("x => x.click()")
        until(lambda: not player.playing, page)
        scrub = page.get_by_role("slider").first

        def at_the_start() -> bool:
            scrub.focus()
            page.keyboard.press("Home")
            return player.time == 0.0

        until(at_the_start, page)
        assert np.allclose(viewer.panels[0].view.poses, viewer.panels[0].view.placement @ poses(pendulum, q[0]))


def pushed_example(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `examples/quadruped_push.py --view` opens the viewer with."""
    opened: dict[str, Any] = {}
    monkeypatch.setattr("sys.argv", ["quadruped_push.py", "--view"])
    monkeypatch.setattr(kn, "view", lambda model, q, **options: opened.update(options, model=model, q=q))
    with pytest.raises(SystemExit):
        runpy.run_path(str(EXAMPLES / "quadruped_push.py"), run_name="__main__")
    return opened


def orange(page: Any) -> tuple[float, float]:
    """Where the quadruped's head is on the page: of all that is orange, the part above the feet."""
    r, g, b = np.moveaxis(picture(page), -1, 0)
    rows, columns = np.nonzero((r > 150) & (g < 0.72 * r) & (b < 0.5 * r))
    head = rows < rows.min() + 20
    assert np.sum(head) > 20, "the head is in the picture"
    return float(np.median(columns[head])) + LEFT, float(np.median(rows[head])) + TOP


@pytest.mark.slow
def test_a_standing_quadruped_is_pushed_with_the_mouse(page: Any, artefacts: Path, monkeypatch: pytest.MonkeyPatch):
    """A pull at its head makes it step, and it stands again."""
    example = pushed_example(monkeypatch)
    model = example["model"]
    feet = [name for name in model.frame_names if name.endswith("_foot")]
    with view(**example, port=0, block=False) as viewer:
        opened(page, viewer)
        live, panel = viewer.panels[0].live, viewer.panels[0]
        assert live is not None
        assert panel.running
        until(lambda: live.time > 1.0, page)
        page.screenshot(path=artefacts / "quadruped_stands.png")
        stood = live.q.copy()
        assert np.abs(live.v).max() < 0.05

        def drag(far: float, done: Callable[[], bool], name: str) -> None:
            x, y = orange(page)
            page.mouse.move(x, y)
            page.wait_for_timeout(200)
            page.mouse.down()
            for part in (0.3, 0.6, 1.0):
                page.mouse.move(x + part * far, y)
            until(done, page)
            page.screenshot(path=artefacts / f"quadruped_{name}.png")
            page.mouse.up()
            until(lambda: live.pull is None, page)

        def lifted() -> bool:
            return max(kn.pose(model, live.q, foot)[2, 3] for foot in feet) > 0.026 + 0.015

        drag(60.0, lifted, "steps")
        now = live.time
        until(lambda: live.time > now + 2.5, page)
        assert kn.pose(model, live.q, "trunk")[2, 2] > 0.98
        assert np.abs(live.v).max() < 0.1
        assert np.linalg.norm(live.q[4:6] - stood[4:6]) > 0.01
