"""Shell completion: what the shell gets for what was typed, and the script that asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from knuckle import robots
from knuckle.cli.options import complete_model


def completed(typed: str, where: Path) -> list[str]:
    """What bash is offered after this line."""
    words = typed.split(" ")
    environment = {
        **os.environ, "_KNUCKLE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "knuckle"], capture_output=True, text=True, env=environment, cwd=where, check=True
    )
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("arm_of_mine.urdf", "scene.xml", "notes.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "old.json").write_text("")
    return tmp_path


def test_the_shell_is_offered_commands_robots_files_and_words(folder: Path):
    assert "simulate" in completed("knuckle sim", folder)
    assert completed("knuckle info a", folder) == ["arm", "archive/", "arm_of_mine.urdf"]
    assert completed("knuckle info archive/", folder) == ["archive/old.json"]
    assert "floating" in completed("knuckle info arm --base f", folder)
    matrices = completed("knuckle export arm --function mass_matrix_", folder)
    assert matrices == ["mass_matrix_inverse", "mass_matrix_inverse_product"]


def test_models_and_folders_complete(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    assert complete_model("") == [*robots.names(), "archive/", "arm_of_mine.urdf", "scene.xml"]
    assert complete_model(f"{folder}/sc") == [f"{folder}/scene.xml"]
    assert complete_model("nowhere/") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_the_shell_is_shown(shell: str):
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "knuckle", "--show-completion", shell], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "_KNUCKLE_COMPLETE" in done.stdout
