"""The cost of the spatial operators against the number of bodies, from 10 to 5,000: it should be O(n).

    python benchmarks/operators.py [--native] [--quick] [--out benchmarks/results]

Two costs are measured on chains and binary trees. Operations are counted (multiplications, additions, divisions; of an
application with everything that it needs from q on). Times are processor times, the best of many: of an application by
the recursions, and of the forward dynamics of a mechanism whose last body is tied to the ground, a closed loop as long
as the mechanism is deep. `--native` times compiled kernels too, in batches, up to 200 bodies.

Writes operators.json and operators.png, and prints the slopes of all of them on log-log axes: 1 is O(n).
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np

import knuckle as kn
from knuckle import operators
from knuckle.joints import Spherical
from knuckle.model import LoopJoint
from knuckle.operators.application import applied
from knuckle.operators.operator_entries import Configuration
from knuckle.operators.symbols import D_inverse, whitening
from knuckle.spatial import Vector
from knuckle.testing import auto_tree
from knuckle.testing.counting import Tally

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
BRANCHING = {"chain": 1, "binary tree": 2}
APPLIED = ("phi", "psi", "mass", "mass_inverse", "Omega")
NATIVE_UP_TO = 200
"""Bodies: kernels of much larger mechanisms take minutes to make."""


def mechanism(shape: str, n: int) -> kn.Model:
    """Bodies of a size that keeps the whole within some metres."""
    return auto_tree(n, BRANCHING[shape], 0.3, 0.999)


def tied(model: kn.Model) -> tuple[kn.Model, Any]:
    """The mechanism with its last body tied to the ground where it is, by a ball joint."""
    q = np.random.default_rng(0).uniform(-0.3, 0.3, model.nq)
    last = model.bodies[-1].name
    place = kn.spatial.Transform.translation(kn.pose(model, q, last)[:3, 3])
    return model.replace(loops=(LoopJoint("tie", Spherical(), -1, model.nb - 1, place),)), q


def operations(model: kn.Model, name: str) -> int:
    """Of an application, or of the forward dynamics, from q on."""
    tally = Tally()

    def numbers(count: int) -> list[Any]:
        return [tally.scalar(0.1 + 1e-4 * k) for k in range(count)]

    q = numbers(model.nq)
    if name == "forward dynamics":
        T_bar = Vector(numbers(model.nv)) - kn.bias_force.reference(model, q, numbers(model.nv))
        applied(whitening.T @ D_inverse @ whitening, Configuration(model, q), T_bar)
    else:
        x: Any = operators.symbols.SYMBOLS[name]
        applied(x, Configuration(model, q), Vector(numbers(sum(x.domain.sizes(model, ())))))
    return tally.mul + tally.add + tally.div


def best(call: Callable[[], Any], rounds: int, seconds: float = 1.5) -> float:
    """The best processor time of a call, of so many, or of those that fit into some seconds."""
    times: list[float] = []
    start = time.perf_counter()
    gc.collect()
    gc.disable()  # as `timeit` does
    while len(times) < rounds and (len(times) < 3 or time.perf_counter() - start < seconds):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    gc.enable()
    return min(times)


def measured(shape: str, n: int, rounds: int, native: bool) -> dict[str, Any]:
    """All costs of one mechanism."""
    model = mechanism(shape, n)
    loop, q = tied(model)
    rng = np.random.default_rng(1)
    v, tau = rng.normal(size=(2, model.nv))
    kn.compilation.set_policy("never")
    ops = operators.at(model, q)
    record: dict[str, Any] = {"shape": shape, "bodies": n, "operations": {}, "recursion": {}, "native": {}}
    for name in APPLIED:
        A = getattr(ops, name)
        x = rng.normal(size=A.shape[1])
        A @ x  # which computes P, D and the rest, once
        record["operations"][name] = operations(model, name)
        record["recursion"][name] = best(lambda A=A, x=x: A @ x, rounds)
    record["operations"]["forward dynamics"] = operations(model, "forward dynamics")
    record["recursion"]["closed forward dynamics"] = best(lambda: operators.forward_dynamics(loop, q, v, tau), rounds)
    if native and n <= NATIVE_UP_TO:
        kn.compilation.set_policy("always")
        batch = max(64, min(4096, 40960 // n))
        X = rng.normal(size=(model.nv, batch))
        states = np.broadcast_to(q, (batch, model.nq))
        ways: dict[str, Callable[[], Any]] = {
            "mass_inverse": lambda: ops.mass_inverse @ X,
            "closed forward dynamics": lambda: operators.forward_dynamics(loop, states, v, tau),
        }
        for name, way in ways.items():
            way()
            record["native"][name] = best(way, rounds) / batch
    return record


def slope(records: list[dict[str, Any]], kind: str, name: str) -> float:
    """Of the cost on log-log axes, by least squares."""
    points = [(r["bodies"], r[kind][name]) for r in records if name in r[kind]]
    x, y = np.log(np.array(points, float)).T
    return float(np.polyfit(x, y, 1)[0])


def plot(records: list[dict[str, Any]], path: Path) -> None:
    """Both costs, log-log, into a PNG file."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    for (kind, title, unit), ax in zip(
        (
            ("operations", "Operations", "operations"),
            ("recursion", "Best processor time, recursions in Python", "time [s]"),
        ),
        axes,
        strict=True,
    ):
        for shape, line in (("chain", "-"), ("binary tree", "--")):
            some = [r for r in records if r["shape"] == shape]
            for k, name in enumerate(some[0][kind]):
                label = f"{name} ({slope(some, kind, name):.3f})" if shape == "chain" else None
                ax.plot([r["bodies"] for r in some], [r[kind][name] for r in some], line, color=f"C{k}", label=label)
        ax.set(xscale="log", yscale="log", xlabel="number of bodies", ylabel=unit, title=title)
        ax.grid(True, which="major", alpha=0.4)
        ax.legend(frameon=False, title="slope of the chain's", fontsize=8)
    said = machine.description()
    figure.supxlabel(
        f"chains (solid) and binary trees (dashed); {said['processor']}, {said['date']}", fontsize=8, color="0.4"
    )
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", action="store_true", help="time compiled kernels too")
    parser.add_argument("--quick", action="store_true", help="small mechanisms, few repetitions: to see that it works")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder of the results")
    asked = parser.parse_args()
    kn.compilation.set_threads(1)
    sizes, rounds = (SIZES[:3], 3) if asked.quick else (SIZES, 200)
    records: list[dict[str, Any]] = []
    for shape in BRANCHING:
        for n in sizes:
            records.append(measured(shape, n, rounds, asked.native))
            cost = records[-1]["recursion"]
            print(f"{shape:<12} {n:>5} bodies  phi {cost['phi'] * 1e6 / n:6.1f} µs per body, "
                  f"forward dynamics {cost['closed forward dynamics'] * 1e6 / n:7.1f}", flush=True)  # fmt: skip
    slopes = {
        shape: {
            kind: {name: slope([r for r in records if r["shape"] == shape], kind, name) for name in records[0][kind]}
            for kind in ("operations", "recursion")
        }
        for shape in BRANCHING
    }
    for shape, kinds in slopes.items():
        for kind, names in kinds.items():
            for name, value in names.items():
                print(f"{shape:<12} {kind:<11} {name:<24} slope {value:.3f}")
    asked.out.mkdir(parents=True, exist_ok=True)
    results = {"machine": machine.description(), "slopes": slopes, "records": records}
    (asked.out / "operators.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    plot(records, asked.out / "operators.png")
    print(f"written to {asked.out}")


if __name__ == "__main__":
    main()
