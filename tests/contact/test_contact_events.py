"""Rigid contact from event to event (RBDA table 11.1, corrected, with friction): closed forms to rounding."""

import math
import warnings

import numpy as np
import pytest
from tests.seeds import quick

import knuckle as kn
from knuckle.contact import RigidContacts
from knuckle.joints import Fixed, Free, Planar, Prismatic, Revolute
from knuckle.model import Capsule, Geometry, Plane, Sphere, solid_box, solid_sphere
from knuckle.spatial import Transform

from .linkages import parallelogram
from .scenes import RADIUS, G, ball, box, on_plane, placed


def run(model, q, v, duration, **options):
    options = {"contacts": RigidContacts(), "dt": 2e-3} | options
    return kn.simulate(model, q, v, duration, **options)


def times(motion, kind):
    return [event.time for event in motion.events if event.kind == kind]


@pytest.mark.slow
@pytest.mark.parametrize("e", quick([0.3, 0.6], [0.6]))
def test_a_ball_bounces_ever_less_and_comes_to_rest(e: float):
    """It rests from t = √(2H/g) (1 + e)/(1 − e) on."""
    model = on_plane(ball(), restitution=e)
    expected = math.sqrt(2 * 0.3 / G) * (1 + e) / (1 - e)
    motion = run(model, placed(model, (0, 0, 0.3 + RADIUS)), np.zeros(6), 1.1 * expected, dt=5e-3)
    (rest,) = times(motion, "contact")
    assert rest == pytest.approx(expected, abs=1e-11)
    strikes = np.array(times(motion, "impact"))
    expected = math.sqrt(2 * 0.3 / G) * (1 + 2 * np.cumsum(e ** np.arange(1, len(strikes))))
    np.testing.assert_allclose(strikes[1:], expected, atol=1e-11)
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-15)
    assert kn.contact.gaps(model, motion.q[-1])[0] == pytest.approx(0, abs=1e-15)
    assert motion.reason == "finished"


@pytest.mark.slow
def test_a_ball_that_loses_nothing():
    model = on_plane(ball(), restitution=1.0)
    motion = run(model, placed(model, (0, 0, 0.3 + RADIUS)), np.zeros(6), 1.5)
    assert np.ptp(motion.energy) < 1e-12
    assert len(times(motion, "impact")) == 3


@pytest.mark.parametrize("tangent", [0.49, 0.51])
def test_a_box_on_a_slope(tangent: float):
    """It stands below the angle of friction, without any creep; beyond it v = g (sin θ − μ cos θ) t."""
    slope = math.atan(tangent)
    model = on_plane(box(), friction=0.5, slope=slope)
    motion = run(model, placed(model, (0, 0, 0.1)), np.zeros(6), 0.05)
    v = max(0.0, G * (math.sin(slope) - 0.5 * math.cos(slope)) * 0.05)
    np.testing.assert_allclose(motion.v[-1], [0, 0, 0, v, 0, 0], atol=1e-12)
    assert motion.q[-1, 4] == pytest.approx(v * 0.05 / 2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mu", quick([0.15, 0.3], [0.15]))
def test_a_ball_on_a_slope_rolls_where_friction_is_enough(mu: float):
    slope = math.atan(0.8)
    model = on_plane(ball(), friction=mu, slope=slope)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.zeros(6), 0.1, dt=1e-3)
    rolls = 3.5 * mu >= 0.8
    a = 5 / 7 * G * math.sin(slope) if rolls else G * (math.sin(slope) - mu * math.cos(slope))
    speed = kn.velocity(model, motion.q[-1], motion.v[-1], "body0", "aligned")[3]
    assert speed == pytest.approx(a * 0.1, rel=1e-10)
    assert (motion.v[-1, 1] * RADIUS == pytest.approx(speed, rel=1e-10)) == rolls


