"""Mechanisms with closed loops, to test with: linkages from a lever to parallel robots, each with a closed position.

All bodies are drawn in the position of the picture: their frames are parallel to the base's there, and joints are given
by where they are in it. So the neutral position closes the loops, unless a mechanism says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.functions import neutral, random_configuration
from knuckle.functions.loops.assembly import close as close_loops
from knuckle.joints import Free, Joint, Prismatic, Revolute, Spherical, Universal
from knuckle.model import Builder, LoopJoint, Model, solid_box
from knuckle.spatial import Transform, rotation
from knuckle.testing.mechanisms import JOINTS, random_transform, random_tree

Point = Sequence[float]


@dataclass(frozen=True)
class Linkage:
    """A mechanism with loops, and a position (nq,) in which they are closed."""

    model: Model
    q: NDArray[np.float64]


@dataclass
class _Picture:
    """A mechanism drawn in one position, in base coordinates."""

    name: str
    origins: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.builder = Builder(self.name)
        self.origins["base"] = np.zeros(3)

    def bar(self, name: str, on: str, joint: Joint, at: Point, to: Point, mass: float = 1.0) -> None:
        """A round bar from its joint `at` to another point, one hundredth of a metre thick per metre and more."""
        start, end = np.asarray(at, float), np.asarray(to, float)
        length = float(np.linalg.norm(end - start))
        u, radius = (end - start) / length, 0.02 + 0.02 * length
        along = np.outer(u, u)
        moments = mass * ((radius**2 / 4 + length**2 / 12) * (np.eye(3) - along) + radius**2 / 2 * along)
        self._body(name, on, joint, start, mass=mass, com=((end - start) / 2).tolist(), inertia=moments.tolist())

    def block(self, name: str, on: str, joint: Joint, at: Point, mass: float = 1.0, size: float = 0.1) -> None:
        """A flat block around its joint."""
        self._body(name, on, joint, np.asarray(at, float), inertia=solid_box(mass, (size, 0.8 * size, 0.3 * size)))

    def _body(self, name: str, on: str, joint: Joint, at: NDArray[np.float64], **what: object) -> None:
        place = tuple((at - self.origins[on]).tolist())
        self.builder.body(name, on=on, joint=joint, at=place, **what)  # type: ignore[arg-type]
        self.origins[name] = at

    def close(self, name: str, joint: Joint, predecessor: str, successor: str, at: Point) -> None:
        places = [tuple((np.asarray(at, float) - self.origins[body]).tolist()) for body in (predecessor, successor)]
        self.builder.close_loop(name, joint, predecessor, successor, *places)

    def done(self) -> Linkage:
        model = self.builder.build()
        return Linkage(model, neutral(model))


Y = Revolute("y")


def four_bar() -> Linkage:
    """A planar four-bar in space: n = 3, nc = 5, r = 2 (RBDA 8.10): one freedom, three forces undetermined."""
    p = _Picture("four-bar")
    p.bar("crank", "base", Y, (0, 0, 0), (0.05, 0, 0.2))
    p.bar("coupler", "crank", Y, (0.05, 0, 0.2), (0.5, 0, 0.4))
    p.bar("rocker", "base", Y, (0.6, 0, 0), (0.5, 0, 0.4))
    p.close("pin", Y, "coupler", "rocker", (0.5, 0, 0.4))
    return p.done()


def crank_slider() -> Linkage:
    """A crank, a rod and a slider on rails."""
    p = _Picture("crank and slider")
    p.bar("crank", "base", Y, (0, 0, 0), (0.06, 0, 0.08))
    p.bar("rod", "crank", Y, (0.06, 0, 0.08), (0.4, 0, 0.0))
    p.block("slider", "base", Prismatic("x"), (0.4, 0, 0))
    p.close("pin", Y, "rod", "slider", (0.4, 0, 0))
    return p.done()


def five_bar() -> Linkage:
    """Two cranks whose rods meet: two freedoms."""
    p = _Picture("five-bar")
    for side, x in (("left", -0.1), ("right", 0.15)):
        p.bar(f"{side} crank", "base", Y, (x, 0, 0), (3 * x, 0, -0.2))
        p.bar(f"{side} rod", f"{side} crank", Y, (3 * x, 0, -0.2), (0.05, 0, -0.6))
    p.close("tip", Y, "left rod", "right rod", (0.05, 0, -0.6))
    return p.done()


def stewart() -> Linkage:
    """A platform on six legs, each a universal joint, a slide and a ball: six freedoms."""
    p = _Picture("Stewart platform")
    p.block("platform", "base", Free(), (0, 0, 0.6), mass=3.0, size=0.5)
    for k in range(6):
        low = math.radians(60 * (k // 2 * 2) + (-12 if k % 2 else 12) + 120 * (k % 2))
        high = math.radians(60 * (k // 2 * 2) + 60 + (18 if k % 2 else -18))
        foot = np.array([0.5 * math.cos(low), 0.5 * math.sin(low), 0])
        head = np.array([0.25 * math.cos(high), 0.25 * math.sin(high), 0.6])
        middle, way = (foot + head) / 2, (head - foot) / float(np.linalg.norm(head - foot))
        p.bar(f"cylinder {k}", "base", Universal("xy"), foot.tolist(), middle.tolist())
        p.bar(f"piston {k}", f"cylinder {k}", Prismatic(tuple(way.tolist())), middle.tolist(), head.tolist(), mass=0.5)
        p.close(f"ball {k}", Spherical(), f"piston {k}", "platform", head.tolist())
    return p.done()


def delta() -> Linkage:
    """Three cranks that carry a hand by pairs of parallel rods, so that it moves without turning: three freedoms."""
    p = _Picture("Delta robot")
    p.block("hand", "base", Free(), (0, 0, -0.7), mass=0.5, size=0.12)
    for k in range(3):
        angle = 2 * math.pi * k / 3
        out, side = np.array([math.cos(angle), math.sin(angle), 0]), np.array([-math.sin(angle), math.cos(angle), 0])
        hip, elbow, wrist = 0.2 * out, 0.45 * out + [0, 0, -0.15], 0.08 * out + [0, 0, -0.7]
        p.bar(f"crank {k}", "base", Revolute(tuple(side.tolist())), hip.tolist(), elbow.tolist())
        for hand in (-1, 1):
            top, bottom = elbow + 0.06 * hand * side, wrist + 0.06 * hand * side
            name = f"rod {k}{'-+'[hand > 0]}"
            p.bar(name, f"crank {k}", Universal("xy"), top.tolist(), bottom.tolist(), mass=0.1)
            p.close(f"ball {k}{'-+'[hand > 0]}", Spherical(), name, "hand", bottom.tolist())
    return p.done()


def leg(floating: bool = True) -> Linkage:
    """A bird's leg on a pelvis: hip, thigh, shin, tarsus, toe, an Achilles rod, and a rod that drives the toe."""
    p = _Picture("leg")
    p.block("pelvis", "base", Free() if floating else Prismatic("z"), (0, 0, 1), mass=10.0, size=0.3)
    p.block("hip", "pelvis", Revolute("x"), (0, 0.1, 1), mass=1.5)
    p.block("turn", "hip", Revolute("z"), (0, 0.1, 0.95), mass=1.2)
    p.bar("thigh", "turn", Y, (0, 0.1, 0.9), (0.25, 0.1, 0.65), mass=4.0)
    p.bar("shin", "thigh", Y, (0.25, 0.1, 0.65), (0.1, 0.1, 0.5), mass=0.8)
    p.bar("tarsus", "shin", Y, (0.1, 0.1, 0.5), (-0.15, 0.1, 0.12), mass=0.8)
    p.bar("Achilles rod", "thigh", Universal("xy"), (0.02, 0.12, 0.86), (0.05, 0.12, 0.54), mass=0.2)
    p.close("heel", Spherical(), "Achilles rod", "tarsus", (0.05, 0.12, 0.54))
    p.bar("toe", "tarsus", Y, (-0.15, 0.1, 0.12), (0.0, 0.1, 0.02), mass=0.15)
    p.bar("toe crank", "tarsus", Y, (0.02, 0.08, 0.38), (-0.04, 0.08, 0.4), mass=0.1)
    p.bar("plantar rod", "toe crank", Universal("xy"), (-0.04, 0.08, 0.4), (-0.2, 0.08, 0.14), mass=0.1)
    p.close("toe ball", Spherical(), "plantar rod", "toe", (-0.2, 0.08, 0.14))
    return p.done()


