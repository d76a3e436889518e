"""Operations of standard robots after simplification: recorded, and allowed only to fall.

With KNUCKLE_UPDATE_GOLDEN=1 in the environment the record is written anew.
"""

import json
import os
from pathlib import Path
from typing import Any, Literal

import pytest

import knuckle as kn
from knuckle.model import Model
from knuckle.run.container import scalars_of, shape_of
from knuckle.testing.oracles import robot_files
from knuckle.trace import Program, record, trace

RECORD = Path(__file__).parent / "golden" / "operation_counts.json"
FUNCTIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "inverse_dynamics": (kn.inverse_dynamics, ("q", "v", "a")),
    "forward_dynamics": (kn.forward_dynamics, ("q", "v", "tau")),
    "mass_matrix": (kn.mass_matrix, ("q",)),
}


def robot(name: str, base: Literal["fixed", "floating"]) -> Model:
    path = next(path for path in robot_files() if name in str(path))
    return kn.load(path, base=base, mimic=False).without_friction()


MODELS: dict[str, Any] = {
    "GU(2)": lambda: kn.testing.general_chain(2),
    "GU(10)": lambda: kn.testing.general_chain(10),
    "GU(30)": lambda: kn.testing.general_chain(30),
    "xarm7": lambda: robot("xarm7", "fixed"),
    "anymal, floating": lambda: robot("anymal", "floating"),
    "talos, floating": lambda: robot("talos", "floating"),
    **{f"bundled {name}": lambda name=name: kn.robots.load(name) for name in kn.robots.names()},
}


def traced(how: Any, model: Model, function: str) -> Program:
    text, arguments = FUNCTIONS[function]
    shapes = {name: (model.nq if name == "q" else model.nv,) for name in arguments}
    return how(lambda **symbols: text.reference(model, **symbols), shapes, lambda r: (scalars_of(r), shape_of(r)))


def recorded_counts() -> dict[str, dict[str, int]]:
    return json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.skipif(os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1", reason="the record is being written")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_counts_only_fall(name: str, function: str):
    count = traced(trace, MODELS[name](), function).count()
    allowed = recorded_counts()[name][function]
    assert count.total <= allowed, f"{count}; if more is right, set KNUCKLE_UPDATE_GOLDEN=1 and say why"


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["GU(10)", "xarm7", "anymal, floating"])
def test_the_simplifier_pays(name: str, function: str):
    model = MODELS[name]()
    assert traced(trace, model, function).count().total <= traced(record, model, function).count().total


def test_the_record_is_of_these_robots():
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1":
        counts = {
            name: {function: traced(trace, make(), function).count().total for function in FUNCTIONS}
            for name, make in MODELS.items()
        }
        RECORD.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    assert {name: set(counts) for name, counts in recorded_counts().items()} == {
        name: set(FUNCTIONS) for name in MODELS
    }
