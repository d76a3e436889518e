"""Time stepping with contact, against closed forms (contact, friction, restitution, joints)."""

import math
import warnings

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.integrators.methods.contact_impulses import impulses_of_places
from knuckle.joints import Free, Prismatic
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, solid_box

from ..seeds import quick
from .scenes import RADIUS, G, ball, box, on_plane, placed

STEPS = ContactSteps()


def run(model, q, v, duration, dt=1e-3, **options):
    return kn.rollout(model, q, v, None, dt, duration=duration, integrator=STEPS, **options)


@pytest.mark.parametrize("part", quick([0.98, 0.9, 0.95, 0.99, 0.999], [0.98]))
@pytest.mark.parametrize("size", [(0.2, 0.2, 0.2), (0.2, 0.1, 0.3)])
def test_a_box_on_a_slope_stands_still_below_the_angle_of_friction(part: float, size: tuple[float, float, float]):
    """Corners that carry less than others are at the rims of their cones, and nothing moves."""
    model = on_plane(box(size), friction=0.5, slope=math.atan(0.5 * part))
    motion = run(model, placed(model, (0, 0, size[2] / 2)), np.zeros(6), 1.0)
    assert np.abs(motion.v).max() < 1e-12
    assert np.abs(kn.difference(model, motion.q[0], motion.q[-1])).max() < 1e-14


def test_bodies_that_touch_each_other_and_the_ground():
    """A ball beside a box, both on the ground: of the axes of their contacts one says what others do, and it is solved
    all the same."""
    model = on_plane(box((0.1, 0.2, 0.2), 3.0), ball(2.0), friction=0.3)
    q, rng = placed(model, (0, 0, 0.1), (0.05 + RADIUS, 0.01, RADIUS)), np.random.default_rng(0)
    v = rng.normal(size=(40, 12)) * np.array([1, 1, 1, 0.3, 0.3, 0.3] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as it would say that it is not
        run(model, np.tile(q, (40, 1)), v, 0.05, 5e-3)


def test_beyond_it_it_slides():
    """v = g (sin θ − μ cos θ) t."""
    slope, mu = 0.6, 0.5
    model = on_plane(box(), friction=mu, slope=slope)
    motion = run(model, placed(model, (0, 0, 0.1)), np.zeros(6), 1.0)
    v = G * (math.sin(slope) - mu * math.cos(slope))
    np.testing.assert_allclose(motion.v[-1], [0, 0, 0, v, 0, 0], rtol=0, atol=1e-10 * v)


@pytest.mark.parametrize("mu", [0.15, 0.3])
def test_a_ball_on_a_slope_rolls_where_friction_is_enough(mu: float):
    """It rolls if tan θ ≤ 3.5 μ, with a = 5/7 g sin θ; else it slides."""
    slope = math.atan(0.8)
    model = on_plane(ball(), friction=mu, slope=slope)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.zeros(6), 0.5)
    rolls = 3.5 * mu >= 0.8
    a = 5 / 7 * G * math.sin(slope) if rolls else G * (math.sin(slope) - mu * math.cos(slope))
    turn, speed = motion.v[-1, 1], (kn.velocity(model, motion.q[-1], motion.v[-1], "body0", "aligned"))[3]
    assert speed == pytest.approx(a * 0.5, rel=1e-10)
    assert (turn * RADIUS == pytest.approx(speed, rel=1e-10)) == rolls


def test_a_ball_that_slides_begins_to_roll():
    """Whatever friction is, it rolls with 5/7 of its speed in the end, from t = 2 v / (7 μ g) on."""
    v0, mu = 2.0, 0.4
    model = on_plane(ball(), friction=mu)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.array([0, 0, 0, v0, 0, 0.0]), 0.3)
    along = np.array([kn.velocity(model, q, v, "body0", "aligned")[3] for q, v in zip(motion.q, motion.v, strict=True)])
    assert along[-1] == pytest.approx(5 / 7 * v0, rel=1e-12)
    k = round(2 * v0 / (7 * mu * G) / 1e-3)
    assert along[k - 2] > 5 / 7 * v0 + 1e-4
    assert along[k + 2] == pytest.approx(5 / 7 * v0, rel=1e-12)


