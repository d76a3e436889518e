"""Solvers of quadratic programs on the problems of constrained dynamics: which is right, and how long it takes.

    python benchmarks/qp.py [--problems 20] [--out benchmarks/results]

    minimise ½ xᵀHx − fᵀx   subject to   G x = g,   C x ≥ c

Problems are those of robots (random trees with random constraints on random frames) and random matrices: feasible,
degenerate (constraints that say the same twice, and corners where too many meet) and infeasible. A solver is right
where all of Karush, Kuhn and Tucker's conditions hold to 1e-8 of the sizes in them, or where it says that no solution
exists and none does. "whole" is the problem as it stands; "reduced" is the least-distance problem that
`knuckle.solvers.quadratic_program` makes of it: whitened by the factor of H, equalities eliminated, rows of length one.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.solvers.quadratic_program import least_distance
from knuckle.testing import random_tree

Array = Any
RIGHT = 1e-8


@dataclass(frozen=True)
class Problem:
    """A quadratic program, and whether it has a solution."""

    kind: str
    H: Array
    f: Array
    G: Array
    g: Array
    C: Array
    c: Array
    feasible: bool


def problems(count: int, rng: np.random.Generator) -> Iterator[Problem]:
    """As many of each kind: H of random trees, and of random matrices with a condition up to 1e6."""
    for k in range(count):
        if k % 2:
            model = random_tree(rng, 12)
            H = np.asarray(kn.mass_matrix(model, kn.random_configuration(model, rng)))
        else:
            n = int(rng.integers(4, 30))
            U, _ = np.linalg.qr(rng.standard_normal((n, n)))
            H = U @ np.diag(10 ** rng.uniform(-3, 3, n)) @ U.T
        n = len(H)
        f, inside = H @ rng.standard_normal(n) * 10, rng.standard_normal(n)
        G = rng.standard_normal((int(rng.integers(0, n // 2 + 1)), n)) * 10 ** rng.uniform(-2, 2, (1, 1))
        C = rng.standard_normal((int(rng.integers(1, 2 * n)), n))
        room = np.where(rng.random(len(C)) < 0.3, 0.0, rng.random(len(C)))
        yield Problem("feasible", H, f, G, G @ inside, C, C @ inside - room, True)
        mixed = rng.standard_normal((max(1, len(G) // 2), len(G))) @ G
        more, twice = np.vstack([G, mixed, G]), np.vstack([C, C, 3 * C[: len(C) // 2]])
        corner = rng.standard_normal((3 * n, n))
        tight = np.concatenate([np.tile(C @ inside - room, 2), 3 * (C @ inside - room)[: len(C) // 2]])
        yield Problem(
            "degenerate", H, f, more, more @ inside,
            np.vstack([twice, corner]), np.concatenate([tight, corner @ inside]), True,
        )  # fmt: skip
        weights = rng.random(len(C)) + 0.1
        against = -(weights @ C) + (rng.standard_normal(len(G)) @ G if len(G) else 0.0)
        missing = -(weights @ (C @ inside - room)) + ((against + weights @ C) @ inside) + 10 ** rng.uniform(-2, 1)
        yield Problem(
            "infeasible", H, f, G, G @ inside,
            np.vstack([C, against]), np.append(C @ inside - room, missing), False,
        )  # fmt: skip


Answer = tuple[Array, Array, Array] | None
"""x and the multipliers of G and C, with H x = f + Gᵀλ + Cᵀμ; None for no solution."""


def by_proxsuite(p: Problem) -> Answer:
    from proxsuite import proxqp

    qp = proxqp.dense.QP(len(p.H), len(p.G), len(p.C))
    qp.settings.eps_abs, qp.settings.eps_rel, qp.settings.max_iter = 1e-10, 0.0, 2000
    qp.init(p.H, -p.f, p.G if len(p.G) else None, p.g if len(p.G) else None, p.C, p.c, None)
    qp.solve()
    if "INFEASIBLE" in str(qp.results.info.status):
        return None
    return qp.results.x, -qp.results.y, -qp.results.z


def by_clarabel(p: Problem) -> Answer:
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(len(p.G)), clarabel.NonnegativeConeT(len(p.C))]
    A, b = sparse.csc_matrix(np.vstack([-p.G, -p.C])), np.concatenate([-p.g, -p.c])
    found = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(p.H)), -p.f, A, b, cones, settings).solve()
    if "Infeasible" in str(found.status):
        return None
    z = np.asarray(found.z)
    return np.asarray(found.x), z[: len(p.G)], z[len(p.G) :]


def by_quadprog(p: Problem) -> Answer:
    import quadprog

    try:
        x, _, _, _, multipliers, _ = quadprog.solve_qp(
            p.H, p.f, np.vstack([p.G, p.C]).T.copy(), np.concatenate([p.g, p.c]), len(p.G)
        )
    except ValueError as error:
        if "inconsistent" in str(error):
            return None
        raise
    return x, multipliers[: len(p.G)], multipliers[len(p.G) :]


def by_osqp(p: Problem) -> Answer:
    import osqp
    from scipy import sparse

    solver = osqp.OSQP()
    solver.setup(
        sparse.csc_matrix(np.triu(p.H)), -p.f, sparse.csc_matrix(np.vstack([p.G, p.C])),
        np.concatenate([p.g, p.c]), np.concatenate([p.g, np.full(len(p.c), np.inf)]),
        verbose=False, polishing=True, eps_abs=1e-9, eps_rel=1e-9, max_iter=10000,
    )  # fmt: skip
    found = solver.solve()
    if "infeasible" in found.info.status:
        return None
    return found.x, -found.y[: len(p.G)], -found.y[len(p.G) :]


def by_daqp(p: Problem) -> Answer:
    import daqp

    m = len(p.G) + len(p.C)
    sense = np.zeros(m, np.int32)
    sense[: len(p.G)] = 5
    upper, lower = np.concatenate([p.g, np.full(len(p.c), 1e30)]), np.concatenate([p.g, p.c])
    A = np.ascontiguousarray(np.vstack([p.G, p.C]))
    x, _, flag, info = daqp.solve(np.ascontiguousarray(p.H), np.ascontiguousarray(-p.f), A, upper, lower, sense)
    if flag == -1:
        return None
    lam = -np.asarray(info["lam"])
    return x, lam[: len(p.G)], lam[len(p.G) :]


SOLVERS: dict[str, Callable[[Problem], Answer]] = {
    "proxsuite": by_proxsuite,
    "clarabel": by_clarabel,
    "quadprog": by_quadprog,
    "osqp": by_osqp,
    "daqp": by_daqp,
}


def error(p: Problem, answer: Answer) -> float:
    """How far an answer is from right: the largest of the conditions' residuals, relative to what is in them."""
    if answer is None:
        return np.inf if p.feasible else 0.0
    if not p.feasible or not all(np.isfinite(part).all() for part in answer):
        return np.inf
    x, lam, mu = answer
    pushed = np.vstack([p.G, p.C]).T * np.concatenate([lam, mu])
    force = np.abs(p.f).max() + np.abs(p.H * x).sum(1).max() + np.abs(pushed).max(initial=0.0)
    stationary = np.abs(p.H @ x - p.f - pushed.sum(1)).max() / force
    slack, equal = p.C @ x - p.c, p.G @ x - p.g
    sizes = np.abs(p.c) + np.abs(p.C * x).sum(1) + 1e-300
    primal = np.max(-slack / sizes, initial=0.0)
    held = np.max(np.abs(equal) / (np.abs(p.g) + np.abs(p.G * x).sum(1) + 1e-300), initial=0.0)
    dual = np.max(-mu, initial=0.0) / (1 + np.abs(mu).max(initial=0.0))
    gap = abs(float(mu @ slack)) / (1 + float(np.abs(mu) @ sizes))
    return float(max(stationary, primal, held, dual, gap))


