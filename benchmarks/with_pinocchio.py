"""Pinocchio: its batch calls on one thread, its other functions in a loop, and single calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from subjects import States, Subject
from timing import Case

import knuckle as kn

Array = np.ndarray[Any, Any]
LOOP = 256
"""States of a loop in Python: more of them take longer and say the same."""


class Pinocchio:
    """A subject as Pinocchio has it, and its states in Pinocchio's variables."""

    def __init__(self, subject: Subject, states: States, few: int) -> None:
        self.pin: Any = import_module("pinocchio")
        self.model = subject.pinocchio(self.pin)
        self.model.gravity.linear = np.array(subject.model.gravity)
        self.data, self.pool = self.model.createData(), self.pin.ModelPool(self.model, 1)
        self.there = kn.formats.adapters.pinocchio(subject.model, self.model)
        self.place = self.model.getFrameId(subject.frame, self.pin.FrameType.BODY)
        self.count, self.few, self.ours = len(states.q), few, states.first(few).q
        there = self.there
        self.q, self.v = there.q_to(states.q), there.v_to(states.q, states.v)
        self.a, self.tau = there.a_to(states.q, states.v, states.a), there.tau_to(states.q, states.tau)

    def cases(self, function: str) -> Iterator[Case]:
        """The ways Pinocchio offers for a function."""
        single, columns, back = self._function(function)
        case = partial(Case, function, "Pinocchio")
        states = [[np.ascontiguousarray(x) for x in state] for state in zip(*columns, strict=True)]

        def loop(some: list[list[Array]] = states[:LOOP]) -> None:
            for state in some:
                single(*state)

        def each() -> Array:
            return back(np.array([np.array(single(*state)) for state in states[: self.few]]))

        if function in ("inverse dynamics", "forward dynamics"):
            of_batch = self.pin.rneaInParallel if function == "inverse dynamics" else self.pin.abaInParallel
            x = [np.asfortranarray(column.T) for column in columns]
            out = np.zeros((self.model.nv, self.count), order="F")

            def batch() -> None:
                of_batch(1, self.pool, *x, out)

            def of_few() -> Array:
                batch()
                return back(out.T[: self.few].copy())

            yield case("batch", "batch call", batch, self.count, of_few)
        else:
            yield case("batch", "loop in Python", loop, min(LOOP, self.count), each)
        yield case("one state", "function", partial(single, *states[0]), 1, each)

    def _function(self, function: str) -> tuple[Callable[..., Any], list[Array], Callable[[Array], Array]]:
        """The single call, its arguments for all states, and the way from its results to ours."""
        pin, model, data = self.pin, self.model, self.data
        q, v = self.q[: self.few], self.v[: self.few]
        match function:
            case "inverse dynamics":
                back = partial(self.there.tau_from, q)
                return partial(pin.rnea, model, data), [self.q, self.v, self.a], back
            case "forward dynamics":
                back = partial(self.there.a_from, q, v)
                return partial(pin.aba, model, data), [self.q, self.v, self.tau], back
            case "mass matrix":
                return partial(pin.crba, model, data), [self.q], self._mass_matrix
            case _:
                return self._jacobian, [self.q], self._jacobian_back

    def _jacobian(self, q: Array) -> Array:
        return self.pin.computeFrameJacobian(self.model, self.data, q, self.place, self.pin.LOCAL)

    def _jacobian_back(self, J: Array) -> Array:
        return np.roll(J, 3, axis=-2) @ self.there.velocity_map(self.ours)

    def _mass_matrix(self, H: Array) -> Array:
        B = self.there.velocity_map(self.ours)
        full = np.triu(H) + np.swapaxes(np.triu(H, 1), -1, -2)
        return np.swapaxes(B, -1, -2) @ full @ B