def ladder(loops: int = 50) -> Linkage:
    """Two rails that hang side by side, with a rung between every two of their bars (RBDA figure 8.4).

    The tree goes down the left rail and across the rungs, so that every loop is closed around one rung: the constraints
    are those of neighbours, and K has a band.
    """
    p = _Picture(f"ladder of {loops}")
    left, right = "base", "base"
    for k in range(loops):
        top, bottom = -0.2 * k, -0.2 * (k + 1)
        shift, rung = 0.01 * (k % 2), top - 0.12
        p.bar(f"left {k}", left, Y, (shift, 0, top), (0.01 - shift, 0, bottom))
        p.bar(f"rung {k}", f"left {k}", Y, (0.0, 0, rung), (0.3, 0, rung + 0.02))
        p.bar(f"right {k}", f"rung {k}", Y, (0.3, 0, rung + 0.02), (0.31 - shift, 0, bottom))
        p.close(f"pin {k}", Y, right, f"right {k}", (0.3 + shift, 0, top))
        left, right = f"left {k}", f"right {k}"
    return p.done()


def bennett(first: float = 0.3, second: float = 0.42, twist: float = 0.6) -> Linkage:
    """Four skew hinges that move although counting says they cannot: a / sin α = b / sin β (Bennett, 1903)."""
    other = math.asin(second / first * math.sin(twist))
    b = Builder("Bennett linkage")
    sides = [(first, twist), (second, other), (first, twist), (second, other)]
    on = "base"
    for k, (length, _) in enumerate(sides[:3]):
        inertia = solid_box(1.0, (length, 0.05, 0.03), at=(length / 2, 0, 0))
        b.body(f"bar {k}", on=on, joint=Revolute("z"), at=_side(*sides[k - 1]) if k else None, inertia=inertia)
        on = f"bar {k}"
    b.close_loop("hinge", Revolute("z"), on, "base", _side(*sides[2]), _side(*sides[3]).inverse())
    model = b.build()
    ratio = math.sin((other + twist) / 2) / math.sin((other - twist) / 2)
    q0 = 1.2
    q1 = 2 * math.atan(ratio / math.tan(q0 / 2))
    found = close_loops(model, np.array([q0, q1, -q0]), keep=["bar 0_joint"], attempts=40)
    if not found.closed:
        raise ValueError(f"this Bennett linkage is {found}")
    return Linkage(model, found.q)


