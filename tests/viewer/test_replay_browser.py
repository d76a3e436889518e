"""The replay in a real browser, from disk: it draws, plays, scrubs, answers keys and names what is pointed at."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import knuckle as kn
from knuckle.viewer import replay_html
from knuckle.viewer.scene.poses import poses


def until(page: Any, true: str) -> None:
    """Waits for a condition. The page forbids `eval`, which playwright's own waiting needs."""
    for _ in range(600):
        if page.evaluate(true):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {true}")


def pixels(page: Any, where: str = "#scene") -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(page.locator(where).screenshot())).convert("RGB"), float)


def drawn(page: Any, time: float) -> np.ndarray:
    """The picture at a time."""
    page.evaluate(f"replay.pause(); replay.seek({time}); replay.draw()")
    return pixels(page)


@pytest.fixture(scope="module")
def motion() -> tuple[kn.Model, np.ndarray, np.ndarray, np.ndarray]:
    """The arm goes from one posture to another and back in two seconds."""
    arm = kn.robots.load("arm")
    times = np.linspace(0.0, 2.0, 121)
    a, b = np.array([-0.6, 0.4, 0.0, 0.8, 0.0, 0.6, 0.0]), np.array([0.9, 0.9, 0.4, -0.9, 0.5, -0.8, 1.0])
    s, rate = (1 - np.cos(np.pi * times[:, None])) / 2, np.pi * np.sin(np.pi * times[:, None]) / 2
    return arm, times, a + s * (b - a), rate * (b - a)


@pytest.fixture
def replay(page: Any, motion: tuple[Any, ...], tmp_path: Path) -> Any:
    file = replay_html(motion, tmp_path / "a replay.html", title="arm <b>&</b> hand", playing=False, theme="light")
    page.goto(file.as_uri())
    until(page, "Boolean(window.replay && window.replay.ready)")
    return page


def test_it_draws_plays_and_scrubs(replay: Any, artefacts: Path):
    assert replay.title() == "arm <b>&</b> hand"
    assert replay.inner_text("h1") == "arm <b>&</b> hand"
    assert replay.inner_text("#clock") == "0.00 / 2.00 s"

    first = drawn(replay, 0.0)
    assert np.ptp(first.mean(axis=-1)) > 150, "dark and bright parts of a robot before a light ground"
    replay.screenshot(path=artefacts / "replay_start.png")
    middle = drawn(replay, 1.0)
    replay.screenshot(path=artefacts / "replay_middle.png")
    changed = np.abs(middle - first).max(axis=-1) > 40
    assert 0.01 < changed.mean() < 0.6, "the arm moved, and the ground did not"
    assert np.abs(drawn(replay, 0.0) - first).mean() < 1.0, "a moment looks the same when it is shown again"

    replay.locator("#scrub").evaluate("x => { x.value = 0.5; x.dispatchEvent(new Event('input')); }")
    assert replay.evaluate("replay.state.time") == pytest.approx(1.0)

    replay.keyboard.press("Home")
    replay.keyboard.press("Space")
    assert replay.evaluate("replay.state.playing")
    until(replay, "replay.state.time > 0.2")
    replay.keyboard.press("Space")
    assert not replay.evaluate("replay.state.playing")


def test_bodies_are_where_the_library_has_them(replay: Any, motion: tuple[Any, ...]):
    """At a moment that was kept, and at one between two of them."""
    model, times, q, _ = motion
    bend = np.abs(np.diff(poses(model, q[29:33]), n=2, axis=0)).max()
    between = 1.5 * bend / 8  # of a chord against its arc, h² p̈/8, with room for how p̈ changes
    for when, tolerance in ((times[30], 1e-6), ((times[30] + times[31]) / 2, between)):
        replay.evaluate(f"replay.seek({when}); replay.draw()")
        found = np.array([list(m.values()) for m in replay.evaluate("replay.matrices.map(m => ({...m}))")])
        T = poses(model, np.array([np.interp(when, times, column) for column in q.T]))
        assert np.allclose(found.reshape(-1, 4, 4).transpose(0, 2, 1), T, atol=tolerance)


