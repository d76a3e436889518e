"""A figure for a model without visuals: what is known of it is where its joints are and how its mass is spread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from knuckle.joints import Joint
from knuckle.model import ROOT, Model

from .ellipsoids import principal
from .poses import matrix
from .triangles import Array, Triangles, box, cylinder, ellipsoid, frame_along, strut

Drawn: TypeAlias = tuple[int, str, Triangles, tuple[float, float, float, float]]
"""Body, name, surface in body coordinates, colour."""

_HUB = (0.22, 0.24, 0.27, 1.0)
LINKS = (
    (0.91, 0.49, 0.20, 1.0), (0.24, 0.51, 0.72, 1.0), (0.30, 0.62, 0.44, 1.0), (0.78, 0.37, 0.42, 1.0),
    (0.52, 0.45, 0.69, 1.0), (0.86, 0.69, 0.27, 1.0), (0.36, 0.64, 0.68, 1.0),
)  # fmt: skip


def skeleton(model: Model) -> list[Drawn]:
    """Struts between joints, hubs along the joint axes, for each mass the ellipsoid of its inertia, within bounds.

    Links of closed loops go from pin to pin: struts to the loop joints too, with a hub there.
    """
    size = model_length(model)
    parts = [part for i in range(model.nb) for part in _body(model, i, size)]
    return [*parts, *_ground_link(model, size), *_pins(model, size)]


def model_length(model: Model) -> float:
    """A length to draw by: the mean distance from a body's frame to the next joints and to its centre of mass."""
    lengths = [np.linalg.norm(point) for i in range(model.nb) for point in _ends(model, i)]
    lengths = [x for x in lengths if x > 0]
    return float(np.mean(lengths)) if lengths else 0.5


def _ends(model: Model, i: int) -> list[Array]:
    """What a body's struts lead to: the joints of its children, loop joints, or its centre of mass if it has none."""
    ends = [matrix(model.X_tree[j])[:3, 3] for j in model.children(i)]
    ends += [T[:3, 3] for T in _loop_frames(model, i)]
    solid = principal(model.bodies[i].inertia)
    return ends if ends or solid is None else [solid.com]


def _loop_frames(model: Model, i: int) -> list[Array]:
    """The frames of loop joints on a body (or the base), in its coordinates."""
    sides = [(loop.predecessor, loop.X_predecessor) for loop in model.loops]
    sides += [(loop.successor, loop.X_successor) for loop in model.loops]
    return [matrix(X) for body, X in sides if body == i]


def _ground_link(model: Model, size: float) -> Iterator[Drawn]:
    """The base of a mechanism with loops: a bar from the first of its joints to the others."""
    if not model.loops:
        return
    points = [matrix(model.X_tree[j])[:3, 3] for j in model.children(ROOT)]
    points += [T[:3, 3] for T in _loop_frames(model, ROOT)]
    for point in points[1:]:
        if np.linalg.norm(point - points[0]) > 0.02 * size:
            yield ROOT, f"{model.base.name}/link", strut(points[0], point, 0.03 * size), _HUB


def _pins(model: Model, size: float) -> Iterator[Drawn]:
    """A hub at each loop joint, on its predecessor."""
    for loop in model.loops:
        for hub in joint_hub(loop.type, size):
            yield loop.predecessor, loop.name, hub.moved(matrix(loop.X_predecessor)), _HUB


def _body(model: Model, i: int, size: float) -> Iterator[Drawn]:
    name, color = model.bodies[i].name, LINKS[i % len(LINKS)]
    for end in _ends(model, i):
        if np.linalg.norm(end) > 0.02 * size:
            yield i, f"{name}/strut", strut(np.zeros(3), end, 0.045 * size), color
    solid = principal(model.bodies[i].inertia)
    if solid is not None and not _is_bar(model, i, solid.com, size):
        if model.children(i) and np.linalg.norm(solid.com) > 0.02 * size:
            yield i, f"{name}/arm", strut(np.zeros(3), solid.com, 0.02 * size), color
        radii = solid.radii * min(1.0, 0.6 * size / max(solid.radii.max(), 1e-12))
        radii = np.maximum(radii, 0.09 * size)
        yield i, f"{name}/inertia", ellipsoid(radii).moved(solid.pose), color
    for hub in joint_hub(model.joints[i].type, size):
        yield i, f"{name}/{model.joint_names[i]}", hub, _HUB


def _is_bar(model: Model, i: int, com: Array, size: float) -> bool:
    """Whether a link of a loop is all there is to see: its mass is on the line between its two joints."""
    ends = _ends(model, i)
    if not _loop_frames(model, i) and not any(i in chain for chain in _around(model)):
        return False
    return any(np.linalg.norm(np.cross(end, com)) < 0.05 * size * np.linalg.norm(end) for end in ends)


def _around(model: Model) -> list[tuple[int, ...]]:
    """The bodies that each loop goes through."""
    chains = [(model.ancestors(loop.predecessor), model.ancestors(loop.successor)) for loop in model.loops]
    return [tuple(set(first) ^ set(second)) for first, second in chains]


def joint_axes(kind: Joint) -> list[tuple[Array, Array]]:
    """(turning axis, sliding direction) of each freedom of a joint at rest, in successor coordinates; zero for none."""
    found: list[tuple[Array, Array]] = []
    for column in kind.subspace(kind.neutral()):
        components = [float(x) for x in column.components]
        if len(components) == 3:  # planar: (ω, x, y)
            components = [0.0, 0.0, components[0], components[1], components[2], 0.0]
        found.append((np.array(components[:3]), np.array(components[3:])))
    return found


def joint_hub(kind: Joint, size: float) -> list[Triangles]:
    """A cylinder along the axis of a turning joint, a rail along a sliding one, a ball for more freedom."""
    axes = joint_axes(kind)
    if len(axes) != 1:
        return [ellipsoid([0.11 * size] * 3)] if 1 < len(axes) < 6 else []
    ((turning, sliding),) = axes
    T = np.eye(4)
    if np.linalg.norm(turning) > 0:
        T[:3, :3] = frame_along(turning)
        return [cylinder(0.10 * size, 0.28 * size).moved(T)]
    T[:3, :3] = frame_along(sliding)
    return [box((0.14 * size, 0.14 * size, 0.36 * size)).moved(T)]
