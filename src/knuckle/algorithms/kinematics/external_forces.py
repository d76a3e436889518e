"""External forces from where people have them: at a frame, in its own or the base's axes."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import Frame, Model

from .jacobians import pose


def force_in_frame(frame: Frame, f: Any) -> tuple[int, Any]:
    """(body, force in body coordinates) of a force given in frame coordinates."""
    return frame.body, frame.X.T @ f


def force_in_base_axes(model: Model, q: PerJoint, frame: Frame, f: Any) -> tuple[int, Any]:
    """(body, force in body coordinates) of a force that acts at the frame's origin, given in the base's axes."""
    return force_in_frame(frame, model.algebra.Transform.rotation(pose(model, q, frame).E) @ f)


def force_in_base(model: Model, q: PerJoint, frame: Frame, f: Any) -> tuple[int, Any]:
    """(body, force in body coordinates) of a force in base coordinates, its moment about the base's origin."""
    return force_in_frame(frame, pose(model, q, frame) @ f)
