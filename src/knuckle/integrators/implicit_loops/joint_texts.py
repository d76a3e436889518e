"""What a joint is in a state, in axes of the base: texts that all joints of one kind share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.functions.derivatives.dual_jacobians import along, derivative_of
from knuckle.joints.base import Joint
from knuckle.model import Model
from knuckle.model.build.builder import Builder
from knuckle.spatial import Matrix, Motion, Transform, Vector
from knuckle.spatial.three import matmul, matvec, transpose

NO_MECHANISM: Model = Builder("joints").build()
"""What these texts are compiled for: no mechanism has a part in them."""
PLACEMENT, ROTATION = 12, 9
"""Numbers of a placement (the rows of E, and r), and of a rotation."""
FIXED = 24
"""Numbers that a joint gives before those that depend on its freedoms: R, r, v_J, c_J."""


@dataclass(frozen=True)
class JointText:
    """R, r, v_J, c_J, S, spring force f and its slopes ∂f/∂q, in a row.

    R turns from the body's axes to those of the base, r leads from the origin of the parent to that of the body.
    Everything is in axes of the base; motions are those of the body's origin (RBDA 3.32-3.42, notes 2.68).

    Args:
        joint: the kind of joint.
    """

    joint: Joint

    def __call__(self, model: Model, t: Any, q: Any, v: Any, R: Any, X: Any, k: Any, rest: Any) -> Vector:
        joint = self.joint.at_time(t)
        n, q, v, rest = joint.nv, Vector(q[: joint.nq]), Vector(v[: joint.nv]), Vector(rest[: joint.nq])
        XJ, S, vJ, cJ = joint.motion(q, v)
        X = XJ @ placement(X)
        parent = rotation(R)
        own: Any = matmul(parent, transpose(X.E))
        stiffness = Vector(k[:n])

        def spring(q: Vector) -> Vector:
            return joint.spring_force(rest, q, stiffness)

        slopes = [derivative_of(spring(along(q, joint.rate(q, Vector(e))))) for e in Matrix.identity(n).rows]
        turned = [Motion(matvec(own, s.angular), matvec(own, s.linear)) for s in (vJ, cJ, *S.columns)]
        return Vector(
            [
                *(x for row in own for x in row), *matvec(parent, X.r),
                *(x for s in turned for x in s.components), *spring(q), *(x for row in slopes for x in row),
            ]
        )  # fmt: skip


@dataclass(frozen=True)
class MoveText:
    """(q ⊕ dt v, v) of a joint, in a chart that does not end near there."""

    joint: Joint

    def __call__(self, model: Model, t: Any, q: Any, v: Any, dt: Any) -> Vector:
        joint = self.joint.at_time(t)
        q, v = Vector(q[: joint.nq]), Vector(v[: joint.nv])
        q, v = joint.normalized(joint.integrate(q, dt * v), v)
        return Vector([*q, *v])


def joint_code(joint: Joint) -> Code:
    """The code of `JointText`, which all joints of this kind share."""
    sizes = {"q": joint.nq, "v": joint.nv, "R": ROTATION, "X": PLACEMENT, "k": joint.nv, "rest": joint.nq}
    return _code("joint in a state", JointText(joint), sizes, ("t",))


def move_code(joint: Joint) -> Code:
    """The code of `MoveText`."""
    return _code("joint moved", MoveText(joint), {"q": joint.nq, "v": joint.nv}, ("t", "dt"))


def _code(name: str, text: Any, sizes: dict[str, int], numbers: tuple[str, ...]) -> Code:
    specialization = Specialization(name, text, NO_MECHANISM, numbers=numbers, is_users=True)
    shapes: dict[str, tuple[int, ...]] = {"t": (), **{key: (max(1, n),) for key, n in sizes.items()}}
    return code_of(specialization, shapes | ({"dt": ()} if "dt" in numbers else {}))


def joint_size(joint: Joint) -> int:
    """How many numbers `JointText` gives."""
    return FIXED + 7 * joint.nv + joint.nv**2


def placement(X: Any) -> Transform:
    """A transform by its twelve numbers."""
    return Transform(rotation(X[:9]), (X[9], X[10], X[11]))


def rotation(R: Any) -> Any:
    """A matrix by its rows."""
    return (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
