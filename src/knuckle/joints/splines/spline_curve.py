"""The spline curve joint: one freedom along a smooth path of frames (notes 2.4.11, algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from knuckle.joints.base import Joint, JointMotion
from knuckle.joints.nearest_position import nearest
from knuckle.spatial import Motion, Subspace, Transform, Vector, lie
from knuckle.spatial.three import dot

from .b_splines import around, choose, cumulative

_ORTHONORMAL = 1e-9
_STARTS_PER_SEGMENT = 3


@dataclass(frozen=True)
class SplineCurve(Joint):
    """Moves along a uniform cubic B-spline of control frames. q runs from 0 to `end`, one unit per segment; v = q̇.

    Each control frame is the transform from predecessor to frame coordinates. The curve is twice continuously
    differentiable, passes near the frames rather than through them, and goes on beyond its ends as the outer segments
    do. From one control frame to the next it turns the short way. A cyclic curve goes from the last frame to the first,
    and round and round: q may be any number, and `end` is once around.
    """

    frames: tuple[Transform, ...]
    cyclic: bool = False
    _q = ("1",)
    _v = ("1",)

    def __init__(self, frames: Iterable[Transform], cyclic: bool = False) -> None:
        given = tuple(frames)
        for k, frame in enumerate(given):
            if not isinstance(frame, Transform):
                raise TypeError(f"frames[{k}] is a Transform, not {frame!r}")
        controls = tuple(Transform.of(frame.E, frame.r) for frame in given)
        if len(controls) < 4:
            raise ValueError(f"frames: a cubic spline has four control frames or more, not {len(controls)}")
        for k, frame in enumerate(controls):
            gaps = (dot(frame.E[i], frame.E[j]) - (i == j) for i in range(3) for j in range(i + 1))
            if not all(abs(gap) < _ORTHONORMAL for gap in gaps):
                raise ValueError(f"frames[{k}].E is not a rotation: {frame.E}")
        object.__setattr__(self, "frames", controls)
        object.__setattr__(self, "cyclic", bool(cyclic))

    @property
    def end(self) -> float:
        """The last q of the curve: its number of segments."""
        return float(self._segments)

    @property
    def _segments(self) -> int:
        return len(self.frames) if self.cyclic else len(self.frames) - 3

    @cached_property
    def steps(self) -> tuple[Motion, ...]:
        """ΔC: the motion from each control frame to the next, by the logarithm."""
        frames = (*self.frames, *self.frames[:3]) if self.cyclic else self.frames
        return tuple(Motion.of(lie.log(b @ a.inverse()).components) for a, b in pairwise(frames))

    def _along(self, q: Vector) -> tuple[Transform, Motion, Motion]:
        """X_J, S and ∂S/∂q.

        The recursion of algorithm 3, with the B̃'_i that its last line needs: ∂(X_i S)/∂q = X_i (∂S/∂q + S × ΔC_i B̃'_i).
        """
        s, segments = around(q[0], len(self.frames)) if self.cyclic else q[0], range(self._segments)

        def at_segment(*options: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(choose(s, values) for values in zip(*options, strict=True))

        starts = [self.frames[k] for k in segments]
        E = tuple(at_segment(*(X.E[i] for X in starts)) for i in range(3))
        X = Transform(E, at_segment(*(X.r for X in starts)))  # type: ignore[arg-type]
        S = dS = Motion.zero()
        for i, B in enumerate(cumulative(s - choose(s, segments))):
            step = Motion.of(at_segment(*(self.steps[k + i].components for k in segments)))
            Xi = lie.exp(step * B.value)
            dS = Xi @ (dS + S.cross(step * B.first)) + step * B.second
            S = Xi @ S + step * B.first
            X = Xi @ X
        return X, S, dS

    def transform(self, q: Vector) -> Transform:
        return self._along(q)[0]

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        X, S, dS = self._along(q)
        return JointMotion(X, Subspace(Motion, [S]), S * v[0], dS * (v[0] * v[0]))

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, [self._along(q)[1]])

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return Subspace(Motion, [self._along(q)[2] * v[0]])

    def random(self, rng: Any) -> Vector:
        return Vector([rng.uniform(0.0, self.end)])

    def locate(self, X: Transform) -> Vector:
        """The nearest place of the curve, looked for from several places of each segment."""
        return nearest(self, X, _STARTS_PER_SEGMENT * self._segments)

    def _spread(self, fractions: Sequence[float]) -> Vector:
        return Vector([fractions[0] * self.end])
