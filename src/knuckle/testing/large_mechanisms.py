"""Mechanisms of any number of bodies with springs between them, after the scenes that RedMax is measured with."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise

from knuckle.joints import Planar, Revolute, Spherical, Universal
from knuckle.model import Model
from knuckle.model.build.builder import Builder
from knuckle.model.build.solids import solid_box

DENSITY = 1000.0
CAMBER = 0.2
"""The slope of a bridge at its ends, in radians."""
BENDING = 1e9
"""How stiff its joints are against bending, in N m/rad."""


def _link(length: float, width: float) -> tuple[float, tuple[float, float, float]]:
    return DENSITY * length * width * width, (length, width, width)


def spring_tree(depth: int, stiffness: float = 1e5, damping: float = 1.0) -> Model:
    """A trunk of hinges that forks `depth` times, 1 + 3 (2ᵈᵉᵖᵗʰ − 1) bodies, with springs between neighbouring leaves.

    Each fork is a body of its own between two limbs; joints have springs of 1e3 N m/rad and dampers of 1 N m s/rad.
    """
    b = Builder("tree", base="ground")
    mass, sides = _link(1.0, 0.1)
    limb = solid_box(mass, sides, at=(0.5, 0, 0))
    small, cube = _link(0.1, 0.1)
    fork = solid_box(small, cube)
    b.body("trunk", on="ground", joint=Revolute("y"), at=dict(rpy=(0, -math.pi / 2, 0)), inertia=limb,
           stiffness=1e3, damping=1.0)  # fmt: skip
    tips, count = ["trunk"], 0
    for level in range(depth):
        spread, new = 1.1 / (level + 1), list[str]()
        for tip in tips:
            knot = b.body(f"fork{count}", on=tip, joint=Revolute("z"), at=(1.0, 0, 0), inertia=fork,
                          stiffness=1e3, damping=1.0)  # fmt: skip
            for side in (-1, 1):
                place = dict(xyz=(0, 0, 0), rpy=(0, side * spread / 2, 0))
                new.append(b.body(f"limb{count}{'ab'[side > 0]}", on=knot, joint=Revolute("y"), at=place, inertia=limb,
                                  stiffness=1e3, damping=1.0))  # fmt: skip
            count += 1
        tips = new
    for k, (first, second) in enumerate(pairwise(tips)):
        b.spring(f"spring{k}", (first, (1.0, 0, 0)), (second, (1.0, 0, 0)), stiffness=stiffness, damping=damping)
    return b.build()


def hanging_chain(links: int, stiffness: float = 0.0, damping: float = 0.0) -> Model:
    """A chain of links on universal joints, with a spring from every link to the next but one if it has a stiffness."""
    b = Builder("chain", base="ground")
    mass, sides = _link(0.2, 0.05)
    link, on = solid_box(mass, sides, at=(0.1, 0, 0)), "ground"
    for k in range(links):
        on = b.body(f"link{k}", on=on, joint=Universal("yz"), at=(0.2, 0, 0) if k else None, inertia=link,
                    damping=0.05)  # fmt: skip
    for k in range(links - 2 if stiffness else 0):
        ends = (f"link{k}", (0.1, 0, 0.02)), (f"link{k + 2}", (0.1, 0, 0.02))
        b.spring(f"spring{k}", *ends, stiffness=stiffness, damping=damping)
    return b.build()


def simple_bridge(links: int, stiffness: float = 1e7, damping: float = 1e3) -> Model:
    """A deck of links on hinges, from the left bank to a spring on the right one."""
    b = Builder("simple bridge", base="ground")
    mass, sides = _link(1.0, 0.3)
    link, on = solid_box(mass, sides, at=(0.5, 0, 0)), "ground"
    for k in range(links):
        on = b.body(f"deck{k}", on=on, joint=Revolute("y"), at=(1.0, 0, 0) if k else None, inertia=link,
                    stiffness=1e3, damping=10.0)  # fmt: skip
    b.spring("bank", (on, (1.0, 0, 0)), ("ground", (links + 1.0, 0, 0)), stiffness=stiffness, damping=damping)
    return b.build()


def cable_bridge(
    deck: int, tower: int = 10, cables: int = 30, stiffness: float = 2.5e7, damping: float = 1e4, closed: bool = True
) -> Model:
    """A deck of links, bent upwards a little, between two banks, held by cables from two towers of links.

    Half of the cables go to each tower, fanned out from its top. At the far bank it slides on a level bearing, which
    closes a loop; or it is held by a spring.
    """
    b = Builder("cable bridge", base="ground")
    mass, sides = _link(1.0, 0.5)
    link, on = solid_box(mass, sides, at=(0.5, 0, 0)), "ground"
    bend = 2 * CAMBER / (deck - 1)
    for k in range(deck):
        at = dict(xyz=(1.0 if k else 0.0, 0, 0), rpy=(0, bend if k else -CAMBER, 0))
        on = b.body(
            f"deck{k}", on=on, joint=Revolute("y"), at=at, inertia=link, stiffness=BENDING, damping=1e-3 * BENDING
        )
    angles = [-CAMBER + k * bend for k in range(deck)]
    x = [0.0, *accumulate(math.cos(a) for a in angles)]
    z = [0.0, *accumulate(-math.sin(a) for a in angles)]
    height = max(4.0, deck / 5)
    mass, sides = _link(height / tower, 0.8)
    column = solid_box(mass, sides, at=(height / tower / 2, 0, 0))
    per_tower = cables // 2
    for side, foot in enumerate((x[-1] / 4, 3 * x[-1] / 4)):
        top = "ground"
        for k in range(tower):
            at = (height / tower, 0, 0) if k else dict(xyz=(foot, 1.0, 0), rpy=(0, -math.pi / 2, 0))
            top = b.body(f"tower{side}.{k}", on=top, joint=Spherical() if k == 0 else Revolute("y"), at=at,
                         inertia=column, stiffness=1e9, damping=1e5)  # fmt: skip
        for k in range(per_tower):
            n = min(deck - 1, max(0, int(foot + (k - (per_tower - 1) / 2) * deck / 2 / per_tower)))
            ends = (top, (height / tower, 0, 0)), (f"deck{n}", (0.5, 0, 0))
            rise = height - (z[n] + z[n + 1]) / 2
            length = math.hypot(foot - (x[n] + x[n + 1]) / 2, 1.0, rise)
            stretch = DENSITY * 0.25 * deck / cables * 9.81 / stiffness  # a share of the weight, straight above
            rest = length * (1 - stretch / rise)
            b.cable(f"cable{side}.{k}", ends, stiffness=stiffness, damping=damping, rest=rest)
    if closed:
        level = dict(xyz=(1.0, 0, 0), rpy=(0, -angles[-1], 0))
        b.close_loop("far bank", Planar("z"), "ground", on, at_predecessor=(x[-1], 0, z[-1]), at_successor=level)
    else:
        ends = ("ground", (x[-1] + 1.0, 0, z[-1])), (on, (1.0, 0, 0))
        b.spring("far bank", *ends, stiffness=stiffness, damping=damping)
    return b.build()
