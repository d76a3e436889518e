"""Sweeps, in one run: rollouts per second in this process, over local processes and over Ray, on the same cores.

    python benchmarks/sweep.py [--workers 2] [--chunk 4096] [--chunks 24] [--rounds 3] [--without-ray]

One study in turns, everything written to disk. A rate is that between the first chunk of each worker and the last
chunk, so that it has no start in it; the start is told beside it. `kn.rollout` alone, with nothing measured or written,
stands beside them. The overhead of a chunk is the time of a worker between two chunks (commit, message, next order) and
what it does within a chunk besides rollouts (parameters, measures, encoding). Where other work shares the cores, rates
are a lottery: then the processor time of a rollout, in the worker and in this process together, is what compares.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.cluster import commits

STEPS = 200


@kn.kernel
def track(model, q, v, goal, stiffness):
    return kn.inverse_dynamics(model, q, v, stiffness * (goal - q) - 20.0 * v)


def missed(rollout, goal):
    return {"missed": np.abs(rollout.final[0] - goal).max(-1)}


def design_of(arm: kn.Model, count: int) -> Any:
    return kn.cluster.sobol({"q0": kn.cluster.uniform(-1, 1, arm.nq), "stiffness": (10, 200)}, count, seed=1)


def swept(
    arm: kn.Model, into: Path, count: int, chunk: int, **where: Any
) -> tuple[float, float, float, list[dict[str, Any]]]:
    """The rate of a sweep, its start in seconds, processor time of the driver for a rollout, and its records."""
    began = time.time()
    clocks: list[tuple[float, float]] = []
    found = kn.sweep(
        arm, design_of(arm, count), into, controller=track, parameters={"goal": np.ones(arm.nv)}, steps=STEPS, dt=1e-3,
        save_every=STEPS, measure=missed, keep=["final_q"], chunk=chunk,
        progress=lambda part: clocks.append((part, time.process_time())), **where,
    )  # fmt: skip
    paths = [commits.record_path(into, k) for k in range(found.chunks)]
    records = [commits.read_record(into, k) or {} for k in range(found.chunks)]
    ends = sorted(path.stat().st_mtime for path in paths)
    first: dict[str, float] = {}
    for record, path in zip(records, paths, strict=True):
        first[record["worker"]] = min(first.get(record["worker"], 1e300), path.stat().st_mtime)
    from_here = max(first.values())
    rate = sum(chunk for end in ends if end > from_here) / (ends[-1] - from_here)
    parts = clocks[-1][0] - clocks[0][0]
    driver = (clocks[-1][1] - clocks[0][1]) / (parts * count) if where else 0.0
    return rate, min(record["began"] for record in records) - began, driver, records


def bare(arm: kn.Model, count: int, chunk: int) -> float:
    """Rollouts per second of `kn.rollout` alone, chunk after chunk."""
    x = design_of(arm, chunk).columns(np.arange(chunk))
    given = {"goal": np.ones(arm.nv), "stiffness": x["stiffness"][:, None]}
    out = None
    began = time.perf_counter()
    for _ in range(count // chunk):
        out = kn.rollout(
            arm, x["q0"], None, None, 1e-3, steps=STEPS, save_every=STEPS, controller=track, parameters=given,
            integrator="rk4", out=out,
        )  # fmt: skip
    return count / (time.perf_counter() - began)


def gaps(records: list[dict[str, Any]]) -> float:
    """Seconds of a worker between two chunks: the median."""
    by_worker: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for record in records:
        by_worker[record["worker"]].append((record["began"], record["began"] + record["seconds"]))
    found = [
        b[0] - a[1] for spans in by_worker.values() for a, b in zip(sorted(spans), sorted(spans)[1:], strict=False)
    ]
    return statistics.median(found)


def processor_time(records: list[dict[str, Any]], chunk: int) -> float:
    """Seconds of processor time that a worker takes for a rollout, with all that it does from one chunk to the next."""
    by_worker: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        by_worker[record["worker"]].append(record["processor_clock"])
    steps = [b - a for clocks in by_worker.values() for a, b in zip(sorted(clocks), sorted(clocks)[1:], strict=False)]
    return statistics.median(steps) / chunk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=4096)
    parser.add_argument("--chunks", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-ray", action="store_true")
    arguments = parser.parse_args()
    arm, count = kn.robots.load("arm"), arguments.chunk * arguments.chunks
    kn.compilation.set_threads(arguments.workers)
    ways: dict[str, dict[str, Any]] = {"in this process": {}, "processes": {"workers": arguments.workers}}
    if not arguments.without_ray:
        ways["Ray"] = {"workers": arguments.workers, "address": "local"}
    rates, starts, idle, alone = defaultdict(list), defaultdict(list), defaultdict(list), list[float]()
    work, bare_work = defaultdict(list), list[float]()
    folder = Path(tempfile.mkdtemp(prefix="sweep-bench-"))
    try:
        bare(arm, 2 * arguments.chunk, arguments.chunk)
        for k in range(arguments.rounds):
            clock = time.process_time()
            alone.append(bare(arm, count, arguments.chunk))
            bare_work.append((time.process_time() - clock) / count)
            for name, where in ways.items():
                rate, start, driver, records = swept(arm, folder / f"{k} {name}", count, arguments.chunk, **where)
                work[name].append(processor_time(records, arguments.chunk) + driver)
                rates[name].append(rate)
                starts[name].append(start)
                idle[name].append(gaps(records))
        size = sum(path.stat().st_size for path in (folder / "0 processes").rglob("*") if path.is_file())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    here, alone_best = max(rates["in this process"]), max(alone)
    print(f"{count} rollouts of {STEPS} steps of the arm (RK4, a kernel as controller), chunks of {arguments.chunk}, ")
    print(f"{arguments.workers} threads or workers, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, ", end="")
    print(f"best of {arguments.rounds}")
    print(f"kn.rollout alone: {alone_best:,.0f} rollouts/s, {1e6 * min(bare_work):.1f} µs of processor time each")
    for name in ways:
        best, least = max(rates[name]), min(work[name])
        print(f"{name}: {best:,.0f} rollouts/s, {best / here:.0%} of in this process, {best / alone_best:.0%} of alone")
        print(f"    processor time {1e6 * least:.1f} µs a rollout: ", end="")
        print(f"{min(work['in this process']) / least:.0%} of in this process, {min(bare_work) / least:.0%} of alone")
        print(f"    start {min(starts[name]):.1f} s; between chunks {1e3 * min(idle[name]):.1f} ms")
    print(f"on disk: {size / count:.0f} bytes a rollout, records and all")


if __name__ == "__main__":
    main()
