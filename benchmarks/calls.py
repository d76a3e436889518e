"""What a call from Python costs: plain, bound, and Pinocchio's, for one state; and plain calls with small batches.

    python benchmarks/calls.py [--robots xarm7 talos] [--rounds 25]

A time is the best of all repetitions, which take turns; it includes Python's loop. Results are compared first.
`computeAllTerms` computes more than any one function of ours, and stands in a row of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from machine import description
from subjects import SUBJECTS, States, Subject, states
from timing import Case, time_of

import knuckle as kn

BATCHES = (1, 8, 64)
WARM = 30
"""Calls after which every function is compiled."""


class Rows:
    """The functions that are compared, for one robot: by name the plain function, its arrays, and Pinocchio's call."""

    def __init__(self, subject: Subject, some: States) -> None:
        self.subject, self.some, self.pin = subject, some, import_module("pinocchio")
        pin: Any = self.pin
        model = self.model = subject.pinocchio(pin)
        model.gravity.linear = np.array(subject.model.gravity)
        self.data, self.there = model.createData(), kn.formats.adapters.pinocchio(subject.model, model)
        there, q, v = self.there, some.q[0], some.v[0]
        self.q, self.v = there.q_to(q), there.v_to(q, v)
        self.a, self.tau = there.a_to(q, v, some.a[0]), there.tau_to(q, some.tau[0])

    def functions(self) -> dict[str, tuple[Any, tuple[str, ...], Callable[[], Any]]]:
        pin: Any = self.pin
        first = self.model, self.data, self.q
        return {
            "inverse dynamics": (kn.inverse_dynamics, ("q", "v", "a"), partial(pin.rnea, *first, self.v, self.a)),
            "forward dynamics": (kn.forward_dynamics, ("q", "v", "tau"), partial(pin.aba, *first, self.v, self.tau)),
            "mass matrix": (kn.mass_matrix, ("q",), partial(pin.crba, *first)),
            "bias force": (kn.bias_force, ("q", "v"), partial(pin.nonLinearEffects, *first, self.v)),
            "gravity force": (kn.gravity_force, ("q",), partial(pin.computeGeneralizedGravity, *first)),
        }

    def check(self) -> None:
        """The libraries agree on inverse and forward dynamics."""
        model, some, pin = self.subject.model, self.some, self.pin
        theirs: Any = self.there.tau_from(self.q, pin.rnea(self.model, self.data, self.q, self.v, self.a))
        _agree(kn.inverse_dynamics(model, some.q[0], some.v[0], some.a[0]), theirs)
        theirs = self.there.a_from(self.q, self.v, pin.aba(self.model, self.data, self.q, self.v, self.tau))
        _agree(kn.forward_dynamics(model, some.q[0], some.v[0], some.tau[0]), theirs)


def _agree(ours: Any, theirs: Any) -> None:
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if not error < 1e-7:
        raise SystemExit(f"the libraries differ by {error:.1e}")


def measured(subject: Subject, rounds: int, seconds: float) -> list[tuple[str, list[float]]]:
    """For every function: µs of the plain call, the bound call, Pinocchio's, and plain calls with batches."""
    model, some = subject.model, states(subject.model, max(BATCHES))
    rows, fast = Rows(subject, some), kn.bind(subject.model)
    cases: list[Case] = []

    def case(name: str, way: str, call: Callable[[], Any]) -> None:
        for _ in range(WARM):
            call()
        cases.append(Case(name, way, "one call", way, call, 1, call))

    for name, (function, arrays, theirs) in rows.functions().items():
        one = [np.ascontiguousarray(getattr(some, x)[0]) for x in arrays]
        case(name, "plain", partial(function, model, *one))
        case(name, "bound", partial(getattr(fast, function.__name__), *one))
        case(name, "Pinocchio", theirs)
        for n in BATCHES:
            case(name, f"batch of {n}", partial(function, model, *(getattr(some, x)[:n].copy() for x in arrays)))
    pin: Any = rows.pin
    case("computeAllTerms", "Pinocchio", partial(pin.computeAllTerms, rows.model, rows.data, rows.q, rows.v))
    rows.check()
    table: dict[str, list[float]] = {}
    for one_case, time in zip(cases, time_of(cases, rounds, seconds), strict=True):
        table.setdefault(one_case.function, []).append(1e6 * time.best)
    return list(table.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=["xarm7", "talos"], choices=list(SUBJECTS))
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=0.01, help="of a repetition")
    options = parser.parse_args()
    kn.compilation.set_threads(1)
    print(", ".join(f"{key}: {value}" for key, value in description().items()))
    for name in options.robots:
        subject = SUBJECTS[name]()
        heads = "plain", "bound", "Pinocchio", *(f"batch {n}" for n in BATCHES), "× Pinocchio"
        print(f"\n{subject.title}, µs per call\n{'':18}" + "".join(f"{head:>12}" for head in heads))
        for function, times in measured(subject, options.rounds, options.seconds):
            if len(times) == 1:
                print(f"{function:18}{'':24}{times[0]:12.3f}")
            else:
                ratio = times[2] / times[0]
                print(f"{function:18}" + "".join(f"{x:12.3f}" for x in times) + f"{ratio:11.1f}×", flush=True)


if __name__ == "__main__":
    main()
