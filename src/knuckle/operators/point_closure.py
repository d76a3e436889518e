"""Closure constraints between points (0.20): what keeps two points together, and by which joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from knuckle.joints import Fixed, Joint
from knuckle.model import Model
from knuckle.spatial import IDENTITY, Force, Matrix, Motion, Transform, Vector

FIRM = Fixed()
"""The joint of a firm grasp: none."""

Side: TypeAlias = Literal["primary", "secondary"]


@dataclass(frozen=True)
class Closure:
    """A joint between two points, each of the primary or of the secondary system.

    Args:
        name: what it is called.
        predecessor: the system and the point that the joint starts from: ("primary", "left_hand").
        successor: the system and the point that it leads to.
        type: the joint: `Fixed()` for a firm grasp, `Spherical()` for a point that may turn, `Revolute()` for a handle.
        X_predecessor: from the first point's frame to the joint's.
        X_successor: from the second point's frame to the joint's.
    """

    name: str
    predecessor: tuple[Side, str]
    successor: tuple[Side, str]
    type: Joint = FIRM
    X_predecessor: Transform = IDENTITY
    X_successor: Transform = IDENTITY

    def __post_init__(self) -> None:
        for end in (self.predecessor, self.successor):
            if end[0] not in ("primary", "secondary"):
                raise ValueError(f'{self.name}: the system of a point is "primary" or "secondary", not {end[0]!r}')
        if self.predecessor == self.successor:
            raise ValueError(f"{self.name} ties the point {self.predecessor[1]} to itself")


def closure_terms(
    model: Model, place_p: Any, place_s: Any, Vp: Any, Vs: Any, ap: Any, as_: Any, at_p: Any, at_s: Any, *, kind: Joint
) -> dict[str, Any]:
    """A_p, A_s and U of a closure, and how far and how fast it is open: δ and Tᵀ(v_J − σ) (RBDA 8.15, 8.17, table 8.1).

    The places of the points come as twelve numbers (E and r), and so do those of the joint's frames on them: to take
    hold of something elsewhere changes numbers only.
    """
    Xp, Xs = transform(at_p) @ transform(place_p), transform(at_s) @ transform(place_s)
    X = Xs @ Xp.inverse()
    delta, T = kind.loop(X)
    ql = kind.locate(X)
    Vs, as_ = (transform(at_s) @ Motion.of(x) for x in (Vs, as_))
    Vp, ap = (X @ (transform(at_p) @ Motion.of(x)) for x in (Vp, ap))
    vJ = Vs - Vp
    sigma = kind.motion(ql, Vector.zero(kind.nv)).v
    own = kind.motion(ql, kind.actuation(ql).T @ (vJ - sigma))
    return {
        "predecessor": Matrix(((-(transform(at_p).T @ (X.T @ t))).components for t in T), Force.dimension),
        "successor": Matrix(((transform(at_s).T @ t).components for t in T), Force.dimension),
        "U": T.T @ (own.c + Vs.cross(vJ) - as_ + ap),
        "delta": delta,
        "rate": T.T @ (vJ - sigma),
        "T": Matrix((t.components for t in T), Force.dimension),
    }


def transform(numbers: Any) -> Transform:
    """E and r from twelve numbers."""
    rows = tuple(tuple(numbers[3 * i : 3 * i + 3]) for i in range(4))
    return Transform(rows[:3], rows[3])  # type: ignore[arg-type]


def entries(X: Transform) -> list[float]:
    """Twelve numbers: E by rows, and r."""
    return [float(x) for row in (*X.E, X.r) for x in row]


CARRIER = Model((), (), name="closures")
"""No mechanism: the texts of closures belong to none, and are compiled once for each kind of joint."""
