"""Operations left in the code of standard robots, those that come with knuckle among them: they may only fall.

With KNUCKLE_UPDATE_GOLDEN=1 in the environment the record is written anew.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import knuckle as kn
from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.engine.trace import Program, record, trace
from knuckle.model import Model
from knuckle.testing.oracles.other_libraries import robot_files

from ...seeds import quick

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
    **{f"bundled {name}": lambda name=name: kn.robots.load(name).replace(loops=()) for name in kn.robots.names()},
}
"""Of those with loops the tree: τ, H and accelerations of its joints."""


def traced(how: Any, model: Model, function: str) -> Program:
    text, arguments = FUNCTIONS[function]
    shapes = {name: (model.nq if name == "q" else model.nv,) for name in arguments}
    return how(lambda **symbols: text.reference(model, **symbols), shapes, lambda r: (scalars_of(r), shape_of(r)))


def recorded_counts() -> dict[str, dict[str, int]]:
    return json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.sampled
@pytest.mark.skipif(os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1", reason="the record is being written")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", quick(MODELS, MODELS.keys() - {"anymal, floating", "talos, floating"}))
def test_counts_only_fall(name: str, function: str):
    count = kn.compilation.operation_count(FUNCTIONS[function][0], MODELS[name]())
    allowed = recorded_counts()[name][function]
    assert count.total <= allowed, f"{count}; if more is right, set KNUCKLE_UPDATE_GOLDEN=1 and say why"


@pytest.mark.sampled
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["GU(10)", "xarm7", "anymal, floating"])
def test_the_simplifier_pays(name: str, function: str):
    model = MODELS[name]()
    assert traced(trace, model, function).count().total <= traced(record, model, function).count().total


LEAST: dict[str, Callable[[int], tuple[int, int]]] = {
    "inverse_dynamics": lambda n: (93 * n - 108, 81 * n - 100),
    "mass_matrix": lambda n: (10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43),
    "forward_dynamics": lambda n: (224 * n - 259, 205 * n - 248),
}
"""Multiplications and additions of the best rows of RBDA table 10.1."""


@pytest.mark.sampled
@pytest.mark.parametrize("function", LEAST)
@pytest.mark.parametrize("n", quick([2, 3, 4, 5, 6, 8, 11, 15, 20, 30], [2, 3, 4, 6, 11, 15]))
def test_general_chains_need_less_than_table_10_1(n: int, function: str):
    count, (mul, add) = (
        kn.compilation.operation_count(FUNCTIONS[function][0], kn.testing.general_chain(n)),
        LEAST[function](n),
    )
    assert count.mul + count.div <= mul
    assert count.add <= add


def test_the_record_is_of_these_robots():
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1":
        counts = {
            name: {
                name: kn.compilation.operation_count(function, make()).total
                for name, (function, _) in FUNCTIONS.items()
            }
            for name, make in MODELS.items()
        }
        RECORD.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    assert {name: set(counts) for name, counts in recorded_counts().items()} == {
        name: set(FUNCTIONS) for name in MODELS
    }
