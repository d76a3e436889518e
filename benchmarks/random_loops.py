"""A thousand random mechanisms with closed loops, by every method, against the null space in extended precision.

    python benchmarks/random_loops.py [--count 1000] [--many 20] [--seed 0] [--methods default kkt] [--compile]

Planar, spherical, Bennett's, vacuous, redundant and nearly singular loops in random directions, of a millimetre to a
kilometre, some on carriers, some side by side. Prints for each family how many freedoms were miscounted, the worst
condition of the constraints, and for each method the worst error over the condition.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from typing import Any

import numpy as np
from table import grid

import knuckle as kn
from knuckle.testing.loops.loop_methods import METHODS, compared
from knuckle.testing.loops.random_loops import FAMILIES, random_closed

LIMIT = 1e-8
"""The error that counts as right, over the condition of the constraints."""


def groups(count: int, many: int) -> list[tuple[str, tuple[str, ...]]]:
    """The rows of the table with the families of each mechanism: three quarters alone, the others side by side."""
    rng = np.random.default_rng(1)
    names = list(FAMILIES)
    alone = [(names[k % len(names)], (names[k % len(names)],)) for k in range(count * 3 // 4)]
    pairs = [
        ("side by side", tuple(map(str, rng.choice(names, int(rng.integers(2, 5))))))
        for _ in range(count - len(alone) - many)
    ]
    return [*alone, *pairs, *(("many", tuple(map(str, rng.choice(names, 16)))) for _ in range(many))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="how many mechanisms")
    parser.add_argument("--many", type=int, default=20, help="how many of them have sixteen loops or more")
    parser.add_argument("--seed", type=int, default=0, help="where the numbers come from")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="some of them only")
    parser.add_argument("--compile", action="store_true", help="by native code, which is made for each mechanism")
    chosen = parser.parse_args()
    kn.compilation.set_policy("always" if chosen.compile else "never")
    rows: dict[str, list[Any]] = defaultdict(list)
    began, wrong = time.perf_counter(), 0
    for k, (name, families) in enumerate(groups(chosen.count, chosen.many)):
        rng = np.random.default_rng([chosen.seed, k, 1])
        found = compared(random_closed([chosen.seed, k], families), rng, chosen.methods)
        rows[name].append(found)
        bad = [way for way, error in found.errors.items() if not error <= LIMIT * found.condition]
        if bad or found.counted != {found.freedoms}:
            wrong += 1
            misses = ", ".join(f"{way} by {found.errors[way]:.1e}" for way in bad)
            counts = f"freedoms {found.counted} of {found.freedoms}, condition {found.condition:.1e}"
            print(f"seed {[chosen.seed, k]} {families}: {counts}, {misses}", flush=True)
        if k % 100 == 99:
            print(f"{k + 1} mechanisms, {time.perf_counter() - began:.0f} s", flush=True)
    lines = [_line(name, found, chosen.methods) for name, found in rows.items()]
    print("", grid(["loops", "count", "miscounted", "condition", *chosen.methods], lines), sep="\n")
    print(f"\nwrong: {wrong} of {chosen.count}; errors over the condition, {LIMIT} is the limit")
    return int(wrong > 0)


def _line(name: str, found: list[Any], methods: list[str]) -> list[str]:
    miscounted = sum(f.counted != {f.freedoms} for f in found)
    condition = max(f.condition for f in found)
    return [name, str(len(found)), str(miscounted), f"{condition:.0e}", *(_worst(found, way) for way in methods)]


def _worst(found: list[Any], way: str) -> str:
    ratios = [f.errors[way] / f.condition for f in found if way in f.errors]
    return f"{max(ratios):.0e}" if ratios else "-"


if __name__ == "__main__":
    sys.exit(main())
