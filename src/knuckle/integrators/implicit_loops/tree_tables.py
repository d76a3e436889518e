"""The tables of a mechanism, made once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.routines import Code
from knuckle.joints import Joint
from knuckle.model import Model
from knuckle.model.elements import ForceElement
from knuckle.model.model import rest_position
from knuckle.spatial import Transform

from .element_texts import (
    ElementText,
    directions_of,
    element_code,
    element_size,
    element_text,
    slopes_size,
    whole_text,
)
from .joint_texts import joint_code, joint_size, move_code
from .placing import NUMBERS
from .records import BodyTable, GradientRoom, TreeFactors, TreeState

Array = NDArray[Any]


@dataclass(frozen=True)
class TreeTables:
    """A mechanism as arrays, and the codes of its kinds of joints and makes of elements."""

    model: Model
    tree: BodyTable
    joints: list[Code]
    moves: list[Code]
    elements: list[Code]
    out: int
    """numbers that a code gives at most"""

    @classmethod
    def of(cls, model: Model) -> TreeTables:
        """The tables; texts that are new are compiled now."""
        kinds: dict[Joint, int] = {}
        kind = [kinds.setdefault(joint.type, len(kinds)) for joint in model.joints]
        makes, rows = _elements(model)
        nv = [0, *(joint.type.nv for joint in model.joints)]
        members, directions = [bodies for _, _, bodies, _ in rows], [count for *_, count in rows]
        sizes = [(len(bodies), count) for bodies, count in zip(members, directions, strict=True)]
        tree = BodyTable(
            bodies=1 + model.nb, nv=model.nv, parent=whole([0, *(1 + p for p in model.parents)]),
            kind=whole([0, *kind]),
            q_at=whole([0, *(x.start for x in model.q_slices)]), q_size=whole([0, *(j.type.nq for j in model.joints)]),
            v_at=whole([0, *(x.start for x in model.v_slices)]), v_size=whole(nv), block_at=starts(whole(nv) ** 2),
            placement=np.array([_flat(Transform()), *map(_flat, model.X_tree)]).reshape(-1),
            inertia=np.array([[0.0] * NUMBERS, *map(_inertia, model.I)]).reshape(-1),
            gravity=np.array(model.gravity, float), springs=_variables(model, "stiffness"),
            dampers=_variables(model, "damping"),
            rest=np.array([float(x) for joint in model.joints for x in rest_position(joint)] + [0.0]),
            elements=len(rows), make=whole([row[0] for row in rows]),
            number_at=starts(whole([len(row[1]) for row in rows])),
            numbers=np.concatenate([*(row[1] for row in rows), np.zeros(1)]),
            member_at=starts(whole(map(len, members))), member_size=whole(map(len, members)),
            member=whole([1 + b for bodies in members for b in bodies]),
            directions=whole(directions), slopes_at=starts(whole([slopes_size(*size) for size in sizes])),
        )  # fmt: skip
        out = max([12, *map(joint_size, kinds), *(element_size(*size) for size in sizes)])
        return cls(
            model, tree, [joint_code(joint) for joint in kinds], [move_code(joint) for joint in kinds], makes, out
        )

    def state(self) -> TreeState:
        """Room for a state."""
        m, nb = self.tree, self.tree.bodies
        count = int(m.member_size.max(initial=1))
        s = TreeState(
            t=np.zeros(1), dt=np.zeros(1), q=np.zeros(self.model.nq + 1), v=np.zeros(m.nv + 1), tau=np.zeros(m.nv),
            applied=np.zeros(6 * nb), rotor=_variables(self.model, "rotor_inertia"), R=np.zeros(9 * nb),
            p=np.zeros(3 * nb), r=np.zeros(3 * nb), S=np.zeros(6 * m.nv + 6), V=np.zeros(6 * nb), c=np.zeros(6 * nb),
            I=np.zeros(NUMBERS * nb), F=np.zeros(6 * nb), W=np.zeros(6 * nb), spring=np.zeros(m.nv),
            joint=np.zeros(self.blocks), slopes=np.zeros(self._slopes), rhs=np.zeros(m.nv),
            out=np.zeros(self.out),
            along=np.zeros(2 * int(m.directions.max(initial=0)) + 1),
            near=np.zeros(max(6, 12 * count)), moving=np.zeros(max(6, 6 * count)),
        )  # fmt: skip
        s.R[[0, 4, 8]] = 1.0
        return s

    @property
    def _slopes(self) -> int:
        """Numbers of the slopes of all elements."""
        return int(((6 * self.tree.member_size + self.tree.directions) * self.tree.directions).sum()) + 1

    @property
    def blocks(self) -> int:
        """Numbers of the square matrices of all joints."""
        return int((self.tree.v_size**2).sum()) + 1

    def factors(self) -> TreeFactors:
        """Room for articulated inertias."""
        nb, nv = self.tree.bodies, self.tree.nv
        sizes = 36 * nb, 6 * nv + 6, self.blocks, nv, 6 * nb, 6 * nb
        return TreeFactors(*map(np.zeros, sizes))

    def descent(self) -> GradientRoom:
        """Room for conjugate gradients."""
        return GradientRoom(*(np.zeros(self.tree.nv) for _ in range(5)), left=np.zeros(2))


def _elements(model: Model) -> tuple[list[Code], list[tuple[int, Array, tuple[int, ...], int]]]:
    """The codes of all makes, and of each element that acts on what moves its make, numbers, bodies and directions."""
    frames, codes = model.frame_table, list[Code]()
    makes: dict[ElementText, int] = {}
    refused = set[ElementText]()
    rows: list[tuple[int, Array, tuple[int, ...], int]] = []
    counts: dict[ElementText, int] = {}
    for element in model.elements:
        own = tuple(frames[name] for name in element.frames)
        if all(frame.body < 0 for frame in own):
            continue
        text, numbers, bodies = _shared(element, own)
        if text not in makes and text not in refused:
            code = element_code(text, len(numbers))
            if code.address or text.has_numbers:
                makes[text] = len(codes)
                codes.append(code)
            else:  # a law that looks at its numbers
                refused.add(text)
        if text in refused:
            text, numbers, bodies = whole_text(element, own)
            if text not in makes:
                makes[text] = len(codes)
                codes.append(element_code(text, len(numbers)))
        if text not in counts:
            counts[text] = directions_of(element)
        rows.append((makes[text], numbers, bodies, counts[text]))
    return codes, rows


def _shared(element: ForceElement, frames: tuple[Any, ...]) -> tuple[ElementText, Array, tuple[int, ...]]:
    try:
        return element_text(element, frames)
    except ValueError:  # numbers that cannot be any
        return whole_text(element, frames)


def _variables(model: Model, name: str) -> Array:
    """A property of joints for each velocity variable."""
    return np.array([float(x) for joint in model.joints for x in getattr(joint, name)] + [0.0])


def _flat(X: Transform) -> list[float]:
    return [float(x) for x in (*X.E[0], *X.E[1], *X.E[2], *X.r)]


def _inertia(inertia: Any) -> list[float]:
    """m, h and the six moments about the origin."""
    I = inertia.I
    return [float(x) for x in (inertia.mass, *inertia.h, I.xx, I.xy, I.xz, I.yy, I.yz, I.zz)]


def whole(numbers: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(numbers), np.int64)


def starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where parts of these sizes begin, one after the other."""
    return np.cumsum(sizes) - sizes
