"""Implicit steps of trees, chains and bridges with springs, from a hundred bodies to ten thousand: a table.

    python benchmarks/implicit_trees.py                    # all scenes, up to 10,000 bodies
    python benchmarks/implicit_trees.py --most 1000        # up to 1,000
    python benchmarks/implicit_trees.py --solver kkt       # by another solver

The scenes are those of `knuckle.testing.large_mechanisms`, in steps of 10 ms from rest. "build" is `Builder` with
`build`, "first" the first step with everything that it compiles or finds on the disk, "step" the best processor time of
a step. "slope" is that of log time over log bodies, from one row of a scene to the next.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.integrators import ImplicitEuler
from knuckle.integrators.implicit_choice import implicit_steps_for
from knuckle.integrators.methods.tree_steps import TreeSteps
from knuckle.model import Model
from knuckle.simulation.steps.stepper import stepper
from knuckle.testing.large_mechanisms import cable_bridge, hanging_chain, simple_bridge, spring_tree

SCENES: dict[str, tuple[Callable[[int], Model], tuple[int, ...]]] = {
    "tree": (spring_tree, (5, 8, 10, 12)),
    "bridge": (cable_bridge, (80, 980, 2980, 9980)),
    "simple bridge": (simple_bridge, (100, 1000, 3000, 10000)),
    "chain": (hanging_chain, (100, 1000, 3000, 10000)),
    "sprung chain": (lambda n: hanging_chain(n, 1e5, 1.0), (100, 1000, 3000, 10000)),
}
DT = 1e-2


@dataclass(frozen=True)
class Row:
    """What was measured of one mechanism."""

    scene: str
    bodies: int
    variables: int
    elements: int
    solver: str
    build: float
    first: float
    iterations: float
    most: int
    residual: float
    step: float
    """in milliseconds"""
    is_finite: bool


def measured(scene: str, make: Callable[[int], Model], size: int, integrator: ImplicitEuler, steps: int) -> Row:
    """One row."""
    began = time.perf_counter()
    model = make(size)
    build = time.perf_counter() - began
    method: Any = implicit_steps_for(model, integrator, "projection", lambda: False)
    began = time.perf_counter()
    own = stepper(model, method)
    state = own.start(0.0, np.array(model.start), np.zeros(model.nv), DT)
    state = own.step(0.0, state, DT)
    first = time.perf_counter() - began
    best = math.inf
    for k in range(1, steps):
        began = time.process_time()
        state = own.step(k * DT, state, DT)
        best = min(best, time.process_time() - began)
    count, total, most, worst = state.memory[2:] if isinstance(method, TreeSteps) else (1.0, 0.0, 0.0, 0.0)
    return Row(
        scene, model.nb, model.nv, len(model.elements), getattr(method, "solver", "dense"), build, first,
        total / count, int(most), worst, 1e3 * best, bool(np.isfinite(state.q).all()),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=13_000, help="bodies at most")
    parser.add_argument("--steps", type=int, default=60, help="steps of each mechanism")
    parser.add_argument("--solver", default="auto", choices=["auto", "woodbury", "pcg", "kkt"])
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--scene", choices=list(SCENES), help="one scene only")
    given = parser.parse_args()
    integrator = ImplicitEuler(given.solver, tolerance=given.tolerance)
    print(
        f"{'scene':14}{'bodies':>7}{'springs':>8}  {'solver':9}{'build s':>8}{'first s':>8}{'iterations':>11}"
        f"{'most':>5}"
        f"{'residual':>9}{'step ms':>9}{'µs/body':>8}{'slope':>6}"
    )
    for scene, (make, sizes) in SCENES.items():
        last: Row | None = None
        for size in sizes if given.scene in (None, scene) else ():
            if (3 * 2**size - 2 if scene == "tree" else size) > given.most:
                continue
            row = measured(scene, make, size, integrator, given.steps)
            slope = "" if last is None else f"{math.log(row.step / last.step) / math.log(row.bodies / last.bodies):.2f}"
            print(
                f"{scene:14}{row.bodies:7}{row.elements:8}  {row.solver:9}{row.build:8.2f}{row.first:8.2f}"
                f"{row.iterations:11.1f}{row.most:5}{row.residual:9.1g}{row.step:9.2f}"
                f"{1e3 * row.step / row.bodies:8.2f}"
                f"{slope:>6}{'' if row.is_finite else '  DIVERGED'}",
                flush=True,
            )
            last = row


if __name__ == "__main__":
    main()
