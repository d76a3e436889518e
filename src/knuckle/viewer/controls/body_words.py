"""What there is to say about a body that somebody points at."""

from __future__ import annotations

import numpy as np

from knuckle.functions import velocity
from knuckle.model import ROOT, Model
from knuckle.model.audit.audit_report import describe
from knuckle.model.labels import position_labels, position_units
from knuckle.viewer.scene.ellipsoids import principal
from knuckle.viewer.scene.poses import poses
from knuckle.viewer.scene.triangles import Array


def body_words(model: Model, body: int, q: Array, v: Array | None = None) -> str:
    """A body in lines of Markdown: its joint and where that is, its inertia, its place, and how fast it moves."""
    name = model.base.name if body == ROOT else model.bodies[body].name
    lines = [f"**{name}**"]
    if body != ROOT:
        lines += _joint(model, body, q)
    solid = principal((model.base if body == ROOT else model.bodies[body]).inertia)
    if solid is not None:
        moments = ", ".join(f"{x:.3g}" for x in solid.moments)
        lines.append(f"mass {solid.mass:.4g} kg, centre {_three(solid.com)} m, principal moments {moments} kg m²")
    place = poses(model, q)[body + 1][:3, 3]
    lines.append(f"origin at {_three(place)} m")
    if v is not None and body != ROOT:
        twist = np.asarray(velocity(model, q, v, name, "aligned"), float)
        turning = np.linalg.norm(twist[: len(twist) - 3] if len(twist) == 6 else twist[:1])
        sliding = np.linalg.norm(twist[-3:] if len(twist) == 6 else twist[1:])
        lines.append(f"turns with {turning:.3g} rad/s, moves with {sliding:.3g} m/s")
    return "  \n".join(lines)


def _joint(model: Model, body: int, q: Array) -> list[str]:
    joint, rows = model.joints[body], model.q_slices[body]
    carrier = model.base.name if joint.parent == ROOT else model.bodies[joint.parent].name
    kind, axis = describe(joint.type)
    words = [f"{joint.name}: {kind}{' ' + axis if axis else ''}, on {carrier}"]
    variables = list(zip(position_labels(model), position_units(model), q, strict=True))[rows]
    values = [f"{label} = {x:.4g} {unit}".removesuffix(" 1") for label, unit, x in variables]
    return [*words, ", ".join(values)] if values else words


def _three(x: Array) -> str:
    return "(" + ", ".join(f"{c:.3f}" for c in x) + ")"
