"""BDF2 steps whose equations are solved in RedMax's way, for scenes in which they have several solutions (notes 3).

Every stage is M(x) (x − b) = h² f(x, (x − c) / h) with a part h of the step. Newton's method begins with the velocity
of before; a step of it is halved until less is left of the equations than before it. That decides which solution is
found.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import knuckle as kn

from .scenes import Scene
from .steps import energy

Array: TypeAlias = NDArray[Any]

ENOUGH = 1e-9
"""What may be left of the equations."""
PER_VARIABLE, HALVINGS = 5, 9
"""Newton's steps for each variable, and halvings of one, at most."""
PART = 1 - 0.5**0.5
"""The part of the first step that each of its two stages has (SDIRK2)."""


@kn.kernel
def left(model: Any, x: Any, b: Any, c: Any, h: Any) -> Any:
    """What is left of the equations of a stage."""
    return h * h * kn.inverse_dynamics(model, x, (x - c) / h, (x - b) / (h * h))


def searched(scene: Scene) -> float:
    """H at the end of a scene, of joints with q̇ = v."""
    model, h = scene.model, scene.step
    q0, v0 = np.array(scene.q, float), np.array(scene.v, float)
    before = float(kn.potential_energy(model, q0))
    part = PART * h
    qa, va = _stage(scene, q0 + part * v0, q0, part, q0 + part * v0)
    b, c = q0 + (2 * PART - 1) * h * v0 + 2 * (h - part) * va, q0 + (h - part) * va
    q1, v1 = _stage(scene, b, c, part, qa + (h - part) * va)
    for _ in range(1, round(scene.duration / h)):
        c = (4 * q1 - q0) / 3
        q2, v2 = _stage(scene, c + h * (8 * v1 - 2 * v0) / 9, c, 2 * h / 3, q1 + h * v1)
        q0, v0, q1, v1 = q1, v1, q2, v2
    return energy(model, q1, v1) - before


def _stage(scene: Scene, b: Array, c: Array, h: float, x: Array) -> tuple[Array, Array]:
    """x and its velocity, from a guess."""
    model = scene.model
    for _ in range(PER_VARIABLE * model.nv):
        was = np.asarray(left(model, x, b, c, h))
        slope = np.asarray(left.jacobian(model, x, b, c, h, wrt="x")["x"])
        step, there, rest = -np.linalg.solve(slope, was), x, np.inf
        for part in 0.5 ** np.arange(HALVINGS + 1):
            there = x + part * step
            rest = np.linalg.norm(np.asarray(left(model, there, b, c, h)))
            if rest < np.linalg.norm(was):
                break
        x = there
        if rest < ENOUGH:
            break
    return x, (x - c) / h
