"""Contact forces as arrows: from the points of contact, as long as the force is large, in a colour for its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knuckle.model import ROOT, Model
from knuckle.trajectory.contacts.motion_contacts import MotionContacts

from .figure import Figure
from .triangles import Array

STICK_COLOR, SLIP_COLOR = "#0072b2", "#e06c00"
"""Blue and orange, which everyone can tell apart."""
_USUAL, _LONGEST, _SHORTEST = 0.4, 1.2, 0.015
"""Lengths of arrows, as parts of the figure's size: of a large force that is usual, at most, and at least."""


@dataclass(frozen=True, eq=False)
class ForceArrows:
    """The arrows of a motion, those of one moment after those of another."""

    start: Array
    """(n + 1,): where the arrows of a moment begin, and after the last one end"""
    tail: Array
    """(m, 3) in base coordinates"""
    way: Array
    """(m, 3) from tail to head"""
    slides: Array
    """(m,)"""
    newtons: float
    """The force whose arrow is `length` long"""
    length: float

    def at(self, k: int) -> tuple[Array, Array, Array]:
        """Tails, ways and whether they slide, at one moment."""
        part = slice(self.start[k], self.start[k + 1])
        return self.tail[part], self.way[part], self.slides[part]


def moving_size(figure: Figure, q: Array) -> float:
    """The extent of what moves, by which arrows are drawn."""
    moving = tuple(part for part in figure.parts if part.body != ROOT)
    low, high = Figure(figure.model, moving).bounds(q)
    return 0.6 * float(np.linalg.norm(high - low))


def force_arrows(model: Model, contacts: MotionContacts, size: float, newtons: float | None = None) -> ForceArrows:
    """The forces on bodies that move, by the first of two that do; those that are too small to be seen are left out.

    `newtons` have an arrow of the usual length; if it is not given, a large force of these contacts has.
    """
    turned = np.array([-1.0 if first == model.base.name else 1.0 for first, _ in contacts.bodies] or [1.0])
    force = turned[contacts.pair if len(contacts.bodies) else np.zeros(0, int), None] * contacts.force
    sizes = np.linalg.norm(force, axis=1)
    if newtons is None:
        newtons = rounded(float(np.quantile(sizes[sizes > 0], 0.9))) if np.any(sizes > 0) else 1.0
    length = usual_length(size)
    lengths = np.minimum(sizes * length / newtons, _LONGEST * size)
    shown = np.flatnonzero(lengths > _SHORTEST * size)
    way = force[shown] * (lengths[shown] / sizes[shown])[:, None]
    start = np.searchsorted(contacts.row[shown], np.arange(len(contacts.times) + 1))
    return ForceArrows(start, contacts.point[shown], way, ~contacts.sticks[shown], newtons, length)


def scale_of(arrows: Sequence[ForceArrows | None]) -> str:
    """How long the arrows of one robot are, in words; nothing where there are none, or several robots."""
    found = [x for x in arrows if x is not None and len(x.tail)]
    return in_words(found[0].newtons, found[0].length) if len(found) == 1 else ""


def usual_length(size: float) -> float:
    """The length of the arrow of a large force that is usual, for what moves and is so large."""
    return _USUAL * size


def in_words(newtons: float, length: float) -> str:
    """A scale for people."""
    return f"{newtons:g} N are {length:.2g} m"


def rounded(x: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(min((k * power for k in (1, 2, 5, 10)), key=lambda y: abs(np.log(y / x))))
