"""Shapes that are inside each other when a simulation begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.contact.contact_terms import Candidate, candidates
from knuckle.contact.shape_collider import touch_point
from knuckle.integrators.base import Integrator
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.model import Model
from knuckle.warning import warn

DEEP = 1e-3
"""The overlap, in metres, that steps take back without a warning."""


def warn_of_overlaps(model: Model, integrator: Integrator, q: NDArray[Any]) -> None:
    """A warning if rigid shapes overlap at the start of steps that take overlaps back: that lifts bodies, and so adds
    energy that nothing else gave."""
    deep: dict[tuple[str, str], float] = {}
    for pair, place in _places(model, integrator, q):
        if pair.surface.stiffness is None and -place.gap > DEEP:
            names = pair.names(model)
            deep[names] = max(deep.get(names, 0.0), -float(place.gap))
    if deep:
        (first, second), depth = max(deep.items(), key=lambda item: item[1])
        others = f", and {len(deep) - 1} other pairs of bodies overlap" if len(deep) > 1 else ""
        warn(
            f"{first!r} and {second!r} of {model.name} overlap by {depth:.3g} m at the start{others}: the first steps "
            "push them apart, which adds potential energy. Start them apart, or with contacts=False"
        )


def _places(model: Model, integrator: Integrator, q: NDArray[Any]) -> list[Candidate]:
    """Where shapes overlap, or may touch, in the state q; nothing for steps that do not solve contacts."""
    match integrator:
        case ColliderSteps(collider=collider):
            if len(q) != collider.model.nq:
                return []  # of another mechanism: its steps will say so
            places = integrator.room.places(0.0, q)
            pairs = [pair for pair, count in zip(collider.pairs, collider.counts, strict=True) for _ in range(count)]
            deep = np.flatnonzero(places[:, 0] < -DEEP).tolist()
            return [Candidate(pairs[k], touch_point(places[k].tolist())) for k in deep]
        case ContactSteps(pairs=None):
            start = model.at_time(0.0)
            return candidates(start, positions(start, start.positions(q.tolist())))
        case _:
            return []
