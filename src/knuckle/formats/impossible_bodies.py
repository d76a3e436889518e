"""A word about bodies that cannot be: negative masses, and inertias that no body has."""

from __future__ import annotations

import math
from collections.abc import Iterable

from knuckle.model import Body
from knuckle.model.audit.survey import bulk
from knuckle.warning import warn

TRIANGLE = 1e-2
"""Principal moments are written with few digits: the triangle inequality may fail by this part of the largest."""
MOST = 3
"""Bodies that are named at most."""


def warn_of_bodies(model: str, bodies: Iterable[Body]) -> None:
    """One warning for all bodies of a file that no matter could make."""
    found = [f"link {body.name!r} has {text}" for body in bodies if (text := _impossible(body))]
    if found:
        more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
        warn(f"{model}: {'; '.join(found[:MOST])}{more}: no body can be like that; kn.audit(model) says more")


def _impossible(body: Body) -> str:
    """What is impossible about a body; nothing for one that can be, or that is not made of plain numbers."""
    b = bulk(body.inertia)
    if b is None or not all(map(math.isfinite, (b.mass, *b.moments))):
        return ""
    if b.mass < 0:
        return f"a negative mass, {b.mass:g} kg"
    small, middle, large = b.moments
    moments = f"{small:.4g}, {middle:.4g}, {large:.4g} kg m²"
    if small < 0:
        return f"a moment of inertia below zero ({moments})"
    if small + middle < (1 - TRIANGLE) * large:
        return f"principal moments of which one exceeds the sum of the others ({moments})"
    return ""
