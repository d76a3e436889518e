"""`knuckle view`: what it opens, and that it is served and ends."""

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle.cli.app import app

pytest.importorskip("viser")
from knuckle.cli.commands import look


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["view", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


class Opened:
    """A viewer that is closed at once."""

    url = "http://localhost:1"
    waited = False

    def wait(self) -> None:
        self.waited = True


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any, dict[str, Any]]]:
    made: list[tuple[str, Any, dict[str, Any]]] = []
    for name in ("view", "play"):

        def opened(*args: Any, name: str = name, **options: Any) -> Opened:
            made.append((name, args, options))
            return Opened()

        monkeypatch.setattr(look, name, opened)
    return made


def test_models_are_shown_where_they_are_put(calls: list[Any]):
    run("arm", "--start", "elbow_pitch=1", "--port", 0)
    ((name, (models, q), options),) = calls
    assert (name, [model.name for model in models]) == ("view", ["arm"])
    np.testing.assert_array_equal(q[0], [0, 0, 0, 1, 0, 0, 0])
    assert options == {"port": 0, "host": "127.0.0.1", "block": False}


def test_several_robots_at_once(calls: list[Any]):
    run("arm", "humanoid")
    assert [model.name for model in calls[0][1][0]] == ["arm", "humanoid"]


def test_trajectories_are_played(calls: list[Any], tmp_path: Path):
    file = tmp_path / "p.npz"
    kn.simulate(kn.robots.load("pendulum"), duration=0.05).save(file)
    run(file, "--speed", 0.5)
    ((name, (motions,), options),) = calls
    assert (name, [len(motion) for motion in motions], options["speed"]) == ("play", [51], 0.5)


def test_the_browser_is_opened_if_asked_for(calls: list[Any], monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr(look.webbrowser, "open", opened.append)
    run("arm")
    assert opened == []
    run("arm", "--open")
    assert opened == [Opened.url]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("arm", "swing.npz"), "swing.npz is a trajectory, and not all of the others are"),
        (("arm", "humanoid", "--start", "elbow_pitch=1"), "--start is for one robot that stands still"),
        (("amr",), "did you mean arm?"),
        (("swing.npz",), "swing.npz"),
        (("arm", "--host", "no.such.host.invalid"), "no.such.host.invalid"),
    ],
)
def test_errors(arguments: tuple[str, ...], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (line,) = run(*arguments, code=2).stderr.splitlines()
    assert line.startswith("error: ")
    assert complaint in line


def test_without_viser_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    (line,) = run("arm", code=2).stderr.splitlines()
    assert "pip install " in line
    assert '"viser>=' in line


@pytest.mark.slow
def test_it_is_served_and_ends_with_ctrl_c():
    command = [sys.executable, "-m", "knuckle", "view", "pendulum", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = re.search(r"http://localhost:\d+", process.stdout.readline())
        assert url is not None
        assert "Ctrl-C" in process.stdout.readline()
        with urllib.request.urlopen(url[0], timeout=30) as page:
            assert page.status == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
