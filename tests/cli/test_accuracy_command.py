"""`knuckle accuracy`: words, JSON and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from knuckle.cli.app import app


@pytest.mark.slow
def test_it_says_how_many_digits_are_right(tmp_path: Path) -> None:
    out = tmp_path / "digits.png"
    result = CliRunner().invoke(app, ["accuracy", "pendulum", "--states", "2", "--plot", str(out)])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("pendulum: 2 states against 50 digits")
    assert any(line.startswith("inverse_dynamics") for line in lines)
    assert lines[-1] == f"Picture: {out}"
    assert out.stat().st_size > 10_000


@pytest.mark.slow
def test_as_json_it_has_every_function_in_both_precisions() -> None:
    result = CliRunner().invoke(app, ["accuracy", "pendulum", "--states", "2", "--json"])
    found = json.loads(result.stdout)
    rows = {(row["function"], row["precision"]): row["worst"] for row in found["errors"]}
    assert rows["mass_matrix", "float64"] < 1e-15
    assert rows["gravity_force", "float32"] < 1e-6
    assert {remedy["name"] for remedy in found["remedies"]} >= {"a tree of least depth"}
