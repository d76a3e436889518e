"""Which cases of a test run in `make test`. All of them run in `make test-all`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

FEW_JOINTS = ("free", "helical", "planar_local", "spherical", "universal", "yaw_pitch_roll")
"""Types of one to six freedoms, with axes that stay and axes that move, for tests of what no joint decides alone."""


def seeds(count: int, *, quick: int) -> list[Any]:
    """The numbers below `count` as parameters, those from `quick` on marked slow."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, count))]


def quick(values: Iterable[Any], chosen: Iterable[Any]) -> list[Any]:
    """The values as parameters, all but those chosen marked slow."""
    few = list(chosen)
    return [value if value in few else pytest.param(value, marks=pytest.mark.slow) for value in values]


class Together(tuple[Any, ...]):
    """Values that a test meets one after the other: thousands of short tests take longer to report than to run."""

    __slots__ = ()


def sample(cases: Sequence[Mapping[str, int]]) -> set[int]:
    """Indices of a few of the cases in which each value of each parameter occurs.

    A case gives a number to the value of each parameter. There is one case for each value of the parameter that has
    most, and the others go through their combinations by the golden ratio; then comes what is still missing.
    """
    values = {name: list(dict.fromkeys(case[name] for case in cases)) for name in cases[0]}
    longest = max(values, key=lambda name: len(values[name]))
    chosen: set[int] = set()
    for k, value in enumerate(values[longest]):
        those = [i for i, case in enumerate(cases) if case[longest] == value]
        chosen.add(those[math.floor(k * (math.sqrt(5) - 1) / 2 % 1 * len(those))])
    for name, those in values.items():
        for value in those:
            if not any(cases[i][name] == value for i in chosen):
                chosen.add(next(i for i, case in enumerate(cases) if case[name] == value))
    return chosen
