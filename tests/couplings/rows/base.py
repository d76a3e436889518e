"""Rows of the table: every public function beside what the explicit constrained tree says.

A row yields pairs (found, wanted). It may raise `ModelError` instead, which has to say what to do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.model import Model

from ..cases import Case

Pair = tuple[Any, Any]
Row = Callable[[Case], Iterator[Pair]]
STEP = 1e-30


class Rows(dict[str, Row]):
    """The rows of one subject, by the name of the function."""

    def row(self, name: str) -> Callable[[Row], Row]:
        """A row of any number of pairs."""

        def add(given: Row) -> Row:
            self[name] = given
            return given

        return add

    def simple(self, name: str, found: Callable[[Case], Any], wanted: Callable[[Case], Any]) -> None:
        """A row with one pair, the function found first."""

        def pairs(c: Case) -> Iterator[Pair]:
            yield found(c), wanted(c)

        self[name] = pairs


def rate_along(function: Any, c: Case) -> NDArray[Any]:
    """d/dt of a matrix that depends on the position, by a complex step along the motion."""
    q = np.asarray(c.q) + 1j * STEP * kn.velocity_to_qdot(c.model, c.q, c.v)
    return np.array([[complex(x).imag / STEP for x in r] for r in function(q.tolist()).rows])


def bare(model: Model) -> Model:
    """Without what joints do by themselves."""
    nothing: dict[str, Any] = dict(damping=(), friction=(), rotor_inertia=(), stiffness=(), rest=())
    return model.replace(joints=tuple(dataclasses.replace(joint, **nothing) for joint in model.joints))


def same(c: Case, other: Model, q: Any, v: Any, energy: float | None = None) -> Iterator[Pair]:
    """The energies, and inverse dynamics where a tree has it, of the same mechanism described in another way."""
    yield kn.kinetic_energy(other, q, v), kn.kinetic_energy(c.tree, c.Q, c.V) if energy is None else energy
    if not c.model.loops and energy is None:
        power = v @ kn.inverse_dynamics(other, q, v, np.zeros(other.nv))
        yield power, c.v @ (c.G.T @ kn.inverse_dynamics(c.tree, c.Q, c.V, c.g))