@pytest.mark.slow
def test_a_ball_that_slides_begins_to_roll():
    """5/7 of its speed, from t = 2 v/(7 μ g) on."""
    v0, mu = 0.5, 0.4
    model = on_plane(ball(), friction=mu)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.array([0, 0, 0, v0, 0, 0.0]), 0.05, dt=5e-4)
    (rolls,) = times(motion, "stick")
    assert rolls == pytest.approx(2 * v0 / (7 * mu * G), abs=1e-11)
    speed = kn.velocity(model, motion.q[-1], motion.v[-1], "body0", "aligned")[3]
    assert speed == pytest.approx(5 / 7 * v0, abs=1e-12)


@pytest.mark.slow
def test_a_box_that_slides_stops():
    """After v/(μ g), v²/(2 μ g) further on, straight ahead."""
    model = on_plane(box(), friction=0.5)
    for way in (0.1, 2.5):
        motion = run(
            model, placed(model, (0, 0, 0.1)), 0.2 * np.array([0, 0, 0, math.cos(way), math.sin(way), 0]), 0.06
        )
        (stops,) = times(motion, "stick")
        assert stops == pytest.approx(0.2 / (0.5 * G), abs=1e-12)
        x, y = motion.q[-1, 4:6]
        assert math.hypot(x, y) == pytest.approx(0.04 / (2 * 0.5 * G), abs=1e-12)
        assert math.atan2(y, x) == pytest.approx(way, abs=1e-9)
        np.testing.assert_allclose(motion.v[-1], 0, atol=1e-15)


@pytest.mark.slow
def test_a_rocking_block_loses_as_housner_says():
    """r = 1 − 1.5 sin² α at each impact, for a block that does not bounce; in between it keeps its energy."""
    b, h = 0.1, 0.4
    model = on_plane(box((2 * b, 1.0, 2 * h)), friction=2.0)
    q = kn.integrate(model, kn.neutral(model), np.array([0, 0.1, 0, 0, 0, 0])).copy()
    q[6] -= kn.contact.gaps(model, q).min()
    motion = run(model, q, np.zeros(6), 0.8)
    strikes = [event for event in motion.events if event.kind == "impact"]
    assert len(strikes) == 2
    for event in strikes:
        ratio = event.v[1] / event.v_before[1]
        assert ratio == pytest.approx(1 - 1.5 * math.sin(math.atan(b / h)) ** 2, abs=1e-8)
    before = motion.times < strikes[0].time
    assert np.ptp(motion.energy[before]) < 1e-10
    assert np.diff(motion.energy).max() < 1e-10
    assert np.abs(kn.contact.gaps(model, motion.q).min(axis=1)).max() < 1e-12


@pytest.mark.parametrize("height", [0.39, 0.41])
def test_a_push_tips_what_it_meets_high_enough(height: float):
    """A box of half width b is tipped by a push at z > b/μ, else it slides."""
    b, mu, mass = 0.2, 0.5, 2.0
    model = on_plane(box((2 * b, 2 * b, 1.0), mass), friction=mu)
    F = 1.001 * mu * mass * G
    motion = run(model, placed(model, (0, 0, 0.5)), np.zeros(6), 0.02,
                 controller=np.array([0, F * (height - 0.5), 0, F, 0, 0]))  # fmt: skip
    assert (motion.v[-1, 1] > 1e-6) == (height > b / mu)
    assert (abs(motion.v[-1, 1]) < 1e-12) == (height < b / mu)


