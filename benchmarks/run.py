"""Speed, in one run: knuckle beside Pinocchio, MuJoCo and CasADi's generated C.

    python benchmarks/run.py [--quick] [--robots xarm7 talos] [--largest 200] [--out folder]

Every way is first checked to give the same numbers, then timed: the best of many short repetitions, in turns, on one
thread. Prints a table per robot, the time of the first call and the cost per body from 5 to 5,000 bodies; writes
speed.json, speed.md and speed.png into the folder. benchmarks/README.md says how to read them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import machine
import plot
import report
import scaling
import start
import table
from measure import Effort, measure
from subjects import SUBJECTS

from knuckle.engine.kernels.kernel_registry import set_policy as set_compilation
from knuckle.engine.native.threads import set_threads

FULL = Effort(rounds=25, seconds=0.01, casadi=True)
QUICK = Effort(rounds=1, seconds=0.001, casadi=True)


def run(names: list[str], quick: bool, largest: int) -> dict[str, Any]:
    """Everything measured, as it goes into the JSON file; each part is printed when it is there."""
    set_threads(1)
    set_compilation("always")
    effort = QUICK if quick else FULL
    results: dict[str, Any] = {"machine": machine.description(), "rounds": effort.rounds, "robots": []}
    print(table.machine(results), table.NOTES, sep="\n\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KNUCKLE_CACHE_DIR"] = str(Path(folder) / "cache")
        for name in names:
            record = measure(SUBJECTS[name](), effort, Path(folder))
            results["robots"].append(record)
            print("", table.robot(record), sep="\n", flush=True)
    results["import"] = start.import_time(1 if quick else 5)
    results["first calls"] = start.first_calls(names, *((1, 1) if quick else (3, 3)))
    print("", table.start(results), sep="\n", flush=True)
    sizes = [n for n in scaling.SIZES if n <= (5 if quick else largest)]
    results["scaling"] = list(scaling.scaling(sizes, 1 if quick else 3 * effort.rounds))
    print("", table.scaling(results["scaling"]), sep="\n", flush=True)
    results["machine"]["load at end"] = machine.load()
    print("", table.noise(results), sep="\n")
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short repetition each: to see that all of it works")
    parser.add_argument("--robots", nargs="+", choices=list(SUBJECTS), default=None, help="some of them only")
    parser.add_argument("--out", type=Path, default=None, help="where the results go: benchmarks/results if all is run")
    parser.add_argument("--largest", type=int, default=max(scaling.SIZES), help="bodies of the largest chain and tree")
    chosen = parser.parse_args()
    names = chosen.robots or list(SUBJECTS)
    whole = not chosen.quick and chosen.robots is None and chosen.largest == max(scaling.SIZES)
    out = chosen.out or (report.RESULTS if whole else None)

    results = _rounded(run(names, chosen.quick, chosen.largest))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "speed.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (out / "speed.md").write_text("# Speed\n\n" + table.everything(results), "utf-8")
        plot.plot(results, out / "speed.png")
        print(f"\nwritten to {out}")
    if out == report.RESULTS and whole:
        report.main()
        print("and into README.md and docs/speed.md")
    return 0


def _rounded(x: Any) -> Any:
    """Four digits: the rest is noise."""
    if isinstance(x, dict):
        return {key: _rounded(value) for key, value in x.items()}
    if isinstance(x, list):
        return [_rounded(value) for value in x]
    return float(f"{x:.4g}") if isinstance(x, float) else x


if __name__ == "__main__":
    sys.exit(main())
