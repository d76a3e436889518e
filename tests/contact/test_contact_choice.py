"""Which steps solve contacts where nothing is said, and what says so where none do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ContactSteps, default_steps
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.joints import Free, Revolute
from knuckle.model import Box, Cylinder, HeightField, Plane, Sphere, solid_box
from knuckle.model.edit import keep_collisions, with_ground


def scene(shape: Any, ground: bool = True, **options: Any) -> kn.Model:
    b = kn.Builder("scene")
    b.surface("wood", friction=0.5)
    if ground:
        b.ground(surface="wood")
    b.body("one", joint=Free(), at=(0, 0, 1), inertia=solid_box(1.0, (0.2,) * 3), collisions=shape, surface="wood")
    return b.build(**options)


BALL = scene(Sphere(0.1))


def quadruped() -> kn.Model:
    return with_ground(kn.robots.load("quadruped"), friction=0.8)


def test_contacts_are_solved_where_there_is_a_ground():
    assert type(default_steps(BALL).integrator) is ContactSteps
    assert default_steps(scene(Sphere(0.1), ground=False)).name == "rk4"
    assert default_steps(BALL, contacts=False).name == "rk4"
    assert default_steps(scene(Sphere(0.1), ground=False), contacts=True).name == "contact"
    fallen = kn.simulate(BALL, duration=1.0)
    assert fallen.q[-1, 6] == pytest.approx(-0.9, abs=1e-9)
    assert kn.simulate(BALL, duration=1.0, contacts=False).q[-1, 6] < -4
    assert kn.rollout(BALL, duration=1.0).q[-1, 6] == pytest.approx(-0.9, abs=1e-9)


def test_a_named_integrator_that_knows_no_contact_says_so():
    with pytest.warns(RuntimeWarning, match="RungeKutta4 knows no contact: bodies of scene pass through the ground"):
        kn.simulate(BALL, duration=0.01, integrator="rk4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.simulate(BALL, duration=0.01, integrator="rk4", contacts=False)
    with pytest.raises(ValueError, match="contacts=True needs steps that solve contacts, and RungeKutta4 does not"):
        kn.simulate(BALL, integrator="rk4", contacts=True)
    with pytest.raises(ValueError, match="contacts=False, and ContactSteps solves contacts"):
        kn.simulate(BALL, integrator="contact", contacts=False)


@pytest.mark.parametrize("contacts", ["yes", 1, 0.0])
def test_contacts_is_a_choice(contacts: Any):
    with pytest.raises(TypeError, match=r"contacts is True, False.*, not"):
        kn.simulate(BALL, contacts=contacts)


def test_many_shapes_and_shapes_without_a_text_are_solved_on_numbers():
    steps = default_steps(quadruped())
    assert type(steps.integrator) is ColliderSteps
    assert steps.name == "contact"
    feet = keep_collisions(quadruped(), lambda body, shape: isinstance(shape.shape, Sphere))
    assert type(default_steps(feet).integrator) is ContactSteps


@pytest.mark.slow
def test_driven_joints_stand_on_the_ground():
    """A joint that moves by a law of time is no reason to pass through the ground: few shapes, and many."""
    for count in (1, 16):
        b = kn.Builder("scene")
        b.ground()
        turning = kn.joints.Driven(Revolute("z"), lambda t: ((0.1 * t,), (0.1,), (0.0,)))
        b.body("table", joint=turning, at=(5, 0, 1), inertia=solid_box(1.0, (0.2,) * 3))
        for k in range(count):
            inertia = solid_box(1.0, (0.2,) * 3)
            b.body(f"ball{k}", joint=Free(), at=(k, 0, 0.1), inertia=inertia, collisions=Sphere(0.1))
        motion = kn.simulate(b.build(), None, None, 0.02)
        assert motion.integrator == "contact"
        assert np.abs(motion.v[-1]).max() < 1e-9


def test_shapes_that_nothing_can_compute_are_named():
    b = kn.Builder("scene")
    b.terrain(np.zeros((4, 4)), spacing=1.0)
    b.body("sheet", joint=Free(), at=(1, 1, 1), inertia=solid_box(1.0, (0.2,) * 3), collisions=Plane((1.0, 1.0)))
    model = b.build()
    assert any(isinstance(x.shape, HeightField) for x in model.base.collisions)
    with pytest.warns(
        RuntimeWarning, match=r"pass through .* a plane of 'sheet'.*contacts=False says that this is meant"
    ):
        assert kn.simulate(model, duration=0.01).integrator == "rk4"
    with pytest.raises(kn.ModelError, match="a plane of 'sheet'"):
        kn.simulate(model, contacts=True)


# steps on numbers


def dropped(model: kn.Model, height: float) -> np.ndarray:
    q = kn.neutral(model)
    q[6] += height - kn.contact.gaps(model, q).min()
    return q


@pytest.mark.slow
def test_they_are_the_compiled_steps():
    """The same laws and the same solver: a robot on four feet, with friction at its joints."""
    model = keep_collisions(quadruped(), lambda body, shape: isinstance(shape.shape, Sphere))
    q, v = dropped(model, 0.002), np.zeros(model.nv)
    v[3:6] = 0.3, -0.1, 0.0
    on_numbers = ColliderSteps(kn.contact.ShapeCollider.of(model))
    one, other = (kn.simulate(model, q, v, 0.06, integrator=x) for x in (ContactSteps(), on_numbers))
    assert np.abs(one.q[-1] - q).max() > 0.01
    np.testing.assert_allclose(other.q, one.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.v, one.v, rtol=0, atol=1e-7)


@pytest.mark.slow
def test_a_robot_that_falls_lies_still():
    model = quadruped()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # some steps of the fall are not solved to 1e-6 m/s
        fall = kn.simulate(model, dropped(model, 0.0), None, 0.6)
    gaps = kn.contact.gaps(model, fall.q)
    assert gaps.min() > -1e-4
    assert gaps[-1].min() > -1e-6
    assert np.abs(fall.v[-1]).max() < 1e-3
    energy = kn.kinetic_energy(model, fall.q, fall.v) + kn.potential_energy(model, fall.q)
    assert np.diff(energy).max() < 1e-3 * np.ptp(energy)


@pytest.mark.slow
def test_a_stack_of_boxes_stands():
    b = kn.Builder("stack")
    b.ground()
    for k in range(8):
        brick = {"inertia": solid_box(1.0, (0.2, 0.2, 0.2)), "collisions": Box((0.2, 0.2, 0.2))}
        b.body(f"brick{k}", joint=Free(), at=(0, 0, 0.1 + 0.2 * k), **brick)
    model = b.build()
    assert type(default_steps(model).integrator) is ColliderSteps
    stack = kn.simulate(model, duration=0.1, dt=5e-3)
    assert np.abs(stack.q - stack.q[0]).max() < 1e-13
    assert np.abs(stack.v).max() < 1e-12


@pytest.mark.slow
def test_a_cylinder_stands_on_a_table():
    """Found by the collider of another library."""
    pytest.importorskip("mujoco")
    b = kn.Builder("table")
    b.surface("wood", friction=0.5)
    b.body("top", joint=kn.joints.Fixed(), at=(0, 0, 0.5), mass=1.0, collisions=Box((1, 1, 0.1)), surface="wood")
    b.body(
        "can",
        joint=Free(),
        at=(0.1, 0, 0.651),
        inertia=solid_box(1.0, (0.2,) * 3),
        collisions=Cylinder(0.1, 0.2),
        surface="wood",
    )
    model = b.build()
    stand = kn.simulate(model, None, None, 0.15, contacts=True)
    assert stand.q[-1, 6] == pytest.approx(-0.001, abs=1e-5)
    assert np.abs(stand.v[-1]).max() < 1e-6


@pytest.mark.slow
def test_loops_stay_closed_on_numbers():
    model = with_ground(kn.robots.load("four_bar"), height=-1.0)
    steps = ColliderSteps(kn.contact.ShapeCollider.of(keep_collisions(model, lambda body, _: body.name == "coupler")))
    q = kn.loops.close(model).q
    motion = kn.simulate(model, q, None, 0.05, integrator=steps)
    assert np.abs(kn.loops.error(model, motion.q)).max() < 1e-9
    assert isinstance(model.joints[0].type, Revolute)


@pytest.mark.slow
@pytest.mark.parametrize("on_numbers", [False, True])
def test_springs_and_dampers_of_joints_may_be_stiff(on_numbers: bool):
    """They are as at the end of a step: of first order where they are soft, and bounded however stiff they are."""

    def arm(stiffness: float, damping: float) -> kn.Model:
        b = kn.Builder("arm")
        b.ground(height=-5.0)
        link = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1), "collisions": Sphere(0.1)}
        b.body("upper", joint=Revolute("y"), stiffness=stiffness, damping=damping, **link)
        b.body("lower", "upper", joint=Revolute("y"), at=(1, 0, 0), stiffness=stiffness, damping=damping, **link)
        return b.build()

    def end(model: kn.Model, dt: float, **options: Any) -> np.ndarray:
        steps = ColliderSteps(kn.contact.ShapeCollider.of(model)) if on_numbers else ContactSteps()
        return kn.simulate(model, [0.5, -0.3], None, 0.2, dt=dt, **({"integrator": steps} | options)).q[-1]

    soft = arm(30.0, 2.0)
    exact = end(soft, 1e-3, integrator="rk4", contacts=False)
    coarse, fine = (np.abs(end(soft, dt) - exact).max() for dt in (4e-3, 2e-3))
    assert coarse < 0.02
    assert coarse / fine == pytest.approx(2, rel=0.15)
    stiff = arm(1e8, 1e5)
    assert np.abs(end(stiff, 1e-2)).max() < 0.5
