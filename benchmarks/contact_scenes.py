"""Scenes with contact: a quadruped and a humanoid on a plane under a PD controller, a stack, rolling balls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from subjects import SUBJECTS

import knuckle as kn
from knuckle.joints import Free
from knuckle.model import Body, Geometry, Plane, Sphere, solid_box, solid_sphere
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Inertia, Transform

Array = np.ndarray[Any, Any]
DT = 2e-3
LEGS = ("LF", "RF", "LH", "RH")


@dataclass(frozen=True)
class Walker:
    """A robot on a plane, its posture, joint goals (steps, nv − 6) for a controller with these gains, and how many
    times faster than MuJoCo it is asked to be."""

    title: str
    model: kn.Model
    posture: Array
    stiffness: Array
    damping: Array
    goals: Callable[[int], Array]
    asked: float

    def start(self, count: int) -> tuple[Array, Array]:
        """States just above the ground, each a little different."""
        rng = np.random.default_rng(0)
        q = np.tile(self.posture, (count, 1))
        q[:, 7:] += 0.05 * rng.standard_normal((count, self.model.nq - 7))
        q[:, 6] += 1e-3 - kn.contact.gaps(self.model, q).min(-1)
        return q, 0.05 * rng.standard_normal((count, self.model.nv))


@kn.kernel
def hold(model: kn.Model, q: Any, v: Any, goal: Any, stiffness: Any, damping: Any) -> Any:
    """Forces of springs and dampers between joints and their goals."""
    pull = [stiffness[k] * (goal[k] - q[7 + k]) - damping[k] * v[6 + k] for k in range(model.nv - 6)]
    return np.array([*[0.0] * 6, *pull]) if isinstance(q, np.ndarray) else type(q)([*[0.0] * 6, *pull])


def on_spheres(model: kn.Model, places: dict[str, Sequence[tuple[float, float, float]]], radius: float) -> kn.Model:
    """The model with no shapes but spheres at places of some frames, on a plane."""
    bodies = [replace(body, visuals=(), collisions=()) for body in model.bodies]
    for name, points in places.items():
        frame = model.frame(name)
        spheres = [Geometry(Sphere(radius), Transform.translation(at) @ frame.X) for at in points]
        body = bodies[frame.body]
        bodies[frame.body] = replace(body, collisions=(*body.collisions, *spheres))
    ground = Body("ground", Inertia.zero(), collisions=(Geometry(Plane((0.0, 0.0))),))
    rules = ContactRules((Surface(friction=0.8),), ignored=_all_pairs(model.body_names))
    return model.replace(bodies=tuple(bodies), base=ground, contact=rules)


def _all_pairs(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((a, b) for k, a in enumerate(names) for b in names[k + 1 :])


def quadruped(spheres: int) -> Walker:
    """ANYmal B on spheres at its feet: one at each, or two of them beside each other."""
    places = [(0.0, 0.0, 0.0)] if spheres == 4 else [(-0.02, 0.0, 0.0), (0.02, 0.0, 0.0)]
    model = on_spheres(SUBJECTS["anymal"]().model, {f"{leg}_FOOT": places for leg in LEGS}, 0.03)
    q = np.array(kn.neutral(model))
    hips, knees = (0.4, 0.4, -0.4, -0.4), (-0.8, -0.8, 0.8, 0.8)
    for k in range(4):
        q[7 + 3 * k : 10 + 3 * k] = 0.0, hips[k], knees[k]

    def goals(steps: int) -> Array:
        """A trot: the legs of a diagonal are lifted together, twice a second."""
        phase = 2 * np.pi * 2.0 * DT * np.arange(steps)
        goal = np.tile(q[7:], (steps, 1))
        for k, shift in enumerate((0.0, np.pi, np.pi, 0.0)):
            lift = np.maximum(0.0, np.sin(phase + shift))
            goal[:, 3 * k + 1] += np.sign(hips[k]) * 0.3 * lift + 0.05 * np.cos(phase + shift)
            goal[:, 3 * k + 2] -= np.sign(hips[k]) * 0.6 * lift
        return goal

    return Walker(
        f"ANYmal B trots, {spheres} spheres",
        model,
        q,
        np.full(12, 150.0),
        np.full(12, 4.0),
        goals,
        20.0 if spheres == 4 else 10.0,
    )


def humanoid() -> Walker:
    """Talos, on the four corners of each sole, bends its knees."""
    corners = [(x, y, 0.0) for x in (-0.08, 0.1) for y in (-0.05, 0.05)]
    subject = SUBJECTS["talos"]()
    model = on_spheres(subject.model, {f"{side}_sole_link": corners for side in ("left", "right")}, 0.005)
    q = np.array(kn.neutral(model))
    bent = {"leg_left": (-0.4, 0.8, -0.4), "leg_right": (-0.4, 0.8, -0.4)}
    for side, angles in bent.items():
        for k, angle in zip((3, 4, 5), angles, strict=True):
            q[model.q_slices[model.joint_index(f"{side}_{k}_joint")].start] = angle

    def goals(steps: int) -> Array:
        goal = np.tile(q[7:], (steps, 1))
        bend = 0.15 * np.sin(2 * np.pi * DT * np.arange(steps))
        for side in bent:
            for k, part in ((3, -1.0), (4, 2.0), (5, -1.0)):
                goal[:, model.q_slices[model.joint_index(f"{side}_{k}_joint")].start - 7] += part * bend
        return goal

    light = 1 / np.diag(np.linalg.inv(kn.mass_matrix(model, q)))[6:]  # what each joint feels if the others are free
    is_leg = np.array([joint.name.startswith("leg") for joint in model.joints[1:]])
    damping = 0.3 * light / DT
    stiffness = np.maximum(0.02 * light / DT**2, np.where(is_leg, 1000.0, 0.0))
    return Walker("Talos bends its knees, 8 corners", model, q, stiffness, damping, goals, 10.0)


def balls(count: int) -> tuple[kn.Model, Array, Array]:
    """Balls on a plane in a square, pushed along its diagonal (SimBenchmark's "rolling")."""
    side, radius = round(count**0.5), 0.5
    ground = Body("ground", Inertia.zero(), collisions=(Geometry(Plane((0.0, 0.0))),))
    b = kn.Builder("balls", gravity=(0, 0, -9.8), base=ground)
    for k in range(count):
        b.body(f"ball{k}", joint=Free(), inertia=solid_sphere(10.0, radius), collisions=Sphere(radius))
    model = b.build().replace(contact=ContactRules((Surface(friction=0.4),)))
    at = [(2.0 * radius * 2 * (k % side), 2.0 * radius * 2 * (k // side), radius) for k in range(count)]
    q = kn.integrate(model, kn.neutral(model), np.concatenate([(0, 0, 0, *x) for x in at]))
    return model, q, np.tile([0, 0, 0, 1.5, 1.5, 0.0], count)


def stack(count: int) -> tuple[kn.Model, Array, Array]:
    """Cubes on each other on a plane."""
    from knuckle.model import Box

    size = (0.2, 0.2, 0.2)
    ground = Body("ground", Inertia.zero(), collisions=(Geometry(Plane((0.0, 0.0))),))
    b = kn.Builder("stack", base=ground)
    for k in range(count):
        b.body(f"box{k}", joint=Free(), inertia=solid_box(1.0, size), collisions=Box(size))
    model = b.build().replace(contact=ContactRules((Surface(friction=0.5),)))
    q = kn.integrate(model, kn.neutral(model), np.concatenate([(0, 0, 0, 0, 0, 0.1 + 0.2 * k) for k in range(count)]))
    return model, q, np.zeros(6 * count)
