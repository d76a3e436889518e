"""How far a body's frame may go without costing digits.

About an origin at a distance d a body has moments of the size m d², and rounding leaves an error of ε m d² in all of
them. What a joint moves may be as little as the least central moment J of the body: where m d² is much larger than J,
digits are gone that no later step brings back. So an origin stays within the distance at which the body was given, a
few times over, or within that at which m d² is `LOSS` times J. Then every body's inertia is known to `LOSS` rounding
errors of itself, in the sense of the kinetic energy of any motion, and so is the mass matrix.
"""

from __future__ import annotations

import math

import numpy as np

from knuckle.model.edit.exact_constants import is_plain
from knuckle.model.model import Model
from knuckle.model.parts import ROOT
from knuckle.spatial import Inertia

from .snapping import length

LOSS = 1e3
"""m d² / J: three digits of sixteen."""
GROWTH = 2.0
"""How many times farther away than it was given a body may be looked at."""


def reach(I: Inertia) -> float:
    """The distance from which a body may be looked at: infinite for one without mass or of unknown numbers."""
    if not is_plain(I) or not float(I.mass) > 0:
        return math.inf
    m, h = float(I.mass), np.array([float(x) for x in I.h])
    xx, xy, yy, xz, yz, zz = (float(x) for x in I.I)
    about_origin = np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])
    least = np.linalg.eigvalsh(about_origin - (h @ h * np.eye(3) - np.outer(h, h)) / m)[0]
    return max(GROWTH * float(np.linalg.norm(h)) / m, math.sqrt(max(0.0, float(least)) * LOSS / m))


def reaches(model: Model) -> tuple[list[float], list[dict[int, float]]]:
    """For each body how far its own frame may move, and how far for the sake of each of its children."""
    own, beyond = [reach(I) for I in model.I], list[dict[int, float]]({} for _ in range(model.nb))
    whole = list(own)
    for i, p, _ in model.inward():
        if p != ROOT:
            beyond[p][i] = max(GROWTH * length(model.X_tree[i].r), whole[i]) if is_plain(model.X_tree[i]) else 0.0
            whole[p] = min(whole[p], beyond[p][i])
    return own, beyond
