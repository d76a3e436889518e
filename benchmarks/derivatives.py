"""Derivatives of inverse and forward dynamics beside Pinocchio's, in one run, on one thread.

    python benchmarks/derivatives.py [--subjects xarm7 anymal talos] [--rounds 40] [--processes 3] [--out folder]

Dense results in double precision: ∂τ/∂(q, v, a), which Pinocchio's `computeRNEADerivatives` gives with the mass matrix,
and ∂a/∂(q, v, τ), which its `computeABADerivatives` gives with the inverse. Blocks are derivatives by q and v alone,
in blocks of states (`layout="blocks"`), without entries that are always zero. Pinocchio goes state by state: from
Python, and in a loop in C++ where one can be compiled (`pinocchio_in_cpp.py`). Before anything is timed, the results
must agree. Times are processor time, the best of all rounds of all processes, in turns; the first call traces and
compiles, with nothing on the disk. Operations are those of the compiled code, all three matrices counted.

A second table has products, in evaluations of the function itself: those with a weight (`vjp`) by q and v, and the
second derivatives of λᵀτ by q and v (`hessian`), all four blocks. A third has A and B of a step of semi-implicit Euler
(`kn.linearize`), beside A of MuJoCo's `mjd_transitionFD`, which takes differences. With --out also writes
derivatives.json, and into benchmarks/results also the tables of docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import child
import machine
import pinocchio_in_cpp
from report import RESULTS, ROOT, filled
from subjects import SUBJECTS
from table import digits, grid
from table import machine as machine_line

FUNCTIONS = ("inverse_dynamics", "forward_dynamics")
PRODUCTS = (("vjp", "inverse_dynamics"), ("vjp", "forward_dynamics"), ("hessian", "inverse_dynamics"))
NAMES = {"xarm7": "xArm7", "anymal": "ANYmal B", "talos": "Talos", "tree100": "Tree of 100"}
SHORT = {"Pinocchio": "Python", "C++": "C++", "C++, native": "native"}
"""Pinocchio's loops, and what columns of ratios call them."""
SECONDS = 600.0
"""The most that one process may take."""
PAGE = ROOT / "docs" / "speed.md"


def asked(processes: int, *words: object) -> dict[str, Any]:
    """The best that fresh processes found, each with an empty cache."""
    found = list[dict[str, Any]]()
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(__file__).with_name("derivatives_child.py")
            answer = child.ask(script, words, Path(folder), SECONDS)
        if answer is None:
            raise TimeoutError(f"{' '.join(map(str, words))}: more than {SECONDS:.0f} s")
        found.append(answer)
    return {key: min(answer[key] for answer in found) for key in found[0]}


def measured(subjects: list[str], chains: list[int], rounds: int, processes: int) -> Iterator[tuple[str, Any]]:
    """The rows of both tables, as they are measured."""
    for name in subjects:
        for function in FUNCTIONS:
            row = {"name": NAMES[name], "function": function.replace("_", " ")}
            yield "matrices", row | asked(processes, "matrices", name, function, rounds)
    cases = [(name, NAMES[name], *which) for name in subjects for which in PRODUCTS]
    cases += [(str(n), f"Chain of {n}", *which) for n in chains for which in PRODUCTS[:2]]
    for name, title, kind, function in cases:
        row = {"name": title, "product": f"{kind} of {function.replace('_', ' ')}"}
        yield "products", row | asked(processes, "product", name, kind, function, rounds)
    for name in subjects:
        yield "steps", {"name": NAMES[name]} | asked(processes, "step", name, "euler", rounds)


