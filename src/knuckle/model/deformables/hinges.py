"""Pairs of triangles at an edge, by which sheets resist bending."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def hinge_coefficients(X: Array, triangles: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """The nodes (n, 4) of all pairs of triangles, edge first, coefficients c (n, 4), and their areas (n,).

    Σ c_a x_a is normal to a flat sheet that bends, and as long as the edge times the angle: coefficients by the
    cotangents of angles at rest (Bergou, Wardetzky and others 2006).
    """
    sides: dict[tuple[int, int], list[int]] = {}
    for a, b, c in np.asarray(triangles).tolist():
        for p, q, r in ((a, b, c), (b, c, a), (c, a, b)):
            sides.setdefault((min(p, q), max(p, q)), []).append(r)
    hinges = [(p, q, *across) for (p, q), across in sides.items() if len(across) == 2]
    node = np.array(hinges, np.int64).reshape(-1, 4)
    x0, x1, x2, x3 = (X[node[:, k]] for k in range(4))

    def cotangent(u: Array, v: Array) -> Array:
        return (u * v).sum(-1) / np.linalg.norm(np.cross(u, v), axis=-1)

    def area(u: Array, v: Array) -> Array:
        return np.linalg.norm(np.cross(u, v), axis=-1) / 2

    first, second = cotangent(x1 - x0, x2 - x0), cotangent(x1 - x0, x3 - x0)
    third, fourth = cotangent(x0 - x1, x2 - x1), cotangent(x0 - x1, x3 - x1)
    c = np.stack([third + fourth, first + second, -first - third, -second - fourth], axis=-1)
    return node, c, area(x1 - x0, x2 - x0) + area(x1 - x0, x3 - x0)
