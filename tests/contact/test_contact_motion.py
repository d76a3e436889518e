"""Tᵀ, Tᵀq̇ and Ṫᵀq̇ (RBDA 11.23-11.40): derivatives of gaps along motions, forces by virtual work."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Box, Capsule, Ellipsoid, Geometry, Sphere, solid_box, solid_sphere
from knuckle.scalar import sin
from knuckle.spatial import Transform

from .scenes import ball, on_plane, placed


def tumbling(shape, other=None):
    """Free bodies above a plane, and a state in which they move."""
    bodies = [(solid_box(1.0, (0.3, 0.2, 0.1)), shape)]
    bodies += [] if other is None else [(solid_box(0.7, (0.2, 0.2, 0.3)), other)]
    model = on_plane(*bodies)
    rng = np.random.default_rng(5)
    q = kn.integrate(model, kn.neutral(model), rng.normal(size=model.nv) * 0.7)
    return model, q, rng.normal(size=model.nv)


PAIRS = {
    "sphere": (Sphere(0.2), None),
    "capsule": (Capsule(0.1, 0.4), None),
    "box": (Box((0.3, 0.2, 0.1)), None),
    "ellipsoid": (Ellipsoid((0.3, 0.2, 0.1)), None),
    "spheres": (Sphere(0.2), Sphere(0.1)),
    "sphere and capsule": (Sphere(0.2), Capsule(0.1, 0.4)),
    "sphere and box": (Sphere(0.2), Box((0.3, 0.2, 0.1))),
    "capsules": (Capsule(0.05, 0.8), Capsule(0.1, 0.9)),
}


def along(model, q, v, f, h=1e-3):
    """The derivative of f(q(t), v) along a motion with constant v, by differences of the sixth order."""
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    total = 0.0
    for k, w in weights.items():
        ahead, back = (kn.integrate(model, q, s * k * h * v) for s in (1, -1))
        total = total + w * (np.asarray(f(ahead)) - np.asarray(f(back)))
    return total / h


@pytest.mark.parametrize("shapes", PAIRS)
def test_the_rate_of_a_gap_is_the_normal_velocity(shapes: str):
    model, q, v = tumbling(*PAIRS[shapes])
    rate = along(model, q, v, lambda q: kn.contact.gaps(model, q))
    np.testing.assert_allclose(kn.contact.contact_velocity(model, q, v)[:, 0], rate, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shapes", PAIRS)
def test_the_bias_is_the_rate_of_the_relative_velocity(shapes: str):
    model, q, v = tumbling(*PAIRS[shapes])
    rate = along(model, q, v, lambda q: kn.contact.contact_velocity(model, q, v))
    np.testing.assert_allclose(kn.contact.contact_bias(model, q, v), rate, rtol=0, atol=2e-8)


@pytest.mark.parametrize("shapes", PAIRS)
def test_the_jacobian_makes_the_relative_velocity(shapes: str):
    model, q, v = tumbling(*PAIRS[shapes])
    J = kn.contact.contact_jacobian(model, q)
    assert J.shape == (len(kn.contact.gaps(model, q)), 3, model.nv)
    np.testing.assert_allclose(J @ v, kn.contact.contact_velocity(model, q, v), rtol=0, atol=1e-13)


def test_frames_are_orthonormal_and_begin_with_the_normal():
    model, q, _ = tumbling(*PAIRS["sphere and box"])
    frames = kn.contact.contact_frames(model, q)
    np.testing.assert_allclose(frames @ frames.swapaxes(-1, -2), np.broadcast_to(np.eye(3), frames.shape), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(frames), 1, atol=1e-14)
    np.testing.assert_array_equal(frames[:, 0], kn.contact.normals(model, q))


def test_forces_at_places_are_forces_on_bodies():
    """T λ is the force that `external_force` makes of λ in base coordinates at the point, on both bodies."""
    model, q, _ = tumbling(*PAIRS["spheres"])
    pairs = kn.contact.contact_pairs(model)
    lam = np.random.default_rng(1).normal(size=(len(pairs), 3))
    tau = np.einsum("kiv,ki->v", kn.contact.contact_jacobian(model, q), lam)
    total = np.zeros(model.nv)
    for pair, f, frame, p in zip(
        pairs, lam, kn.contact.contact_frames(model, q), kn.contact.points(model, q), strict=True
    ):
        world = frame.T @ f
        for name, sign in zip(pair.names(model), (1, -1), strict=True):
            if name != model.base.name:
                wrench = sign * np.concatenate([np.cross(p, world), world])
                f_ext = kn.external_force(model, q, name, wrench, "world")
                total -= kn.inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv), f_ext)
                total += kn.inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))
    np.testing.assert_allclose(tau, total, rtol=0, atol=1e-12)


def coupled():
    """A finger whose second joint follows the first by a law, above a plate on a lift."""
    b = kn.Builder("finger")
    b.body("lift", joint=Prismatic("z"), inertia=solid_box(1.0, (1, 1, 0.1)), collisions=Box((1.0, 1.0, 0.1)))
    b.body("near", joint=Revolute("y"), at=(0, 0, 1.0), inertia=solid_box(0.3, (0.4, 0.1, 0.1)))
    b.body("far", on="near", joint=Revolute("y"), at=(0.4, 0, 0), inertia=solid_sphere(0.2, 0.05),
           collisions=Geometry(Sphere(0.05), Transform.translation((0.3, 0, 0))))  # fmt: skip
    b.couple("far_joint", "near_joint", lambda x: 0.7 * sin(x) + 0.1)
    return b.build()


def test_joints_that_follow_others():
    model = coupled()
    q, v = np.array([0.2, 0.4]), np.array([0.3, -0.8])
    rate = along(model, q, v, lambda q: kn.contact.gaps(model, q))
    bias = along(model, q, v, lambda q: kn.contact.contact_velocity(model, q, v))
    np.testing.assert_allclose(kn.contact.contact_velocity(model, q, v)[:, 0], rate, rtol=0, atol=1e-10)
    np.testing.assert_allclose(kn.contact.contact_bias(model, q, v), bias, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        kn.contact.contact_jacobian(model, q) @ v, kn.contact.contact_velocity(model, q, v), atol=1e-13
    )


def test_batches_and_bound_functions_are_the_same():
    model, q, v = tumbling(*PAIRS["box"])
    qs, vs = np.stack([q, kn.neutral(model)]), np.stack([v, 2 * v])
    fast = kn.bind(model).contact
    for k in range(2):
        np.testing.assert_allclose(
            kn.contact.contact_bias(model, qs, vs)[k], fast.contact_bias(qs[k], vs[k]), atol=1e-12
        )
        np.testing.assert_allclose(kn.contact.contact_jacobian(model, qs)[k], fast.contact_jacobian(qs[k]), atol=1e-13)
        np.testing.assert_allclose(kn.contact.contact_velocity(model, qs, vs)[k], fast.contact_velocity(qs[k], vs[k]),
                                   atol=1e-13)  # fmt: skip


def test_states_of_separation():
    """The states 1, 2a, 2b and 3 of figure 11.4."""
    model = on_plane(ball())
    heights, rates = [0.2, 0.1, 0.1, 0.1, 0.0], [-1.0, -1.0, 1.0, 0.0, 0.0]
    q = np.stack([placed(model, (0, 0, z)) for z in heights])
    v = np.array([[0, 0, 0, 0.5, 0, w] for w in rates])
    states = kn.contact.separation_states(model, q, v)
    assert states[:, 0].tolist() == ["apart", "closing", "opening", "touching", "touching"]