@pytest.mark.slow
def test_friction_is_the_same_in_every_direction():
    """A box that slides stops after v²/(2 μ g), straight ahead, whatever way it goes."""
    model = on_plane(box((0.2, 0.2, 1e-4)), friction=0.3)
    ways = np.linspace(0, 2 * np.pi, 8, endpoint=False) + 0.1
    q = np.tile(placed(model, (0, 0, 5e-5)), (8, 1))
    v = np.zeros((8, 6))
    v[:, 3], v[:, 4] = np.cos(ways), np.sin(ways)
    motion = run(model, q, v, 0.5)
    moved = motion.q[:, -1, 4:6]
    length = np.linalg.norm(moved, axis=1)
    np.testing.assert_allclose(np.arctan2(moved[:, 1], moved[:, 0]), np.angle(np.exp(1j * ways)), rtol=0, atol=1e-9)
    assert np.ptp(length) < 1e-9
    assert length[0] == pytest.approx(1 / (2 * 0.3 * G), rel=5e-3)
    assert np.abs(motion.v[:, -1]).max() < 1e-11


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_ball_bounces_by_its_restitution(e: float):
    model = on_plane(ball(), restitution=e)
    motion = run(model, placed(model, (0, 0, RADIUS + 0.2)), np.zeros(6), 0.35)
    strike = np.flatnonzero(np.diff(motion.v[:, 5]) > 0.5)
    before, after = motion.v[strike[0], 5], motion.v[strike[-1] + 1, 5]
    assert before == pytest.approx(-math.sqrt(2 * G * 0.2), abs=0.03)
    assert after == pytest.approx(-e * before, abs=0.02)


