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


def choose(K: Matrix, independent: tuple[int, ...] = (), tolerance: float = 1e-9) -> Choice:
    """A choice by Gaussian elimination with complete pivoting, for numbers (RBDA 8.8).

    Rows are compared after scaling each to its largest entry. `independent` variables are eliminated last, and stay
    independent if the others can follow them. The rank is the number of pivots above `tolerance`.
    """
    rows = {i: [x / max(map(abs, row)) for x in row] for i, row in enumerate(K.rows) if any(row)}
    first = [j for j in range(K.ncols) if j not in independent]
    constraints, dependent = list[int](), list[int]()
    for columns in (first, list(independent)):
        left = list(columns)
        while rows and left:
            i, j = max(((i, j) for i in rows for j in left), key=lambda at: abs(rows[at[0]][at[1]]))
            if abs(rows[i][j]) <= tolerance:
                break
            pivot = rows.pop(i)
            for row in rows.values():
                factor = row[j] / pivot[j]
                row[:] = [x - factor * y for x, y in zip(row, pivot, strict=True)]
            left.remove(j)
            constraints.append(i)
            dependent.append(j)
    return Choice(tuple(constraints), tuple(dependent), tuple(j for j in range(K.ncols) if j not in dependent))


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