def test_keys_step_speed_theme_and_plots(replay: Any):
    replay.keyboard.press("ArrowRight")
    assert replay.evaluate("replay.state.time") == pytest.approx(2.0 / 120)
    replay.keyboard.press("ArrowLeft")
    assert replay.evaluate("replay.state.time") == 0.0
    replay.keyboard.press("End")
    assert replay.evaluate("replay.state.time") == pytest.approx(2.0)
    replay.keyboard.press("+")
    assert replay.evaluate("[replay.state.speed, document.getElementById('speed').value]") == [2, "2"]
    light = drawn(replay, 0.0)
    replay.keyboard.press("t")
    dark = drawn(replay, 0.0)
    assert dark.mean() < 0.5 * light.mean()
    wide = replay.evaluate("document.getElementById('scene').clientWidth")
    replay.keyboard.press("p")
    assert replay.evaluate("document.getElementById('scene').clientWidth") > wide


def test_the_mouse_turns_moves_and_names(replay: Any, motion: tuple[Any, ...]):
    before = replay.evaluate("({...replay.camera})")
    box = replay.locator("#scene").bounding_box()
    x, y = box["x"] + 40, box["y"] + box["height"] - 40
    replay.mouse.move(x, y)
    replay.mouse.down()
    replay.mouse.move(x + 60, y - 20)
    replay.mouse.up()
    after = replay.evaluate("({...replay.camera})")
    assert after["azimuth"] < before["azimuth"]
    assert after["elevation"] < before["elevation"]
    replay.mouse.wheel(0, -300)
    until(replay, f"replay.camera.distance < 0.9 * {before['distance']}")
    replay.keyboard.press("r")
    assert replay.evaluate("replay.camera.azimuth") == before["azimuth"]

    replay.evaluate("replay.draw()")
    grid = [(s, t) for s in np.arange(0.2, 0.8, 0.03) for t in np.arange(0.1, 0.9, 0.06)]
    spots = [[round(box["width"] * s), round(box["height"] * t)] for s, t in grid]
    bodies = replay.evaluate("spots => spots.map(([x, y]) => replay.renderer.pick(x, y, replay.matrices))", spots)
    model = motion[0]
    assert set(bodies) <= {-1, *range(1 + model.nb)}
    assert len(set(bodies)) >= 4
    spot, body = next((spot, body) for spot, body in zip(spots, bodies, strict=True) if body > 0)
    replay.mouse.move(box["x"] + spot[0], box["y"] + spot[1])
    until(replay, "!document.getElementById('tip').hidden")
    assert replay.inner_text("#tip") == model.body_names[body - 1]


def test_several_robots(page: Any, motion: tuple[Any, ...], tmp_path: Path, artefacts: Path):
    pendulum = kn.robots.load("double_pendulum")
    times = np.linspace(0.0, 1.0, 61)
    swing = (pendulum, times, np.stack([np.sin(3 * times), np.cos(2 * times)], -1))
    file = replay_html([motion, swing], tmp_path / "two.html", playing=False, theme="dark")
    page.goto(file.as_uri())
    until(page, "Boolean(window.replay && window.replay.ready)")
    assert page.evaluate("replay.matrices.length") == motion[0].nb + 1 + pendulum.nb + 1
    assert page.evaluate("replay.span") == [0, 2]
    page.select_option("#robot", "1")
    assert "upper_pivot" in page.inner_text("#joint-legend")
    drawn(page, 0.6)
    page.screenshot(path=artefacts / "replay_two.png")


def test_a_damaged_file_says_so(browser: Any, motion: tuple[Any, ...], tmp_path: Path):
    file = replay_html(motion, tmp_path / "broken.html")
    text = file.read_text("utf-8")
    start = text.index('id="data">') + 10
    file.write_text(text[: start + 200] + text[text.index("</script>", start) :], "utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("#failure:not([hidden])")
    assert "cannot be shown" in page.inner_text("#failure")
    context.close()
