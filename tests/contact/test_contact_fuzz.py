"""Random scenes: no NaN, no tunnelling, no energy out of nothing (benchmarks/contact_fuzz.py runs thousands)."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.seeds import quick

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "contact_fuzz.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("contact_fuzz", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["contact_fuzz"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", quick(range(10), [0]))
def test_random_scenes_keep_the_laws(script: ModuleType, seed: int):
    found = script.fuzz(60, seed, 150)
    assert found.broken == []
    assert found.unsolved <= 1e-3 * found.steps
