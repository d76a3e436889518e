"""Every public function on mechanisms with couplings and loops: right, or an error that says what to do.

With KNUCKLE_UPDATE_GOLDEN=1 in the environment `pytest -m ""` writes the table in docs/couplings.md anew.
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
    "Builder", "Model", "ModelError", "Trajectory", *GROUPS, "accuracy", "formats", "integrators", "joints", "load",
    "cluster", "environments", "model", "robots", "save", "simulation", "spatial", "testing", "view", "viewer", "where",
    "compilation.get_threads", "compilation.set_kernel_limit", "compilation.set_policy", "compilation.set_threads",
    "contact.CompliantContacts", "contact.ContactMotion", "contact.ContactPair", "contact.ContactStep",
    "contact.Impact", "contact.JointBearing", "contact.RigidContacts", "identification.BaseParameters",
    *(f"elements.{name}" for name in kn.elements.__all__ if name[0].isupper()), "elements.activation_rate",
    "elements.box_mesh", "elements.chain_mesh", "elements.grid_mesh",
    *(f"lie_groups.{name}" for name in kn.lie_groups.__all__), "SampledController",
    *(f"actuators.{name}" for name in kn.actuators.__all__ if name[0].isupper() or name in ("motor",)),
    "actuators.position_servo", "actuators.velocity_servo",
    "loops.Actuation", "loops.Assembly", "loops.DegreesOfFreedom",
    "loops.with_closure_function", "constraints.joint_limits",
    *(f"constraints.{name}" for name in kn.constraints.__all__ if name[0].isupper()),
}  # fmt: skip
"""Public names that compute nothing of a model (files are rows of their own; pictures are of `body_poses`;
`with_closure_function` makes couplings)."""
UPDATE = "docs/couplings.md says something else; if this is right, set KNUCKLE_UPDATE_GOLDEN=1"
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


def documented() -> dict[str, dict[str, str]]:
    """What the table in the documentation says, by function and by case."""
    rows = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip().splitlines()
    (_, *names), _, *cells = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    return {row[0].strip("`"): dict(zip(names, row[1:], strict=True)) for row in cells}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("what", ROWS)
def test_right_or_an_error(what: str, name: str):
    result = outcome(name, what)
    assert result == "right" or any(words in result for words in HINTS), result
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") != "1":
        assert documented()[what][name] == ("right" if result == "right" else "error"), UPDATE


def test_the_documentation_has_every_row_and_column():
    assert {what: list(row) for what, row in documented().items()} == {what: list(CASES) for what in ROWS}


def test_nothing_is_left_out():
    """A new public function needs a row in tests/couplings/rows, or a place among the names that take no model."""
    assert {name for name in everything(kn) if name not in ROWS} == WITHOUT_MODEL


def table() -> str:
    lines = [f"| | {' | '.join(CASES)} |", f"|---|{'---|' * len(CASES)}"]
    for what in ROWS:
        cells = ("right" if outcome(name, what) == "right" else "error" for name in CASES)
        lines.append(f"| `{what}` | {' | '.join(cells)} |")
    return "\n".join(lines)


@pytest.mark.slow
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
    assert fresh == page or os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1", UPDATE
