"""Times of derivatives in a process of their own: `derivatives.py` runs this script, which prints them in JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pinocchio_in_cpp
from subjects import SUBJECTS, Subject, states
from with_mujoco import MuJoCo

import knuckle as kn
from knuckle.testing import auto_tree
from knuckle.testing.laws import relative

Array = np.ndarray[Any, Any]
LOOP = 256
"""States of Pinocchio's loops."""
CALLS = 200
"""Calls of a single state in a row."""
DT, EPSILON, BASE = 1e-3, 1e-6, 6
"""A step, in seconds; how far MuJoCo goes for a difference; the freedoms of a floating base."""
ROUGH = 1e-4
"""Largest relative difference from MuJoCo's differences."""
LIMIT = 1e-9
"""Largest relative difference from Pinocchio that counts as the same result."""


def taken(call: Callable[[], Any]) -> float:
    """Processor time in seconds."""
    start = time.process_time()
    call()
    return time.process_time() - start


def best_of(ways: dict[str, tuple[Callable[[], Any], int]], rounds: int) -> dict[str, float]:
    """Seconds per state of calls for so many states, the best of all rounds, in turns."""
    best = dict.fromkeys(ways, float("inf"))
    for call, _ in ways.values():
        call()  # compiles
    for _ in range(rounds):
        for way, (call, count) in ways.items():
            best[way] = min(best[way], taken(call) / count)
    return best


class Pinocchio:
    """A subject's derivatives by Pinocchio: state by state, from Python and in loops without it."""

    def __init__(self, subject: Subject, is_inverse: bool) -> None:
        pin: Any = import_module("pinocchio")
        self.model = subject.pinocchio(pin)
        self.model.gravity.linear = np.array(subject.model.gravity)
        self.is_inverse, self.data = is_inverse, self.model.createData()
        self.there = kn.formats.adapters.pinocchio(subject.model, self.model)
        self.call = pin.computeRNEADerivatives if is_inverse else pin.computeABADerivatives

    def ways(self, q: Array, v: Array, x: Array, found: Array) -> dict[str, tuple[Callable[[], Any], int]]:
        """For states in our variables; each first gives what was `found` for the derivative by v in the last."""
        variables = self.there.q_to(q), self.there.v_to(q, v)
        last = self.there.a_to(q, v, x) if self.is_inverse else self.there.tau_to(q, x)
        arrays = [np.ascontiguousarray(y) for y in (*variables, last)]
        rows = [tuple(np.ascontiguousarray(part) for part in state) for state in zip(*arrays, strict=True)]
        B = self.there.velocity_map(q[-1])
        back = B.T if self.is_inverse else np.linalg.inv(B)

        def from_python() -> Array:
            for row in rows:
                self.call(self.model, self.data, *row)
            return self.data.dtau_dv if self.is_inverse else self.data.ddq_dv

        calls: dict[str, Callable[[], Array]] = {"Pinocchio": from_python}
        for name in pinocchio_in_cpp.built():
            calls[name] = partial(pinocchio_in_cpp.loop(name, self.model), self.is_inverse, *arrays)
        for name, call in calls.items():
            error = relative(back @ call() @ B - found, found)
            assert error < LIMIT, f"{name}: derivatives by v are {error:.1e} from knuckle's"
        return {name: (call, len(q)) for name, call in calls.items()}


