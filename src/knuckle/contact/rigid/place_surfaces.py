"""What holds at each place where shapes may touch: friction, restitution, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.contact.contact_terms import candidates
from knuckle.engine.kernels.per_model import per_model
from knuckle.functions.configuration import neutral
from knuckle.model import Model

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class PlaceSurfaces:
    """Arrays with an entry for each place of `gaps`."""

    friction: Array
    restitution: Array
    names: tuple[tuple[str, str], ...]

    def __len__(self) -> int:
        return len(self.names)

    def with_values(self, friction: float | None, restitution: float | None) -> PlaceSurfaces:
        """The same with one friction, or one restitution, for all places."""
        mu = self.friction if friction is None else np.full(len(self), float(friction))
        e = self.restitution if restitution is None else np.full(len(self), float(restitution))
        return PlaceSurfaces(mu, e, self.names)


@per_model
def place_surfaces(model: Model) -> PlaceSurfaces:
    """What holds at each place of a model, in the order of `gaps`."""
    pairs = [x.pair for x in candidates(model, positions(model, model.positions(neutral(model).tolist())))]
    return PlaceSurfaces(
        np.array([float(pair.surface.friction) for pair in pairs]),
        np.array([float(pair.surface.restitution) for pair in pairs]),
        tuple(pair.names(model) for pair in pairs),
    )