@pytest.mark.slow
def test_three_balls_in_a_row_share_a_blow():
    """Moreau's law: all contacts of a blow have one restitution, so that the balls leave with −1/3, 2/3 and 2/3."""
    model = on_plane(ball(), ball(), ball(), friction=0.0, restitution=1.0)
    q = placed(model, (0, 0, 1), (2 * RADIUS, 0, 1), (4 * RADIUS, 0, 1))
    v = np.zeros(18)
    v[3] = 1.0
    motion = run(model.with_gravity((0, 0, 0)), q, v, 1e-3)
    np.testing.assert_allclose(motion.v[-1, 3::6], [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)


def test_bodies_in_flight_keep_their_momentum_when_they_collide():
    model = on_plane(ball(1.0), ball(3.0), friction=0.7, restitution=0.4).with_gravity((0, 0, 0))
    q = placed(model, (0, 0, 5), (0.3, 0.05, 5.02))
    v = np.array([1, -2, 0.5, 1.0, 0.2, 0.1, 0, 3, 1, -2.0, 0, 0.3])
    motion = run(model, q, v, 0.3)
    h0, h1 = (kn.momentum(model, motion.q[k], motion.v[k]) for k in (0, -1))
    assert np.abs(motion.v[-1] - v).max() > 0.5
    np.testing.assert_allclose(h1, h0, atol=1e-12 * np.abs(h0).max() * 100)


@pytest.mark.parametrize(("height", "tips"), [(0.4, False), (0.6, True)])
def test_a_box_that_is_pushed_high_tips(height: float, tips: bool):
    """Pushed by more than μ m g at the height z, a box of half width b tips if z > b/μ: 0.5 here."""
    inertia, shape = box((0.4, 0.4, 1.0))
    model = on_plane((inertia, shape), friction=0.4)
    push = np.zeros((1, 6))
    force = 1.05 * 0.4 * 2.0 * G
    push[0] = [0, (height - 0.5) * force, 0, force, 0, 0]
    motion = run(model, placed(model, (0, 0, 0.5)), np.zeros(6), 0.2, external_forces=lambda model: push)
    assert (abs(motion.v[-1, 1]) > 1e-3) == tips
    assert motion.q[-1, 4] > 1e-3


@pytest.mark.parametrize(
    "shape",
    quick(
        [Box((0.2, 0.2, 0.4)), Capsule(0.1, 0.4), Cylinder(0.1, 0.4), Ellipsoid((0.1, 0.2, 0.3))],
        [Box((0.2, 0.2, 0.4)), Cylinder(0.1, 0.4)],
    ),
)
def test_any_shape_falls_on_the_ground(shape):
    """From a tilted position it falls, and rocks or rolls: no energy comes from nowhere, and nothing sinks in."""
    model = on_plane((solid_box(1.0, (0.2, 0.2, 0.4)), shape), friction=0.8)
    q = kn.integrate(model, kn.neutral(model), np.array([0.4, 0.3, 0, 0, 0, 0.5]))
    motion = run(model, q, np.zeros(6), 4.0)
    energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
    assert np.diff(energy).max() < 2e-3 * np.ptp(energy)
    assert kn.contact.gaps(model, motion.q).min() > -5e-3
    assert isinstance(shape, Ellipsoid) or kn.kinetic_energy(model, motion.q[-1], motion.v[-1]) < 0.05 * np.ptp(energy)


def test_four_feet_carry_the_weight():
    """Which foot carries how much is not determined; all together carry m g."""
    model = on_plane(box(), friction=0.5)
    stepping = kn.simulation.stepper(model, STEPS)
    state = stepping.start(0.0, placed(model, (0, 0, 0.1)), np.zeros(6), 1e-3)
    state = stepping.step(0.0, state, 1e-3)
    impulses = state.memory[0].reshape(4, 3)
    assert impulses[:, 0].sum() == pytest.approx(2.0 * G * 1e-3, rel=1e-12)
    assert (impulses[:, 0] >= 0).all()


@pytest.mark.slow
def test_impulses_are_read_by_place():
    """A ball and a box on the ground: the normal impulses on each body carry its weight."""
    model = on_plane(ball(1.0), box(), friction=0.5)
    stepping = kn.simulation.stepper(model, STEPS)
    state = stepping.start(0.0, placed(model, (-1, 0, RADIUS), (0, 0, 0.1)), np.zeros(12), 1e-3)
    state = stepping.step(0.0, state, 1e-3)
    carried = {0: 0.0, 1: 0.0}
    pairs = kn.contact.contact_pairs(model)
    for pair, _, where in impulses_of_places(model):
        assert pairs[pair].second == -1 or not state.memory[0][where].any()
        carried[pairs[pair].first] += state.memory[0][where][0]
    np.testing.assert_allclose([carried[k] for k in range(2)], np.array([1.0, 2.0]) * G * 1e-3, rtol=1e-10)


def test_dry_friction_and_limits_of_joints_are_solved_with_contacts():
    """A slider on a vertical line: friction f < m g lets it go with g − f/m until its limit stops it for good."""
    model = on_plane((solid_box(2.0, (0.1, 0.1, 0.1)), ()), joint=Prismatic("z"), limits=(-0.5, 0.5), friction=0.5)
    joints = (kn.model.edit.with_joint(model, "body0_joint", friction=4.0)).joints
    model = model.replace(joints=joints)
    steps = ContactSteps(joint_limits=True)
    motion = kn.rollout(model, [0.4], [0.0], None, 1e-3, duration=1.0, integrator=steps)
    k = 200
    assert motion.v[k, 0] == pytest.approx(-(G - 4.0 / 2.0) * k * 1e-3, rel=1e-12)
    assert motion.q[-1, 0] == pytest.approx(-0.5, abs=1e-12)
    assert abs(motion.v[-1, 0]) < 1e-12 / 1e-3  # a gap of 1e-12 closes within a step
    strong = model.replace(joints=kn.model.edit.with_joint(model, "body0_joint", friction=30.0).joints)
    still = kn.rollout(strong, [0.4], [0.0], None, 1e-3, duration=0.2, integrator=steps)
    assert np.abs(still.v).max() < 1e-14
    assert np.abs(still.v[-1]).max() < 1e-17


def test_a_simulation_is_a_rollout():
    model = on_plane(ball(), friction=0.4)
    q, v = placed(model, (0, 0, RADIUS)), np.array([0, 0, 0, 1.0, 0, 0])
    motion = kn.simulate(model, q, v, 0.1, dt=1e-3, integrator=STEPS)
    np.testing.assert_array_equal(motion.q[-1], run(model, q, v, 0.1).q[-1])


def test_shapes_without_a_text_are_named():
    model = on_plane(box(), (solid_box(1.0, (0.2, 0.2, 0.2)), Cylinder(0.1, 0.2)))
    with pytest.raises(kn.ModelError, match="a box of 'body0' and a cylinder of 'body1' cannot be computed"):
        kn.contact.gaps(model, kn.neutral(model))


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_both_ends_of_a_range_stop_a_joint(way: float):
    """A slider between −0.1 and 0.3 m goes to the end that it is sent to, and stays there."""
    b = kn.Builder("slider", gravity=(0, 0, 0))
    b.body("slide", joint=Prismatic("x"), inertia=solid_box(1.0, (0.1, 0.1, 0.1)), limits=(-0.1, 0.3))
    found = kn.rollout(b.build(), [0.05], [2.0 * way], None, 1e-2, steps=40, integrator=ContactSteps(joint_limits=True))
    assert found.q[-1, 0] == pytest.approx(0.3 if way > 0 else -0.1, abs=1e-9)
    assert found.v[-1, 0] == pytest.approx(0.0, abs=1e-9)


def test_impulses_that_are_not_solved_give_no_energy():
    """A box that lands askew on its face, with fewer rounds than that takes; nothing else acts: energy only falls."""
    b = kn.Builder("box", gravity=(0, 0, 0))
    b.ground()
    b.body("box", joint=Free(), mass=1.0, inertia=(0.01, 0.02, 0.03), collisions=Box((0.3, 0.2, 0.1)))
    model, rng, states = b.build(), np.random.default_rng(0), 4096
    tilts, heights = 1e-3 * rng.normal(size=(states, 3)), 0.05 + 1e-4 * rng.normal(size=states)
    moved = np.column_stack([tilts, np.zeros((states, 2)), heights])
    q = np.asarray(kn.integrate(model, np.tile(kn.neutral(model), (states, 1)), moved))
    v = rng.normal(size=(states, 6)) - np.array([0, 0, 0, 0, 0, 1])
    with pytest.warns(RuntimeWarning, match="not solved|residual"):
        motion = kn.rollout(model, q, v, None, 2e-3, steps=1, integrator=ContactSteps(rounds=1, tolerance=0.0))
    before, after = kn.kinetic_energy(model, q, v), kn.kinetic_energy(model, motion.q[:, 1], motion.v[:, 1])
    assert (after <= (1 + 1e-14) * before).all()
