"""How many cases of a test run in `make test`: those that fit into its share of the time.

A test of n cases gets SHARE · √n seconds: one that looks at many things gets more than one that looks at few, but not
in proportion. The seconds of a case are those in `seconds_per_case.tsv`, where `pytest --write-seconds` puts the means
of what it runs; a test that is not listed there runs with all its cases. In `make test-all` every case runs.
"""

import math
from collections import defaultdict
from pathlib import Path

import pytest

SHARE = 0.02
"""Seconds of a test of one case, of which all others follow."""
SHORT = 0.003
"""Seconds of cases that are not worth a line."""
LISTED = Path(__file__).parent / "seconds_per_case.tsv"


def seconds_per_case() -> dict[str, float]:
    """The mean of a test's cases, by its place and name."""
    lines = LISTED.read_text("utf-8").splitlines()
    return {name: float(seconds) for name, _, seconds in (line.partition("\t") for line in lines)}


def evenly(count: int, seconds: float) -> set[int]:
    """Indices, evenly spread, of as many of the cases as fit; of one at least."""
    n = min(count, max(1, round(SHARE * math.sqrt(count) / seconds)))
    return {int((k + 0.5) * count / n) for k in range(n)}


class Seconds:
    """A plugin that measures cases and writes the list anew; tests that did not run keep their lines."""

    def __init__(self) -> None:
        self._cases: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "[" in report.nodeid:
            self._cases[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        tests: defaultdict[str, list[float]] = defaultdict(list)
        for case, seconds in self._cases.items():
            tests[case.partition("[")[0]].append(seconds)
        means = seconds_per_case() | {name: sum(all_of) / len(all_of) for name, all_of in tests.items()}
        lines = (f"{name}\t{seconds:.3f}\n" for name, seconds in sorted(means.items()) if seconds >= SHORT)
        LISTED.write_text("".join(lines), "utf-8")
