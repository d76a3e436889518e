"""Loop-closure functions: q = γ(y) of the independent variables y (RBDA 8.11).

G = ∂γ/∂y and g = Ġ ẏ (8.58-8.60) follow by exact differentiation, where γ is written down; or from K, where γ is found
by Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.model.coupling_laws import CouplingLaw
from knuckle.spatial import Matrix, Vector

from .independent_variables import Choice, expressed

Gamma = Callable[..., Mapping[str, Any]]
"""γ(y₁, y₂, …) → the positions of the joints that follow, by name; written with the functions of `knuckle.scalar`."""


@dataclass(frozen=True)
class ClosureLaw(CouplingLaw):
    """One joint's part of a loop-closure function."""

    gamma: Gamma
    joint: str

    def value(self, y: Vector) -> Any:
        return self.gamma(*y)[self.joint]


def following(K: Matrix, error: Vector, choice: Choice) -> Vector:
    """dq with K dq = −e in which the independent variables stay: a Newton step of the others (RBDA 8.51)."""
    return expressed(K, -error, choice)[1]
