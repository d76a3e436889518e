"""The live simulation of what stands on a floor: contacts, controllers, and a hand that pushes."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.contact.shape_collider import ShapeCollider
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.joints import Free
from knuckle.model import Box, Sphere, solid_box
from knuckle.model.edit import keep_collisions, with_ground
from knuckle.viewer.live.live_mechanism import STEP, Live
from knuckle.viewer.live.live_steps import ColliderLiveSteps, ContactLiveSteps, FreeLiveSteps, standing


def block() -> kn.Model:
    b = kn.Builder("block")
    b.surface("floor", friction=0.5)
    b.ground(surface="floor")
    size = (0.2, 0.2, 0.2)
    b.body("block", joint=Free(), inertia=solid_box(2.0, size), collisions=Box(size), surface="floor")
    return b.build()


def walker() -> kn.Model:
    robot = kn.robots.load("quadruped")
    return with_ground(keep_collisions(robot, lambda body, shape: isinstance(shape.shape, Sphere)), friction=0.8)


def test_steps_are_those_of_simulate():
    """The same motion as `kn.simulate` with the same steps, to rounding: a block that falls, tips and slides."""
    model = block()
    q = np.array([np.cos(0.2), np.sin(0.2), 0, 0, 0, 0, 0.3])
    live = Live(model, q)
    live.hold = False
    for _ in range(20):
        live.advance(0.02)
    motion = kn.simulate(model, q, None, live.time, dt=STEP)
    assert np.allclose(live.q, motion.q[-1], rtol=0, atol=1e-7)
    assert np.allclose(live.v, motion.v[-1], rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_push_slides_a_block_only_beyond_friction():
    """A spring pulls with k d: below μ m g the block stays where it is, above it goes, in every direction alike."""
    model, k = block(), 100.0
    ways = []
    for angle in (0.0, 2.0):
        for share in (0.9, 1.2):
            live = Live(model)
            live.hold, live.stiffness = False, k
            pull = live.grab(0)
            side = np.array([np.cos(angle), np.sin(angle), 0.0])
            live.drag(pull.target + share * 0.5 * 2.0 * 9.81 / k * side)
            live.advance(0.5)
            ways.append(live.q[4:6] @ side[:2])
    assert np.abs(ways[::2]).max() < 1e-9
    assert min(ways[1::2]) > 1e-3
    assert np.ptp(ways[1::2]) < 1e-6


def test_the_choice_is_that_of_simulate():
    assert isinstance(Live(walker()).steps, ContactLiveSteps)
    assert isinstance(Live(kn.robots.load("quadruped")).steps, FreeLiveSteps)
    assert isinstance(Live(walker(), contacts=False).steps, FreeLiveSteps)


def test_nothing_starts_in_the_floor():
    model = walker()
    q = standing(model)
    assert kn.contact.gaps(model, q).min() == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(np.delete(q, 6), np.delete(kn.neutral(model), 6))
    free = kn.robots.load("quadruped")
    assert np.array_equal(standing(free), kn.neutral(free))


@pytest.mark.slow
def test_a_held_quadruped_stands_by_itself_and_is_pushed_over():
    """Its posture is held, not its place: it stands on its feet, slides when pulled, and a hard pull turns it over."""
    model = walker()
    live = Live(model)
    assert live.hold
    for _ in range(50):
        live.advance(0.02)
    assert np.abs(live.v).max() < 1e-3
    assert live.q[6] == pytest.approx(live.start[6], abs=0.02)
    assert -1e-6 < kn.contact.gaps(model, live.q).min() < 1e-6
    pull = live.grab(0)
    live.drag(pull.target + np.array([0.0, 1.5, 0.5]))
    for _ in range(25):
        live.advance(0.02)
    live.release()
    for _ in range(50):
        live.advance(0.02)
    assert kn.pose(model, live.q, "trunk")[2, 2] < 0.7
    live.reset()
    assert np.array_equal(live.q, live.start)
    assert not np.any(live.memory)


@pytest.mark.slow
def test_any_shapes_touch():
    """Shapes without compiled steps go by steps on numbers: a block that is pulled goes the same way by both."""
    model = block()
    live, other = Live(model), Live(model)
    other.steps = ColliderLiveSteps(model, ColliderSteps(ShapeCollider.of(model)))
    other.memory = other.steps.start()
    for one in (live, other):
        one.stiffness = 100.0
        pull = one.grab(0)
        one.drag(pull.target + np.array([0.3, 0.1, 0.0]))
        one.advance(0.3)
    assert np.linalg.norm(live.q[4:6]) > 0.01
    assert np.allclose(live.q, other.q, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_controller_drives_the_joints():
    """Torque of a controller with parameters, kernel and function alike; it can be let go of."""
    model = walker()
    rest = standing(model)

    def held(model, q, v, gain):
        return np.r_[np.zeros(6), gain * (rest[7:] - q[7:]) - 0.01 * gain * v[6:]]

    @kn.kernel
    def kernel(model, q, v, gain):
        return [0.0] * 6 + [
            gain * (float(a) - b) - 0.01 * gain * c for a, b, c in zip(rest[7:], q[7:], v[6:], strict=True)
        ]

    ends = []
    for controller in (held, kernel):
        live = Live(model, controller=controller, parameters={"gain": 300.0})
        assert live.controlled
        assert not live.hold
        for _ in range(25):
            live.advance(0.02)
        ends.append(live.q)
        assert live.q[6] > 0.3
        live.controlled = False
        for _ in range(25):
            live.advance(0.02)
        assert live.q[6] < 0.25
    assert np.allclose(ends[0], ends[1], rtol=0, atol=1e-9)
    with pytest.raises(TypeError, match="needs gain"):
        Live(model, controller=held)


def test_joints_on_a_floor_stop_at_their_limits():
    model = walker()
    live = Live(model)
    live.hold = False
    for _ in range(50):
        live.advance(0.02)
    lower = np.array([joint.limits.lower[0] for joint in model.joints[1:]])
    upper = np.array([joint.limits.upper[0] for joint in model.joints[1:]])
    assert np.all(live.q[7:] > lower - 0.1)
    assert np.all(live.q[7:] < upper + 0.1)
    assert np.all(np.isfinite(live.v))


def test_the_last_step_has_the_contacts_of_a_motion():
    """A block that slides, then stands: forces, points and states are those that `kn.simulate` notes at that row."""
    model = block()
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.1])
    live = Live(model, q)
    assert live.contacts() is None
    live.hold = False
    live.v = np.array([0, 0, 0, 0.5, 0, 0])
    motion = kn.simulate(model, q, live.v, 0.2, dt=STEP)
    states = []
    for _ in range(2):
        live.advance(0.1)
        contacts, same = live.contacts(), motion.contacts.at(round(live.time / STEP))
        assert contacts is not None
        assert len(contacts) == 4
        assert np.allclose(contacts.force.sum(0), same.force.sum(0), rtol=0, atol=1e-6)
        assert np.allclose(contacts.point, same.point, rtol=0, atol=1e-9)
        assert contacts.state.tolist() == same.state.tolist()
        states.append(contacts.state[0])
    assert states == ["slip", "stick"]
    live.reset(np.array([1.0, 0, 0, 0, 0, 0, 0.5]))
    assert live.contacts() is None
    live.advance(0.02)
    assert live.contacts() is not None
    assert not len(live.contacts())  # it falls
    other = Live(model, q, contacts=False)
    other.advance(0.01)
    assert other.contacts() is None
