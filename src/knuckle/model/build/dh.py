"""Denavit-Hartenberg parameters (RBDA 4.3, in the notation of Siciliano and Khatib, often called modified).

The parameters of link i: a_i is the distance from z_(i−1) to z_i along x_(i−1), α_i the angle from z_(i−1) to z_i about
x_(i−1), d_i the distance from x_(i−1) to x_i along z_i, θ_i the angle from x_(i−1) to x_i about z_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from knuckle.errors import ModelError
from knuckle.joints import Cylindrical, Fixed, Joint, Prismatic, Revolute
from knuckle.model.model import STANDARD_GRAVITY, Model
from knuckle.model.parts import Body, Frame, TreeJoint
from knuckle.model.placement import Placement, finite, to_transform
from knuckle.spatial import IDENTITY, Inertia, Transform, rotation

REVOLUTE = Revolute("z")
_LETTERS: dict[str, Joint] = {
    "R": Revolute("z"), "P": Prismatic("z"), "C": Cylindrical("z"),
    "revolute": Revolute("z"), "prismatic": Prismatic("z"), "cylindrical": Cylindrical("z"), "fixed": Fixed(),
}  # fmt: skip


@dataclass(frozen=True)
class DHRow:
    """The parameters of one link, and the joint along its z axis.

    The joint's variable is counted from the row's own θ and d: a revolute joint at q has the angle θ + q, a prismatic
    one the distance d + q, a cylindrical one both, a helical one of pitch h the distance d + hq at the angle θ + q.
    """

    a: Any
    alpha: Any
    d: Any
    theta: Any
    type: Joint = REVOLUTE

    @property
    def X_tree(self) -> Transform:
        """rotz(θ) xlt([a 0 d]) rotx(α): up to the joint, at q = 0 (RBDA 4.3)."""
        turn = Transform.rotation(rotation.rz(self.theta))
        return turn @ Transform.translation((self.a, 0.0, self.d)) @ Transform.rotation(rotation.rx(self.alpha))


AT_BASE = DHRow(0.0, 0.0, 0.0, 0.0, Fixed())

GivenRow: TypeAlias = DHRow | Sequence[Any]
"""A row; or (a, α, d, θ) of a revolute joint; or (a, α, d, θ, joint) with a joint along z, "R", "P" or "C"."""


@dataclass(frozen=True)
class DH:
    """The parameters of a serial chain: those of its n links, two that place z_1 on the base, four for a tool.

    `base` has d_0 and θ_0 along the z axis of the base frame; `tool` leads from the last link to the tool's frame.
    """

    rows: tuple[DHRow, ...]
    base: DHRow = AT_BASE
    tool: DHRow | None = None

    @classmethod
    def classic(cls, rows: Sequence[GivenRow]) -> DH:
        """From the classic convention, in which a_i and α_i belong to x_i: T_i = R_z(θ) T_z(d) T_x(a) R_x(α)."""
        given = [_row(row, k) for k, row in enumerate(rows, start=1)]
        before = [(0.0, 0.0), *((row.a, row.alpha) for row in given)]
        links = (DHRow(a, alpha, row.d, row.theta, row.type) for (a, alpha), row in zip(before, given, strict=False))
        return cls(tuple(links), tool=DHRow(*before[-1], 0.0, 0.0, Fixed()) if given else None)


def from_dh(
    rows: DH | Sequence[GivenRow],
    *,
    base: Placement = None,
    tool: Placement = None,
    inertias: Sequence[Inertia] | None = None,
    names: Sequence[str] | None = None,
    name: str = "chain",
    gravity: tuple[float, float, float] = STANDARD_GRAVITY,
) -> Model:
    """A serial chain from its parameters (RBDA 4.3). The frame of each body is its DH frame.

    Args:
        rows: the parameters; `DH.classic(...)` takes those of the classic convention.
        base: where the chain's base frame is on the ground.
        tool: where the tool's frame is: in the last link, or after the tool row if `rows` has one. Without either
            there is no frame called "tool".
        inertias: one inertia per link, in its DH frame; none makes links without inertia.
        names: the links' names, "link1", "link2" … if not given; joints are called after them.
        name: the model's name.
        gravity: in the ground's axes.
    """
    dh = rows if isinstance(rows, DH) else DH(tuple(_row(row, k) for k, row in enumerate(rows, start=1)))
    n = len(dh.rows)
    for what, given in (("inertias", inertias), ("names", names)):
        if given is not None and len(given) != n:
            raise ModelError(f"{n} links need {n} {what}, not {len(given)}", element=name)
    links = [f"link{k}" for k in range(1, n + 1)] if names is None else list(names)
    masses = [Inertia.zero()] * n if inertias is None else list(inertias)
    start = dh.base.X_tree @ to_transform(base, "base", name)
    joints = [
        TreeJoint(f"{link}_joint", row.type, k - 1, row.X_tree @ start if k == 0 else row.X_tree)
        for k, (link, row) in enumerate(zip(links, dh.rows, strict=True))
    ]
    frames: list[Frame] = []
    if tool is not None or dh.tool is not None:
        last = IDENTITY if dh.tool is None else dh.tool.X_tree
        X = to_transform(tool, "tool", name) @ last
        frames.append(Frame("tool", n - 1, X if n else X @ start))
    bodies = tuple(Body(link, inertia) for link, inertia in zip(links, masses, strict=True))
    return Model(bodies, tuple(joints), tuple(frames), gravity=gravity, name=name)


def _row(given: GivenRow, number: int) -> DHRow:
    element = f"row {number}"
    if isinstance(given, DHRow):
        return given
    numbers = list(given)
    if len(numbers) not in (4, 5):
        raise ModelError(
            f"a row is (a, alpha, d, theta) or (a, alpha, d, theta, joint), not {given!r}", element=element
        )
    kind = numbers[4] if len(numbers) == 5 else "R"
    if isinstance(kind, str):
        if kind not in _LETTERS:
            raise ModelError(
                f"its joint is one of {', '.join(map(repr, _LETTERS))} or a joint along z", element=element
            )
        kind = _LETTERS[kind]
    if not isinstance(kind, Joint):
        raise ModelError(f"its joint is a joint along z, not {kind!r}", element=element)
    a, alpha, d, theta = (finite(x, "a parameter", element) for x in numbers[:4])
    return DHRow(a, alpha, d, theta, kind)
