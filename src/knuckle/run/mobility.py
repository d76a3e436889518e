"""How many freedoms a mechanism with loops has, and which constraints it could do without (RBDA 8.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.model import Model
from knuckle.model.clusters import clusters

from .assembly import one_position, project
from .configuration import integrate
from .loops import constraint_jacobian

RANK = 1e-9
ROUNDING = 1e-13
NEARBY = 1e-3


@dataclass(frozen=True)
class Mobility:
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
    def mobility(self) -> int:
        """n − r: the freedoms here (RBDA 8.52)."""
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
        parts = [f"mobility {self.mobility}", f"{self.rank} independent of {self.constraints} constraints: {what}"]
        if self.undetermined:
            parts.append(f"{self.undetermined} constraint forces undetermined")
        if self.singular:
            parts.append(f"singular: nearby the mobility is {self.variables - self.nearby_rank}")
        return "; ".join(parts)


def mobility(model: Model, q: ArrayLike) -> Mobility:
    """The freedoms of a mechanism with loops in the position `q` (nq,), which closes them (RBDA 8.52-8.55)."""
    at = one_position(model, q)
    K = np.asarray(constraint_jacobian(model, at), float)
    rng = np.random.default_rng(0)
    ranks = [rank_of(np.asarray(constraint_jacobian(model, near), float)) for near in _nearby(model, at, K, rng)]
    names = tuple(tuple(model.loops[l].name for l in cluster.loops) for cluster in clusters(model))
    return Mobility(model.nv, K.shape[0], rank_of(K), max([rank_of(K), *ranks]), names)


def rank_of(K: NDArray[Any]) -> int:
    """The rank, rows of metres and radians being compared after scaling each to its largest entry.

    Rows of rounding alone say nothing: those across a plane that is not one of the coordinate planes.
    """
    size = np.abs(K).max(axis=1, initial=0.0)
    says = size > ROUNDING * size.max(initial=0.0)
    rows = K[says] / size[says, None]
    values = np.linalg.svd(rows, compute_uv=False) if rows.size else np.zeros(0)
    return int((values > RANK * max(rows.shape)).sum()) if rows.size else 0


def _nearby(model: Model, q: NDArray[Any], K: NDArray[Any], rng: np.random.Generator) -> list[NDArray[Any]]:
    """Closed positions around q: moved a little within the freedoms, and closed again."""
    found: list[NDArray[Any]] = []
    for _ in range(3):
        v = rng.standard_normal(model.nv)
        v = v - np.linalg.pinv(K, rcond=1e-10) @ (K @ v)
        try:
            found.append(project(model, integrate(model, q, NEARBY * v))[0])
        except ValueError:  # moved off along a freedom that is none: no closed position there
            continue
    return found
