"""The samples that `make test` takes: no value of a parameter is lost."""

from itertools import product
from pathlib import Path

import pytest

from .seeds import quick, sample, seeds
from .shares import SHARE, evenly, seconds_per_case


@pytest.mark.parametrize("sizes", [(1,), (220,), (29, 2), (2, 29), (29, 2, 4, 2), (3, 3, 3), (19, 5, 2)])
def test_each_value_occurs(sizes: tuple[int, ...]) -> None:
    cases = [{str(k): index for k, index in enumerate(case)} for case in product(*map(range, sizes))]
    chosen = sample(cases)
    for k, size in enumerate(sizes):
        assert {cases[i][str(k)] for i in chosen} == set(range(size))
    assert len(chosen) <= max(sizes) + len(sizes)


def test_short_parameters_meet_in_all_ways() -> None:
    """Where the longest parameter has room for them."""
    cases = [dict(zip("abc", case, strict=True)) for case in product(range(29), range(2), range(4))]
    assert len({(cases[i]["b"], cases[i]["c"]) for i in sample(cases)}) == 8


def test_combinations_that_do_not_exist_are_not_missed() -> None:
    cases = [{"dtype": k // 2, "width": k // 2, "count": k % 2} for k in range(10)]
    assert {cases[i]["width"] for i in sample(cases)} == set(range(5))


def test_seeds() -> None:
    first, second, third = seeds(3, quick=2)
    assert (first, second, third.values) == (0, 1, (2,))
    assert [mark.name for mark in third.marks] == ["slow"]


def test_quick() -> None:
    first, second = quick(["heun", "rk4"], ["rk4"])
    assert (first.values, second) == (("heun",), "rk4")
    assert [mark.name for mark in first.marks] == ["slow"]


@pytest.mark.parametrize("count", [1, 2, 7, 144])
def test_shares(count: int) -> None:
    """As many as fit, one at least, spread over all of them; none is left out that costs nothing."""
    assert evenly(count, 1e-9) == set(range(count))
    assert len(evenly(count, 1e9)) == 1
    half = evenly(count, SHARE * count**0.5 / (count / 2)) if count > 1 else {0}
    assert len(half) == max(1, round(count / 2))
    assert all(0 <= k < count for k in half)
    assert max(half) >= count - 3
    assert min(half) <= 2


def test_seconds_are_those_of_tests_that_are_there() -> None:
    texts: dict[str, str] = {}
    for name in seconds_per_case():
        path, *_, function = name.split("::")
        text = texts.setdefault(path, (Path(__file__).parents[1] / path).read_text("utf-8"))
        assert f"def {function}(" in text, f"seconds_per_case.tsv: there is no {name}"
