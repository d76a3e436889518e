"""`knuckle demo`: what it shows, writes and refuses."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle.cli.app import app
from knuckle.cli.commands import demo as demo_module

PNG = b"\x89PNG\r\n\x1a\n"


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["demo", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch):
    """A swing of a hundredth of a second, and an arm that is content wherever it is."""
    for name, value in (("REACHING", 0.01), ("SWINGING", 0.01), ("ARRIVED", 10.0)):
        monkeypatch.setattr(demo_module, name, value)


@pytest.mark.slow
def test_it_reaches_swings_reports_and_writes(place: Path, monkeypatch: pytest.MonkeyPatch):
    kept = []
    monkeypatch.setattr(demo_module, "_timed", lambda *a: kept.append(_timed(*a)) or kept[-1])
    shown = run().stdout
    for word in (
        "elbow_pitch", "PD controller", "arrived", "mrad", "free swing", "drift", "times real time", "knuckle-demo.png",
        "knuckle-demo.html", "knuckle view arm",
    ):  # fmt: skip
        assert word in shown
    reach, swing = (timed.motion for timed in kept)
    assert np.abs(reach.q[-1] - demo_module.GOAL).max() < 1e-3
    drift = np.abs(swing.energy - swing.energy[0]).max() / swing.kinetic_energy.max()
    assert drift < 1e-8
    assert f"{drift:.1e}" in shown
    np.testing.assert_array_equal(swing.q[0], reach.q[-1])
    picture = (place / "knuckle-demo.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) > 20_000
    page = (place / "knuckle-demo.html").read_text("utf-8")
    assert "an arm reaches, and is let go" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


_timed = demo_module._timed


@pytest.mark.slow
def test_torques_stay_within_the_limits():
    model = kn.robots.load("arm")
    control = demo_module.towards(model, kn.neutral(model), np.array(demo_module.GOAL), demo_module.BANDWIDTH)
    motion = kn.simulate(model, duration=0.1, controller=control.controller, parameters=control.parameters)
    limits = np.array([joint.limits.effort[0] for joint in model.joints])
    assert np.all(np.abs(motion.tau) <= limits)
    assert np.any(np.abs(motion.tau) == limits)  # the first moment asks for more


@pytest.mark.usefixtures("short")
def test_it_writes_where_it_is_told(place: Path):
    plot, html = place / "arm.svg", place / "arm.html"
    shown = run("--plot", plot, "--html", html).stdout
    for word in ("elbow_pitch", "PD controller", "arrived", "mrad", "free swing", "drift", "knuckle view arm"):
        assert word in shown
    assert str(plot) in shown
    assert str(html) in shown
    assert {path.name for path in place.iterdir()} == {"arm.svg", "arm.html"}
    assert b"<svg" in plot.read_bytes()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--plot", "no/arm.png"), "error: --plot no/arm.png: there is no folder no"),
        (("--plot", "arm.html"), "error: --plot arm.html: expected a file that ends in .png or .pdf or .svg"),
        (("--html", "arm.png"), "error: --html arm.png: expected a file that ends in .html or .htm"),
    ],
)
def test_places_it_cannot_write_to(arguments: tuple[str, ...], complaint: str):
    (line,) = run(*arguments, code=2).stderr.splitlines()
    assert line == complaint


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_without_matplotlib_it_says_how_to_get_it(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(demo_module, "can_plot", lambda: False)
    assert "install matplotlib" in run().stdout
    assert [path.name for path in place.iterdir()] == ["knuckle-demo.html"]
    assert "install matplotlib" in run("--plot", "x.png", code=2).stderr


def test_the_last_lines_are_commands_for_this_shell(place: Path, monkeypatch: pytest.MonkeyPatch):
    """By its path where the shell does not find it, and `make view` in a clone without what the viewer needs."""
    monkeypatch.setenv("PATH", str(place))
    (command,) = {line.split()[0] for _, line in demo_module.next_commands()}
    assert Path(command).name == "knuckle"
    assert Path(command).parent == Path(sys.executable).parent
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert {line.split()[0] for _, line in demo_module.next_commands()} == {"knuckle"}
    monkeypatch.setattr(demo_module.importlib.util, "find_spec", lambda name: None)
    assert "install" in dict(demo_module.next_commands())["Viewer"]
    monkeypatch.chdir(Path(__file__).parents[2])
    assert dict(demo_module.next_commands())["Viewer"] == "make view"


@pytest.mark.usefixtures("short")
def test_it_stops_cleanly(monkeypatch: pytest.MonkeyPatch):
    def interrupt(*args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "_timed", interrupt)
    assert run(code=130).stderr.strip() == "stopped"


@pytest.mark.usefixtures("short")
def test_it_fails_if_the_energy_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    def leaking(*args: Any) -> Any:
        done = _timed(*args)
        v = done.motion.v * np.linspace(1.0, 0.99, len(done.motion))[:, None]
        return done._replace(motion=dataclasses.replace(done.motion, v=v))

    monkeypatch.setattr(demo_module, "_timed", leaking)
    monkeypatch.setattr(demo_module, "can_plot", lambda: False)
    run(code=1)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_it_fails_if_the_arm_does_not_arrive(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(demo_module, "ARRIVED", 1e-3)
    monkeypatch.setattr(demo_module, "can_plot", lambda: False)
    run(code=1)
