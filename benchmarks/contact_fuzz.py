"""Random scenes with contact: no NaN, no tunnelling, no energy out of nothing.

    python benchmarks/contact_fuzz.py [--scenes 10000] [--seed 0] [--steps 200]

A scene has up to three bodies of random shapes, masses from 1 to 1e4 kg, friction from 0 to 2, restitution from 0 to 1,
on a plane; some of them overlap at the beginning. Scenes of the same bodies run together, from different states. Of
every trajectory is checked

- that all states are finite;
- that nothing passes through something else: in no step does the middle of a body come to the other side of the ground,
  and no two bodies overlap by more than half of the smaller one longer than they did at the beginning;
- that energy does not rise: beyond what overlaps give back at the beginning (they lift what lies on them), and beyond
  the error of a step of the first order.

What was not solved is counted: a status, not silence. Exits with the number of laws that were broken, at most 1.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.contact.contact_pairs import contact_pairs
from knuckle.contact.detection import is_known
from knuckle.integrators import ContactSteps
from knuckle.joints import Free
from knuckle.model import Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere, solid_box
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Inertia

Array = np.ndarray[Any, Any]
DT, GRAVITY = 1e-3, 9.81
TOGETHER = 20
"""Scenes of the same shapes and surfaces."""


@dataclass
class Found:
    """What a run of scenes came to."""

    scenes: int = 0
    steps: int = 0
    unsolved: int = 0
    broken: list[str] = field(default_factory=list[str])


def shape_of(rng: np.random.Generator, kinds: tuple[type, ...]) -> Any:
    kind, size = kinds[rng.integers(len(kinds))], rng.uniform(0.05, 0.2, 3)
    if kind in (Capsule, Cylinder):
        return kind(float(size[0] / 2), float(2 * size[1]))
    if kind is Sphere:
        return Sphere(float(size[0]))
    return kind(tuple(float(2 * x if kind is Box else x) for x in size))


def scene(rng: np.random.Generator) -> kn.Model:
    """Bodies on a plane whose shapes can touch each other."""
    count = int(rng.integers(1, 4))
    kinds: tuple[type, ...] = (Sphere, Capsule, Box, Cylinder, Ellipsoid) if count == 1 else (Sphere, Capsule, Box)
    shapes = [shape_of(rng, kinds) for _ in range(count)]
    for k in range(1, count):
        while not all(is_known(a, b) or is_known(b, a) for a in shapes[:k] for b in [shapes[k]]):
            shapes[k] = shape_of(rng, (Sphere, Capsule))
            if any(isinstance(x, Box) for x in shapes[:k]):
                shapes[k] = shape_of(rng, (Sphere,))
    ground = Body("ground", Inertia.zero(), collisions=(Geometry(Plane((0.0, 0.0))),))
    b = kn.Builder("scene", gravity=(0, 0, -GRAVITY), base=ground)
    for k, shape in enumerate(shapes):
        inertia = solid_box(10 ** rng.uniform(0, 4), tuple(float(x) for x in rng.uniform(0.1, 0.3, 3)))
        b.body(f"body{k}", joint=Free(), inertia=inertia, collisions=shape)
    surface = Surface(
        friction=float(rng.choice([0.0, rng.uniform(0, 2)])), restitution=float(rng.choice([0.0, rng.uniform(), 1.0]))
    )
    return b.build().replace(contact=ContactRules((surface,)))


def states(model: kn.Model, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Above the ground or a little in it, beside or in each other."""
    n = model.nb
    moved = rng.normal(size=(count, n, 6)) * np.array([1, 1, 1, 0.15, 0.15, 0.1])
    moved[..., 5] += 0.25 + 0.3 * np.arange(n)
    q = kn.integrate(model, np.tile(kn.neutral(model), (count, 1)), moved.reshape(count, -1))
    lowest = kn.contact.gaps(model, q).min(-1)
    lift = np.maximum(0.0, -0.03 - lowest)  # overlaps of three centimetres at most with the ground
    for k in range(n):
        q[:, 7 * k + 6] += lift
    v = rng.normal(size=(count, n, 6)) * np.array([3, 3, 3, 1, 1, 1])
    return q, v.reshape(count, -1)


def check(model: kn.Model, motion: Any, name: str, found: Found) -> None:
    """The laws of every trajectory."""
    q, v = motion.q, motion.v
    good = np.isfinite(q).all((1, 2)) & np.isfinite(v).all((1, 2))
    found.broken += [f"{name}[{k}]: not finite" for k in np.flatnonzero(~good)]
    q, v = q[good], v[good]
    heights = q[..., 6::7]
    through = (heights < 0).any((1, 2))
    found.broken += [f"{name}[{k}]: below the ground" for k in np.flatnonzero(through)]
    gaps = kn.contact.gaps(model, q)
    began = np.minimum(gaps[:, 0].min(-1), 0.0)
    smallest = 0.05
    deep = gaps.min((1, 2)) < 2 * began - smallest / 2
    found.broken += [f"{name}[{k}]: {-gaps[k].min():.3g} m deep" for k in np.flatnonzero(deep)]
    energy = kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q)
    masses = np.array([body.inertia.mass for body in model.bodies])
    lifted = GRAVITY * masses.sum() * (-began + 0.0)
    speed2 = (v.reshape(*v.shape[:2], -1, 6) ** 2).sum(-1).max((1, 2))
    slack = (
        2.5 * lifted * len(masses)
        + 20 * DT * (masses.sum() * GRAVITY * np.sqrt(speed2 + 1))
        + 1e-2 * np.ptp(energy, axis=1)
    )
    rise = energy.max(1) - energy[:, 0]
    wrong = rise > slack
    found.broken += [
        f"{name}[{k}]: energy rises by {rise[k]:.3g} J of {energy[k, 0]:.3g}" for k in np.flatnonzero(wrong)
    ]


def fuzz(scenes: int, seed: int, steps: int, report: bool = False) -> Found:
    """So many random scenes."""
    found, begin = Found(), time.perf_counter()
    group = 0
    while found.scenes < scenes:
        rng = np.random.default_rng([seed, group])
        model = scene(rng)
        count = min(TOGETHER, scenes - found.scenes)
        q, v = states(model, rng, count)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            motion = kn.rollout(model, q, v, None, DT, steps=steps, integrator=ContactSteps())
        for warning in caught:
            text = str(warning.message)
            if text.startswith("contacts were not solved"):
                found.unsolved += int(text.split(" in ")[1].split()[0])
        check(model, motion, f"seed {seed}, group {group} ({len(contact_pairs(model))} pairs)", found)
        found.scenes, found.steps, group = found.scenes + count, found.steps + count * steps, group + 1
        if report and group % 10 == 0:
            taken = time.perf_counter() - begin
            print(
                f"{found.scenes} scenes, {taken:.0f} s, {found.unsolved} steps unsolved, {len(found.broken)} broken",
                flush=True,
            )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=10_000, help="how many")
    parser.add_argument("--steps", type=int, default=200, help="of each")
    parser.add_argument("--seed", type=int, default=0, help="another one makes other scenes")
    chosen = parser.parse_args()
    found = fuzz(chosen.scenes, chosen.seed, chosen.steps, report=True)
    part = found.unsolved / max(found.steps, 1)
    print(
        f"{found.scenes} scenes, {found.steps} steps: {found.unsolved} steps unsolved ({part:.2e}), "
        f"{len(found.broken)} laws broken"
    )
    print("\n".join(found.broken[:40]))
    return min(len(found.broken), 1)


if __name__ == "__main__":
    sys.exit(main())
