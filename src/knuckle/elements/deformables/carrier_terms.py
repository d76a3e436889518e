"""Where the frames are that carry nodes of deformable bodies, and how they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.functions import acceleration, jacobian, pose, velocity
from knuckle.model import Model
from knuckle.spatial import Vector

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class CarrierText:
    """Pose, velocity, acceleration without that of the joints, and Jacobian of frames, in a row, in base axes."""

    frames: tuple[str, ...]

    def __call__(self, model: Model, t: Any, q: Any, v: Any) -> Vector:
        now = model.at_time(t) if model.depends_on_time else model
        numbers: list[Any] = []
        for frame in self.frames:
            T: Any = pose.reference(now, q, frame)
            V: Any = velocity.reference(now, q, v, frame, expressed_in="aligned")
            A: Any = acceleration.reference(now, q, v, 0 * v, frame, expressed_in="aligned", classical=True)
            J: Any = jacobian.reference(now, q, frame, expressed_in="aligned")
            numbers += [
                *(x for row in T.rows[:3] for x in row),
                *V.components,
                *A.components,
                *(x for row in J.rows for x in row),
            ]
        return Vector(numbers)


class NodeMotion(NamedTuple):
    """Nodes that are carried: positions (n, 3), velocities, accelerations without those of the joints, Jacobians."""

    x: Array
    u: Array
    bias: Array
    J: Array
    """(n, 3, nv)"""


class FrameMotion(NamedTuple):
    """Frames in base axes: poses (n, 3, 4), velocities (n, 6), accelerations without those of the joints, Jacobians."""

    T: Array
    V: Array
    A: Array
    J: Array
    """(n, 6, nv)"""

    def at(self, which: Any) -> FrameMotion:
        """Some of them."""
        return FrameMotion(self.T[which], self.V[which], self.A[which], self.J[which])

    def rows(self, arm: Array) -> Array:
        """(n, 3, nv): the Jacobians of points at `arm` (n, 3) from the origin of each frame."""
        return self.J[:, 3:] + np.cross(self.J[:, :3], arm[:, :, None], axis=1)


class MovingFrames:
    """Where some frames are, and how they move."""

    def __init__(self, model: Model, frames: tuple[str, ...]) -> None:
        self._count, self._nv = len(frames), model.nv
        self._code: Code | None = None
        if frames:
            specialization = Specialization("carriers", CarrierText(frames), model, numbers=("t",), is_users=True)
            self._code = code_of(specialization, {"t": (), "q": (model.nq,), "v": (model.nv,)})

    def __call__(self, t: float, q: Array, v: Array) -> FrameMotion:
        """In a state."""
        if self._code is None:
            return FrameMotion(np.zeros((0, 3, 4)), np.zeros((0, 6)), np.zeros((0, 6)), np.zeros((0, 6, self._nv)))
        rows = np.asarray(self._code(np.array([t]), np.asarray(q, float), np.asarray(v, float)))
        rows = rows.reshape(self._count, -1)
        T, V, A = rows[:, :12].reshape(-1, 3, 4), rows[:, 12:18], rows[:, 18:24]
        return FrameMotion(T, V, A, rows[:, 24:].reshape(self._count, 6, self._nv))


class CarriedNodes:
    """Nodes at points of frames."""

    def __init__(self, model: Model, places: list[tuple[str, Array]]) -> None:
        """`places` are the frames and the points (n, 3) on each."""
        frames = tuple(dict.fromkeys(frame for frame, _ in places))
        self._which = np.concatenate(
            [np.full(len(points), frames.index(frame)) for frame, points in places] or [np.zeros(0)]
        ).astype(int)
        self._points = np.concatenate([points for _, points in places] or [np.zeros((0, 3))])
        self._frames = MovingFrames(model, frames)

    def __call__(self, t: float, q: Array, v: Array) -> NodeMotion:
        """Where the nodes are in a state, and how they move."""
        frames = self._frames(t, q, v).at(self._which)
        T, V, A, _ = frames
        arm = np.einsum("nij,nj->ni", T[:, :, :3], self._points)
        turning = np.cross(V[:, :3], arm)
        return NodeMotion(
            T[:, :, 3] + arm,
            V[:, 3:] + turning,
            A[:, 3:] + np.cross(A[:, :3], arm) + np.cross(V[:, :3], turning),
            frames.rows(arm),
        )
