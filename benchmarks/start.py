"""What comes before the first result: importing knuckle, and the first call with and without a kernel on the disk."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import child

FUNCTIONS = ("inverse dynamics", "forward dynamics")


def import_time(processes: int) -> float:
    """Seconds for `import knuckle` in a fresh process, the best of several."""
    return min(_asked([], Path(), 60.0)["import"] for _ in range(processes))


def first_calls(names: Iterable[str], processes: int, warm_calls: int, seconds: float = 180.0) -> list[dict[str, Any]]:
    """Seconds for the first call, one state, in fresh processes: on an empty cache, and with the kernel kept."""
    found: list[dict[str, Any]] = []
    for name in names:
        for function in FUNCTIONS:
            cold: list[float] = []
            warm: list[float] = []
            for _ in range(processes):
                with tempfile.TemporaryDirectory() as folder:
                    for times, repetitions in ((cold, 1), (warm, warm_calls)):
                        times += [
                            _asked([name, function], Path(folder), seconds)["first call"] for _ in range(repetitions)
                        ]
            found.append({"name": name, "function": function, "cold": min(cold), "warm": min(warm)})
    return found


def _asked(arguments: list[str], cache: Path, seconds: float) -> dict[str, Any]:
    answer = child.ask(Path(__file__), arguments, cache, seconds)
    return {"import": float("nan"), "first call": float("nan")} if answer is None else answer


def _answer(arguments: list[str]) -> dict[str, float]:
    start = time.perf_counter()
    import knuckle  # noqa: F401

    imported = time.perf_counter() - start
    if not arguments:
        return {"import": imported}
    import ours
    from subjects import SUBJECTS, States

    from knuckle.testing import random_state

    name, function = arguments
    subject = SUBJECTS[name]()
    state = random_state(subject.model, 0)
    inputs = ours.arguments(function, States(state.q, state.v, state.a, state.a))
    f = ours.evaluator(subject, function)
    start = time.perf_counter()
    f(*inputs)
    return {"import": imported, "first call": time.perf_counter() - start}


if __name__ == "__main__":
    import json

    print(json.dumps(_answer(sys.argv[1:])))
