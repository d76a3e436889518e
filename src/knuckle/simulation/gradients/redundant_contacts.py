"""Contacts whose impulses are not unique, where gradients are those of one choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import Integrator
from knuckle.model import Model

Array: TypeAlias = NDArray[Any]

UNIQUE = 3
"""Places between two bodies that share their load in one way."""
RIM, PARALLEL = 1 - 1e-6, 1e-6
"""The part of the cone from which on a place slides, and what directions may differ by that are the same."""


@dataclass(frozen=True)
class SharedLoads:
    """Places with friction between the same two bodies, more than share their load in one way.

    Four feet of a table share it in many ways. What sticks does not care, nor what slides in one direction; where feet
    slide in different directions, how they share it changes the motion.

    Attributes:
        groups: of each two bodies, where the impulses of their places begin, and their coefficients of friction.
    """

    groups: tuple[tuple[tuple[int, float], ...], ...]

    @classmethod
    def of(cls, model: Model, integrator: Integrator) -> SharedLoads | None:
        """Those of a mechanism that an integrator solves contacts of; None where there are none."""
        if not integrator.solves_contacts:
            return None
        from knuckle.contact.contact_pairs import contact_pairs
        from knuckle.integrators.methods.contact_impulses import impulses_of_places
        from knuckle.integrators.methods.contact_steps import ContactSteps

        if not isinstance(integrator, ContactSteps):
            return None
        every, found = contact_pairs(model), dict[tuple[int, int], list[tuple[int, float]]]()
        for place in impulses_of_places(model, integrator.pairs):
            pair = every[place.pair]
            mu = float(pair.surface.friction)
            if mu > 0:
                found.setdefault((pair.first, pair.second), []).append((place.impulses.start, mu))
        groups = tuple(tuple(group) for group in found.values() if len(group) > UNIQUE)
        return cls(groups) if groups else None

    def unclear(self, impulses: Array) -> NDArray[np.bool_]:
        """Whether some steps of trajectories, with impulses (n, steps, …), depend on how a load is shared: (n,)."""
        found = np.zeros(len(impulses), bool)
        for group in self.groups:
            at = np.array([start for start, _ in group])
            normal, across = impulses[..., at], np.stack([impulses[..., at + 1], impulses[..., at + 2]], -1)
            size = np.linalg.norm(across, axis=-1)
            pushes = normal > 0
            slides = pushes & (size > RIM * np.array([mu for _, mu in group]) * normal)
            ways = np.where(slides[..., None], across / np.where(slides, size, 1.0)[..., None], np.nan)
            first = np.take_along_axis(ways, np.argmax(slides, -1)[..., None, None], -2)
            differs = (np.abs(np.nan_to_num(ways - first)).max(-1) > PARALLEL).any(-1)
            mixed = slides.any(-1) & (slides != pushes).any(-1)
            found |= ((pushes.sum(-1) > UNIQUE) & (differs | mixed)).any(-1)
        return found
