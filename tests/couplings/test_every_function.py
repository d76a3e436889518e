"""Every public function on mechanisms with couplings and loops: right, or an error that says what to do.

With KNUCKLE_UPDATE_GOLDEN=1 in the environment the table in docs/couplings.md is written anew.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.public_names import GROUPS, everything

from .cases import CASES
from .table import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "couplings.md"
BEGIN, END = "<!-- the table, written by tests/couplings/test_every_function.py -->", "<!-- end of the table -->"
WITHOUT_MODEL = {
    "Builder", "Model", "ModelError", "Trajectory", *GROUPS, "formats", "integrators", "joints", "load", "model",
    "robots", "save", "simulation", "spatial", "testing", "view", "viewer", "where",
    "compilation.get_threads", "compilation.set_kernel_limit", "compilation.set_policy", "compilation.set_threads",
    "identification.BaseParameters", "loops.Actuation", "loops.Assembly", "loops.DegreesOfFreedom",
    "loops.with_closure_function", "constraints.joint_limits",
    *(f"constraints.{name}" for name in kn.constraints.__all__ if name[0].isupper()),
}  # fmt: skip
"""Public names that compute nothing of a model (files are rows of their own; pictures are of `body_poses`;
`with_closure_function` makes couplings)."""
HINTS = ("without_loops()", "without_couplings()", "save it as JSON", "CouplingLaw", 'base="floating"')
"""What an error may say: where to go from here."""
ROUNDING = 1e-9
"""Of the largest number compared: systems with condition numbers up to 1e5, and two ways of taking a step of time."""


@cache
def outcome(name: str, what: str) -> str:
    """ "right", or what the error says."""
    case = CASES[name]
    try:
        pairs = list(ROWS[what](case))
    except kn.ModelError as error:
        return str(error)
    assert pairs, "a row that compares nothing"
    for found, wanted in pairs:
        x, y = np.asarray(found, float), np.asarray(wanted, float)
        assert x.shape == y.shape
        size = max(np.abs(y).max(initial=0.0), np.abs(x).max(initial=0.0), 1.0)
        np.testing.assert_allclose(x, y, rtol=0, atol=ROUNDING * size, err_msg=f"{what} on {name}")
    return "right"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("what", ROWS)
def test_right_or_an_error(what: str, name: str):
    found = outcome(name, what)
    assert found == "right" or any(words in found for words in HINTS), found


def test_nothing_is_left_out():
    """A new public function needs a row in table.py, or a place among the names that take no model."""
    assert {name for name in everything(kn) if name not in ROWS} == WITHOUT_MODEL


def table() -> str:
    lines = [f"| | {' | '.join(CASES)} |", f"|---|{'---|' * len(CASES)}"]
    for what in ROWS:
        cells = ("right" if outcome(name, what) == "right" else "error" for name in CASES)
        lines.append(f"| `{what}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_in_the_documentation(capsys: pytest.CaptureFixture[str]):
    text = table()
    with capsys.disabled():
        print(f"\n{text}")
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    fresh = f"{before}{BEGIN}\n{text}\n{END}{after}"
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1":
        PAGE.write_text(fresh, encoding="utf-8")
    assert fresh == page or os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1", "if right, set KNUCKLE_UPDATE_GOLDEN=1"
