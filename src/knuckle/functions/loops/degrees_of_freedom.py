"""How many freedoms a mechanism with loops has, and which constraints it could do without (RBDA 8.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.functions.configuration import integrate
from knuckle.model import Model
from knuckle.model.loop_clusters import clusters
from knuckle.public_names import public_in
from knuckle.solvers.numeric_rank import Judged

from .assembly import one_position, project
from .loop_terms import judged_constraints

NEARBY = 1e-3
"""How far away a position counts as nearby, in radians and metres."""


@public_in("loops")
@dataclass(frozen=True)
class DegreesOfFreedom:
    """The freedoms of a mechanism in one position, and how its constraints depend on each other there."""

    variables: int
    """n: velocity variables of the tree."""
    constraints: int
    """n_c: those of the loop joints."""
    rank: int
    """r: the independent ones among them, here."""
    nearby_rank: int
    """The same in a position nearby: more than `rank` where this position is singular."""
    clusters: tuple[tuple[str, ...], ...]
    """The loops that are coupled, by name."""

    @property
    def freedoms(self) -> int:
        """n − r: the degrees of freedom here, the mobility (RBDA 8.52)."""
        return self.variables - self.rank

    @property
    def counted(self) -> int:
        """n − n_c: what counting joints and loops says (RBDA 8.53)."""
        return self.variables - self.constraints

    @property
    def undetermined(self) -> int:
        """n_c − r: the dimension of the constraint forces that motion does not determine."""
        return self.constraints - self.rank

    @property
    def overconstrained(self) -> bool:
        """Whether constraints depend on each other in every position nearby."""
        return self.nearby_rank < self.constraints

    @property
    def singular(self) -> bool:
        """Whether the mechanism has more freedoms here than nearby."""
        return self.rank < self.nearby_rank

    def __str__(self) -> str:
        what = "overconstrained" if self.overconstrained else "properly constrained"
        noun = "degree of freedom" if self.freedoms == 1 else "degrees of freedom"
        parts = [f"{self.freedoms} {noun}", f"{self.rank} independent of {self.constraints} constraints: {what}"]
        if self.undetermined:
            parts.append(f"{self.undetermined} constraint forces undetermined")
        if self.singular:
            parts.append(f"singular: nearby it has {self.variables - self.nearby_rank}")
        return "; ".join(parts)


@public_in("loops")
def degrees_of_freedom(model: Model, q: ArrayLike) -> DegreesOfFreedom:
    """The freedoms of a mechanism with loops in the position `q` (nq,), which closes them (RBDA 8.52-8.55)."""
    at = one_position(model, q)
    rows, rng = judged_constraints(model, at), np.random.default_rng(0)
    rank = int(rows.factor.rank)
    ranks = [int(judged_constraints(model, near).factor.rank) for near in _nearby(model, at, rows, rng)]
    names = tuple(tuple(model.loops[l].name for l in cluster.loops) for cluster in clusters(model))
    return DegreesOfFreedom(model.nv, len(rows.K), rank, max([rank, *ranks]), names)


def _nearby(model: Model, q: NDArray[Any], rows: Judged, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Closed positions around q: moved a little within the freedoms, and closed again."""
    positions: list[NDArray[Any]] = []
    for _ in range(3):
        v = rows.factor.freed(rng.standard_normal(model.nv))
        try:
            positions.append(project(model, integrate(model, q, NEARBY * v))[0])
        except ValueError:  # moved off along a freedom that is none: no closed position there
            continue
    return positions