def matrices(name: str, function: str, rounds: int) -> dict[str, Any]:
    """Both libraries on the same states: seconds of all matrices, dense, in blocks, of one state; of a first call."""
    subject, f = SUBJECTS[name](), getattr(kn.derivatives, function)
    model, some = subject.model, states(subject.model, subject.batch)
    is_inverse = function == "inverse_dynamics"
    arrays = some.q, some.v, some.a if is_inverse else some.tau
    first = taken(lambda: f(model, *arrays))
    bound = getattr(kn.bind(model).derivatives, function)
    one = [x[0].copy() for x in arrays]
    blocks = partial(getattr(kn, function).jacobian, model, *arrays, wrt=("q", "v"), layout="blocks")

    def calls() -> None:
        for _ in range(CALLS):
            bound(*one)

    def fill() -> None:
        for result in results:
            result.fill(0.0)

    results = [np.empty((subject.batch, model.nv, model.nv)) for _ in range(3)]
    ways: dict[str, tuple[Callable[[], Any], int]] = {
        "filled": (fill, subject.batch),
        "dense": (lambda: f(model, *arrays), subject.batch),
        "blocks": (blocks, subject.batch),
        "one state": (calls, CALLS),
    }
    few = [x[:LOOP] for x in arrays]
    theirs = Pinocchio(subject, is_inverse).ways(*few, f(model, *few)[1][-1])
    count = kn.compilation.operation_count(f, model).total
    return {"operations": count, "first call": first, **best_of(ways | theirs, rounds)}


def step(name: str, _: str, rounds: int) -> dict[str, Any]:
    """A and B of a semi-implicit Euler step, all states at once; A of MuJoCo's by differences, state by state."""
    subject = SUBJECTS[name]()
    model, some = subject.model, states(subject.model, subject.batch)
    call = partial(kn.linearize, model, some.q, some.v, some.tau, dt=DT, integrator="euler")
    first, theirs = taken(call), MuJoCo(subject, some, 1)
    mj, data, n = theirs.mj, theirs.data, model.nv
    theirs.model.opt.timestep = DT
    A = np.empty((2 * n, 2 * n))

    def differences() -> None:
        for q, v, _, tau in theirs.states:
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
            mj.mjd_transitionFD(theirs.model, data, EPSILON, False, A, None, None, None)

    differences()
    last = len(theirs.states) - 1
    units = np.array([theirs.there.v_to(some.q[last], e) for e in np.eye(n)])
    base = 0 if model.nq == n else BASE  # which has other variables there
    own = np.arange(base, n)
    places = np.abs(units[own]).argmax(1)
    ours, found = (x[np.ix_(k, k)] for x, k in ((call().A[last], [*own, *(n + own)]), (A, [*places, *(n + places)])))
    error = relative(found - ours, ours)
    assert error < ROUGH, f"MuJoCo: derivatives of a step are {error:.1e} from knuckle's"
    ways: dict[str, tuple[Callable[[], Any], int]] = {
        "step": (call, subject.batch), "MuJoCo": (differences, len(theirs.states))
    }  # fmt: skip
    return {"first call": first, **best_of(ways, rounds)}


def product(name: str, kind: str, function: str, rounds: int) -> dict[str, Any]:
    """A product with a weight by q and v, of a robot or of a chain of so many bodies, beside the function itself."""
    if name in SUBJECTS:
        subject = SUBJECTS[name]()
        model, batch = subject.model, subject.batch
    else:
        n = int(name)
        model, batch = auto_tree(n, 1, 0.3, 0.98), max(64, 40960 // n // 16 * 16)
    some, f = states(model, batch), getattr(kn, function)
    arrays = some.q, some.v, some.a if function == "inverse_dynamics" else some.tau
    weight, wrt = np.random.default_rng(0).normal(size=(batch, model.nv)), ("q", "v")
    derivative = partial(getattr(f, kind), model, *arrays, weight=weight, wrt=wrt)
    first = taken(derivative)
    ways: dict[str, tuple[Callable[[], Any], int]] = {
        "product time": (derivative, batch), "itself": (lambda: f(model, *arrays), batch)
    }  # fmt: skip
    count = kn.compilation.operation_count(f.derivatives.by(kind, wrt, ("weight",)), model).total
    return {"operations": count, "first call": first, **best_of(ways, rounds)}


if __name__ == "__main__":
    kn.compilation.set_threads(1)
    what, *words, rounds = sys.argv[1:]
    print(json.dumps({"matrices": matrices, "product": product, "step": step}[what](*words, int(rounds))))
