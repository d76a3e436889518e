"""Summaries of chunks, merged: exact means and extremes, quantiles within their bound, whatever the order of values."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from knuckle.cluster.chunk_summary import FINE, RANKS, Distribution, merged, summary_of

DRAWS: dict[str, Any] = {
    "uniform": lambda rng, n: rng.uniform(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "few values": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "constant": lambda rng, n: np.full(n, 2.5),
    "in order": lambda rng, n: np.sort(rng.normal(size=n)),
}


def summarized(x: np.ndarray[Any, Any], chunk: int) -> Distribution:
    parts = [(k, x[k : k + chunk]) for k in range(0, len(x), chunk)]
    said = [json.loads(json.dumps(summary_of({"x": part}, {}, k))) for k, part in parts]
    return merged(said)["x"]


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("chunk", [1, 70, 8_000])
def test_merged_summaries_are_those_of_all_values(draw: Any, chunk: int) -> None:
    n = 150 if chunk == 1 else 8_000
    x = draw(np.random.default_rng(0), n)
    found = summarized(x, chunk)
    assert found.count == n
    assert found.mean == pytest.approx(x.mean(), rel=1e-12, abs=1e-12)
    assert found.deviation == pytest.approx(x.std(), rel=1e-9, abs=1e-12)
    assert found.largest[0] == (x.max(), int(np.argmax(x)))
    assert found.smallest[0] == (x.min(), int(np.argmin(x)))
    assert [v for v, _ in found.largest] == sorted(x, reverse=True)[:8]
    bound = 1 / RANKS + 2 / FINE + 1 / n  # what the docstring of the summaries says
    for part in (0.0, 0.01, 0.25, 0.5, 0.9, 1.0):
        value = found.quantile(part)
        assert np.mean(x < value) - bound <= part <= np.mean(x <= value) + bound
    counts, edges = found.histogram(20)
    assert counts.sum() == pytest.approx(n)
    below, ordered = np.cumsum(counts), np.sort(x)
    assert (below >= np.searchsorted(ordered, edges[1:], "left") - bound * n).all()
    assert (below <= np.searchsorted(ordered, edges[1:], "right") + bound * n).all()


def test_failures_are_counted_and_left_out() -> None:
    x = np.array([1.0, 2.0, np.nan, 4.0, 1e300])
    summary = summary_of({"x": x}, {2: "x is not finite", 4: "diverged"}, 0)
    found = merged([summary])["x"]
    assert summary["failed"] == 2
    assert summary["failures"] == [[2, "x is not finite"], [4, "diverged"]]
    assert (found.count, found.mean) == (3, pytest.approx(7 / 3))


def test_huge_numbers_have_quantiles_and_no_errors() -> None:
    found = merged([summary_of({"x": np.array([1e300, 2e300, 3e300])}, {}, 3 * k) for k in range(3)])["x"]
    assert found.quantile(0.5) == 2e300
    assert found.largest[0] == (3e300, 2)


def test_entries_of_arrays_go_by_their_index_and_trajectories_are_left_out() -> None:
    results = {"a": np.zeros((4, 2, 3)), "q": np.zeros((4, 100, 7)), "n": np.arange(4)}
    assert set(summary_of(results, {}, 0)["columns"]) == {*(f"a[{i},{j}]" for i in range(2) for j in range(3)), "n"}


def test_a_quantile_of_nothing_is_no_number() -> None:
    found = merged([summary_of({"x": np.array([np.nan])}, {0: "x is not finite"}, 0)])["x"]
    assert found.count == 0
    assert np.isnan(found.quantile(0.5))
    with pytest.raises(ValueError, match="part must be from 0 to 1, and is 2"):
        found.quantile(2)
