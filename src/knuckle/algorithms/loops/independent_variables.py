"""Independent variables of a mechanism with loops: a = G ÿ + g with K G = 0 and K g = k (RBDA 8.8, 8.51)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector


@dataclass(frozen=True)
class Choice:
    """Which constraints determine which variables, in the order of elimination, and the variables that are left."""

    constraints: tuple[int, ...]
    dependent: tuple[int, ...]
    independent: tuple[int, ...]


def expressed(K: Matrix, k: Vector, choice: Choice) -> tuple[Matrix, Vector]:
    """(G, g) (RBDA 8.51): the dependent variables by elimination in the order of the choice."""
    columns = (*choice.dependent, *choice.independent)
    rows: list[list[Any]] = [[*(K[i][j] for j in columns), k[i]] for i in choice.constraints]
    r = len(rows)
    for p in range(r):
        inverse = ONE / rows[p][p]
        rows[p] = [x * inverse for x in rows[p]]
        for i in range(r):
            factor = rows[i][p]
            if i != p:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[p], strict=True)]
    free = len(choice.independent)
    G: list[list[Any]] = [[ZERO] * free for _ in columns]
    g: list[Any] = [ZERO] * len(columns)
    for p, j in enumerate(choice.dependent):
        G[j], g[j] = [-x for x in rows[p][r:-1]], rows[p][-1]
    for p, j in enumerate(choice.independent):
        G[j][p] = ONE
    return Matrix(G, free), Vector(g)
