"""Random scenes with contact: bodies of random shapes and surfaces on a plane, and states from which they start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.contact import ShapeCollider
from knuckle.contact.detection import is_known
from knuckle.joints import Free
from knuckle.model import Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere, solid_box
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Inertia

Array = np.ndarray[Any, Any]
Random = np.random.Generator
GRAVITY = 9.81
DEEPEST = 0.03
"""How deep bodies are in the ground at the beginning, at most."""
FEW = 4
"""Pairs of shapes up to which there is code for the gaps of many states, where boxes are among them"""
ANY = (Sphere, Capsule, Box, Cylinder, Ellipsoid)
SIMPLE = (Sphere, Capsule, Box)


@dataclass(frozen=True)
class RandomScene:
    """A model, states (count, …) from which it starts, and the steps to take. `sizes` are the widths of bodies."""

    model: kn.Model
    q: Array
    v: Array
    dt: float
    steps: int
    sizes: Array


def random_shape(rng: Random, kinds: tuple[type, ...]) -> Any:
    kind, size = kinds[rng.integers(len(kinds))], rng.uniform(0.05, 0.2, 3)
    if kind in (Capsule, Cylinder):
        return kind(float(size[0] / 2), float(2 * size[1]))
    if kind is Sphere:
        return Sphere(float(size[0]))
    return kind(tuple(float(2 * x if kind is Box else x) for x in size))


def least_width(shape: Any) -> float:
    match shape:
        case Sphere() | Capsule():
            return 2 * shape.radius
        case Cylinder():
            return min(2 * shape.radius, shape.length)
        case Box():
            return min(shape.size)
        case _:
            return 2 * min(shape.radii)


def reach(shape: Any) -> float:
    """How far a shape goes from its middle."""
    match shape:
        case Sphere():
            return shape.radius
        case Capsule():
            return shape.radius + shape.length / 2
        case Cylinder():
            return math.hypot(shape.radius, shape.length / 2)
        case Box():
            return math.hypot(*shape.size) / 2
        case _:
            return max(shape.radii)


def random_surface(rng: Random, *, is_soft: bool = False) -> Surface:
    """Friction from 0 to 2, restitution from 0 to 1; some without, some with all of it."""
    friction = float(rng.choice([0.0, rng.uniform(0, 2), rng.uniform(0, 2)]))
    restitution = float(rng.choice([0.0, rng.uniform(), 1.0]))
    moments = {"torsional": 0.02, "rolling": 0.005} if friction and rng.uniform() < 0.2 else {}
    if is_soft:
        return Surface(friction=friction, stiffness=1e5, damping=float(rng.choice([0.0, 50.0, 500.0])))
    return Surface(friction=friction, restitution=restitution, **moments)


def random_model(
    rng: Random, shapes: list[Any], surface: Surface, masses: tuple[float, float] = (1.0, 1e4)
) -> kn.Model:
    """Free bodies of these shapes on a plane, with masses between two, evenly by their logarithms."""
    ground = Body("ground", Inertia.zero(), collisions=(Geometry(Plane((0.0, 0.0))),))
    b = kn.Builder("scene", gravity=(0, 0, -GRAVITY), base=ground)
    for k, shape in enumerate(shapes):
        mass = float(np.exp(rng.uniform(*np.log(masses))))
        inertia = solid_box(mass, tuple(float(x) for x in rng.uniform(0.1, 0.3, 3)))
        b.body(f"body{k}", joint=Free(), inertia=inertia, collisions=shape)
    return b.build().replace(contact=ContactRules((surface,)))


def random_states(
    rng: Random, model: kn.Model, shapes: list[Any], count: int, dt: float, *, overlaps: bool = True
) -> tuple[Array, Array]:
    """Above the ground or a little in it, beside or in each other; in a step no body goes a quarter of its width."""
    n = model.nb
    moved = rng.normal(size=(count, n, 6)) * np.array([1, 1, 1, 0.15, 0.15, 0.1])
    moved[..., 5] += 0.25 + 0.3 * np.arange(n)
    if not overlaps:  # on top of each other, with room
        between = [reach(a) + reach(b) + 0.01 for a, b in pairwise(shapes)]
        moved[..., 3:5] = 0.1 * rng.normal(size=(count, 1, 2))
        moved[..., 5] = np.cumsum([0.0, *between])
    turned = moved * np.array([1, 1, 1, 0, 0, 0])
    q = kn.integrate(model, np.tile(kn.neutral(model), (count, 1)), turned.reshape(count, -1))
    for k in range(n):
        q[:, 7 * k + 4 : 7 * k + 7] = moved[:, k, 3:]
    lowest = least_gaps(model, q)
    deepest = 0.0 if not overlaps else rng.choice([0.0, DEEPEST], count)
    lift = np.maximum(0.0, -deepest - lowest) if overlaps else 1e-3 * rng.uniform(1, 50, count) - lowest
    for k in range(n):
        q[:, 7 * k + 6] += lift
    v = rng.normal(size=(count, n, 6))
    limits = np.array([least_width(x) / (4 * dt) for x in shapes])
    speeds = np.minimum(10 ** rng.uniform(-1, 1, (count, 1)), limits)
    turns = np.minimum(10 ** rng.uniform(-1, 1.3, (count, 1)), limits / np.array([reach(x) for x in shapes]))
    for part, size in ((slice(0, 3), turns), (slice(3, 6), speeds)):
        v[..., part] *= (size / np.maximum(1.0, np.linalg.norm(v[..., part], axis=-1)))[..., None]
    return q, v.reshape(count, -1)


def least_gaps(model: kn.Model, q: Array) -> Array:
    """The least gap in each state, by code for all of them where that is short, else by a collider."""
    pairs = kn.contact.contact_pairs(model, any_shapes=True)
    if all(pair.is_compiled for pair in pairs) and (len(pairs) <= FEW or not any(_are_boxes(pair) for pair in pairs)):
        return kn.contact.gaps(model, q).min(-1)
    collider = ShapeCollider.of(model)
    return np.array([collider.places(x)[:, 0].min() for x in q])


def _are_boxes(pair: Any) -> bool:
    return isinstance(pair.first_shape.shape, Box) and isinstance(pair.second_shape.shape, Box)


def few_bodies(rng: Random, count: int, steps: int) -> RandomScene:
    """One to three bodies of shapes that can touch each other in compiled code; of boxes one, or two by themselves."""
    bodies = int(rng.integers(1, 4))
    shapes = [random_shape(rng, ANY if bodies == 1 else SIMPLE) for _ in range(min(bodies, 2))]
    if bodies == 3:
        shapes = [*(random_shape(rng, (Sphere, Capsule)) for _ in range(2)), shapes[0]]
    assert all(is_known(a, b) or is_known(b, a) for k, a in enumerate(shapes) for b in shapes[:k])
    return _scene(rng, shapes, random_surface(rng), count, steps)


def many_balls(rng: Random, count: int, steps: int) -> RandomScene:
    """Balls beside and on each other: so many that steps look at near ones only."""
    shapes = [random_shape(rng, (Sphere,)) for _ in range(int(rng.integers(6, 10)))]
    return _scene(rng, shapes, random_surface(rng), count, steps)


def any_bodies(rng: Random, count: int, steps: int) -> RandomScene:
    """Two to five bodies of any shapes, for a collider; at least two of them have no text for each other."""
    shapes = [
        random_shape(rng, (Cylinder, Ellipsoid)),
        *(random_shape(rng, ANY) for _ in range(int(rng.integers(1, 5)))),
    ]
    return _scene(rng, shapes, random_surface(rng), count, steps)


def boxes(rng: Random, count: int, steps: int) -> RandomScene:
    """Boxes on each other, as many as steps on arrays take."""
    shapes = [random_shape(rng, (Box,)) for _ in range(int(rng.integers(3, 7)))]
    return _scene(rng, shapes, random_surface(rng), count, steps)


def apart(rng: Random, count: int, steps: int) -> RandomScene:
    """One or two bodies that do not overlap: from event to event nothing may."""
    bodies = int(rng.integers(1, 3))
    shapes = [random_shape(rng, SIMPLE if bodies == 1 else (Sphere,)) for _ in range(bodies)]
    return _scene(rng, shapes, random_surface(rng), count, steps, overlaps=False)


def soft_bodies(rng: Random, count: int, steps: int) -> RandomScene:
    """One to three bodies whose surfaces give way. Their masses are those that the springs can carry."""
    bodies = int(rng.integers(1, 4))
    shapes = [random_shape(rng, SIMPLE if bodies == 1 else (Sphere,)) for _ in range(bodies)]
    return _scene(rng, shapes, random_surface(rng, is_soft=True), count, steps, masses=(1.0, 100.0), dt=2e-4)


def _scene(
    rng: Random, shapes: list[Any], surface: Surface, count: int, steps: int, *, overlaps: bool = True,
    masses: tuple[float, float] = (1.0, 1e4), dt: float | None = None,
) -> RandomScene:  # fmt: skip
    dt = float(rng.choice([5e-4, 1e-3, 2e-3, 5e-3])) if dt is None else dt
    model = random_model(rng, shapes, surface, masses)
    q, v = random_states(rng, model, shapes, count, dt, overlaps=overlaps)
    return RandomScene(model, q, v, dt, steps, np.array([least_width(x) for x in shapes]))
