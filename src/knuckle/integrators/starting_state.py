"""How a motion starts where little is said: the same for one simulation and for many trajectories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.functions import neutral
from knuckle.model import Model

Array = NDArray[Any]

DEFAULT_STEP = 1e-3
"""Seconds: the step where none is given."""
DEFAULT_DURATION = 1.0
"""Seconds: how long, where nothing says it."""


def start_of(model: Model, q0: ArrayLike | None, v0: ArrayLike | None) -> tuple[ArrayLike, ArrayLike]:
    """The state to start from: neutral where no position is given, at rest where no velocity is."""
    return neutral(model) if q0 is None else q0, np.zeros(model.nv) if v0 is None else v0


def must_be_unit(model: Model, q: Array) -> None:
    """An error unless the quaternions in positions (..., nq) have length 1. NaN has no length, and passes."""
    coupled = model.coupled
    for i, (joint, place) in enumerate(zip(model.joints, model.q_slices, strict=True)):
        if i in coupled or place.stop - place.start < 4:
            continue
        entries = [place.start + k for k, unit in enumerate(joint.type.q_units) if unit == "1"]
        if len(entries) != 4:
            continue
        lengths = np.linalg.norm(q[..., entries], axis=-1)
        wrong = np.abs(lengths - 1) > 1e-6
        if wrong.any():
            raise ValueError(
                f"q0: the quaternion of joint {joint.name!r} has length {lengths[wrong].flat[0]:.6g}, not 1; start "
                "from kn.neutral, or use kn.normalize"
            )
