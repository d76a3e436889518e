"""`knuckle bench`: that it compares like with like, and says what it left out. No time is asserted."""

import json
import math
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle.cli.app import app
from knuckle.cli.commands import bench as bench_module
from knuckle.cli.commands.bench import FUNCTIONS, measured
from knuckle.cli.commands.rivals import States

from ..seeds import quick


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


QUICK = ("--seconds", "0.001", "--batch", "5")


@pytest.mark.slow
@pytest.mark.parametrize("name", quick(["arm", "quadruped", "satellite", "pendulum"], ["satellite"]))
def test_every_number_is_there_and_all_compute_the_same(name: str):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    found = json.loads(run(name, *QUICK, "--json").stdout)
    assert found["left_out"] == {}
    assert found["largest_difference"] < 1e-12
    assert (found["model"], found["batch"], found["threads"]) == (name, 5, 1)
    assert [row["function"] for row in found["functions"]] == list(FUNCTIONS)
    for row in found["functions"]:
        for key in ("batch_s", "one_state_s"):
            assert list(row[key]) == ["knuckle", "Pinocchio", "MuJoCo"]
            assert all(0 < x < math.inf for x in row[key].values())


def test_the_table():
    shown = run(*QUICK).stdout
    for word in ("arm: 7 bodies, nv = 7", "batch of 5", "one state", "inverse dynamics", "jacobian", "tool0"):
        assert word in shown
    assert "All compute the same" in shown


def test_loops_are_opened_and_that_is_said():
    assert "four_bar: 3 bodies, nv = 3, its spanning tree without the loop joints" in run("four_bar", *QUICK).stdout


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bench_module, "find_spec", lambda name: None)
    shown = run(*QUICK).stdout
    assert "Without Pinocchio: not installed" in shown
    assert "Without MuJoCo: not installed" in shown
    assert "All compute the same" not in shown


@pytest.mark.slow
def test_a_library_that_computes_something_else_is_left_out(monkeypatch: pytest.MonkeyPatch):
    """Rotor inertia: URDF has no word for it, so the other library has not got it."""
    pytest.importorskip("pinocchio")
    model = kn.model.edit.with_rotor_inertia(kn.robots.load("arm"), {"wrist_roll": 0.1})
    found = measured(model, 3, 1, None, 0.001)
    assert "it computes something else" in found["left_out"]["Pinocchio"]
    assert "Pinocchio" not in found["functions"][0]["batch_s"]


def test_a_model_that_another_library_cannot_have_is_left_out():
    b = kn.Builder("screw")
    inertia = kn.model.solid_box(1.0, (1.0, 1.0, 1.0), at=(0.3, 0.0, 0.0))
    b.body("nut", joint=kn.joints.Helical("z", 0.1), inertia=inertia)
    found = measured(b.build(), 3, 1, None, 0.001)
    assert "URDF has no joint for Helical" in found["left_out"]["Pinocchio"]
    assert "MJCF has no joint for Helical" in found["left_out"]["MuJoCo"]
    assert list(found["functions"][0]["batch_s"]) == ["knuckle"]


@pytest.mark.slow
def test_threads_are_put_back():
    before = kn.compilation.get_threads()
    run("pendulum", *QUICK, "--threads", 2)
    assert kn.compilation.get_threads() == before


def test_states_are_always_the_same_and_within_the_limits():
    model = kn.robots.load("arm")
    states: States = bench_module._states(model, 300)
    again = bench_module._states(model, 300)
    assert all(np.array_equal(x, y) for x, y in zip(states, again, strict=True))
    assert states.q.shape == (300, 7)
    limits = [(joint.limits.lower[0], joint.limits.upper[0]) for joint in model.joints]
    assert all(np.all((low <= x) & (x <= high)) for x, (low, high) in zip(states.q.T, limits, strict=True))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("arm", "--frame", "tool"), "error: --frame tool: no such frame; did you mean tool0?"),
        (("amr",), "did you mean arm?"),
    ],
)
def test_errors(arguments: tuple[str, ...], complaint: str):
    assert complaint in run(*arguments, *QUICK, code=2).stderr


def test_a_model_without_joints_is_refused(tmp_path: Any):
    path = tmp_path / "block.urdf"
    path.write_text('<robot name="block"><link name="block"/></robot>')
    assert "nothing in it moves" in run(path, *QUICK, code=2).stderr
