"""What a force element does in a state: texts that all elements of one make share, over their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.model import ROOT, Frame, Model
from knuckle.model.elements import ForceElement
from knuckle.model.with_scalars import lifted
from knuckle.spatial import Force, Matrix, Motion, Transform, Vector
from knuckle.spatial.three import matvec, transpose

from .joint_texts import NO_MECHANISM, PLACEMENT, placement


@dataclass(frozen=True)
class ElementText:
    """Forces f on the bodies of an element, what dt K does to their velocities, and dt D + dt² K, in a row.

    The latter as directions G, one after the other, and the matrix along them.

    In axes of the base, at the origins of the bodies. The numbers of the element are arguments: in the text they are
    their places among these, counted from 1.

    Args:
        element: the element.
        frames: where its frames are on their bodies.
        bodies: the body of each frame among those of the element that move, or −1 for the base.
    """

    element: ForceElement
    frames: tuple[Transform, ...]
    bodies: tuple[int, ...]
    has_numbers: bool = False
    """Whether the numbers in the text are those of the element."""

    def __call__(self, model: Model, numbers: Any, X: Any, V: Any, dt: Any) -> Vector:
        parts = _Parts(self.element, self.frames)
        own, frames = (parts if self.has_numbers else lifted(parts, _numbered(numbers))).both
        m = 1 + max(self.bodies)
        at = [placement(X[PLACEMENT * k :]) for k in range(m)]
        inward = [Transform(transpose(x.E), x.r) for x in at]
        twists = [Vector(V[6 * k : 6 * k + 6]) for k in range(m)]
        moving = [
            Motion(matvec(x.E, (w[0], w[1], w[2])), matvec(x.E, (w[3], w[4], w[5])))
            for x, w in zip(inward, twists, strict=True)
        ]
        placed = [f if b == ROOT else f @ inward[b] for f, b in zip(frames, self.bodies, strict=True)]
        velocities = [Motion.zero() if b == ROOT else f @ moving[b] for f, b in zip(frames, self.bodies, strict=True)]

        def on_bodies(forces: Any) -> Vector:
            """Forces on frames as forces on bodies, in axes of the base."""
            total = [Force.zero() for _ in range(m)]
            for X, b, f in zip(frames, self.bodies, forces, strict=True):
                if b != ROOT:
                    total[b] = total[b] + X.T @ f
            turned = (Force(matvec(x.E, f.angular), matvec(x.E, f.linear)) for x, f in zip(at, total, strict=True))
            return Vector(x for f in turned for x in f.components)

        forces = on_bodies(own.forces(placed, velocities))
        slopes = own.local_slopes(placed, velocities)
        G = Matrix([on_bodies(row) for row in slopes.directions], 6 * m)
        speeds = G @ Vector(x for w in twists for x in w)
        ahead = G.T @ (dt * (slopes.stiffness @ speeds))
        C = dt * slopes.damping + dt * dt * slopes.stiffness
        return Vector([*forces, *ahead, *(x for row in (*G.rows, *C.rows) for x in row)])


@dataclass(frozen=True)
class _Parts:
    """What numbers are lifted in."""

    element: ForceElement
    frames: tuple[Transform, ...]

    @property
    def both(self) -> tuple[ForceElement, tuple[Transform, ...]]:
        return self.element, self.frames


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.number)) and not isinstance(x, bool) and x != 0


def _numbered(numbers: Any) -> Any:
    return lambda x: numbers[int(x) - 1] if _is_number(x) else x


def element_text(element: ForceElement, frames: tuple[Frame, ...]) -> tuple[ElementText, NDArray[Any], tuple[int, ...]]:
    """The text of an element, its numbers, and the bodies that move."""
    parts, on, bodies = _parts(element, frames)
    numbers: list[float] = []

    def place(x: Any) -> Any:
        if not _is_number(x):
            return x
        numbers.append(float(x))
        return float(len(numbers))

    shared = lifted(parts, place)
    return ElementText(shared.element, shared.frames, on), np.array(numbers or [0.0]), bodies


def whole_text(element: ForceElement, frames: tuple[Frame, ...]) -> tuple[ElementText, NDArray[Any], tuple[int, ...]]:
    """The same with its numbers in the text, for laws that are written for plain ones."""
    parts, on, bodies = _parts(element, frames)
    return ElementText(parts.element, parts.frames, on, has_numbers=True), np.zeros(1), bodies


def _parts(element: ForceElement, frames: tuple[Frame, ...]) -> tuple[_Parts, tuple[int, ...], tuple[int, ...]]:
    """An element without names, the body of each frame, and the numbers of the bodies that move."""
    bodies = tuple(dict.fromkeys(frame.body for frame in frames if frame.body != ROOT))
    names = {name: f"frame{k}" for k, name in enumerate(dict.fromkeys(element.frames))}
    number = {ROOT: ROOT, **{b: k for k, b in enumerate(bodies)}}
    renamed = element.renamed("element", lambda name: names[name])
    return _Parts(renamed, tuple(frame.X for frame in frames)), tuple(number[frame.body] for frame in frames), bodies


def element_code(text: ElementText, numbers: int) -> Code:
    """Its code, which elements of the same make share."""
    m = 1 + max(text.bodies)
    shapes: dict[str, tuple[int, ...]] = {
        "numbers": (max(1, numbers),), "X": (PLACEMENT * m,), "V": (6 * m,), "dt": (),
    }  # fmt: skip
    return code_of(Specialization("element in a state", text, NO_MECHANISM, numbers=("dt",), is_users=True), shapes)


def directions_of(element: ForceElement) -> int:
    """How many directions the slopes of an element have, in any state."""
    n = len(element.frames)
    return len(element.local_slopes([Transform.identity()] * n, [Motion.zero()] * n).directions)


def element_size(bodies: int, directions: int) -> int:
    """How many numbers `ElementText` gives for so many bodies that move and directions."""
    return 12 * bodies + slopes_size(bodies, directions)


def slopes_size(bodies: int, directions: int) -> int:
    """How many of these are directions and slopes."""
    return 6 * bodies * directions + directions**2
