"""Two boxes: a face on a face at up to four places, an edge on an edge at one, or the nearest points if apart."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint, chosen
from knuckle.model.parts import Box
from knuckle.scalar import less, maximum, minimum, select, sqrt
from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3, add, dot, halved, matvec, neg, scale, sub, tmatvec

from .box_axes import SLIGHT, EdgeAxis, PlacedBox, best_edges, best_face, size_of
from .face_manifold import overlay
from .polygon_corners import NOWHERE
from .segments import clamped

WAYS = (-1.0, 1.0)

ALIGNED = 0.9
"""The cosine of the angle up to which edges that touch leave the places of faces that nearly do."""


def placed(box: Box, X: Transform) -> PlacedBox:
    a, b, c = box.size
    return PlacedBox(X.r, X.E, (a / 2, b / 2, c / 2))


def box_on_box(first: Box, X: Transform, second: Box, Y: Transform) -> Places:
    return boxes(placed(first, X), placed(second, Y))


def boxes(A: PlacedBox, B: PlacedBox) -> Places:
    """Four places; the least of their gaps is the distance of the boxes, or how far they overlap at least.

    A face on a face has the corners of what they share. An edge on an edge has one place, and faces beside them that
    are nearly parallel keep theirs. Places that are not needed have a gap that is larger than either box.
    """
    size = size_of(A, B)
    face, edges = best_face(A, B), best_edges(A, B)
    is_first = less(0.5, face.is_first)
    shared = overlay(_one(is_first, A, B), face.axis, _one(is_first, B, A))
    n = chosen(is_first, neg(shared.frame.E[0]), shared.frame.E[0])

    is_edge = less(face.separation + SLIGHT * size, edges.separation)
    on_face = TouchPoint(face.separation, shared.point(shared.lowest), n)
    on_edges = TouchPoint(edges.separation, halved(add(edges.first, edges.second)), edges.normal)
    is_apart = less(SLIGHT * size, maximum(face.separation, edges.separation))
    single = _either(is_apart, nearest(A, B, edges), _either(is_edge, on_edges, on_face))

    least = select(is_apart, 0.0, single.gap)
    height = [select(less(c[2], least), least, c[2]) for c in shared.corners]
    deepest = select(is_edge, NOWHERE, height[0])
    is_other = less(dot(n, edges.normal), select(is_edge, ALIGNED, -2.0))
    height = [select(is_other, NOWHERE, h) for h in height]
    places = [TouchPoint(h, shared.point(c), n) for h, c in zip(height, shared.corners, strict=True)]
    places[0] = _either(less(deepest, single.gap + 3 * SLIGHT * size), places[0], single)
    far = TouchPoint(places[0].gap + size, places[0].point, places[0].normal)
    places = [_either(less(NOWHERE / 2, place.gap), far, place) for place in places]
    return _in_order(places, shared.corners)


def _either(condition: Any, a: TouchPoint, b: TouchPoint) -> TouchPoint:
    return TouchPoint(
        select(condition, a.gap, b.gap), chosen(condition, a.point, b.point), chosen(condition, a.normal, b.normal)
    )


def _one(condition: Any, A: PlacedBox, B: PlacedBox) -> PlacedBox:
    x, y, z = (chosen(condition, a, b) for a, b in zip(A.E, B.E, strict=True))
    return PlacedBox(chosen(condition, A.r, B.r), (x, y, z), chosen(condition, A.half, B.half))


def _in_order(places: Places, corners: list[Vec3]) -> Places:
    """The same round from the corner with the least x + y on, so that corners keep their numbers as the boxes move."""
    key = [x + y + select(less(z, NOWHERE / 2), 0.0, NOWHERE) for x, y, z in corners]
    is_late = less(minimum(key[2], key[3]), minimum(key[0], key[1]))
    is_odd = less(select(is_late, key[3], key[1]), select(is_late, key[2], key[0]))
    places = [_either(is_late, places[(k + 2) % 4], places[k]) for k in range(4)]
    return [_either(is_odd, places[(k + 1) % 4], places[k]) for k in range(4)]


def nearest(A: PlacedBox, B: PlacedBox, edges: EdgeAxis) -> TouchPoint:
    """The nearest points of two boxes that are apart: of a corner and a box, or of two edges."""
    near_A, near_B = _nearest_corner(B, A), _nearest_corner(A, B)
    best = (near_A[1], near_A[0]), (near_B[0], near_B[1]), (edges.first, edges.second)
    a, b = best[0]
    for p, q in best[1:]:
        is_nearer = less(_squared(p, q), _squared(a, b))
        a, b = chosen(is_nearer, p, a), chosen(is_nearer, q, b)
    squared = _squared(a, b)
    is_apart = less(1e-30, squared)
    gap = sqrt(select(is_apart, squared, 1.0))
    normal = chosen(is_apart, scale(1 / gap, sub(a, b)), edges.normal)
    return TouchPoint(select(is_apart, gap, 0.0), halved(add(a, b)), normal)


def _nearest_corner(A: PlacedBox, B: PlacedBox) -> tuple[Vec3, Vec3]:
    """The corner of A that is nearest to B, and the nearest point of B."""
    c = matvec(B.E, sub(A.r, B.r))
    sides = [scale(h, matvec(B.E, e)) for h, e in zip(A.half, A.E, strict=True)]
    best: Any = None
    corner: Any = None
    for signs in ((a, b, d) for a in WAYS for b in WAYS for d in WAYS):
        p = c
        for s, side in zip(signs, sides, strict=True):
            p = add(p, scale(s, side))
        squared = _squared(p, _within(B, p))
        if best is None:
            best, corner = squared, p
            continue
        is_nearer = less(squared, best)
        best, corner = select(is_nearer, squared, best), chosen(is_nearer, p, corner)
    return add(B.r, tmatvec(B.E, corner)), add(B.r, tmatvec(B.E, _within(B, corner)))


def _within(box: PlacedBox, p: Vec3) -> Vec3:
    x, y, z = (clamped(x, h) for x, h in zip(p, box.half, strict=True))
    return x, y, z


def _squared(p: Vec3, q: Vec3) -> Any:
    d = sub(p, q)
    return dot(d, d)