def tables(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows, products = results["matrices"], results["products"]
    peers = [name for name in SHORT if all(name in row for row in rows)]
    versus = [SHORT[peer] for peer in peers]

    def cells(row: dict[str, Any], way: str, peers: list[str]) -> list[str]:
        return [digits(row[way], 1e-6), *(f"{row[peer] / row[way]:.1f}×" for peer in peers)]

    counts = [
        [_title(r), str(r["operations"]), digits(r["first call"]), digits(r["filled"], 1e-6)]
        + [digits(r[peer], 1e-6) for peer in peers]
        for r in rows
    ]
    ratios = [
        [_title(r), *cells(r, "dense", peers), *cells(r, "blocks", peers), *cells(r, "one state", peers[:1])]
        for r in rows
    ]
    parts = [
        machine_line(results),
        f"Best of {results['rounds']} rounds in each of {results['processes']} processes, taken in turns. "
        f"{_cost(rows)} *Filled* is how long NumPy takes to fill a dense result with zeros.",
        grid(
            ["derivatives of", "operations", "first call [s]", "filled [µs]", *(f"{peer} [µs]" for peer in peers)],
            counts,
        ),
        f"knuckle's times in µs, each with how many times as long Pinocchio takes: {', '.join(versus)}.",
        grid(["derivatives of", "dense", *versus, "blocks", *versus, "one state", *versus[:1]], ratios),
        "Products with a weight, and how many evaluations of the function itself they cost.",
        grid(["", "operations", "µs", "evaluations", "first call [s]"], [_product_cells(r) for r in products]),
        "A and B of a step of a millisecond (`kn.linearize`, semi-implicit Euler), exact and for all states at once, "
        "beside A of MuJoCo's, which takes differences, state by state (`mjd_transitionFD`).",
        grid(["", "µs", "MuJoCo [µs]", "ratio", "first call [s]"], [_step_cells(r) for r in results["steps"]]),
    ]
    return "\n\n".join(parts)


def _title(row: dict[str, Any]) -> str:
    return f"{row['name']}, {row['function']}"


def _product_cells(row: dict[str, Any]) -> list[str]:
    evaluations = f"{row['product time'] / row['itself']:.2f}"
    return [
        f"{row['name']}, {row['product']}", str(row["operations"]), digits(row["product time"], 1e-6),
        evaluations, digits(row["first call"]),
    ]  # fmt: skip


def _step_cells(row: dict[str, Any]) -> list[str]:
    ratio = f"{row['MuJoCo'] / row['step']:.0f}×"
    return [row["name"], digits(row["step"], 1e-6), digits(row["MuJoCo"], 1e-6), ratio, digits(row["first call"])]


def _cost(rows: list[dict[str, Any]]) -> str:
    """What Python costs Pinocchio."""
    if not all("C++" in row for row in rows):
        return "Pinocchio's loop in C++ was not measured."
    extra = [1e6 * (row["Pinocchio"] - row["C++"]) for row in rows]
    return f"From Python a call takes Pinocchio {min(extra):.1f} to {max(extra):.1f} µs longer than in a loop in C++."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=["xarm7", "anymal", "talos"])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--processes", type=int, default=3, help="one has luck with its memory, another has not")
    parser.add_argument("--chains", nargs="*", type=int, default=[60, 500], help="bodies of long chains, for products")
    parser.add_argument(
        "--quick", action="store_true", help="one round, the first subject: to see that all of it works"
    )
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.subjects, chosen.rounds, chosen.processes, chosen.chains = chosen.subjects[:1], 1, 1, []
    else:
        try:
            pinocchio_in_cpp.build()
        except pinocchio_in_cpp.NotThereError as reason:
            print(f"Pinocchio's loop in C++ is left out: {reason}", file=sys.stderr)
    results: dict[str, Any] = {
        "machine": machine.description(), "rounds": chosen.rounds, "processes": chosen.processes,
        "matrices": [], "products": [], "steps": [],
    }  # fmt: skip
    for kind, row in measured(chosen.subjects, chosen.chains, chosen.rounds, chosen.processes):
        results[kind].append(row)
        print(row, file=sys.stderr, flush=True)
    print(tables(results))
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "derivatives.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if chosen.out is not None and chosen.out.resolve() == RESULTS:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), tables(results), "derivatives"), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
