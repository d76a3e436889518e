"""Linkages that move for long and keep their energy: what simulations of closed loops are judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import kinetic_energy, potential_energy
from knuckle.functions.loops.assembly import project
from knuckle.model import Model

from .linkages import Linkage, bennett, crank_slider, delta, five_bar, four_bar, ladder, leg, stewart


@dataclass(frozen=True)
class Moving:
    """A mechanism with loops and a state (q, v) in which they are closed and stay so. Nothing takes its energy."""

    model: Model
    q: NDArray[np.float64]
    v: NDArray[np.float64]

    def energy_error(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> float:
        """The largest change of the energy along states (..., nq), (..., nv), relative to their kinetic energy."""
        kinetic = kinetic_energy(self.model, q, v)
        change = kinetic + potential_energy(self.model, q) - kinetic_energy(self.model, self.q, self.v)
        return float(np.abs(change - potential_energy(self.model, self.q)).max() / kinetic.max())


def moving(linkage: Linkage, speed: float = 0.5, seed: int = 0) -> Moving:
    """A linkage set in motion, with a random velocity that its loops allow."""
    wanted = speed * np.random.default_rng(seed).standard_normal(linkage.model.nv)
    q, v = project(linkage.model, linkage.q, wanted)
    return Moving(linkage.model, q, v)


def sprung(linkage: Linkage, word: str, stiffness: float) -> Linkage:
    """With springs, at rest where it is, at the joints whose names have a word in them."""
    joints = (
        replace(joint, stiffness=(stiffness,) * joint.type.nv) if word in joint.name else joint
        for joint in linkage.model.joints
    )
    return Linkage(linkage.model.replace(joints=tuple(joints)), linkage.q)


def weightless(linkage: Linkage) -> Linkage:
    """Without gravity."""
    return Linkage(linkage.model.replace(gravity=(0.0, 0.0, 0.0)), linkage.q)


def light(linkage: Linkage) -> Linkage:
    """With a twentieth of gravity, from one side, so that what hangs begins to swing and its bars do not rattle."""
    return Linkage(linkage.model.replace(gravity=(0.1, 0.0, -0.5)), linkage.q)


MOVING: dict[str, Callable[[], Moving]] = {
    "four-bar": lambda: moving(four_bar()),
    "crank-slider": lambda: moving(crank_slider()),
    "five-bar": lambda: moving(five_bar()),
    "Stewart": lambda: moving(sprung(stewart(), "piston", 400.0)),
    "Delta": lambda: moving(sprung(delta(), "crank", 20.0)),
    "leg": lambda: moving(weightless(leg())),
    "Bennett": lambda: moving(bennett()),
    "ladder": lambda: moving(ladder(4)),
    "ladder of fifty": lambda: moving(light(ladder(50)), 0.0),
}
"""Mechanisms of `linkages` that stay within their range: those that would leave it are held by springs."""
