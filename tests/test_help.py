"""What people see who ask: `help`, `dir`, reprs, names that do not exist, and what a type checker tells them."""

import inspect
import json
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls.function import Function
from knuckle.engine.calls.words.help_text import example
from knuckle.integrators.base import IntegratorName
from knuckle.integrators.registry import INTEGRATORS
from knuckle.public_names import everything

FUNCTIONS = {name: x for name, x in everything(kn).items() if isinstance(x, Function)}
ARM = kn.robots.load("arm")


def shown(x: Any) -> str:
    return pydoc.render_doc(x, renderer=pydoc.plaintext)


def test_help_says_what_every_argument_is():
    """Of every public function: its signature on one line, each argument, an example."""
    assert len(FUNCTIONS) > 50
    for name, function in FUNCTIONS.items():
        text = shown(function)
        assert f"\n{function.__name__}(model: " in text, name
        assert "class " not in text, name
        described = text.split("Args:")[1]
        for parameter in inspect.signature(function).parameters:
            assert f"{parameter}" in described, (name, parameter)
        assert f"kn.{name}(model" in text or "Example" in text, name


@pytest.mark.parametrize("name", ["simulate", "rollout", "view", "load"])
def test_help_of_what_people_call_first_has_an_example(name: str):
    text = shown(getattr(kn, name))
    assert "Args:" in text
    assert f"kn.{name}(" in text.split("Example:")[1]


def test_examples_of_functions_of_q_and_v_run():
    arrays = {x: np.linspace(0.2, 1.0, ARM.nv) for x in ("q", "v", "a", "tau", "q0", "q1", "dv", "u", "x")}
    names = {"model": ARM, "kn": kn, **arrays}
    known, ran = {*names, "frame", "expressed_in", "f_ext", "classical"}, 0
    for name, function in FUNCTIONS.items():
        if "." not in name and name != "floating_jacobian" and known >= set(inspect.signature(function).parameters):
            value = eval(example(f"kn.{name}", inspect.signature(function)), names)
            assert all(np.all(np.isfinite(x)) for x in (value if isinstance(value, tuple) else (value,)))
            ran += 1
    assert ran > 20


def test_reprs_and_dir_are_short():
    assert repr(kn.jacobian) == "<knuckle function jacobian(model, q, frame, expressed_in='body')>"
    assert "source" in dir(kn.jacobian)
    assert not [name for name in dir(kn.jacobian) if name.startswith("_") and not name.startswith("__")]
    fast = kn.bind(ARM)
    assert "jacobian" in repr(fast.jacobian)
    assert "model 'arm'" in repr(fast.jacobian)
    assert "fast.jacobian(q, " in shown(fast.jacobian)
    assert "model: " not in shown(fast.jacobian)
    for x in (ARM, kn.audit(ARM), kn.robots.load("humanoid")):
        assert len(repr(x)) < 160


def test_a_function_in_a_class_is_still_itself():
    class Holder:
        pose = kn.pose

    assert Holder.pose is kn.pose
    assert Holder().pose is kn.pose


def test_a_name_that_is_not_there_has_near_ones():
    with pytest.raises(AttributeError, match="did you mean 'simulate'"):
        kn.simulat  # noqa: B018


def test_names_of_integrators_are_those_that_exist():
    assert set(get_args(IntegratorName)) == set(INTEGRATORS)


WRONG = """import knuckle as kn
model = kn.robots.load("arm", base="flying")
kn.load("x.urdf", base="flying")
kn.simulat(model)
motion = kn.simulate(model, integrator="rk5")
motion.plot(what=["q", "speed"])
motion.plot(colour="red")
motion.play(sped=2.0)
motion.replay(titel="x")
"""
RIGHT = """
kn.simulate(model, integrator="rk4", joint_limits="rigid").plot("x.png", what=["q", "tau"], joints=["elbow_pitch"])
kn.rollout(model, [[0.0] * 7], None, None, 1e-3, steps=2, integrator="euler").replay(title="x")
kn.robots.load("arm", base="floating")
kn.viewer.view(model)
"""


@pytest.mark.slow
def test_a_type_checker_finds_mistakes_and_only_those(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(WRONG + RIGHT)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(script)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["generalDiagnostics"]
    lines = {one["range"]["start"]["line"] for one in found if one["severity"] == "error"}
    assert lines == set(range(1, len(WRONG.splitlines())))
