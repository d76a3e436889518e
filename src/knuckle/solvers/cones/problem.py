"""Cone problems of given rows and laws, for those who have them in arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cone_newton import ROOM
from .contact_table import DISC, MOST_ROWS, REAL, ROLLING, SLIDING, TURNING, WHOLE, Cones


def disc_table(slides: bool, turns: bool, rolls: bool) -> tuple[int, NDArray[np.int64]]:
    """How many discs contacts have, and their rows and coefficients."""
    rows, first = list[int](), 1
    for is_there, size, column in ((slides, 2, SLIDING), (turns, 1, TURNING), (rolls, 2, ROLLING)):
        if is_there:
            rows += [first, size, column]
            first += size
    return len(rows) // DISC, np.array(rows or [0] * DISC, np.int64)


def room_for(
    contacts: int, entries: int, n: int, envelope: int, discs: tuple[bool, bool, bool], rounds: int, tolerance: float
) -> Cones:
    """Room for so many contacts, entries of their rows, velocities, and entries of an envelope."""
    rows = MOST_ROWS * contacts
    reals = {name: np.zeros(rows) for name in ("b", "free", "weight", "impulses", "best", "calm", "other")}
    count, disc = disc_table(*discs)
    return Cones(
        whole=np.zeros(WHOLE * contacts, np.int64), real=np.zeros(REAL * contacts), discs=count, disc=disc,
        Y=np.zeros(entries), apart=np.zeros(contacts), pushes=np.zeros(contacts), n=n, z=np.zeros(n),
        change=np.zeros(n), first=np.zeros(n, np.int64), last=np.zeros(n, np.int64), at=np.zeros(n, np.int64),
        M=np.zeros(envelope), K=np.zeros(ROOM * contacts), x=np.zeros(14 * MOST_ROWS + MOST_ROWS * n),
        rounds=rounds, tolerance=tolerance, **reals,
    )  # fmt: skip
