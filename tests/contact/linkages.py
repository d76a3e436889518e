"""Linkages that touch something: a closed loop, and joints that follow others."""

import math
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Geometry, Model, Sphere, solid_box
from knuckle.spatial import Transform

Array = np.ndarray[Any, Any]


def parallelogram(angle: float = 0.3, friction: float = 0.4, restitution: float = 0.5) -> tuple[Model, Array, Array]:
    """A bar on two parallel cranks whose ball touches the floor; its position, and the velocity of its freedom."""
    b = kn.Builder("parallelogram")
    b.surface("rubber", friction=friction, restitution=restitution)
    b.ground(height=2 - math.cos(angle) - 0.1, surface="rubber")
    crank = solid_box(0.5, (0.1, 0.1, 1.0))
    b.body("left", joint=Revolute("y"), at=(0, 0, 2), inertia=crank)
    ball = Geometry(Sphere(0.1), Transform.translation((0.5, 0, 0)), surface="rubber")
    bar = solid_box(1.0, (1.0, 0.1, 0.1))
    b.body("bar", on="left", joint=Revolute("y"), at=(0, 0, -1), inertia=bar, collisions=ball)
    b.body("right", joint=Revolute("y"), at=(1, 0, 2), inertia=crank)
    b.close_loop("pin", Revolute("y"), "bar", "right", (1, 0, 0), (0, 0, -1))
    return b.build(), np.array([angle, -angle, angle]), np.array([1.0, -1.0, 1.0])


def seesaw() -> tuple[Model, Array]:
    """Two balls on the floor that follow one motor: where it turns, both go down in the end, one of them at once."""
    b = kn.Builder("seesaw", gravity=(0, 0, 0))
    b.ground()
    b.body("motor", joint=Prismatic("z"), at=(0, 0, 2), inertia=solid_box(1.0, (0.1, 0.1, 0.1)))
    for name, x in (("left", -0.2), ("right", 0.2)):
        inertia = solid_box(0.2, (0.1, 0.1, 0.1))
        b.body(name, joint=Prismatic("z"), at=(x, 0, 0.1), inertia=inertia, collisions=Sphere(0.1))
    b.couple("left_joint", "motor_joint", lambda x: x - x * x)
    b.couple("right_joint", "motor_joint", lambda x: -x - x * x)
    return b.build(), np.array([0.0])
