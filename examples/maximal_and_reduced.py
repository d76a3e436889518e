"""One chain of links, in reduced and in maximal coordinates: what drifts, what it costs, and that it is one motion.

Run it with `python examples/maximal_and_reduced.py`; `python examples/maximal_and_reduced.py drift.png` draws it.
It needs SciPy: pip install ".[sparse]" in the clone.
"""

import sys
import time

import numpy as np

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import solid_box

LINKS, DURATION, DT = 6, 0.6, 2e-3

b = kn.Builder("chain")
last = None
for i in range(LINKS):
    place = (0, 0, 0 if last is None else -0.5)
    last = b.body(
        f"link{i}", last, Revolute("yx"[i % 2]), place, inertia=solid_box(1.0, (0.05, 0.05, 0.5), at=(0, 0, -0.25))
    )
reduced = b.build()
maximal = kn.maximal(reduced)
print(
    f"reduced: {reduced.nv} variables; "
    f"maximal: {maximal.nv} variables and {sum(6 - loop.type.nv for loop in maximal.loops)} constraints"
)

q, v = np.full(LINKS, 0.5), np.zeros(LINKS)
Q, V = kn.maximal_state(reduced, q, v)
runs, times = {}, {}
ways = {"reduced": None, "projected": "projection", "Baumgarte, 20 ms": 0.02, "left alone": "none"}
for name, way in ways.items():
    options = {} if way is None else {"stabilization": None if way == "none" else way}
    model, start = (reduced, (q, v)) if way is None else (maximal, (Q, V))
    kn.simulate(model, *start, 2 * DT, dt=DT, integrator="rk4", **options)  # what is compiled, is now
    begin = time.process_time()
    runs[name] = kn.simulate(model, *start, DURATION, dt=DT, integrator="rk4", **options)
    times[name] = time.process_time() - begin

truth = kn.simulate(reduced, q, v, DURATION, dt=DT / 10, save_every=10, integrator="rk4")
tip = f"link{LINKS - 1}"
end = kn.pose(reduced, truth.q[-1], tip)[:3, 3]
drifts, energies = {}, {}
for name, run in runs.items():
    model = reduced if name == "reduced" else maximal
    energy = kn.kinetic_energy(model, run.q, run.v) + kn.potential_energy(model, run.q)
    energies[name] = np.abs(energy - energy[0])
    drifts[name] = np.zeros(len(run.q)) if model is reduced else np.abs(kn.loops.gap(model, run.q)).max(axis=(1, 2))
    off = np.linalg.norm(kn.pose(model, run.q[-1], tip)[:3, 3] - end)
    print(
        f"{name:18s} joints open by {drifts[name].max():.0e} m, energy off by {energies[name].max():.0e} J, "
        f"tip off by {off:.0e} m, {times[name] / len(run.q) * 1e3:.2f} ms of processor time a step"
    )
assert drifts["projected"].max() < 1e-12 < drifts["left alone"].max()
back, _ = kn.reduced_state(reduced, runs["projected"].q[-1], runs["projected"].v[-1])
np.testing.assert_allclose(back, runs["reduced"].q[-1], atol=1e-5)

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for name, run in runs.items():
        style = {"reduced": "k-", "projected": "C0--", "Baumgarte, 20 ms": "C1-", "left alone": "C3-"}[name]
        left.semilogy(run.times, np.maximum(energies[name], 1e-17), style, label=name)
        if name != "reduced":
            middle.semilogy(run.times, np.maximum(drifts[name], 1e-17), style, label=name)
    right.bar(list(times), [1e3 * t / len(runs[n].q) for n, t in times.items()], color=["k", "C0", "C1", "C3"])
    right.set(ylabel="ms a step", title="processor time", yscale="log")
    right.tick_params(axis="x", rotation=25)
    left.set(xlabel="t in s", ylabel="J", title="change of the energy")
    middle.set(xlabel="t in s", ylabel="m, rad", title="how far joints are open")
    left.legend(fontsize=8)
    middle.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
