"""Directions that may separate two boxes: the normals of their faces, and those across an edge of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from knuckle.algorithms.contact.plane_gaps import chosen
from knuckle.scalar import ZERO, absolute, less, maximum, select, sqrt
from knuckle.spatial.three import Mat3, Vec3, add, cross, dot, scale, sub

from .segments import PARALLEL, nearest_of_lines

SLIGHT = 1e-8
"""By how much of the boxes' size a direction must be better than those before it: flat contact stays flat."""


class PlacedBox(NamedTuple):
    """A box by its centre, its axes (the rows of E) and half its sides."""

    r: Vec3
    E: Mat3
    half: Vec3


class FaceAxis(NamedTuple):
    """The face that separates two boxes best: how far, whether it is of the first box, and the number of its axis."""

    separation: Any
    is_first: Any
    axis: Any


class EdgeAxis(NamedTuple):
    """The edges that separate two boxes best: how far, the normal to the first box, and the points of both nearest."""

    separation: Any
    normal: Vec3
    first: Vec3
    second: Vec3


def sign_of(x: Any) -> Any:
    """1, or −1 below zero."""
    return select(less(x, 0), -1.0, 1.0)


def total(x: Any, y: Any) -> Any:
    """Σ |xₖ yₖ|."""
    return sum((absolute(a * b) for a, b in zip(x, y, strict=True)), ZERO)


def size_of(A: PlacedBox, B: PlacedBox) -> Any:
    """A length that is larger than either box."""
    return 2 * (sum(A.half, ZERO) + sum(B.half, ZERO))


def largest(x: Sequence[Any]) -> Any:
    """The number of the largest of three: 0, 1 or 2."""
    not_first, not_second = less(x[0], maximum(x[1], x[2])), less(x[1], x[2])
    return select(not_first, select(not_second, 2.0, 1.0), 0.0)


def rotated(row: tuple[Any, ...], k: Any) -> tuple[Any, ...]:
    """Three numbers from the k-th on, in cyclic order; k is 0, 1 or 2."""
    a, b, c = row
    is_second, is_third = less(0.5, k), less(1.5, k)
    return tuple(select(is_third, z, select(is_second, y, x)) for x, y, z in ((a, b, c), (b, c, a), (c, a, b)))


def best_face(A: PlacedBox, B: PlacedBox) -> FaceAxis:
    """The largest separation along the normals of faces, those of A first."""
    d, slight = sub(A.r, B.r), SLIGHT * size_of(A, B)
    best, number = None, 0.0
    for k in range(6):
        box, other = (A, B) if k < 3 else (B, A)
        n = box.E[k % 3]
        s = absolute(dot(d, n)) - box.half[k % 3] - total(other.half, [dot(n, e) for e in other.E])
        if best is None:
            best = s
            continue
        is_better = less(best + slight, s)
        best, number = select(is_better, s, best), select(is_better, float(k), number)
    is_second = less(2.5, number)
    return FaceAxis(best, select(is_second, 0.0, 1.0), number - select(is_second, 3.0, 0.0))


def best_edges(A: PlacedBox, B: PlacedBox) -> EdgeAxis:
    """The largest separation along directions across an edge of each, and the points where these edges are nearest."""
    d, least = sub(A.r, B.r), -2 * size_of(A, B)
    R = [[dot(a, b) for b in B.E] for a in A.E]
    along = [dot(d, a) for a in A.E]
    best: Any = least
    i_best: Any = 0.0
    j_best: Any = 0.0
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            m, n = (j + 1) % 3, (j + 2) % 3
            squared = R[p][j] * R[p][j] + R[q][j] * R[q][j]
            is_parallel = less(squared, PARALLEL)
            reach = (
                total((A.half[p], A.half[q]), (R[q][j], R[p][j])) + total((B.half[m], B.half[n]), (R[i][n], R[i][m]))
            )  # fmt: skip
            s = (absolute(along[q] * R[p][j] - along[p] * R[q][j]) - reach) / sqrt(select(is_parallel, 1.0, squared))
            s = select(is_parallel, least, s)
            is_better = less(best, s)
            best = select(is_better, s, best)
            i_best, j_best = select(is_better, float(i), i_best), select(is_better, float(j), j_best)
    a, b = edge_of(A, i_best), edge_of(B, j_best)
    normal = _across(a.E[0], b.E[0])
    normal = scale(sign_of(dot(normal, d)), normal)
    start, end = _middle(a, normal, -1.0), _middle(b, normal, 1.0)
    first, second = nearest_of_lines(start, a.E[0], a.half[0], end, b.E[0], b.half[0])
    return EdgeAxis(best, normal, first, second)


def edge_of(box: PlacedBox, k: Any) -> PlacedBox:
    """The same box with its k-th axis first."""
    columns = [rotated(x, k) for x in zip(*box.E, strict=True)]
    x, y, z = zip(*columns, strict=True)
    a, b, c = rotated(box.half, k)
    return PlacedBox(box.r, (x, y, z), (a, b, c))


def _across(a: Vec3, b: Vec3) -> Vec3:
    """The direction across two; if they are parallel, some direction of length one."""
    n = cross(a, b)
    squared = dot(n, n)
    is_parallel = less(squared, PARALLEL)
    return chosen(is_parallel, a, scale(1 / sqrt(select(is_parallel, 1.0, squared)), n))


def _middle(box: PlacedBox, n: Vec3, way: float) -> Vec3:
    """The middle of the edge along the first axis that lies farthest along n, or against it."""
    side, other = (scale(way * sign_of(dot(e, n)) * h, e) for e, h in zip(box.E[1:], box.half[1:], strict=True))
    return add(box.r, add(side, other))
