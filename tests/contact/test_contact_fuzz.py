"""Random scenes: no NaN, no tunnelling, no energy out of nothing (benchmarks/contact_fuzz.py runs thousands)."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from tests.seeds import quick

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
GROUPS = [("rollout", 3), ("soft", 0), ("near", 0), ("arrays", 0), ("events", 0), ("simulate", 0), ("rollout", 9)]


@pytest.mark.parametrize("chosen", quick(GROUPS, GROUPS[1:2]), ids=str)
def test_random_scenes_keep_the_laws(chosen: tuple[str, int], monkeypatch: pytest.MonkeyPatch):
    way, group = chosen
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    script: Any = importlib.import_module("contact_fuzz")
    monkeypatch.setattr(script, "COUNT", dict.fromkeys(script.COUNT, 4))
    found = script.fuzz(way, 0, group, 100)
    assert found.broken == []
    assert found.scenes == 4
    assert found.unsolved <= 0.01 * found.steps


@pytest.mark.slow
def test_the_laws_notice_what_is_wrong(monkeypatch: pytest.MonkeyPatch):
    """A motion that is a little faster after a step than it may be, and one that goes through the ground."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    laws: Any = importlib.import_module("contact_laws")
    scenes: Any = importlib.import_module("contact_random")
    kn: Any = importlib.import_module("knuckle")
    np: Any = importlib.import_module("numpy")
    scene = scenes.few_bodies(np.random.default_rng(4), 1, 20)
    motion = kn.rollout(
        scene.model, scene.q, scene.v, None, scene.dt, steps=20, integrator=kn.integrators.ContactSteps()
    )
    q, v = motion.q[0].copy(), motion.v[0].copy()
    good = laws.Tally()
    laws.check_steps(scene, "as it is", q, v, good)
    assert good.broken == []
    v[10:] *= 1 + 1e-3
    q[:, 6] -= np.linspace(0, 2, 21)
    bad = laws.Tally()
    laws.check_steps(scene, "wrong", q, v, bad)
    assert any("energy" in text for text in bad.broken)
    assert any("below the ground" in text for text in bad.broken)