@pytest.mark.slow
def test_a_block_on_a_wedge_that_is_free():
    """a_M = m g sin θ cos θ/(M + m sin² θ)."""
    theta, m, M = 0.5, 1.0, 3.0
    b = kn.Builder("wedge", gravity=(0, 0, -G))
    b.surface("ice", friction=0.0)
    b.body("wedge", joint=Prismatic("x"), inertia=solid_box(M, (1, 1, 1)))
    face = Geometry(Plane((0.0, 0.0)), surface="ice")
    b.body("face", on="wedge", joint=Fixed(), at=dict(rpy=(0, theta, 0)), collisions=face)
    b.body("block", joint=Planar(), at=dict(rpy=(math.pi / 2, 0, 0)), inertia=solid_box(m, (0.2, 0.2, 0.2)),
           collisions=Geometry(Sphere(0.1), surface="ice"))  # fmt: skip
    model = b.build()
    q = kn.integrate(model, kn.neutral(model), np.array([0, 0, 0.1 * math.sin(theta), 0.1 * math.cos(theta)]))
    motion = run(model, q, np.zeros(4), 0.1)
    a = m * G * math.sin(theta) * math.cos(theta) / (M + m * math.sin(theta) ** 2)
    assert motion.v[-1, 0] == pytest.approx(-a * 0.1, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("mu", quick([0.0, 0.5], [0.5]))
def test_a_load_that_goes_around_wakes_redundant_feet(mu: float):
    """The centre of pressure goes around near the corners: feet that were not needed take over, and nothing moves.

    Dropping those whose force vanishes, and no more (table 11.1, step 5), would let the box tip.
    """
    model = on_plane(box((0.4, 0.4, 0.2)), friction=mu)

    def controller(model, t):
        x, y = (0.16 * max(-1, min(1, 1.4 * f(80 * t))) for f in (math.cos, math.sin))
        return 2 * G * np.array([-y, x, 0, 0, 0, 0])

    motion = run(model, placed(model, (0, 0, 0.1)), np.zeros(6), 0.08, controller=controller)
    assert motion.reason == "finished"
    assert np.abs(motion.v).max() < 1e-12


def growing(model, rate, row):
    """A force at one velocity variable that grows with time."""

    def controller(model, t):
        tau = np.zeros(model.nv)
        tau[row] = rate * t
        return tau

    return controller


@pytest.mark.slow
def test_a_force_that_grows_begins_to_push_a_box_along():
    """Four feet, of which forces are not determined: it slides when the force is μ m g, not before."""
    model = on_plane(box(), friction=0.4)
    motion = run(model, placed(model, (0, 0, 0.1)), np.zeros(6), 0.1, controller=_sideways(100.0))
    (slip,) = times(motion, "slip")
    assert slip == pytest.approx(0.4 * 2.0 * G / 100, abs=1e-7)
    t = 0.1 - slip
    assert motion.v[-1, 3] == pytest.approx(100 / 2 * t * t / 2, rel=1e-4)


def _sideways(rate):
    """A force through the ground's height, so that it does not tip."""

    def controller(model, t):
        return np.array([0, -0.1 * rate * t, 0, rate * t, 0, 0])

    return controller


@pytest.mark.slow
def test_a_force_that_grows_lifts_a_ball():
    model = on_plane(ball())
    motion = run(model, placed(model, (0, 0, RADIUS)), np.zeros(6), 0.2, controller=growing(model, 100.0, 5))
    (lift,) = times(motion, "release")
    assert lift == pytest.approx(G / 100, abs=1e-11)
    t = 0.2 - lift
    assert motion.v[-1, 5] == pytest.approx(100 * t * t / 2, abs=1e-10)


@pytest.mark.slow
def test_a_capsule_lies_on_two_points_and_rolls():
    """Line contact by its ends: with r ω = v it rolls down a slope with a = g sin θ/(1 + I/(m r²))."""
    slope, r = 0.2, 0.1
    inertia = solid_box(1.0, (0.1, 0.4, 0.1))
    model = on_plane((inertia, Capsule(r, 0.4)), friction=0.8, slope=slope)
    q = kn.integrate(model, kn.neutral(model), np.array([math.pi / 2, 0, 0, 0, 0, 0])).copy()
    q[6] -= kn.contact.gaps(model, q).min()
    motion = run(model, q, np.zeros(6), 0.1)
    I = kn.mass_matrix(model, kn.neutral(model))[2, 2]
    speed = kn.velocity(model, motion.q[-1], motion.v[-1], "body0", "aligned")[3]
    assert speed == pytest.approx(0.1 * G * math.sin(slope) / (1 + I / r**2), rel=1e-9)
    np.testing.assert_allclose(kn.contact.gaps(model, motion.q), 0, atol=1e-12)


@pytest.mark.slow
def test_free_balls_keep_their_momentum():
    b = kn.Builder("balls", gravity=(0, 0, 0))
    b.surface("felt", friction=0.2, restitution=0.8)
    for name, mass in (("one", 1.0), ("two", 3.0)):
        b.body(name, joint=Free(), inertia=solid_sphere(mass, 0.1), collisions=Sphere(0.1), surface="felt")
    model = b.build()
    q = placed(model, (0, 0, 0), (0.5, 0.08, 0))
    v = np.array([0, 0, 2, 3, 0, 0, 0, 1, 0, 0, 0, 0.0])
    motion = run(model, q, v, 0.2, dt=2e-4)
    assert len(times(motion, "impact")) == 1
    momenta = np.array([kn.momentum(model, *x) for x in zip(motion.q, motion.v, strict=True)])
    assert np.ptp(momenta[:, 3:], axis=0).max() < 1e-13
    assert np.ptp(momenta, axis=0).max() < 1e-12
    assert np.diff(motion.energy).max() < 1e-12


@pytest.mark.slow
def test_a_double_pendulum_on_a_wall():
    """ΔT = −½ (1 − e²) ζ²/(J H⁻¹ Jᵀ) at each impact, nothing between them."""
    b = kn.Builder("double", gravity=(0, 0, -9.81))
    b.surface("steel", friction=0.0, restitution=0.5)
    b.ground(normal=(-1, 0, 0), height=-0.3, surface="steel")
    rod = solid_box(1.0, (0.1, 0.1, 0.5))
    b.body("upper", joint=Revolute("y"), inertia=rod)
    tip = Geometry(Sphere(0.1), Transform.translation((0, 0, -0.5)), surface="steel")
    b.body("lower", on="upper", joint=Revolute("y"), at=(0, 0, -0.5), inertia=rod, collisions=tip)
    model = b.build()
    motion = run(model, np.array([0.4, 0.2]), np.array([-1.0, -2.0]), 1.0)
    strikes = [event for event in motion.events if event.kind == "impact"]
    assert strikes
    for event in strikes:
        J, H = kn.contact.contact_jacobian(model, event.q)[0, 0], kn.mass_matrix(model, event.q)
        loss = -0.5 * 0.75 * (J @ event.v_before) ** 2 / (J @ np.linalg.solve(H, J))
        after, before = (kn.kinetic_energy(model, event.q, v) for v in (event.v, event.v_before))
        assert after - before == pytest.approx(loss, abs=1e-12)
    assert np.diff(motion.energy).max() < 1e-10


@pytest.mark.parametrize(("order", "after"), [("simultaneous", (-1 / 3, 2 / 3, 2 / 3)), ("sequential", (0, 0, 1))])
def test_three_balls_in_a_row(order, after):
    """Those that are closed by a blow bounce as those that strike; the second pair had no velocity before."""
    model = on_plane(ball(), ball(), ball(), friction=0.0, restitution=1.0).with_gravity((0, 0, 0))
    q, v = placed(model, (0, 0, 1), (2 * RADIUS, 0, 1), (4 * RADIUS, 0, 1)), np.zeros(18)
    v[3] = 1.0
    motion = run(model, q, v, 2e-3, contacts=RigidContacts(order=order))
    np.testing.assert_allclose(motion.v[-1, 3::6], after, atol=1e-12)


@pytest.mark.slow
def test_a_closed_loop_falls_on_the_floor():
    """A parallelogram bounces and comes to rest; its loop stays closed."""
    model, q, _ = parallelogram(friction=0.0)
    start = q + 0.05 * np.array([1, -1, 1])
    motion = run(model, start, np.zeros(3), 0.9)
    assert len(times(motion, "impact")) > 3
    assert times(motion, "contact")
    np.testing.assert_allclose(np.abs(motion.q[-1]), np.abs(q), atol=1e-9)
    assert np.abs(motion.v[-1]).max() < 1e-12
    assert np.abs(kn.loops.error(model, motion.q)).max() < 1e-10
    assert np.diff(motion.energy).max() < 1e-9


def falling_box(duration):
    model = on_plane(box((0.4, 0.2, 0.1)), friction=0.5, restitution=0.5)
    q = kn.integrate(model, kn.neutral(model), np.array([0.4, 0.3, 0.2, 0, 0, 0.3]))
    return model, run(model, q, np.array([1, 2, 3, 0.5, 0.2, 0.0]), duration)


@pytest.mark.slow
def test_a_box_that_tumbles_gains_no_energy():
    model, motion = falling_box(0.3)
    assert times(motion, "impact")
    assert np.diff(motion.energy).max() < 1e-10
    assert kn.contact.gaps(model, motion.q).min() > -1e-9


@pytest.mark.slow
def test_a_box_that_tumbles_comes_to_rest():
    model, motion = falling_box(1.5)
    assert motion.reason == "finished"
    assert np.diff(motion.energy).max() < 1e-10
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-12)
    np.testing.assert_allclose(kn.contact.gaps(model, motion.q[-1]), 0, atol=1e-12)


