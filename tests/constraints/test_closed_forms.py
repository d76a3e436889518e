"""Constrained motion that has a formula: tension, rolling, stops, planes, prescribed motion."""

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Prismatic, Revolute
from knuckle.model import Builder, solid_box
from knuckle.testing import random_tree

C = kn.constraints
G = 9.81
METHODS = ["dense", "dual", "iterative"]


def block(mass: float = 2.0) -> kn.Model:
    b = Builder("block")
    b.body("block", joint=Free(), inertia=solid_box(mass, (0.2, 0.2, 0.2)))
    return b.build()


@pytest.mark.parametrize("method", METHODS)
def test_a_rope_is_a_pendulum_while_it_is_tight(method):
    """T = m (g cos θ + L θ̇²) for a mass on a rope of length L, and nothing when it is thrown inward."""
    model, L, angle, rate, m = block(), 1.5, 0.4, 2.0, 2.0
    out = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    along = np.array([math.cos(angle), 0.0, math.sin(angle)])
    rope = C.Distance("block", L, bound="<=")
    q = np.array([1.0, 0, 0, 0, *(L * out)])
    tight = kn.constraints.dynamics(model, q, [0, 0, 0, *(L * rate * along)], np.zeros(6), [rope], method=method)
    tension = m * (G * math.cos(angle) + L * rate**2)
    assert np.allclose(tight.multipliers, tension, rtol=1e-12)
    assert np.allclose(tight.a[3:], -G * math.sin(angle) * along - L * rate**2 * out, rtol=1e-11, atol=1e-11)
    slack = kn.constraints.dynamics(model, q, [0, 0, 0, *(-0.5 * out)], np.zeros(6), [rope], method=method)
    assert not slack.active.any()
    assert np.allclose(slack.a[3:], [0, 0, -G])


@pytest.mark.parametrize("method", METHODS)
def test_a_box_on_a_slope(method):
    """Four corners on a plane carry m g cos α, though no one knows how they share it; it slides with g sin α."""
    model, slope, half = block(), 0.3, 0.1
    normal = (-math.sin(slope), 0.0, math.cos(slope))
    q = np.array([math.cos(slope / 2), 0, -math.sin(slope / 2), 0, *(half * np.array(normal))])
    corners = [(x, y, -half) for x in (-half, half) for y in (-half, half)]
    feet = [C.PlaneDistance("block", normal, at=corner, bound=">=") for corner in corners]
    found = kn.constraints.dynamics(model, q, np.zeros(6), np.zeros(6), feet, method=method, tolerance=1e-9)
    assert found.solved
    assert found.active.all()
    assert math.isclose(found.multipliers.sum(), 2.0 * G * math.cos(slope), rel_tol=1e-9)
    assert np.allclose(found.a, [0, 0, 0, -G * math.sin(slope), 0, 0], atol=1e-8)


def test_a_box_that_is_pushed_over_stands_on_two_corners():
    model, half = block(), 0.1
    q = np.array([1.0, 0, 0, 0, 0, 0, half])
    corners = [(x, y, -half) for x in (-half, half) for y in (-half, half)]
    feet = [C.PlaneDistance("block", at=corner, bound=">=") for corner in corners]
    push = kn.external_force(model, q, "block", np.array([0, 5.0, 0, 0, 0, 0]))  # more than m g half = 1.96 N m
    found = kn.constraints.dynamics(model, q, np.zeros(6), np.zeros(6), feet, push)
    assert found.active.tolist() == [False, False, True, True]
    assert (found.multipliers[2:] > 0).all()
    assert found.a[1] > 0


def test_a_disc_rolls():
    """A disc on a slope has 2/3 g sin α, where one that slips has all of it."""
    R, slope = 0.25, 0.4
    b = Builder("disc")
    b.body("cart", joint=Prismatic("x"), mass=1e-9, inertia=np.eye(3) * 1e-12)
    b.body("disc", on="cart", joint=Revolute("y"), mass=3.0, inertia=np.diag([0.1, 1.5 * R**2, 0.1]))
    model = b.build().with_gravity((G * math.sin(slope), 0, -G * math.cos(slope)))
    rolling = C.CustomVelocity(lambda model, q, v: v[0] - R * v[1])
    found = kn.constraints.dynamics(model, np.zeros(2), np.zeros(2), np.zeros(2), [rolling])
    assert math.isclose(found.a[0], 2 / 3 * G * math.sin(slope), rel_tol=1e-8)
    assert math.isclose(found.a[1] * R, found.a[0], rel_tol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_prescribed_accelerations_are_hybrid_dynamics(seed: int):
    """Notes 2.102: the multipliers of prescribed accelerations are the forces that hybrid dynamics ask for."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6)
    q, (v, tau, a) = kn.random_configuration(model, rng), rng.standard_normal((3, model.nv))
    chosen = [1, 4]
    given = [k for j in chosen for k in model.variables(j)]
    wishes = [C.JointAcceleration(model.joint_names[j], a[list(model.variables(j))]) for j in chosen]
    found = kn.constraints.dynamics(model, q, v, tau, wishes)
    needed = kn.inverse_dynamics(model, q, v, found.a)
    condition = np.linalg.cond(kn.mass_matrix(model, q))
    size = 1 + np.abs(needed).max()
    assert np.abs(found.a[given] - a[given]).max() <= 1e-14 * condition * (1 + np.abs(found.a).max())
    assert np.abs((needed - tau)[given] - found.multipliers).max() <= 1e-14 * condition * size
    others = [k for k in range(model.nv) if k not in given]
    assert np.abs((needed - tau)[others]).max() <= 1e-14 * condition * size


def test_a_stop_carries_what_presses_on_it():
    """At rest at its limit, a joint gets exactly the force that is missing; pulled away from it, nothing."""
    arm = kn.robots.load("arm")
    limits = C.joint_limits(arm)
    assert limits
    q = kn.neutral(arm)
    j = next(i for i, joint in enumerate(arm.joints) if np.isfinite(joint.limits.upper[0]))
    q[j] = arm.joints[j].limits.upper[0]
    hold = kn.gravity_force(arm, q)
    for push in (-3.0, 4.0):
        tau = hold + push * np.eye(arm.nv)[j]
        found = kn.constraints.dynamics(arm, q, np.zeros(arm.nv), tau, limits)
        assert np.isclose(found.multipliers.sum(), max(push, 0.0), atol=1e-9)
        assert np.abs(found.a).max() < 1e-8 if push > 0 else found.a[j] < 0


def test_the_sign_of_the_notes_dual_problem():
    """With λ_C ≤ 0 as printed in 2.123 a stop would not push: of min ½λ² − λ, for ∂a ≥ 1 and M = 1, λ = 1 is right."""
    b = Builder("slider")
    b.body("slider", joint=Prismatic("x"), mass=1.0, inertia=np.eye(3))
    model = b.build()
    found = kn.constraints.dynamics(
        model, [0.0], [0.0], [-1.0], [C.JointAcceleration("slider_joint", 0.0, bound=">=")], method="dual"
    )
    assert np.allclose(found.multipliers, 1.0)
    assert np.allclose(found.a, 0.0)
