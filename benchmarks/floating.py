"""Floating bases: the free joint's way beside the algorithms for floating bases, in operations and in time.

    python benchmarks/floating.py [--batch 4096] [--rounds 200]

Forward dynamics by table 7.1 with a free joint and by table 9.4; inverse dynamics, whose base accelerates as it must,
by table 9.3 with a forced joint and by table 9.6 (RBDA). Operations are those left in the code, per state: (mul + div,
add). Times are microseconds per state of batches in double precision on one thread, the best of all rounds, in which
the ways take turns. Results are compared first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from machine import description
from timing import Case, time_of

import knuckle as kn
from knuckle.algorithms.dynamics import aba
from knuckle.algorithms.dynamics import hybrid_dynamics as hybrid
from knuckle.engine.calls.function import function
from knuckle.functions import floating
from knuckle.functions.per_joint import wrenches
from knuckle.model import Model
from knuckle.spatial import Vector
from knuckle.testing.oracles.other_libraries import robot_files

OURS = ("satellite", "quadruped", "humanoid")
OTHERS = {"Solo12": "solo12.urdf", "Talos": "talos_reduced.urdf"}


@function(q="q", v="v", tau="v", joint_space=True)
def with_free_joint(model: Model, q: Any, v: Any, tau: Any) -> Any:
    """Table 7.1, whatever the first joint is."""
    Q, V, T = model.positions(q), model.velocities(q, v), model.velocities(q, tau)
    return model.forces(q, aba.forward_dynamics(model, Q, V, T, wrenches(model, None)))


@function(q="q", v="v", tau="v", a="v", joint_space=True)
def with_forced_joint(model: Model, q: Any, v: Any, tau: Any, a: Any) -> Any:
    """Table 9.3 with the first joint forced and all others prescribed."""
    Q, (V, T, A) = model.positions(q), (model.velocities(q, x) for x in (v, tau, a))
    found, forces = hybrid.hybrid_dynamics(model, Q, V, T, A, wrenches(model, None), {0})
    return Vector((*model.forces(q, found), *model.forces(q, forces)))


@function(q="q", v="v", tau="v", joint_space=True)
def forward_afloat(model: Model, q: Any, v: Any, tau: Any) -> Any:
    """Table 9.4, as `kn.forward_dynamics` uses it."""
    Q, V, T = model.positions(q), model.velocities(q, v), model.velocities(q, tau)
    return model.forces(q, floating.forward_dynamics(model, limbs(model), Q, V, T, wrenches(model, None)))


@function(q="q", v="v", tau="v", a="v", joint_space=True)
def inverse_afloat(model: Model, q: Any, v: Any, tau: Any, a: Any) -> Any:
    """Table 9.6, as `kn.hybrid_dynamics` uses it."""
    Q, (V, T, A) = model.positions(q), (model.velocities(q, x) for x in (v, tau, a))
    base, forces = floating.inverse_dynamics(model, limbs(model), Q, V, T[0], A, wrenches(model, None))
    found = {**dict(enumerate(A)), 0: base}
    return Vector((*model.forces(q, found), *model.forces(q, {0: T[0], **forces})))


def limbs(model: Model) -> Model:
    found = floating.limbs_of(model)
    assert found is not None
    return found


WAYS = {
    "forward": (("7.1", with_free_joint), ("9.4", forward_afloat)),
    "inverse": (("9.3", with_forced_joint), ("9.6", inverse_afloat)),
}
"""The general and the special algorithm for each problem."""


def subjects() -> dict[str, Model]:
    """Robots without friction, which is no part of the tables."""
    found = {name: kn.robots.load(name) for name in OURS}
    files = {file.name: file for file in robot_files()}
    found |= {name: kn.load(files[file], base="floating", mimic=False) for name, file in OTHERS.items()}
    return {name: model.without_friction() for name, model in found.items()}


def case(problem: str, table: str, call: Callable[[], Any], batch: int) -> Case:
    """One of the ways, to be compared and timed."""
    return Case(problem, "knuckle", "batch", table, call, batch, lambda: call()[:16])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4096, help="states per call")
    parser.add_argument("--rounds", type=int, default=200, help="in which each way has its turn")
    options = parser.parse_args()
    kn.compilation.set_threads(1)
    kn.compilation.set_policy("always")
    for name, value in description().items():
        print(f"{name}: {value}")
    print(
        f"\n{'robot':12}{'':10}{'table':>7}{'operations':>16}{'µs':>9}   {'table':>5}{'operations':>16}{'µs':>9}{'':>8}"
    )
    for name, model in subjects().items():
        rng = np.random.default_rng(0)
        q = kn.integrate(model, kn.neutral(model), rng.normal(size=(options.batch, model.nv)))
        v, tau, a = rng.normal(size=(3, options.batch, model.nv))
        tau[:, :6] = 0
        for problem, both in WAYS.items():
            arrays = (q, v, tau) if problem == "forward" else (q, v, tau, a)
            cases = [case(problem, table, partial(f, model, *arrays), options.batch) for table, f in both]
            one, other = (case.result() for case in cases)
            difference = np.abs(one - other).max() / np.abs(one).max()
            condition = np.linalg.cond(kn.mass_matrix(model, q[:16])).max()
            if not difference < 1e-14 * condition:
                raise SystemExit(f"{name}, {problem}: the ways differ by {difference:.1e}")
            times = time_of(cases, options.rounds, 0.003)
            line = f"{name:12}{problem:10}"
            for (table, f), taken in zip(both, times, strict=True):
                count = kn.compilation.operation_count(f, model)
                line += f"{table:>7}{f'{count.mul + count.div}, {count.add}':>16}{taken.best * 1e6:9.4f} "
            print(f"{line}{times[0].best / times[1].best:7.2f}x", flush=True)


if __name__ == "__main__":
    main()
