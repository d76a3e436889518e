"""Mechanisms whose rollouts are differentiated."""

from __future__ import annotations

import knuckle as kn
from knuckle.joints import Free, Revolute, Spherical
from knuckle.model import solid_box


def arm(stiffness: float = 0.0) -> kn.Model:
    b = kn.Builder("arm")
    turning, inertia = Revolute((0.0, 1.0, 0.0)), solid_box(1.0, (0.5, 0.1, 0.2))
    b.body("a", joint=turning, inertia=inertia, damping=0.05, stiffness=stiffness)
    b.body("b", "a", Revolute((0.0, 0.6, 0.8)), dict(xyz=(0.5, 0.0, 0.0)), inertia=solid_box(0.6, (0.4, 0.1, 0.1)))
    return b.build()


def flying() -> kn.Model:
    b = kn.Builder("flying")
    b.body("trunk", joint=Free(), inertia=solid_box(2.0, (0.5, 0.3, 0.2)))
    b.body("ball", "trunk", Spherical(), dict(xyz=(0.3, 0.0, 0.1)), inertia=solid_box(0.7, (0.2, 0.4, 0.1)))
    return b.build()
