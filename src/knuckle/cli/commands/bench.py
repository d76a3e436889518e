"""`knuckle bench`: rates of this machine for one model, beside other libraries that compute the same."""

from __future__ import annotations

import difflib
import gc
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.cli.failures import UnusableError
from knuckle.model import Model

from .rivals import RIVALS, RivalFunction, States

FUNCTIONS = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
    "mass_matrix": ("q",),
    "jacobian": ("q",),
}
"""What is measured, and what it takes of a state."""
ROUNDS = 5
AGREE = 1e-9
"""The largest difference, relative to the largest entry and the conditioning, of libraries that compute the same."""


def measured(model: Model, batch: int, threads: int, frame: str | None, seconds: float) -> dict[str, Any]:
    """The seconds per evaluation of every function, library and setting, made of dicts, lists, strings and numbers."""
    has_loops = bool(model.loops)
    model = model.without_friction().without_loops()
    if model.nv == 0:
        raise UnusableError(f"{model.name}: nothing in it moves, so there is nothing to measure")
    frame = _frame(model, frame)
    states = _states(model, batch)
    before = kn.compilation.get_threads()
    kn.compilation.set_threads(threads)
    try:
        ours = {name: _ours(model, name, frame, states) for name in FUNCTIONS}
        others, left_out, worst = _others(model, frame, states, threads, ours)
        rows = [_row(name, {"knuckle": ours[name], **others.get(name, {})}, seconds) for name in FUNCTIONS]
    finally:
        kn.compilation.set_threads(before)
    return {
        "model": model.name, "bodies": model.nb, "nv": model.nv, "frame": frame, "batch": batch, "threads": threads,
        "spanning_tree": has_loops, "functions": rows, "largest_difference": worst, "left_out": left_out,
    }  # fmt: skip


def _frame(model: Model, asked: str | None) -> str:
    if asked is None:
        return model.frame_names[-1]
    if asked not in model.frame_names:
        close = difflib.get_close_matches(asked, model.frame_names, n=2) or model.frame_names
        raise UnusableError(f"--frame {asked}: no such frame; did you mean {' or '.join(close)}?")
    return asked


def _states(model: Model, batch: int) -> States:
    """Positions within the limits, and everything else of size one; always the same."""
    rng = np.random.default_rng(0)
    q = np.array([kn.random_configuration(model, rng) for _ in range(min(batch, 256))])
    v, a, tau = rng.standard_normal((3, batch, model.nv))
    return States(np.resize(q, (batch, model.nq)), v, a, tau)


def _ours(model: Model, name: str, frame: str, states: States) -> RivalFunction:
    f = getattr(kn, name)
    options = {"frame": frame} if name == "jacobian" else {}
    arrays = [getattr(states, key) for key in FUNCTIONS[name]]
    first = [np.ascontiguousarray(x[0]) for x in arrays]
    bound = kn.bind(model).prepare(f, **options)
    result = partial(f, model, *first, **options)
    return RivalFunction(partial(f, model, *arrays, **options), len(states.q), partial(bound, *first), result)


def _others(
    model: Model, frame: str, states: States, threads: int, ours: dict[str, RivalFunction]
) -> tuple[dict[str, dict[str, RivalFunction]], dict[str, str], float | None]:
    """By function and library, the ways of those that compute the same; why the others are not there."""
    ways: dict[str, dict[str, RivalFunction]] = {}
    left_out: dict[str, str] = {}
    worst: float | None = None
    for library, (module, make) in RIVALS.items():
        if find_spec(module) is None:
            left_out[library] = "not installed"
            continue
        try:
            rival = make(model, frame, states, threads)
            found = {name: rival.way(name) for name in FUNCTIONS}
            errors = {name: _difference(ours[name].result(), way.result()) for name, way in found.items()}
        except (kn.ModelError, ValueError, KeyError, RuntimeError) as error:
            left_out[library] = " ".join(str(error).split())
            continue
        errors["forward_dynamics"] /= float(np.linalg.cond(kn.mass_matrix(model, states.q[0])))
        if (largest := max(errors.values())) > AGREE:
            name = max(errors, key=lambda key: errors[key])
            left_out[library] = f"it computes something else: {name} differs by {largest:.1g}"
            continue
        worst = max(largest, worst or 0.0)
        for name, way in found.items():
            ways.setdefault(name, {})[library] = way
    return ways, left_out, worst


def _difference(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    size = max(float(np.max(np.abs(ours), initial=0.0)), 1e-300)
    return float(np.max(np.abs(np.asarray(ours) - np.reshape(theirs, np.shape(ours))), initial=0.0)) / size


def _row(name: str, ways: dict[str, RivalFunction], seconds: float) -> dict[str, Any]:
    batch = _times([(way.batch, way.states) for way in ways.values()], seconds)
    one = _times([(way.one, 1) for way in ways.values()], seconds)
    return {
        "function": name,
        "batch_s": dict(zip(ways, batch, strict=True)),
        "one_state_s": dict(zip(ways, one, strict=True)),
    }


def _times(cases: Sequence[tuple[Callable[[], Any], int]], seconds: float) -> list[float]:
    """Seconds per evaluation of every case: the best of a few repetitions, in which they take turns."""
    calls = [_calls(call, seconds / ROUNDS) for call, _ in cases]
    best = [float("inf")] * len(cases)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            for k, ((call, count), n) in enumerate(zip(cases, calls, strict=True)):
                best[k] = min(best[k], _taken(call, n) / (n * count))
    finally:
        if collecting:
            gc.enable()
    return best


def _calls(call: Callable[[], Any], seconds: float) -> int:
    """How many calls fill the time. The first ones are not counted: they may compile."""
    call()
    call()
    n = 1
    while (taken := _taken(call, n)) < seconds / 4 and n < 1 << 20:
        n *= 4
    return max(1, round(n * seconds / max(taken, 1e-9)))


def _taken(call: Callable[[], Any], n: int) -> float:
    start = time.perf_counter()
    for _ in range(n):
        call()
    return time.perf_counter() - start
