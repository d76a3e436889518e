"""One state per call from Python: Pinocchio's calls against the methods of `kn.bind`, in one run.

    python benchmarks/small_calls.py [--repetitions 40]

Every call gets another of 64 random states, the same for both libraries. A time is the best of all repetitions, which
take turns; it includes Python's loop. Results are compared first, and the ratio has to reach the limit in the last
column.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from typing import Any, Literal

import numpy as np

import knuckle as kn
from knuckle.formats import adapters
from knuckle.testing.laws import condition, relative
from knuckle.testing.mechanisms import random_state
from knuckle.testing.oracles.other_libraries import robot_files

STATES = 64
ROBOTS: tuple[tuple[str, str, Literal["fixed", "floating"], float], ...] = (
    ("xArm7", "xarm7.urdf", "fixed", 3.0),
    ("Talos", "talos_reduced.urdf", "floating", 2.0),
)
"""Name, file, base, and the least ratio."""

States = Sequence[tuple[Any, ...]]


def round_trip(f: Callable[..., Any], first: tuple[Any, ...], states: States) -> float:
    """Seconds per call, over all states ten times."""
    if first:
        model, data = first
        start = time.perf_counter()
        for _ in range(10):
            for q, v, x in states:
                f(model, data, q, v, x)
    else:
        start = time.perf_counter()
        for _ in range(10):
            for q, v, x in states:
                f(q, v, x)
    return (time.perf_counter() - start) / (10 * len(states))


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=40, help="of 640 calls each")
    repetitions = parser.parse_args().repetitions
    pin: Any = import_module("pinocchio")

    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("pin", "numpy", "llvmlite"))
    print(f"{processor()}; Python {platform.python_version()}, {versions}; microseconds per call\n")
    print(f"{'robot':12}{'':18}{'Pinocchio':>10}{'kn.bind':>10}{'ratio':>8}{'first call':>12}{'limit':>7}")
    missed = 0
    for name, file, base, limit in ROBOTS:
        path = next(f for f in robot_files() if f.name == file)
        other = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "floating" else []))
        data, model = other.createData(), kn.load(path, base=base, mimic=False).without_friction()
        adapter, fast = adapters.pinocchio(model, other), kn.bind(model)
        drawn = [random_state(model, seed) for seed in range(STATES)]
        ours = [(s.q, s.v, s.a) for s in drawn]
        theirs = [(adapter.q_to(s.q), adapter.v_to(s.q, s.v), adapter.a_to(s.q, s.v, s.a)) for s in drawn]
        for what, method, call in (
            ("inverse dynamics", fast.inverse_dynamics, pin.rnea),
            ("forward dynamics", fast.forward_dynamics, pin.aba),
        ):
            start = time.perf_counter()
            method(*ours[0])
            first = time.perf_counter() - start
            for s, (q, v, x), (p, u, y) in zip(drawn, ours, theirs, strict=True):
                if call is pin.rnea:
                    wanted = adapter.tau_from(p, pin.rnea(other, data, p, u, y))
                    error = relative(method(q, v, x) - wanted, wanted)
                else:
                    wanted = adapter.a_from(p, u, pin.aba(other, data, p, u, y))
                    error = relative(method(q, v, adapter.tau_from(p, y)) - wanted, wanted) / condition(model, s)
                if not error < 1e-9:
                    raise SystemExit(f"{name}, {what}: the libraries differ by {error:.1e}")
            times = np.array(
                [(round_trip(call, (other, data), theirs), round_trip(method, (), ours)) for _ in range(repetitions)]
            )
            slow, quick = times.min(axis=0) * 1e6
            missed += slow / quick < limit
            print(
                f"{name:12}{what:18}{slow:10.2f}{quick:10.3f}{slow / quick:7.1f}x{first:10.3f} s{limit:6.0f}x",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
