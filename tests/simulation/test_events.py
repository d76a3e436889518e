"""Events: when they occur, in which order, and what follows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knuckle as kn
from knuckle.joints import Prismatic
from knuckle.simulation.crossings import root
from knuckle.simulation.events.event import events_from

G = 9.81


def ball(limits=None):
    builder = kn.Builder("ball")
    builder.body("ball", joint=Prismatic("z"), mass=2.0, limits=limits, joint_name="height")
    return builder.build()


def height(t, q, v):
    return q[0]


# the root finder


@given(st.floats(-0.999, 0.999), st.integers(1, 9), st.floats(1e-3, 1e3), st.sampled_from([-1, 1]))
@settings(max_examples=200, deadline=None)
def test_root_is_found_to_the_last_digits(place, power, scale, sign):
    def g(x):
        return sign * scale * (math.copysign(abs(x - place) ** power, x - place) + (x - place))

    found = root(g, -1.0, 1.0, g(-1.0), g(1.0))
    assert abs(found - place) <= 8 * math.ulp(1.0)


def test_root_takes_few_evaluations():
    calls = []

    def g(x):
        calls.append(x)
        return math.cos(x) - x

    assert root(g, 0.0, 1.0, 1.0, math.cos(1.0) - 1.0) == pytest.approx(0.7390851332151607, abs=2e-16)
    assert len(calls) < 14


def test_root_at_an_end():
    assert root(lambda x: x, 0.0, 1.0, 0.0, 1.0) == 0.0
    assert root(lambda x: x - 1, 0.0, 1.0, -1.0, 0.0) == 1.0


def test_root_of_a_step():
    found = root(lambda x: -1.0 if x < 1 / 3 else 1.0, 0.0, 1.0, -1.0, 1.0)
    assert abs(found - 1 / 3) < 1e-15


# free fall, in closed form


@pytest.mark.parametrize("integrator", ["rk4", "heun", "adaptive", "variational"])
@pytest.mark.parametrize("dt", [0.1, 0.013])
def test_fall_ends_at_the_floor(integrator, dt):
    motion = kn.simulate(
        ball(), [1.0], [0.7], 3.0, dt=dt, integrator=integrator, events=kn.simulation.Event(height, stop=True)
    )
    exact = (0.7 + math.sqrt(0.7**2 + 2 * G)) / G  # the step's own parabola is the true one
    assert motion.reason == "event"
    assert motion.message == f"event 'height' at t = {exact:.9g} s"
    assert motion.times[-1] == pytest.approx(exact, abs=1e-13)
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-13)
    assert motion.v[-1, 0] == pytest.approx(0.7 - G * exact, abs=1e-12)
    (occurrence,) = motion.events
    assert (occurrence.time, occurrence.name, occurrence.kind) == (motion.times[-1], "height", "event")
    assert np.array_equal(occurrence.q, motion.q[-1])


def test_directions():
    def level(t, q, v):
        return q[0] - 0.5

    def times(direction):
        event = kn.simulation.Event(level, direction=direction)
        return [o.time for o in kn.simulate(ball(), [0.0], [5.0], 1.0, dt=0.03, events=event).events]

    up, down = (5 - math.sqrt(25 - G)) / G, (5 + math.sqrt(25 - G)) / G
    assert times(1) == pytest.approx([up], abs=1e-13)
    assert times(-1) == pytest.approx([down], abs=1e-13)
    assert times(0) == pytest.approx([up, down], abs=1e-13)


def test_several_events_in_one_step_are_in_order():
    levels = {f"below {x}": (lambda t, q, v, x=x: q[0] - x) for x in (0.2, 0.9, 0.5)}
    motion = kn.simulate(ball(), [1.0], None, 1.0, dt=1.0, events=levels)
    assert [o.name for o in motion.events] == ["below 0.9", "below 0.5", "below 0.2"]
    assert [o.time for o in motion.events] == pytest.approx([math.sqrt(2 * (1 - x) / G) for x in (0.9, 0.5, 0.2)])


def test_simultaneous_events_are_all_recorded_and_the_stop_comes_last():
    events = [
        kn.simulation.Event(height, "first", stop=True),
        kn.simulation.Event(height, "second"),
        kn.simulation.Event(height, "third", -1),
    ]
    motion = kn.simulate(ball(), [1.0], None, 1.0, dt=0.1, events=events)
    assert sorted(o.name for o in motion.events) == ["first", "second", "third"]
    assert len({o.time for o in motion.events}) == 1
    assert motion.message.startswith("event 'first'")


def test_the_earlier_of_two_stops_counts():
    later = kn.simulation.Event(height, "floor", stop=True)
    sooner = kn.simulation.Event(lambda t, q, v: t - 0.21, "clock", stop=True)
    motion = kn.simulate(ball(), [1.0], None, 1.0, dt=0.5, events=[later, sooner])
    assert [o.name for o in motion.events] == ["clock"]
    assert motion.times[-1] == pytest.approx(0.21, abs=1e-15)


# at the start


def test_zero_at_the_start_is_recorded_and_does_not_stop():
    rising, falling = (kn.simulation.Event(height, name, d, stop=True) for name, d in (("up", 1), ("down", -1)))
    motion = kn.simulate(ball(), [0.0], [3.0], 2.0, dt=0.01, events=[rising, falling])
    assert (motion.events[0].name, motion.events[0].time) == ("up", 0.0)
    assert motion.events[-1].name == "down"
    assert motion.times[-1] == pytest.approx(6 / G, abs=1e-12)


def test_zero_at_the_start_in_the_other_direction_is_nothing():
    motion = kn.simulate(ball(), [0.0], [3.0], 0.1, dt=0.01, events=kn.simulation.Event(height, direction=-1))
    assert motion.events == ()


def test_a_value_that_is_zero_at_the_end_of_a_step_counts_once():
    motion = kn.simulate(
        ball(), [1.0], None, 1.0, dt=0.25, events=kn.simulation.Event(lambda t, q, v: t - 0.5, "clock")
    )
    assert [o.time for o in motion.events] == [0.5]


# what events do


def test_watching_changes_nothing():
    model = kn.robots.load("double_pendulum")
    alone = kn.simulate(model, [1.0, 0.5], None, 1.0)
    watched = kn.simulate(
        model, [1.0, 0.5], None, 1.0, events={"low": lambda t, q, v: q[0], "slow": lambda t, q, v: v[1]}
    )
    assert len(watched.events) >= 4
    assert np.array_equal(alone.q, watched.q)
    assert np.array_equal(alone.v, watched.v)


def test_an_action_that_reflects_is_a_stop_with_restitution():
    def bounce(t, q, v):
        return np.zeros(1), -0.6 * v

    event = kn.simulation.Event(height, direction=-1, action=bounce)
    acted = kn.simulate(ball(), [1.0], None, 1.3, dt=0.05, events=event)
    stopped = kn.simulate(ball((0.0, math.inf)), [1.0], None, 1.3, dt=0.05, joint_limits=kn.simulation.RigidStops(0.6))
    assert [o.time for o in acted.events] == pytest.approx([o.time for o in stopped.events], abs=1e-12)
    assert np.allclose(acted.q, stopped.q, atol=1e-12)
    assert np.allclose(acted.v, stopped.v, atol=1e-11)


def test_an_action_may_only_look():
    seen = []
    event = kn.simulation.Event(height, action=lambda t, q, v: seen.append(t))
    motion = kn.simulate(ball(), [1.0], None, 1.0, dt=0.01, events=event)
    assert seen == [o.time for o in motion.events]
    assert np.array_equal(motion.q, kn.simulate(ball(), [1.0], None, 1.0, dt=0.01).q)


def test_a_sign_that_changes_in_an_impact_is_an_event():
    turning = kn.simulation.Event(lambda t, q, v: v[0], "turning", direction=1)
    motion = kn.simulate(
        ball((0.0, math.inf)), [1.0], None, 0.6, dt=0.01, joint_limits=kn.simulation.RigidStops(0.5), events=turning
    )
    impact, turn = motion.events
    assert (impact.kind, turn.name) == ("impact", "turning")
    assert impact.time == turn.time
    assert turn.v[0] == pytest.approx(-0.5 * turn.v_before[0], rel=1e-12)


@pytest.mark.slow
def test_events_of_a_tumbling_body_follow_the_manifold():
    model = kn.Builder("body")
    model.body("body", joint=kn.joints.Free(), mass=1.0, inertia=(0.1, 0.2, 0.3))
    body = model.build().with_gravity((0, 0, 0))
    v0 = np.array([0.3, 4.0, 0.2, 0.1, 0.0, 0.2])

    def upside(t, q, v):
        _, x, y, _ = q[:4]
        return 1 - 2 * (x * x + y * y)  # cosine of the tilt

    coarse, fine = (
        [o.time for o in kn.simulate(body, None, v0, 2.0, dt=dt, events=upside).events] for dt in (2e-2, 1e-3)
    )
    assert len(fine) >= 2
    assert coarse == pytest.approx(fine, abs=1e-6)  # dt⁴ = 1.6e-7


# how they are given


def test_forms_of_events():
    event = kn.simulation.Event(height, direction=1)
    assert events_from(None) == ()
    assert events_from(height)[0].name == "height"
    assert events_from(event) == (event,)
    assert [e.name for e in events_from([height, event])] == ["height", "height"]
    (named,) = events_from({"floor": event})
    assert (named.name, named.direction) == ("floor", 1)


def test_wrong_events():
    with pytest.raises(TypeError, match=r"an event needs a function g\(t, q, v\), not 3"):
        kn.simulation.Event(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"direction is 1 \(rising\), -1 \(falling\) or 0 \(both\), not 2"):
        kn.simulation.Event(height, direction=2)
    with pytest.raises(TypeError, match=r"event 'pair' gives .*, and should give one number"):
        kn.simulate(ball(), events={"pair": lambda t, q, v: (1, 2)})
    with pytest.raises(ValueError, match=r"the action of event 'height' gives v of shape \(2,\), not \(1,\)"):
        kn.simulate(ball(), [1.0], events=kn.simulation.Event(height, action=lambda t, q, v: ([0.0], [1.0, 2.0])))
    with pytest.raises(TypeError, match=r"the action of event 'height' gives 5"):
        kn.simulate(ball(), [1.0], events=kn.simulation.Event(height, action=lambda t, q, v: 5))


@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
@pytest.mark.parametrize("stops", [None, "rigid"])
def test_a_function_that_gives_nan_is_an_error(integrator, stops):
    """NaN has no sign: the event would never occur, and nobody would know. The error names it and the time."""

    def distance(t, q, v):
        return math.nan if q[0] < 0.5 else q[0]

    with pytest.raises(ValueError, match=r"event 'distance' gives NaN at t = 0\.3\d* s"):
        kn.simulate(
            ball(limits=(-9.0, 9.0)), [1.0], None, 1.0, integrator=integrator, events=distance, joint_limits=stops
        )
    with pytest.raises(ValueError, match=r"event 'low' gives NaN at t = 0 s"):
        kn.simulate(ball(), [0.4], None, 1.0, events={"low": distance})


def test_infinity_has_a_sign():
    found = kn.simulate(ball(), [1.0], None, 1.0, events=lambda t, q, v: math.inf if q[0] > 0.5 else -1.0)
    assert [o.time for o in found.events] == [pytest.approx(math.sqrt(1 / G), abs=1e-9)]


def test_an_action_that_gives_nan_is_an_error():
    event = kn.simulation.Event(height, action=lambda t, q, v: (q, [math.nan]))
    with pytest.raises(
        ValueError, match=r"the action of event 'height' at t = 0\.45\d* s gives a v that is not finite"
    ):
        kn.simulate(ball(), [1.0], None, 1.0, events=event)


# twice within a step


@pytest.mark.parametrize(
    ("integrator", "dt"), [("rk4", 0.01), ("heun", 0.01), ("variational", 0.01), ("adaptive", None)]
)
@pytest.mark.parametrize("apex", [0.105, 0.1093, 0.005, 0.2])
def test_a_function_that_passes_zero_and_comes_back_within_a_step(integrator, dt, apex):
    """A ball thrown to its highest point, which is above a line by less than it falls in half a step."""
    rise = 2e-6
    before = math.sqrt(2 * rise / 9.81)
    events = {
        "line": lambda t, q, v: q[0] - (9.81 * apex**2 / 2 - rise),
        "down": kn.simulation.Event(lambda t, q, v: q[0] - (9.81 * apex**2 / 2 - rise), direction=-1),
    }
    motion = kn.simulate(ball(), [0.0], [9.81 * apex], 0.4, dt=dt, integrator=integrator, events=events, progress=False)
    assert [o.time for o in motion.occurrences("line")] == pytest.approx([apex - before, apex + before], abs=1e-9)
    assert [o.time for o in motion.occurrences("down")] == pytest.approx([apex + before], abs=1e-9)


@pytest.mark.parametrize("apex", np.linspace(0.001, 0.399, 41))
def test_a_function_that_comes_near_to_zero_is_no_event(apex):
    motion = kn.simulate(
        ball(),
        [0.0],
        [9.81 * apex],
        0.4,
        dt=0.01,
        events=lambda t, q, v: q[0] - (9.81 * apex**2 / 2 + 1e-9),
        progress=False,
    )
    plain = kn.simulate(ball(), [0.0], [9.81 * apex], 0.4, dt=0.01, progress=False)
    assert not motion.events
    assert np.array_equal(motion.q, plain.q)
