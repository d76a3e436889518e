"""Derivatives of inverse and forward dynamics beside Pinocchio's, in one run, on one thread.

    python benchmarks/derivatives.py [--subjects xarm7 anymal talos] [--rounds 15]

Dense results in double precision: ∂τ/∂(q, v, a), which Pinocchio's `computeRNEADerivatives` gives with the mass matrix,
and ∂a/∂(q, v, τ), which its `computeABADerivatives` gives with the inverse. Blocks are derivatives by q and v alone,
in blocks of states (`layout="blocks"`), without entries that are always zero. Pinocchio is called state by state from
Python, a call of which costs it some 0.3 µs. Times are processor time, the best of all rounds, in turns; the first call
traces and compiles, with nothing on the disk. Operations are those of the compiled code, all three matrices counted.

A second table has products, in evaluations of the function itself: those with a weight (`vjp`) by q and v, and the
second derivatives of λᵀτ by q and v (`hessian`), all four blocks. `--chains 60 500` adds long chains to it.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from subjects import SUBJECTS, States, Subject, states

import knuckle as kn
from knuckle.testing import auto_tree

LOOP = 256
"""States of Pinocchio's loop in Python."""
CALLS = 200
"""Calls of a single state in a row."""


class Row(NamedTuple):
    """A function of a subject: operations, µs per state, Pinocchio's, in blocks, of one state; s of a first call."""

    subject: str
    function: str
    operations: int
    batch: float
    theirs: float
    blocks: float
    one: float
    first: float


def taken(call: Callable[[], Any]) -> float:
    """Processor time in seconds."""
    start = time.process_time()
    call()
    return time.process_time() - start


def pinocchio_loop(subject: Subject, some: States, function: str) -> Callable[[], None]:
    """All derivatives of some states, one after the other."""
    pin: Any = import_module("pinocchio")
    model = subject.pinocchio(pin)
    model.gravity.linear = np.array(subject.model.gravity)
    there, data = kn.formats.adapters.pinocchio(subject.model, model), model.createData()
    q, v = there.q_to(some.q), there.v_to(some.q, some.v)
    is_inverse = function == "inverse_dynamics"
    x = there.a_to(some.q, some.v, some.a) if is_inverse else there.tau_to(some.q, some.tau)
    call = pin.computeRNEADerivatives if is_inverse else pin.computeABADerivatives
    rows = [tuple(np.ascontiguousarray(part) for part in state) for state in zip(q, v, x, strict=True)]

    def loop() -> None:
        for row in rows:
            call(model, data, *row)

    return loop


def measured(subject: Subject, function: str, rounds: int) -> Row:
    """Both libraries on the same states."""
    f, model = getattr(kn.derivatives, function), subject.model
    all_of_them = states(model, subject.batch)
    third = "a" if function == "inverse_dynamics" else "tau"
    arrays = [getattr(all_of_them, name) for name in ("q", "v", third)]
    first = taken(lambda: f(model, *arrays))
    bound = getattr(kn.bind(model).derivatives, function)
    one = [x[0].copy() for x in arrays]
    for _ in range(CALLS):
        bound(*one)

    def again() -> None:
        for _ in range(CALLS):
            bound(*one)

    theirs = pinocchio_loop(subject, all_of_them.first(LOOP), function)
    jacobian = partial(getattr(kn, function).jacobian, model, *arrays, wrt=("q", "v"), layout="blocks")
    jacobian()
    cases = ((lambda: f(model, *arrays), subject.batch), (theirs, LOOP), (jacobian, subject.batch), (again, CALLS))
    best = [float("inf")] * len(cases)
    for _ in range(rounds):
        best = [min(b, taken(call) / count) for b, (call, count) in zip(best, cases, strict=True)]
    count = kn.compilation.operation_count(f, model).total
    return Row(subject.name, function.replace("_", " "), count, *(1e6 * x for x in best), first)


class Product(NamedTuple):
    """A derivative of a sum of results: operations, µs per state, those of the function, seconds of a first call."""

    subject: str
    what: str
    operations: int
    batch: float
    itself: float
    first: float


def product(name: str, model: kn.Model, batch: int, kind: str, function: str, rounds: int) -> Product:
    """A product with a weight beside an evaluation of the function, in turns."""
    some, f = states(model, batch), getattr(kn, function)
    arrays = some.q, some.v, some.a if function == "inverse_dynamics" else some.tau
    weight, wrt = np.random.default_rng(0).normal(size=(batch, model.nv)), ("q", "v")

    def derivative() -> Any:
        return getattr(f, kind)(model, *arrays, weight=weight, wrt=wrt)

    first = taken(derivative)
    cases = (derivative, lambda: f(model, *arrays))
    best = [float("inf")] * len(cases)
    for _ in range(rounds):
        best = [min(b, taken(call) / batch) for b, call in zip(best, cases, strict=True)]
    count = kn.compilation.operation_count(f.derivatives.by(kind, wrt, ("weight",)), model).total
    return Product(name, f"{kind} of {function.replace('_', ' ')}", count, 1e6 * best[0], 1e6 * best[1], first)


PRODUCTS = (("vjp", "inverse_dynamics"), ("vjp", "forward_dynamics"), ("hessian", "inverse_dynamics"))


def print_products(subjects: list[str], chains: list[int], rounds: int) -> None:
    """The table of products."""
    print("\n|           | product                     | operations |     µs | evaluations | first call, s |")
    print("|-----------|-----------------------------|-----------:|-------:|------------:|--------------:|")
    made = [(name, SUBJECTS[name]()) for name in subjects]
    cases = [(name, subject.model, subject.batch, kind) for name, subject in made for kind in PRODUCTS]
    for n in chains:
        cases += [(f"chain {n}", auto_tree(n, 1, 0.3, 0.98), max(64, 40960 // n // 16 * 16), x) for x in PRODUCTS[:2]]
    for name, model, batch, (kind, function) in cases:
        row = product(name, model, batch, kind, function, rounds)
        print(
            f"| {row.subject:9} | {row.what:27} | {row.operations:10} | {row.batch:6.3f} |"
            f" {row.batch / row.itself:11.2f} | {row.first:13.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=["xarm7", "anymal", "talos"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--chains", nargs="*", type=int, default=[], help="bodies of long chains, for products")
    options = parser.parse_args()
    kn.compilation.set_threads(1)
    head = "|         | derivatives of   | operations |    µs | Pinocchio |     × | blocks |     × | one state |    × |"
    print(f"{head} first call, s |\n{re.sub('[^|]', '-', head)}---------------|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KNUCKLE_CACHE_DIR"] = folder
        for name in options.subjects:
            for function in ("inverse_dynamics", "forward_dynamics"):
                row = measured(SUBJECTS[name](), function, options.rounds)
                print(
                    f"| {row.subject:7} | {row.function:16} | {row.operations:10} | {row.batch:5.3f} |"
                    f" {row.theirs:9.2f} | {row.theirs / row.batch:5.1f} |"
                    f" {row.blocks:6.3f} | {row.theirs / row.blocks:5.1f} | {row.one:9.2f} |"
                    f" {row.theirs / row.one:4.1f} | {row.first:13.2f} |",
                    flush=True,
                )
        kn.compilation.set_policy("always")  # else small batches wait for some calls, more than there may be rounds
        print_products(options.subjects, options.chains, options.rounds)


if __name__ == "__main__":
    main()