def _side(length: float, twist: float) -> Transform:
    """From one hinge to the next: along x, and turned about it."""
    return Transform(rotation.rx(twist), (length, 0.0, 0.0))


def random_linkage(rng: Generator | int, nb: int = 8, kinds: Sequence[str] | None = None, loops: int = 2) -> Linkage:
    """A random tree whose bodies are tied by further joints, each closed in a random position.

    Args:
        rng: where the numbers come from.
        nb: number of bodies.
        kinds: names from `JOINTS` for the loop joints, in order; random ones if not given.
        loops: how many, if `kinds` is not given.
    """
    g = np.random.default_rng(rng)
    tree = random_tree(g, nb, resistance=False)
    q = random_configuration(tree, g)
    X = positions(tree, tree.positions(q.tolist()))
    names = [str(g.choice(list(JOINTS))) for _ in range(loops)] if kinds is None else kinds
    made: list[LoopJoint] = []
    for k, name in enumerate(names):
        kind = JOINTS[name](g)
        p, s = (int(i) for i in g.choice(range(-1, nb), 2, replace=False))
        at_p = random_transform(g)
        at_s = kind.transform(kind.random(g)) @ at_p @ X[p] @ X[s].inverse()
        made.append(LoopJoint(f"loop{k}", kind, p, s, at_p, at_s))
    return Linkage(tree.replace(loops=tuple(made)), q)


LINKAGES = {
    "four-bar": four_bar,
    "crank-slider": crank_slider,
    "five-bar": five_bar,
    "Stewart": stewart,
    "Delta": delta,
    "leg": leg,
    "ladder": lambda: ladder(4),
    "Bennett": bennett,
}
