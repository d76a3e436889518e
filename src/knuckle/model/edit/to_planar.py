"""Mechanisms of the plane: the same model in the planar algebra (RBDA 2.16)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, cast

from knuckle.errors import ModelError
from knuckle.joints import InPlane, Joint
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Note
from knuckle.scalar import ZERO
from knuckle.spatial import PLANAR, Inertia, Motion, Transform, Vector, project

from .places import noted

_SAMPLES = 8
_FLAT = 1e-9
"""Out-of-plane parts below this are rounding: of a unit vector, or of metres per unit of velocity."""


def to_planar(model: Model) -> Model:
    """The same mechanism with 3-vectors in place of 6-vectors, for one that moves in the xy plane.

    Every joint must move its body within the plane, and no placement may tilt it: revolute joints about ±z, prismatic
    joints within the plane, planar ones, and what is made of such. What differs from body to body along z, and
    products of inertia with z, do no work in such motion and are dropped; so is gravity along z. Every algorithm
    then runs as it is, on q and v with the same meaning.

    Joints are tried at several positions, whatever their type; a joint or placement that leaves the plane raises a
    `ModelError` with its name. Frames that are tilted are left out, with a note each. Force elements stay what they
    are: their frames must be there, and at one height, along which they may reach out of the plane.
    """
    if model.algebra is PLANAR:
        return model
    for joint in model.joints:
        if tilt := _tilt(joint.X_tree):
            raise ModelError(f"its placement {tilt}", element=joint.name)
    for joint in (*model.joints, *model.loops):
        if way := _leaves_plane(joint.type):
            raise ModelError(f"it does not keep to the xy plane: {way}", element=joint.name)
    for loop in model.loops:
        for side, X in (("predecessor", loop.X_predecessor), ("successor", loop.X_successor)):
            if tilt := _tilt(X):
                raise ModelError(f"its placement on the {side} {tilt}", element=loop.name)
    tilted = [frame for frame in model.frames if _tilt(frame.X)]
    notes = [Note("warning", f.name, f"frame left out of the planar model: it {_tilt(f.X)}") for f in tilted]
    _must_keep_elements(model, {frame.name for frame in tilted})
    if any(model.gravity) and not any(model.gravity[:2]):
        notes.append(Note("info", model.name, "gravity is perpendicular to the plane of motion and does no work"))
    flat = model.replace(
        algebra=PLANAR,
        base=_flat_body(model.base),
        bodies=tuple(map(_flat_body, model.bodies)),
        joints=tuple(dataclasses.replace(j, type=InPlane(j.type), X_tree=project(j.X_tree)) for j in model.joints),
        frames=tuple(dataclasses.replace(f, X=project(f.X)) for f in model.frames if f not in tilted),
        loops=tuple(
            dataclasses.replace(
                loop,
                type=InPlane(loop.type),
                X_predecessor=project(loop.X_predecessor),
                X_successor=project(loop.X_successor),
            )
            for loop in model.loops
        ),
    )
    return noted(flat, notes)


def _must_keep_elements(model: Model, tilted: set[str]) -> None:
    """An error for an element on a frame that is left out, or on frames at different heights over the plane."""
    height = {ROOT: 0.0}
    for i, joint in enumerate(model.joints):
        now = joint.type.at_time(0.0)
        height[i] = height[joint.parent] + float(joint.X_tree.r[2]) + float(now.transform(now.neutral()).r[2])
    for element in model.elements:
        frames = [model.frame(name) for name in element.frames]
        if lost := [frame.name for frame in frames if frame.name in tilted]:
            raise ModelError(f"it acts on {lost[0]!r}, which tilts the plane", element=element.name)
        heights = [height[frame.body] + float(frame.X.r[2]) for frame in frames]
        if heights and max(heights) - min(heights) > _FLAT:
            text = (
                f"its frames are {max(heights) - min(heights):.3g} m apart along z, which a planar model does not know"
            )
            raise ModelError(f"{text}: give its points on bodies at one height", element=element.name)


def _flat_body(body: Body) -> Body:
    return dataclasses.replace(body, inertia=cast(Inertia, project(body.inertia)))


def _tilt(X: Transform) -> str | None:
    """How a transform takes the xy plane out of itself, if it does. A shift along z does not matter."""
    (_, _, a), (_, _, b), (c, d, e) = ([float(x) for x in row] for row in X.E)
    if max(abs(a), abs(b), abs(c), abs(d)) > _FLAT:
        return "tilts the plane"
    return "turns the plane over" if e < 0 else None


def _leaves_plane(kind: Joint) -> str | None:
    """How a joint leaves the plane, if it does at one of several positions."""
    for moment, q, v in _states(kind):
        X, S, vJ, cJ = moment.motion(q, v)
        if tilt := _tilt(X):
            return f"at q = {_text(q)} it {tilt}"
        for motion in (*S, vJ, cJ):
            x, y, _, _, _, z = (float(a) for a in cast(Motion, motion).components)
            if max(abs(x), abs(y), abs(z)) > _FLAT:
                how = "tilts" if max(abs(x), abs(y)) > _FLAT else "moves along z"
                return f"at q = {_text(q)} it {how} with v"
    return None


def _states(kind: Joint) -> Iterator[tuple[Joint, Vector, Vector]]:
    """The neutral position at rest, and others, always the same ones, in motion; at several times if that matters."""
    import numpy as np

    now = kind.at_time(0.0)
    yield now, now.neutral(), Vector([ZERO] * kind.nv)
    rng: Any = np.random.default_rng(0)
    for k in range(_SAMPLES):
        moment = kind.at_time(0.7 * k)
        yield moment, moment.random(rng), Vector(float(rng.uniform(-1.0, 1.0)) for _ in range(kind.nv))


def _text(q: Vector) -> str:
    return f"[{', '.join(f'{float(x):.3g}' for x in q)}]"
