"""Shell completion: what the shell gets for what was typed, and the script that asks."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from knuckle import robots
from knuckle.cli import main
from knuckle.cli.options import complete_model


def asked(typed: str) -> dict[str, str]:
    """What bash says in the environment."""
    return {"_KNUCKLE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}


@pytest.fixture
def completed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], list[str]]:
    """What bash is offered after a line, typed in the folder."""

    def complete(typed: str) -> list[str]:
        for name, value in asked(typed).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit, match="0"):
            main()
        return capsys.readouterr().out.split()

    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["knuckle"])
    return complete


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("arm_of_mine.urdf", "scene.xml", "notes.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "old.json").write_text("")
    return tmp_path


@pytest.mark.slow
def test_the_shell_is_offered_commands(folder: Path):
    command = [sys.executable, "-m", "knuckle"]
    environment = {**os.environ, **asked("knuckle sim")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=True)
    assert "simulate" in done.stdout.split()


def test_the_shell_is_offered_robots_files_and_words(completed: Callable[[str], list[str]]):
    assert "simulate" in completed("knuckle sim")
    assert completed("knuckle info a") == ["arm", "archive/", "arm_of_mine.urdf"]
    assert completed("knuckle info archive/") == ["archive/old.json"]
    assert "floating" in completed("knuckle info arm --base f")
    matrices = completed("knuckle export arm --function mass_matrix_")
    assert matrices == ["mass_matrix_inverse", "mass_matrix_inverse_product"]


def test_models_and_folders_complete(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    assert complete_model("") == [*robots.names(), "archive/", "arm_of_mine.urdf", "scene.xml"]
    assert complete_model(f"{folder}/sc") == [f"{folder}/scene.xml"]
    assert complete_model("nowhere/") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_the_shell_is_shown(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setattr(sys, "argv", ["knuckle", "--show-completion", shell])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert "_KNUCKLE_COMPLETE" in capsys.readouterr().out
