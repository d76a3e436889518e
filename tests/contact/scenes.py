"""Bodies on a plane, and what they are made of."""

import math
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.joints import Free, Joint
from knuckle.model import Body, Box, Geometry, Model, Plane, Sphere, solid_box, solid_sphere
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Inertia

G = 9.81
RADIUS = 0.1


def on_plane(
    *bodies: tuple[Any, Any],
    friction: float = 0.5,
    restitution: float = 0.0,
    slope: float = 0.0,
    joint: Joint | None = None,
    **options: Any,
) -> Model:
    """Bodies (inertia, shape) on a plane that is inclined about y: gravity turns instead."""
    ground = Body("ground", Inertia.zero(), collisions=(Geometry(Plane((0.0, 0.0))),))
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    b = kn.Builder("scene", gravity=gravity, base=ground)
    for k, (inertia, shape) in enumerate(bodies):
        b.body(f"body{k}", joint=joint or Free(), inertia=inertia, collisions=shape, **options)
    return b.build().replace(contact=ContactRules((Surface(friction=friction, restitution=restitution),)))


def box(size: tuple[float, float, float] = (0.2, 0.2, 0.2), mass: float = 2.0) -> tuple[Inertia, Box]:
    return solid_box(mass, size), Box(size)


def ball(mass: float = 1.0) -> tuple[Inertia, Sphere]:
    return solid_sphere(mass, RADIUS), Sphere(RADIUS)


def placed(model: Model, *at: tuple[float, float, float]) -> np.ndarray:
    """The position with free bodies at these places."""
    return kn.integrate(model, kn.neutral(model), np.concatenate([(0, 0, 0, *x) for x in at]))
