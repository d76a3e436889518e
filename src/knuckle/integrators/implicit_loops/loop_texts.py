"""What a joint that closes a loop asks of its two bodies: texts that all loop joints of one kind share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.joints import Joint
from knuckle.model import LoopJoint, Model
from knuckle.spatial import Force, Motion, Transform, Vector
from knuckle.spatial.three import matvec, transpose

from .joint_texts import NO_MECHANISM, PLACEMENT, placement


@dataclass(frozen=True)
class LoopText:
    """δ, Tᵀ(v_J − σ), k, and of each row of T the force on the successor and on the predecessor, in a row.

    k is that of K a = k (RBDA 8.15, 8.24-8.27); forces are in axes of the base, at the origins of the bodies.

    Args:
        joint: the loop joint.
    """

    joint: Joint

    def __call__(self, model: Model, t: Any, frames: Any, X: Any, V: Any, A: Any) -> Vector:
        joint = self.joint.at_time(t)
        own = placement(frames), placement(frames[PLACEMENT:])
        at = placement(X), placement(X[PLACEMENT:])
        inward = [Transform(transpose(x.E), x.r) for x in at]
        Xs, Xp = (f @ x for f, x in zip(own, inward, strict=True))
        apart = Xs @ Xp.inverse()
        delta, T = joint.loop(apart)
        q = joint.locate(apart)
        (Vs, Vp), (As, Ap) = (
            [f @ _turned(x.E, y[6 * k : 6 * k + 6]) for k, (f, x) in enumerate(zip(own, inward, strict=True))]
            for y in (V, A)
        )
        Vp, Ap = apart @ Vp, apart @ Ap
        sigma = joint.motion(q, Vector.zero(joint.nv)).v
        moves = joint.motion(q, joint.actuation(q).T @ (Vs - Vp - sigma))
        rate = T.T @ (Vs - Vp - sigma)
        k = T.T @ (moves.c + Vs.cross(Vs - Vp) - As + Ap)
        forces: list[Any] = []
        for column in T.columns:
            on = own[0].T @ column, -(own[1].T @ (apart.T @ column))
            for x, f in zip(at, on, strict=True):
                turned = Force(matvec(x.E, f.angular), matvec(x.E, f.linear))
                forces += turned.components
        return Vector([*delta, *rate, *k, *forces])


def _turned(E: Any, y: Any) -> Motion:
    return Motion(matvec(E, (y[0], y[1], y[2])), matvec(E, (y[3], y[4], y[5])))


def loop_code(loop: LoopJoint) -> Code:
    """The code of `LoopText`, which all loop joints of this kind share."""
    shapes: dict[str, tuple[int, ...]] = {"t": (), "frames": (24,), "X": (24,), "V": (12,), "A": (12,)}
    specialization = Specialization("loop in a state", LoopText(loop.type), NO_MECHANISM, numbers=("t",), is_users=True)
    return code_of(specialization, shapes)
