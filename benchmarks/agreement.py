"""Agreement with Pinocchio and MuJoCo on every URDF of the package example-robot-data.

    python benchmarks/agreement.py [--states 5]

Prints a table of relative errors (accelerations: also relative to the condition number of the mass matrix), every file
that is left out with the reason, and fails if any error is above 1e-9.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from knuckle.testing.oracles.other_libraries import Errors, against_mujoco, against_pinocchio, outcome, robot_files

LIMIT = 1e-9
HEADINGS = ("ID", "H", "FD", "J", "CoM")


def numbers(result: Errors | str, width: int) -> str:
    if isinstance(result, str):
        return "  left out".ljust(width * 8)
    return "".join(("singular" if math.isnan(x) else f"{x:.0e}").rjust(8) for x in result.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=5, help="random states per robot")
    states = parser.parse_args().states

    files = robot_files()
    width = max(len(f.name) for f in files)
    group = "".join(h.rjust(8) for h in HEADINGS)
    print(" " * width, "Pinocchio, fixed base".center(40), "Pinocchio, floating base".center(40), "MuJoCo".center(16))
    print("robot".ljust(width), group, group, "       H       C")
    left_out: list[tuple[str, str]] = []
    worst = 0.0
    compared = {"Pinocchio, fixed": 0, "Pinocchio, floating": 0, "MuJoCo": 0}
    for path in files:
        results = {
            "Pinocchio, fixed": outcome(lambda f=path: against_pinocchio(f, "fixed", states)),
            "Pinocchio, floating": outcome(lambda f=path: against_pinocchio(f, "floating", states)),
            "MuJoCo": outcome(lambda f=path: against_mujoco(f, states)),
        }
        print(path.name.ljust(width), *(numbers(r, 2 if name == "MuJoCo" else 5) for name, r in results.items()))
        for name, result in results.items():
            if isinstance(result, str):
                left_out.append((f"{_place(path)} ({name})", result))
            else:
                compared[name] += 1
                worst = max([worst, *(x for x in result.values() if not math.isnan(x))])
                if any(map(math.isnan, result.values())):
                    left_out.append((f"{_place(path)} ({name}, forward dynamics)", "the mass matrix is singular"))
    print("\nleft out:")
    for what, why in left_out:
        print(f"  {what}: {why}")
    print(f"\n{len(files)} files; compared: {compared}; largest error {worst:.1e} (limit {LIMIT:.0e})")
    return 0 if worst < LIMIT else 1


def _place(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.name}"


if __name__ == "__main__":
    sys.exit(main())
