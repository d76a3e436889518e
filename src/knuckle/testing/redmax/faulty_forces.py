"""Scene 24 of RedMax's folder `matlab`, and 11 of `matlab-diff`, whose laws of force have faults.

A spring with a damper between points: the damper has the wrong sign (notes 1.65 as printed), in a step that is right
otherwise, and the energy lacks a length. A ground whose friction pushes on what slides, and whose damper takes hold at
once: an equation of a step then has several solutions, or none.
"""

from __future__ import annotations

from math import pi

import numpy as np

import knuckle as kn
from knuckle.joints import Fixed, Revolute
from knuckle.model import Model

from .bars import GRAVITY, NONE, Bars, in_plane
from .penalty_ground import PenaltyGround
from .scenes import Scene
from .steps import energy

STIFFNESS, DAMPING = 1e6, 1e3
"""Of a spring by its strain, and of its damper by the rate of its strain."""
REST = (6.5**2 + 0.5**2 + 5.5**2) ** 0.5
"""The length at which it begins."""


def _braced(has_spring: bool) -> Model:
    b = Bars("braced bars", gravity=GRAVITY)
    top = b.along(Fixed())
    second = b.along(Revolute("y"), (10.0, 0.0, 0.0), top)
    b.along(Revolute("y"), (10.0, 0.0, 0.0), second)
    stiffness, damping = (STIFFNESS / REST, DAMPING / REST) if has_spring else (0.0, 0.0)
    ends = (top, (3.0, 0.0, -0.5)), (second, (6.0, 0.5, -0.5))
    b.spring("brace", *ends, stiffness=stiffness, damping=damping, rest=REST)
    return b.build()


BRACED = Scene("a spring with a damper", _braced(True), (pi / 2, -pi / 2), printed=-18398.29263)


def braced_as_published() -> float:
    """H at the end of scene 24 with RedMax's faults."""
    model, h = _braced(False), BRACED.step
    q, v = np.array(BRACED.q), np.zeros(model.nv)
    before = float(kn.potential_energy(model, q))
    for _ in range(round(BRACED.duration / h)):
        j = -np.asarray(kn.elements.moment_arms(model, q))[0]
        strain = (float(kn.elements.lengths(model, q)[0]) - REST) / REST
        tension = STIFFNESS * strain - DAMPING / REST * float(j @ v)
        H = np.asarray(kn.mass_matrix(model, q))
        A = H + (h * DAMPING + h * h * STIFFNESS) / REST * np.outer(j, j)
        v = np.linalg.solve(A, H @ v + h * (-np.asarray(kn.bias_force(model, q, v)) - tension * j))
        q = q + h * v
    strain = (float(kn.elements.lengths(model, q)[0]) - REST) / REST
    return energy(model, q, v) - before + STIFFNESS * strain**2 / 2


def block(*, as_published: bool) -> Scene:
    """Scene 11 of the other folder."""
    b, sides = Bars("block", gravity=(0.0, -980.0, 0.0)), (3.0, 1.0, 1.0)
    body = b.bar(in_plane(), sides, NONE)
    b.element(PenaltyGround("ground", body, sides, 1e5, 30.0, 0.5, 100.0, as_published))
    q, v = (-1.0, 2.0, 0.0), (5.0, 70.0, 2.0)
    return Scene("a block on a ground", b.build(), q, v, 0.6, 5e-4, printed=-4420.80450, bdf2=-2781.125)


def block_at_rest() -> float:
    """H of the block on the ground: four corners carry its weight, m g² m/2k̂ below where it would only touch."""
    weight, stiffness = 3.0 * 980.0, 4 * 1e5
    return weight * (0.5 - 2.0) - weight**2 / (2 * stiffness)
