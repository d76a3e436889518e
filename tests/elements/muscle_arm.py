"""A forearm with a biceps and a triceps, for tests of muscles with states."""

from __future__ import annotations

import knuckle as kn
from knuckle.elements import CubicMuscle, HillMuscle, MuscleLaw

ELASTIC = HillMuscle(600.0, 0.14, 0.18), HillMuscle(500.0, 0.14, 0.14, pennation=0.3)
CUBIC = CubicMuscle(600.0, 0.14, tendon=0.18), CubicMuscle(500.0, 0.14, tendon=0.14)
MIXED = ELASTIC[0], CUBIC[1]


def forearm(laws: tuple[MuscleLaw, MuscleLaw] = MIXED, *, friction: float = 0.0) -> kn.Model:
    """A hinge with two muscles."""
    b = kn.Builder("forearm", base="upper arm")
    inertia = kn.model.solid_cylinder(1.5, 0.04, 0.3, at=(0, 0, -0.15))
    b.body("forearm", joint=kn.joints.Revolute("y"), inertia=inertia, friction=friction)
    b.line("biceps", [("upper arm", (0.03, 0, 0.28)), ("forearm", (0.02, 0, -0.04))], laws[0])
    b.line("triceps", [("upper arm", (-0.03, 0, 0.28)), ("forearm", (-0.02, 0, 0.0))], laws[1])
    return b.build()
