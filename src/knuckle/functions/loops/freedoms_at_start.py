"""How many freedoms a mechanism with loops has where it starts, for those who describe it."""

from __future__ import annotations

import numpy as np

from knuckle.functions.configuration import neutral
from knuckle.model import Model

from .assembly import close
from .degrees_of_freedom import DegreesOfFreedom, degrees_of_freedom

MOST = 60
"""Velocity variables of mechanisms that are looked at: of larger ones it would take long."""


def freedoms_at_start(model: Model) -> DegreesOfFreedom | None:
    """The freedoms at the closed position that is nearest to the neutral one.

    None where there are no loops, where they cannot be closed, or where numbers are not numbers but symbols.
    """
    if not model.loops or model.nv > MOST:
        return None
    try:
        closed = close(model, neutral(model))
        return degrees_of_freedom(model, closed.q) if closed.closed else None
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return None