def reduced(solver: str) -> Callable[[Problem], Answer]:
    """The same through `knuckle.solvers.quadratic_program`, with a solver behind it."""

    def inner(A: Array, b: Array) -> Array | None:
        n = A.shape[1]
        empty = np.zeros((0, n))
        answer = SOLVERS[solver](Problem("", np.eye(n), np.zeros(n), empty, np.zeros(0), A, b, True))
        return None if answer is None else answer[2]

    def solve(p: Problem) -> Answer:
        L = np.linalg.cholesky(p.H)
        free = np.linalg.solve(L, p.f)
        J, k = np.vstack([p.G, p.C]), np.concatenate([p.g, p.c])
        B = np.linalg.solve(L, J.T).T
        found = least_distance(B, k - B @ free, len(p.G), inner)
        if found.status == "infeasible":
            return None
        x = np.linalg.solve(L.T, free + found.y)
        return x, found.multipliers[: len(p.G)], found.multipliers[len(p.G) :]

    return solve


def measure(count: int) -> list[dict[str, Any]]:
    """One row per solver, form and kind of problem."""
    subjects = list(problems(count, np.random.default_rng(0)))
    there = {name: solve for name, solve in SOLVERS.items() if importlib.util.find_spec(name)}
    rows: list[dict[str, Any]] = []
    ways = {(name, "whole"): solve for name, solve in there.items()}
    ways |= {(name, "reduced"): reduced(name) for name in there}
    for (name, form), solve in ways.items():
        for kind in ("feasible", "degenerate", "infeasible"):
            errors, times = list[float](), list[float]()
            for p in (p for p in subjects if p.kind == kind):
                start = time.perf_counter()
                try:
                    answer = solve(p)
                except Exception:  # a solver that gives up is wrong here
                    errors.append(np.inf)
                    continue
                times.append(time.perf_counter() - start)
                errors.append(error(p, answer))
            right = [e for e in errors if e <= RIGHT]
            rows.append({
                "solver": name, "form": form, "kind": kind, "right": len(right), "of": len(errors),
                "median error": statistics.median(errors), "median time": statistics.median(times or [np.nan]),
            })  # fmt: skip
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a page shows them."""
    kinds = ("feasible", "degenerate", "infeasible")
    lines = ["| solver | form | " + " | ".join(kinds) + " | median time |", "|---|---|" + "---|" * (len(kinds) + 1)]
    for solver, form in dict.fromkeys((row["solver"], row["form"]) for row in rows):
        mine = {row["kind"]: row for row in rows if (row["solver"], row["form"]) == (solver, form)}
        cells = [f"{mine[kind]['right']} of {mine[kind]['of']}" for kind in kinds]
        time = statistics.median(mine[kind]["median time"] for kind in kinds[:2])
        lines.append(f"| {solver} | {form} | " + " | ".join(cells) + f" | {1e6 * time:.0f} µs |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=20, help="of each kind")
    parser.add_argument("--out", type=Path, help="a folder for qp.md")
    arguments = parser.parse_args()
    said = table(measure(arguments.problems))
    print(said)
    if arguments.out:
        (arguments.out / "qp.md").write_text(said + "\n", "utf-8")


if __name__ == "__main__":
    main()
