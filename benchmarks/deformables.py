"""Steps per second of a robot arm that carries a soft body of tetrahedra, on one thread.

    python benchmarks/deformables.py

The body is fastened to the hand of the bundled arm, which swings freely. Time is that of the processor, `kn.simulate`
and all: the mean of a motion, the best of several. Beside it stand the parts of a step: putting the matrix together,
and conjugate gradients.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import knuckle as kn

E = kn.elements
REPETITIONS = 3


def arm(cells: tuple[int, int, int], young: float, damping: float) -> kn.Model:
    """The bundled arm with a soft block in its hand, of five times so many tetrahedra as it has cells."""
    model = kn.robots.load("arm")
    mesh = E.box_mesh((0.08, 0.08, 0.16), cells)
    block = E.NodeMesh(np.array(mesh.nodes) + np.array([0.0, 0.0, 0.08]), mesh.cells)
    held = [k for k, node in enumerate(block.nodes) if node[2] < 1e-9]
    soft = E.Deformable(
        "block", block, E.NeoHookean(young, 0.4), 500.0, "tool0", damping=damping,
        attachments=(E.Attachment("tool0", tuple(held), tuple(block.nodes[k] for k in held)),),
    )  # fmt: skip
    return model.replace(deformables=(soft,)).without_friction()


def measured(model: kn.Model, dt: float, steps: int, tolerance: float) -> dict[str, Any]:
    """Seconds of the processor per step, and how many iterations one takes."""
    q = np.full(model.nq, 0.3)
    method = kn.integrators.DeformableSteps(tolerance=tolerance)
    kn.simulate(model, q, None, 2 * dt, dt=dt, integrator=method, contacts=False)  # compiles
    best = np.inf
    for _ in range(REPETITIONS):
        began = time.process_time()
        motion = kn.simulate(model, q, None, steps * dt, dt=dt, integrator=method, contacts=False)
        best = min(best, (time.process_time() - began) / steps)
    bodies = E.SoftBodies(model)
    x, u = (part.reshape(-1).copy() for part in (motion.node_rows.x[-1], motion.node_rows.u[-1]))
    parts = []
    for _ in range(5):
        began = time.process_time()
        bodies.assemble(x, 0 * u, dt, positive=False)
        parts.append(time.process_time() - began)
    return {"step": best, "assembly": min(parts), "reason": motion.reason}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--most", type=int, default=30_000, help="tetrahedra at most")
    options = parser.parse_args()
    print("| tetrahedra | E [Pa] | dt [ms] | tolerance | ms per step | of it assembly | steps per second |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for cells in ((4, 4, 8), (10, 10, 20), (14, 14, 28)):
        if 5 * int(np.prod(cells)) > options.most:
            continue
        for young, dt, tolerance in (
            (5e4, 2e-3, 1e-6),
            (5e4, 5e-3, 1e-6),
            (5e4, 1e-2, 1e-6),
            (5e5, 5e-3, 1e-6),
            (5e4, 5e-3, 1e-4),
        ):
            model = arm(cells, young, 0.002)
            found = measured(model, dt, options.steps, tolerance)
            step = found["step"]
            print(
                f"| {5 * int(np.prod(cells)):,} | {young:.0e} | {1e3 * dt:g} | {tolerance:.0e} | {1e3 * step:.2f} "
                f"| {1e3 * found['assembly']:.2f} | {1 / step:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
