"""Contact forces as arrows: where they begin, how long they are, their colours; in the viewer and in replays."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free
from knuckle.model import Box, solid_box
from knuckle.viewer import play, replay_html
from knuckle.viewer.recording import recording
from knuckle.viewer.scene.figure import figure
from knuckle.viewer.scene.force_arrows import SLIP_COLOR, STICK_COLOR, force_arrows, moving_size
from knuckle.viewer.scene.slopes import with_slopes

SIZE = (0.4, 0.2, 0.2)


@pytest.fixture(scope="module")
def motion() -> kn.Trajectory:
    """A sledge on a slope that slides, and stands in the end."""
    b = kn.Builder("sledge", gravity=(2.0, 0, -9.6))
    b.surface("wood", friction=0.5)
    b.ground(surface="wood")
    b.body("sledge", joint=Free(), at=(0, 0, 0.1), inertia=solid_box(2.0, SIZE), collisions=Box(SIZE), surface="wood")
    return kn.simulate(b.build(), None, np.array([0, 0, 0, 1.0, 0, 0]), 0.6)


@pytest.mark.slow
def test_arrows_are_forces_on_what_moves(motion: kn.Trajectory):
    arrows = force_arrows(motion.model, motion.contacts, size=2.0)
    assert len(arrows.start) == len(motion) + 1
    for row in (1, 100, 600):
        tail, way, slides = arrows.at(row)
        contacts = motion.contacts.at(row)
        np.testing.assert_allclose(tail, contacts.point)
        np.testing.assert_allclose(way, contacts.force * arrows.length / arrows.newtons)
        assert (slides == (row < 600)).all()
    assert arrows.newtons in (1, 2, 5, 10)
    other = motion.contacts.bodies[0][::-1]
    turned = force_arrows(
        motion.model, kn.trajectory.MotionContacts(**{**vars(motion.contacts), "bodies": (other,)}), size=2.0
    )
    np.testing.assert_array_equal(turned.way, -arrows.way)


@pytest.mark.slow
def test_moments_of_a_recording_have_the_contacts_of_the_next_row(motion: kn.Trajectory):
    thinned = recording(motion).at(np.array([0.1004, 0.2, 0.3006]))
    arrows, every = thinned.arrows(1.0), recording(motion).arrows(1.0)
    assert arrows is not None
    assert every is not None
    for k, row in enumerate((101, 200, 301)):
        np.testing.assert_allclose(arrows.at(k)[0], every.at(row)[0])
    assert recording((motion.model, motion.times, motion.q)).arrows(1.0) is None


def test_what_collides_is_drawn_and_so_is_a_slope(motion: kn.Trajectory):
    """A model without visuals is drawn by its shapes, and ground that is not level by a patch of it."""
    drawn = figure(motion.model)
    (box,) = drawn.parts
    np.testing.assert_allclose(np.ptp(box.surface.bounds, axis=0), SIZE)
    assert moving_size(drawn, motion.q[0]) == pytest.approx(0.6 * np.linalg.norm(SIZE))
    _, *ground = with_slopes(drawn, motion.q).parts
    corners = np.concatenate([part.surface.vertices for part in ground])
    assert np.abs(corners[:, 2]).max() < 1e-12
    assert corners[:, 0].min() < -0.2
    assert corners[:, 0].max() > motion.q[-1, 4] + 0.2
    level = motion.model.with_gravity((0, 0, -9.81))
    assert len(with_slopes(figure(level), motion.q).parts) == 1  # the grid is there


def test_a_replay_holds_arrows_in_the_scene(motion: kn.Trajectory, tmp_path: Path):
    text = replay_html(motion, tmp_path / "sledge.html", rate=1000.0).read_text("utf-8")
    parts = {name: re.search(rf'id="{name}">(.*?)</script>', text, re.DOTALL) for name in ("header", "data")}
    header, raw = (found[1] for found in parts.values() if found)
    facts: Any = json.loads(header)
    data = zlib.decompress(base64.b64decode(raw))

    def array(place: dict[str, Any], shape: tuple[int, ...]) -> np.ndarray:
        return np.frombuffer(data, f"<{place['kind']}", place["count"], place["start"]).reshape(shape)

    assert facts["legend"] == {"stick": STICK_COLOR, "slip": SLIP_COLOR, "length": facts["legend"]["length"]}
    assert re.fullmatch(r"\d+ N are [\d.]+ m", facts["legend"]["length"])
    arrows = facts["robots"][0]["arrows"]
    start, slides = array(arrows["start"], (-1,)), array(arrows["slides"], (-1,))
    tails, ways = (array(arrows[name], (-1, 3)) for name in ("tails", "ways"))
    assert len(start) == len(motion) + 1
    assert len(tails) == len(ways) == len(slides) == start[-1] == len(motion.contacts)
    last = slice(start[-2], start[-1])
    np.testing.assert_allclose(ways[last].sum(0)[:2], 0, atol=1e-6)  # what stands is carried straight up
    assert not slides[last].any()
    assert slides[: start[100]].all()
    plain = replay_html((motion.model, motion.times, motion.q), tmp_path / "plain.html").read_text("utf-8")
    assert '"arrows":null' in plain


def test_the_viewer_draws_and_hides_them(motion: kn.Trajectory):
    pytest.importorskip("viser", reason="the viewer is an extra")
    with play(motion, port=0, block=False) as viewer:
        player = viewer.player
        assert player is not None
        player.play(False)
        drawn = viewer.panels[0].view.pushes
        player.seek(0.05)
        assert drawn[SLIP_COLOR].visible
        assert drawn[SLIP_COLOR].points.shape == (4, 2, 3)
        assert STICK_COLOR not in drawn or not drawn[STICK_COLOR].visible
        player.seek(0.6)
        assert drawn[STICK_COLOR].visible
        assert not drawn[SLIP_COLOR].visible
        player.show_forces(False)
        assert not any(node.visible for node in drawn.values())
        player.show_forces(True)
        assert drawn[STICK_COLOR].visible
    with play(motion, port=0, block=False, contacts=False) as viewer:
        assert viewer.player is not None
        viewer.player.seek(0.3)
        assert not any(node.visible for node in viewer.panels[0].view.pushes.values())


@pytest.mark.slow
def test_arrows_in_a_browser(page: Any, motion: kn.Trajectory, tmp_path: Path, artefacts: Path):
    """Pixels of the legend's colours are there, go with the key, and come back."""
    import io

    from PIL import Image

    page.goto(replay_html(motion, tmp_path / "sledge.html", playing=False, theme="light").as_uri())
    for _ in range(600):
        if page.evaluate("Boolean(window.replay && window.replay.ready)"):
            break
        page.wait_for_timeout(50)

    def count(color: str) -> int:
        page.evaluate("replay.draw()")
        image = np.asarray(Image.open(io.BytesIO(page.locator("#scene").screenshot())).convert("RGB"), float)
        rgb = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
        inside = image[60:-40]  # without the legend
        return int(np.sum(np.abs(inside - rgb).max(axis=-1) < 6))

    page.evaluate("replay.pause(); replay.seek(0.05)")
    assert count(SLIP_COLOR) > 30
    assert count(STICK_COLOR) == 0
    page.screenshot(path=artefacts / "replay_slides.png")
    page.evaluate("replay.seek(0.6)")
    assert count(STICK_COLOR) > 30
    page.keyboard.press("c")
    assert count(STICK_COLOR) == 0
    assert page.evaluate("document.getElementById('forces-legend').hidden")
    page.keyboard.press("c")
    assert count(STICK_COLOR) > 30
