"""Which triangle is seen at each pixel: the loop over triangles and their pixels, in native code."""

from __future__ import annotations

from knuckle.engine.routines import Reals, Wholes, routine


@routine
def draw_triangles(
    count: int, corners: Reals, width: int, height: int, nearness: Reals, face: Wholes, weight: Reals
) -> None:
    """Puts the number of the nearest triangle into `face`, its nearness, and the weights of its first two corners.

    A corner is x and y in pixels, from the upper left, and its nearness, which is linear over a triangle on the screen:
    one over its distance along the view, or what grows towards a light. What is less near than what is there stays
    hidden.
    """
    for k in range(count):
        ax, ay, an = corners[9 * k], corners[9 * k + 1], corners[9 * k + 2]
        bx, by, bn = corners[9 * k + 3], corners[9 * k + 4], corners[9 * k + 5]
        cx, cy, cn = corners[9 * k + 6], corners[9 * k + 7], corners[9 * k + 8]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(area) > 1e-9:
            left, right = int(max(min(ax, min(bx, cx)), 0.0)), int(min(max(ax, max(bx, cx)) + 1.0, float(width)))
            top, bottom = int(max(min(ay, min(by, cy)), 0.0)), int(min(max(ay, max(by, cy)) + 1.0, float(height)))
            for row in range(top, bottom):
                y = float(row) + 0.5
                for column in range(left, right):
                    x = float(column) + 0.5
                    u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                    v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                    if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
                        near = u * an + v * bn + (1.0 - u - v) * cn
                        place = row * width + column
                        if near > nearness[place]:
                            nearness[place] = near
                            face[place] = k
                            weight[2 * place] = u
                            weight[2 * place + 1] = v
