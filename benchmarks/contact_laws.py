"""The laws that every motion with contact keeps: how far bodies overlap, and how much energy comes from nowhere.

Steps of the first order are held against their own balance. Velocities change first, and bodies move with the new ones,
so that gravity works on the mean of both: ΔT = dt g · (p + p')/2 + λ · (u + u')/2. Where the laws of contact hold, the
work of the impulses is −½ (x·x + x·y) or less, for their change of velocity x and that of gravity, y, by the root of
the inertia; so it is never above y·y/8, the energy that gravity gives to a body at rest in half a step. What bodies are
lifted besides, as overlaps are taken back, may be above zero only where there was an overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from contact_random import GRAVITY, RandomScene, least_gaps

import knuckle as kn

Array = np.ndarray[Any, Any]
ROUNDING = 1e-9
"""Of the energies that a scene has: what is no rise."""
EVENT_RISE, EVENT_OVERLAP = 1e-9, 1e-9
"""From event to event: of the energy, and in metres."""
SOFT_RISE = 1e-3
"""Of springs in steps of the fourth order, whose forces begin with a corner or a jump."""
OVERLAP = 1e-9
"""In metres: what is no overlap."""


@dataclass
class Tally:
    """What scenes came to: counts, the worst figures, and what was broken."""

    scenes: int = 0
    steps: int = 0
    unsolved: int = 0
    ended: int = 0
    """Runs that ended early with a message"""
    rise: float = 0.0
    """The largest rise of energy in a step beyond what the law allows, in parts of the scene's energy"""
    depth: float = 0.0
    """The largest overlap beyond that of the beginning, in widths of the smallest body"""
    broken: list[str] = field(default_factory=list[str])

    def add(self, other: Tally) -> None:
        for name in ("scenes", "steps", "unsolved", "ended"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("rise", "depth"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.broken += other.broken


def check_states(scene: RandomScene, name: str, q: Array, v: Array, tally: Tally) -> Array | None:
    """Numbers, nothing under the ground, and overlaps below half of the smallest body beyond those of the beginning.

    Returns the least gaps; None where there are no numbers.
    """
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        tally.broken.append(f"{name}: not finite")
        return None
    if (q[:, 6::7] < 0).any():
        tally.broken.append(f"{name}: below the ground")
    gaps = least_gaps(scene.model, q)
    began = max(0.0, -float(gaps[0]))
    deeper = float(-gaps.min()) - began
    tally.depth = max(tally.depth, deeper / float(scene.sizes.min()))
    if deeper > float(scene.sizes.min()) / 2:
        tally.broken.append(f"{name}: {-gaps.min():.3g} m deep, {began:.3g} at the beginning")
    return gaps


def check_steps(scene: RandomScene, name: str, q: Array, v: Array, tally: Tally) -> None:
    """The laws of states, and the balance of energy of steps with contact: see above."""
    tally.scenes, tally.steps = tally.scenes + 1, tally.steps + len(q) - 1
    gaps = check_states(scene, name, q, v, tally)
    if gaps is None:
        return
    model, dt = scene.model, scene.dt
    T, V = kn.kinetic_energy(model, q, v), kn.potential_energy(model, q)
    weight = GRAVITY * kn.momentum(model, q, v)[:, 5]
    mass = sum(body.inertia.mass for body in model.bodies)
    scale = float(T.max() + np.ptp(V) + GRAVITY * mass * dt)
    work = np.diff(T) + dt * (weight[1:] + weight[:-1]) / 2
    rise = float(work.max() - mass * (GRAVITY * dt) ** 2 / 8) / scale
    tally.rise = max(tally.rise, rise)
    if rise > ROUNDING:
        tally.broken.append(f"{name}: energy rises by {rise:.3g} of it in step {int(np.argmax(work))}")
    lifted = np.diff(V) - dt * weight[1:]
    free = lifted[gaps[:-1] > -OVERLAP]
    if len(free) and free.max() > ROUNDING * scale:
        tally.broken.append(f"{name}: {free.max() / scale:.3g} of the energy lifts bodies that do not overlap")


def check_events(scene: RandomScene, name: str, motion: Any, tally: Tally) -> None:
    """From event to event nothing overlaps, and energy does not rise. A run may end early if it says why."""
    tally.scenes, tally.steps = tally.scenes + 1, tally.steps + len(motion.times) - 1
    gaps = check_states(scene, name, motion.q, motion.v, tally)
    if gaps is None:
        return
    if motion.reason != "finished":
        tally.ended += 1
        if not motion.message:
            tally.broken.append(f"{name}: {motion.reason}, without a message")
    energy = motion.energy
    scale = float(kn.kinetic_energy(scene.model, motion.q, motion.v).max() + np.ptp(energy))
    rise = float((energy - np.minimum.accumulate(energy)).max()) / scale
    tally.rise = max(tally.rise, rise)
    if rise > EVENT_RISE:
        tally.broken.append(f"{name}: energy rises by {rise:.3g} of it")
    deepest = -float(gaps.min())
    if deepest > EVENT_OVERLAP:
        tally.broken.append(f"{name}: {deepest:.3g} m deep")


def check_soft(
    scene: RandomScene, contacts: Any, name: str, q: Array, v: Array, tally: Tally, *, is_told: bool
) -> None:
    """Energy with that of the springs does not rise above its beginning; springs of friction take theirs from it.

    Where a warning told that steps are too long, it is a scene that was not solved.
    """
    tally.scenes, tally.steps = tally.scenes + 1, tally.steps + len(q) - 1
    model = scene.model
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        tally.broken.append(f"{name}: not finite")
        return
    depth = np.maximum(0.0, -kn.contact.gaps(model, q))
    K = model.contact.surfaces[0].stiffness / 2  # two alike in series
    power = 2.0 if contacts.law == "linear" else 2.5
    stored = (K * depth**power / contacts.depth ** (power - 2) / power).sum(-1)
    energy = kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q) + stored
    scale = float(kn.kinetic_energy(model, q, v).max() + stored.max())
    rise = float(energy.max() - energy[0]) / scale
    if is_told and rise > SOFT_RISE:
        tally.unsolved += len(q) - 1
        return
    tally.rise = max(tally.rise, rise)
    if rise > SOFT_RISE:
        tally.broken.append(f"{name}: energy rises by {rise:.3g} of it")
