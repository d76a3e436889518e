"""The mechanisms of RedMax's scenes: cuboids of density one in centimetres, grams and seconds."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from knuckle.joints import Composite, Fixed, Joint, Prismatic, Revolute
from knuckle.model import Builder, Model, solid_box

Sides = tuple[float, float, float]
GRAVITY = (0.0, 0.0, -980.0)
NONE = (0.0, 0.0, 0.0)
ALONG, DOWN = (10.0, 1.0, 1.0), (1.0, 1.0, 10.0)
"""The bars of most scenes: L, along x with its joint at one end, and P, which hangs from its joint."""


class Bars(Builder):
    """Cuboids of density one, each carried by a joint at a place of its carrier's joint frame."""

    def bar(
        self, joint: Joint, sides: Sides, centre: Sides, at: Sides = NONE, on: str | None = None, **more: Any
    ) -> str:
        name = f"bar{len(self._bodies)}"
        return self.body(name, on, joint, at, inertia=solid_box(prod(sides), sides, at=centre), **more)

    def along(self, joint: Joint, at: Sides = NONE, on: str | None = None, **more: Any) -> str:
        """L."""
        return self.bar(joint, ALONG, (5.0, 0.0, 0.0), at, on, **more)

    def hanging(self, joint: Joint, at: Sides = NONE, on: str | None = None, **more: Any) -> str:
        """P."""
        return self.bar(joint, DOWN, (0.0, 0.0, -5.0), at, on, **more)


def chain(*axes: str, gravity: Sides = GRAVITY, joint: Callable[[str], Joint] = Revolute, **more: Any) -> Model:
    """Bars L one after the other, "f" for fixed ones."""
    b, last = Bars("chain", gravity=gravity), None
    for axis in axes:
        kind = Fixed() if axis == "f" else joint(axis)
        last = b.along(kind, NONE if last is None else (10.0, 0.0, 0.0), last, **more)
    return b.build()


def hanging_chain(*joints: Joint) -> Model:
    """Bars P one below the other."""
    b, last = Bars("hanging chain", gravity=GRAVITY), None
    for joint in joints:
        last = b.hanging(joint, NONE if last is None else (0.0, 0.0, -10.0), last)
    return b.build()


def branching() -> Model:
    b = Bars("branches", gravity=GRAVITY)
    top = b.hanging(Revolute("x"), (0.0, 0.0, 15.0))
    beam = b.bar(Revolute("z"), (1.0, 20.0, 1.0), NONE, (0.0, 0.0, -10.0), top)
    b.hanging(Revolute("x"), (0.0, -10.0, 0.0), beam)
    b.hanging(Revolute("y"), (0.0, 10.0, 0.0), beam)
    return b.build()


def swing() -> Model:
    """A fixed beam with two hangers, the far end of one carrying a beam that the other holds too."""
    b = Bars("swing", gravity=GRAVITY)
    top = b.bar(Fixed(), (20.0, 1.0, 1.0), NONE)
    left = b.hanging(Revolute("y"), (-10.0, 0.0, 0.0), top)
    right = b.hanging(Revolute("y"), (10.0, 0.0, 0.0), top)
    low = b.bar(Revolute("y"), (20.0, 1.0, 1.0), (10.0, 0.0, 0.0), (0.0, 0.0, -10.0), left)
    b.hanging(Revolute("y"), (10.0, 0.0, 0.0), low)
    b.frame("right end", right, (0.0, 0.0, -10.0))
    b.frame("low end", low, (20.0, 0.0, 0.0))
    return b.build()


def plate(first: Joint, gravity: Sides = GRAVITY) -> Model:
    """A square plate that slides, and two hanging bars."""
    b = Bars("plate", gravity=gravity)
    base = b.bar(first, (10.0, 10.0, 1.0), NONE)
    b.hanging(Revolute("y"), (-5.0, 0.0, 0.0), base)
    b.hanging(Revolute("x"), (0.0, -5.0, 0.0), base)
    return b.build()


def one(joint: Joint, sides: Sides, centre: Sides = NONE, gravity: Sides = GRAVITY) -> Model:
    b = Bars("one", gravity=gravity)
    b.bar(joint, sides, centre)
    return b.build()


def cart() -> Model:
    b = Bars("cart", gravity=GRAVITY)
    base = b.bar(Prismatic("x"), (20.0, 1.0, 1.0), NONE)
    b.hanging(Revolute("y"), (-10.0, 0.0, 0.0), base)
    return b.build()


def in_plane() -> Joint:
    """x, y and the turn about z, as three joints with nothing between them."""
    return Composite((sliding("xy"), Revolute("z")))


def sliding(axes: str) -> Joint:
    return Composite(map(Prismatic, axes))


def offset_pair() -> Model:
    b, last = Bars("bodies of a mesh", gravity=GRAVITY), None
    for _ in range(2):
        last = b.bar(Revolute("y"), (1.0, 2.0, 3.0), (0.5, 0.0, -1.5), NONE if last is None else (0.0, 0.0, -3.0), last)
    return b.build()


def swung() -> Model:
    b = Bars("free pair", gravity=(0.0, -1.0, 0.0))
    base = b.bar(in_plane(), ALONG, NONE)
    b.along(Revolute("z"), (5.0, 0.0, 0.0), base)
    return b.build()


def damped() -> Model:
    """Scene 10: bars with drag at their centres, and a force at the last tip."""
    b, last = Bars("chain", gravity=NONE), None
    for _ in range(3):
        last = b.along(Revolute("y"), NONE if last is None else (10.0, 0.0, 0.0), last)
        centre = b.frame(f"centre of {last}", last, (5.0, 0.0, 0.0))
        b.drag(f"drag on {last}", centre, linear=10.0, angular=10.0)
    b.frame("tip", last, (10.0, 0.0, 0.0))
    return b.build()
