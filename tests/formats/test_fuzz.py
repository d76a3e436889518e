"""A small run of the fuzzer; the large one is `python tests/formats/fuzz_urdf.py --count 100000`."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ..seeds import quick

pytest.importorskip("resource")


def fuzzer() -> ModuleType:
    path = Path(__file__).with_name("fuzz_urdf.py")
    spec = importlib.util.spec_from_file_location("fuzz_urdf", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("count", quick([150, 1500], [150]))
def test_mutated_files_give_a_model_error_or_a_valid_model(count: int, monkeypatch: pytest.MonkeyPatch):
    fuzz = fuzzer()
    monkeypatch.setattr(fuzz, "MAX_MEGABYTES", 2000.0)  # the test runner's own memory counts here
    outcome = fuzz.run(seed=1, first=0, last=count)
    assert outcome.failures == []
    assert outcome.counts["model"] > count / 7.5
    assert sum(outcome.counts.values()) - outcome.counts["model"] > count / 7.5


def test_the_fuzzer_sees_what_is_wrong(monkeypatch: pytest.MonkeyPatch):
    """A reader that raises something else, and one that gives a broken model, are both reported."""
    fuzz = fuzzer()

    def crash(*_: object, **__: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(fuzz, "read_urdf", crash)
    monkeypatch.setattr(fuzz, "loads", crash)
    outcome = fuzz.run(seed=1, first=0, last=5)
    assert len(outcome.failures) == 5
    assert "IndexError" in outcome.failures[0]
    monkeypatch.undo()
    read = fuzz.read_urdf

    def broken(data: bytes, **options: object) -> object:
        model = read(data, **options)
        object.__setattr__(model, "joints", model.joints[1:])
        return model

    monkeypatch.setattr(fuzz, "read_urdf", broken)
    assert any("tree joints" in failure for failure in fuzz.run(seed=1, first=0, last=60).failures)
