"""knuckle's ways: batches in both precisions, one state by the plain functions and by a bound model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from subjects import States, Subject
from timing import Case

import knuckle as kn

FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "inverse dynamics": ("inverse_dynamics", ("q", "v", "a")),
    "forward dynamics": ("forward_dynamics", ("q", "v", "tau")),
    "mass matrix": ("mass_matrix", ("q",)),
    "frame Jacobian": ("jacobian", ("q",)),
}
"""The functions that are measured: knuckle's name, and what it takes of a state."""


def arguments(function: str, states: States) -> list[Any]:
    """What a function takes, for these states."""
    return [getattr(states, name) for name in FUNCTIONS[function][1]]


def evaluator(subject: Subject, function: str) -> Callable[..., Any]:
    """knuckle's function of the arrays alone."""
    f = partial(getattr(kn, FUNCTIONS[function][0]), subject.model)
    return partial(f, frame=subject.frame) if function == "frame Jacobian" else f


def cases(subject: Subject, function: str, states: States, few: int) -> Iterator[Case]:
    """All ways, each with its result for the first `few` states."""
    f = evaluator(subject, function)
    for dtype in ("float64", "float32"):
        of_type = states.as_type(dtype)
        call = partial(f, *arguments(function, of_type))
        result = partial(f, *arguments(function, of_type.first(few)))
        yield Case(function, f"knuckle, {dtype}", "batch", "batch call", call, len(states.q), result)
    one = [x[0].copy() for x in arguments(function, states)]
    each = partial(_one_by_one, f, arguments(function, states.first(few)))
    yield Case(function, "knuckle", "one state", "function", partial(f, *one), 1, each)
    bound = _bound(subject, function)
    each = partial(_one_by_one, bound, arguments(function, states.first(few)))
    yield Case(function, "knuckle, bound", "one state", "kn.bind(model)", partial(bound, *one), 1, each)


def _one_by_one(f: Callable[..., Any], arrays: list[Any]) -> Any:
    return np.array([np.array(f(*state)) for state in zip(*arrays, strict=True)])


def _bound(subject: Subject, function: str) -> Callable[..., Any]:
    """The function of a bound model: the fastest way for one state."""
    fast = kn.bind(subject.model)
    if function == "frame Jacobian":
        return fast.prepare(kn.jacobian, frame=subject.frame)
    return getattr(fast, FUNCTIONS[function][0])
