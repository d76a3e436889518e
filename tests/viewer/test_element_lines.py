"""Springs and muscles as lines of a scene: where they go, what colour they have, and that replays have them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import CubicMuscle, LinePoint, Wrap
from knuckle.viewer.recording import recording
from knuckle.viewer.scene.element_lines import ACTIVE_COLOR, REST_COLOR, TAUT_COLOR, rgb


def forearm() -> kn.Model:
    b = kn.Builder("forearm", base="upper arm")
    inertia = kn.model.solid_cylinder(1.5, 0.04, 0.3, at=(0, 0, -0.15))
    b.body("forearm", joint=kn.joints.Revolute("y"), inertia=inertia)
    over = Wrap("upper arm", 0.03, side=LinePoint("upper arm", (0.1, 0, 0)))
    b.line("biceps", [("upper arm", (0.02, 0, 0.2)), over, ("forearm", (0.02, 0, -0.1))], CubicMuscle(60.0, 0.2, 0.1))
    b.spring("tie", ("upper arm", (-0.1, 0, 0)), ("forearm", (0, 0, -0.2)), stiffness=20.0, rest=0.1)
    return b.build()


def test_lines_are_as_long_as_they_are_and_coloured():
    """Pieces of arcs are chords, which are shorter by the third power of their angle."""
    model = forearm()
    motion = kn.simulate(model, [0.4], None, 0.05, excitations=[1.0])
    lines = recording(motion).lines(0.5)
    assert lines is not None
    assert lines.has_muscles
    assert lines.has_others
    lengths = elements.lengths(model, motion.q)
    for k in (0, 25, 50):
        ends, color, _ = lines.at(k)
        drawn = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1)
        of_muscle = np.arange(len(ends)) < len(ends) - 1
        assert drawn[of_muscle].sum() == pytest.approx(lengths[k, 0], rel=2e-4)
        assert drawn[~of_muscle].sum() == pytest.approx(lengths[k, 1], rel=1e-12)
        a = motion.activations[k, 0]
        assert color[0] == pytest.approx((1 - a) * rgb(REST_COLOR) + a * rgb(ACTIVE_COLOR))
    pull = elements.tensions(model, motion.q, motion.v)[:, 1]
    taut = lines.color[lines.start[1:] - 1]
    assert taut[pull.argmax()] == pytest.approx(rgb(TAUT_COLOR))
    assert recording(kn.simulate(model.without_elements(), [0.4], None, 0.01)).lines(0.5) is None


@pytest.mark.slow
def test_replays_and_plots_have_them(tmp_path: Path):
    pytest.importorskip("matplotlib")
    motion = kn.simulate(forearm(), [0.4], None, 0.05, excitations=[1.0])
    page = kn.viewer.replay_html(motion, tmp_path / "replay.html").read_text("utf-8")
    header = re.search(r'id="header">(.*?)</script>', page, re.DOTALL)
    assert header is not None
    robot = json.loads(header[1].replace("\\u003c", "<"))
    assert [scale["to"] for scale in robot["scales"]] == ["activated", "taut"]
    lines = robot["robots"][0]["lines"]
    assert lines["ends"]["count"] == 6 * lines["widths"]["count"] == 2 * lines["colors"]["count"]
    figure = motion.plot(tmp_path / "muscles.png", what=["q", "activation"])
    assert [axis.get_ylabel() for axis in figure.axes] == ["position [rad]", "activation"]


def test_lines_change_their_colours_while_a_live_simulation_runs():
    """By tension, over the largest that was seen; muscles by activation."""
    pytest.importorskip("viser", reason="the viewer is an extra")
    from knuckle.viewer import view

    model = forearm()
    with view(model, [1.2], port=0, block=False) as viewer:
        (panel,) = viewer.panels
        seen = []
        for _ in range(12):
            panel.step(40)
            pull = elements.tensions(model, panel.live.q, panel.live.v)[1]
            seen.append((pull, np.array(panel.view.lines.colors).reshape(-1, 2, 3)))
        most = panel.view.tautest
        assert most >= max(pull for pull, _ in seen)
        pulls = np.array([pull for pull, _ in seen])
        assert np.ptp(pulls) > 0.2 * most  # it does change
        reds = [{tuple(color) for color in colors[:, 0]} for _, colors in seen]
        assert len(set(map(frozenset, reds))) > 3
        rest = tuple(np.rint(255 * rgb(REST_COLOR)).astype(int))
        assert all(rest in {tuple(int(x) for x in color) for color in part} for part in reds)