def test_friction_that_wedges_is_a_status():
    """Painlevé's rod: pushed along on its end, steep friction has no answer; the run says so and ends."""
    model = on_plane((solid_box(1.0, (0.02, 0.02, 1.0)), Capsule(0.01, 1.0)), friction=2.5)
    q = kn.integrate(model, kn.neutral(model), np.array([0, 0.6, 0, 0, 0, 0])).copy()
    q[6] -= kn.contact.gaps(model, q).min()
    axes = kn.pose(model, q, "body0")[:3, :3]
    ends = set()
    for side in (1.0, -1.0):
        v = np.concatenate([np.zeros(3), axes.T @ [side, 0, 0]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            motion = run(model, q, v, 0.01)
        assert np.isfinite(motion.v).all()
        ends.add((motion.reason, "wedges" in motion.message))
    assert ends == {("stalled", True), ("finished", False)}


@pytest.mark.slow
def test_adaptive_steps():
    model = on_plane(ball(), restitution=0.5)
    motion = run(model, placed(model, (0, 0, 0.3 + RADIUS)), np.zeros(6), 0.8, integrator="adaptive")
    (rest,) = times(motion, "contact")
    assert rest == pytest.approx(math.sqrt(2 * 0.3 / G) * 3, abs=1e-11)


def test_bodies_that_overlap_and_wrong_arguments_are_errors():
    model = on_plane(ball())
    with pytest.raises(ValueError, match="overlap"):
        run(model, placed(model, (0, 0, 0.05)), np.zeros(6), 0.1)
    with pytest.raises(ValueError, match="rest_speed"):
        RigidContacts(rest_speed=0.0)
    with pytest.raises(ValueError, match="law"):
        RigidContacts(law="soft")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_run_goes_on_from_a_checkpoint(tmp_path):
    """To the last bit, with what holds at that moment; and only with the same contacts."""
    model = on_plane(ball(), friction=0.2, restitution=0.3)
    q, v = placed(model, (0, 0, RADIUS + 0.01)), np.array([0, 0, 0, 1.0, 0, 0])
    whole = run(model, q, v, 0.15)
    folder = tmp_path / "run"

    def interrupted(part):
        if part > 0.6:
            raise KeyboardInterrupt

    first = run(model, q, v, 0.15, checkpoint=folder, checkpoint_every=0.0, progress=interrupted)
    assert first.reason == "interrupted"
    assert first.times[-1] < 0.15
    with pytest.raises(ValueError, match="contacts"):
        run(model, q, v, 0.15, contacts=RigidContacts(law="newton"), checkpoint=folder, resume=True)
    rest = run(model, q, v, 0.15, checkpoint=folder, resume=True)
    np.testing.assert_array_equal(rest.q, whole.q)
    assert [event.time for event in rest.events] == [event.time for event in whole.events]
