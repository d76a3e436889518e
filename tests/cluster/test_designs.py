"""Designs: what they are said to be, and any part of one without the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, qmc

from knuckle import cluster
from knuckle.cluster.designs import Design
from knuckle.cluster.point_sets import CounterPoints, SobolPoints

RANGES: dict[str, Any] = {
    "x": (0.0, 2.0), "y": cluster.normal(1.0, 0.5, 3), "z": cluster.options([abs, max, min]),
    "w": cluster.uniform([0, 10], [1, 11]),
}  # fmt: skip
DESIGNS = {
    "grid": cluster.grid({"a": [1.0, 2.0, 3.0], "f": [abs, max], "q0": np.arange(8.0).reshape(4, 2)}),
    "sobol": cluster.sobol(RANGES, 37, seed=5),
    "latin": cluster.latin_hypercube(RANGES, 37, seed=5),
    "random": cluster.random(RANGES, 37, seed=5),
    "samples": cluster.samples({"a": np.arange(7.0), "f": [abs, max, min, sum, len, any, all]}),
    "product": cluster.grid({"g": [1.0, 2.0]}) * cluster.random({"x": (0, 1)}, 9),
}


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
@pytest.mark.parametrize("part", [1, 5, 100])
def test_parts_are_those_of_the_whole(design: Design, part: int) -> None:
    whole = design.columns(np.arange(design.count))
    assert set(whole) == set(design.names)
    parts = [design.columns(np.arange(k, min(k + part, design.count))) for k in range(0, design.count, part)]
    for name, x in whole.items():
        assert len(x) == design.count
        np.testing.assert_array_equal(np.concatenate([p[name] for p in parts]), x)


@pytest.mark.parametrize("size", [1, 5])
def test_sobol_points_are_those_of_scipy(size: int) -> None:
    expected = qmc.Sobol(size, rng=np.random.default_rng(3)).random_base2(8)
    points = SobolPoints.of(size, 256, 3).at(np.arange(256))
    np.testing.assert_array_equal(points, expected + 2.0**-31)
    np.testing.assert_array_equal(SobolPoints.of(size, 200, 3).at(np.array([150])), points[150:151])


def test_random_points_are_uniform_independent_of_the_part_and_of_other_seeds() -> None:
    u = CounterPoints(5, 4000, 1).at(np.arange(4000))
    assert kstest(u.ravel(), "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(u.T) - np.eye(5)).max() < 0.1
    assert not np.intersect1d(u, CounterPoints(5, 4000, 2).at(np.arange(4000))).size


def test_a_latin_hypercube_meets_every_part_once() -> None:
    x = cluster.latin_hypercube({"x": (0, 1), "y": (0, 1)}, 50).columns(np.arange(50))
    for name in "xy":
        np.testing.assert_array_equal(np.sort((x[name] * 50).astype(int)), np.arange(50))


def test_values_have_the_distributions_that_were_asked_for() -> None:
    x = cluster.sobol(RANGES, 1024).columns(np.arange(1024))
    assert x["x"].min() > 0
    assert x["x"].max() < 2
    np.testing.assert_allclose(x["y"].mean(0), 1.0, atol=5e-3)
    np.testing.assert_allclose(x["y"].std(0), 0.5, atol=5e-3)
    assert (np.bincount(x["z"]) > 330).all()
    assert x["w"].shape == (1024, 2)
    assert (x["w"][:, 1] >= 10).all()


def test_a_grid_is_every_combination() -> None:
    x = DESIGNS["grid"].columns(np.arange(24))
    rows = {(float(a), int(f), *map(float, q)) for a, f, q in zip(x["a"], x["f"], x["q0"], strict=True)}
    assert len(rows) == 24
    assert DESIGNS["grid"].things["f"] == (abs, max)


def test_other_designs_have_other_facts() -> None:
    facts = [
        str(design.facts())
        for design in (
            *DESIGNS.values(),
            cluster.sobol(RANGES, 37, seed=6),
            cluster.sobol({**RANGES, "x": (0.0, 2.5)}, 37, seed=5),
            cluster.grid({"a": [1.0, 2.0, 3.5], "f": [abs, max], "q0": np.arange(8.0).reshape(4, 2)}),
            cluster.grid({"a": [1.0, 2.0, 3.0], "f": [abs, min], "q0": np.arange(8.0).reshape(4, 2)}),
        )
    ]
    assert len(set(facts)) == len(facts)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: cluster.sobol({}, 4), "at least one parameter"),
        (lambda: cluster.sobol({"x": (2, 1)}, 4), "low must not be above high"),
        (lambda: cluster.sobol({"x": 3}, 4), "x=3 is no range"),
        (lambda: cluster.sobol({"x": (0, 1)}, 0), "count must be a whole number from 1, and is 0"),
        (lambda: cluster.sobol({"x": (0, 1)}, 2**30 + 1), "2³⁰"),
        (lambda: cluster.sobol({"x": (0, np.inf)}, 4), "must be finite"),
        (lambda: cluster.normal(0, -1), "deviation must not be negative"),
        (lambda: cluster.uniform([0, 1], [1, 2, 3]), "do not go together"),
        (lambda: cluster.random({"x": (0, 1)}, 4, seed=-1), "seed must be a whole number from 0"),
        (lambda: cluster.latin_hypercube({"x": cluster.uniform(0, 1, 1000)}, 10**6), "8.0 GB of at most 2"),
        (lambda: cluster.samples({"a": [1.0], "b": [1.0, 2.0]}), "one entry for each sample"),
        (lambda: cluster.grid({"a": []}), "a needs a list of values"),
        (lambda: cluster.options([]), "at least one thing"),
        (lambda: cluster.grid({"a": [1]}) * cluster.grid({"a": [2]}), "both designs have a parameter 'a'"),
    ],
)
def test_what_is_wrong_is_named(wrong: Any, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        wrong()
