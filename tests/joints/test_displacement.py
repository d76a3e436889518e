"""How displacements change: u̇ of u = difference(q0, q), and the forces that do the same work."""

import numpy as np
import pytest

from knuckle.joints import Free, Joint, Planar, PlanarLocal, Spherical
from knuckle.scalar import Dual
from knuckle.spatial import Vector

from .zoo import close, state

GROUPS = [Spherical(), Free(), Planar("y"), PlanarLocal((1.0, -2.0, 0.5))]


def displaced(joint: Joint, seed: int, size: float) -> tuple[Vector, Vector, Vector]:
    """A displacement of this size, a velocity and a force."""
    rng = np.random.default_rng([seed, 12])
    u, v, f = (Vector(map(float, rng.standard_normal(joint.nv))) for _ in range(3))
    return u * (size / (u @ u) ** 0.5 if joint.nv else 1.0), v, f


def test_the_rate_of_a_displacement(joint: Joint, seed: int):
    """d/dt difference(q0, q) while q moves with v, exactly, from any q0."""
    for size in [1e-9, 0.3, 2.5]:
        q0, _ = state(joint, seed)
        u, v, _ = displaced(joint, seed, size)
        q = joint.integrate(q0, u)
        moving = Vector(map(Dual, q, joint.rate(q, v)))
        rate = [x.derivative if isinstance(x, Dual) else 0.0 for x in joint.difference(q0, moving)]
        close(joint.difference_rate(u, v), rate, 1e-12)


@pytest.mark.parametrize("group", GROUPS, ids=lambda joint: type(joint).__name__)
@pytest.mark.parametrize("size", [0.0, 1e-7, 0.5, 3.0])
def test_closed_forms_are_what_a_joint_of_ones_own_gets(group: Joint, seed: int, size: float):
    u, v, f = displaced(group, seed, size)
    close(group.difference_rate(u, v), Joint.difference_rate(group, u, v), 1e-12)
    close(group.velocity_force(u, f), Joint.velocity_force(group, u, f), 1e-12)
    close(group.displacement_force(u, f), Joint.displacement_force(group, u, f), 1e-11)


def test_forces_do_the_same_work(joint: Joint, seed: int):
    for size in [1e-9, 0.3, 2.5]:
        u, v, f = displaced(joint, seed, size)
        power = f @ joint.difference_rate(u, v)
        close([joint.velocity_force(u, f) @ v], [power], 1e-13 * (1 + abs(power)))
        close(joint.displacement_force(u, joint.velocity_force(u, f)), f, 1e-12)
        close(joint.displacement_velocity(u, joint.difference_rate(u, v)), v, 1e-12)


def test_along_itself_a_displacement_grows_steadily(joint: Joint, seed: int):
    u, _, _ = displaced(joint, seed, 0.8)
    close(joint.difference_rate(u, u), u, 1e-14)
