"""Laws of contact beyond Coulomb's cone: turning and rolling friction, springs, rebound without energy, overlaps."""

import math
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.joints import Free, Prismatic, Revolute
from knuckle.model import Capsule, Model, Sphere, solid_box, solid_sphere
from knuckle.model.surfaces import ContactRules, Surface

from .scenes import RADIUS, G, ball, box, on_plane, placed

STEPS = ContactSteps()


def of(model: Model, **surface: Any) -> Model:
    return model.replace(contact=ContactRules((Surface(**surface),)))


def run(model, q, v, duration, dt=1e-3, integrator=STEPS, **options):
    return kn.rollout(model, q, v, None, dt, duration=duration, integrator=integrator, **options)


def test_a_spinning_ball_stops_by_torsional_friction():
    """ω̇ = −c m g / J about the normal, and it stands still after that."""
    model = of(on_plane(ball()), friction=0.5, torsional=0.01)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.array([0, 0, 5.0, 0, 0, 0]), 0.5)
    J = 0.4 * RADIUS**2
    np.testing.assert_allclose(motion.v[100, 2], 5.0 - 0.01 * G / J * 0.1, rtol=1e-10)
    stops = 5.0 / (0.01 * G / J)
    assert stops < 0.5
    assert np.abs(motion.v[-1]).max() < 1e-12


def test_a_rolling_ball_stops_by_rolling_friction():
    """v̇ = −5/7 g c/r while it rolls: the moment c m g against m r² (1 + 2/5)."""
    c, v0 = 0.005, 0.5
    model = of(on_plane(ball()), friction=0.9, rolling=c)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.array([0, v0 / RADIUS, 0, v0, 0, 0.0]), 2.0)
    speed = kn.velocity(model, motion.q[200], motion.v[200], "body0", "aligned")[3]
    assert speed == pytest.approx(v0 - 5 / 7 * G * c / RADIUS * 0.2, rel=1e-9)
    assert np.abs(motion.v[-1]).max() < 1e-12


def test_rolling_friction_holds_a_ball_on_a_slope():
    """It stays where tan θ < c/r, and rolls beyond."""
    c = 0.02
    for slope, stays in ((0.9 * c / RADIUS, True), (1.1 * c / RADIUS, False)):
        model = of(on_plane(ball(), slope=math.atan(slope)), friction=0.9, rolling=c)
        motion = run(model, placed(model, (0, 0, RADIUS)), np.zeros(6), 0.3)
        assert (np.abs(motion.v[-1]).max() < 1e-12) == stays


def test_torsional_and_rolling_friction_without_sliding_friction():
    model = of(on_plane(ball()), friction=0.0, torsional=0.01, rolling=0.005)
    motion = run(model, placed(model, (0, 0, RADIUS)), np.array([1.0, 0, 2.0, 1.0, 0, 0]), 0.5)
    velocity = kn.velocity(model, motion.q[-1], motion.v[-1], "body0", "aligned")
    assert np.abs(velocity[:3]).max() < 1e-12
    np.testing.assert_allclose(velocity[3:], [1, 0, 0], atol=1e-12)


def test_a_soft_surface_is_a_spring_and_a_damper():
    """At rest it gives way by m g/k, and swings on the way there; implicit steps damp a little more."""
    k, d, m = 2e3, 10.0, 1.0
    model = of(on_plane(ball(m)), stiffness=2 * k, damping=2 * d)  # two of them in series
    motion = run(model, placed(model, (0, 0, RADIUS)), np.zeros(6), 3.0)
    assert motion.q[-1, 6] == pytest.approx(RADIUS - m * G / k, abs=1e-9)
    w, zeta = math.sqrt(k / m), d / (2 * math.sqrt(k * m))

    def error(dt: float) -> float:
        fine = run(model, placed(model, (0, 0, RADIUS)), np.zeros(6), 0.1, dt)
        damped = w * math.sqrt(1 - zeta**2)
        decay = np.exp(-zeta * w * fine.times)
        z = -m * G / k * (1 - decay * (np.cos(damped * fine.times) + zeta * w / damped * np.sin(damped * fine.times)))
        return float(np.abs(fine.q[:, 6] - RADIUS - z).max())

    coarse, fine = error(1e-3), error(1e-4)
    assert fine < 0.15 * coarse
    assert fine < 0.03 * m * G / k


@pytest.mark.slow
def test_stiff_surfaces_come_near_rigid_ones():
    rigid = on_plane(box(), friction=0.4)
    stiff = of(rigid, friction=0.4, stiffness=1e10)
    v = np.array([0, 0, 0, 1.0, 0.3, 0])
    a, b = (run(model, placed(model, (0, 0, 0.1)), v, 0.3) for model in (rigid, stiff))
    np.testing.assert_allclose(a.q, b.q, atol=1e-7)


def rod(angle: float, e: float, mu: float) -> Model:
    """A slender rod in flight, on whose lower end the ground acts."""
    return of(on_plane((solid_box(1.0, (1e-3, 1e-3, 1.0)), Capsule(1e-3, 1.0))), friction=mu, restitution=e)


@pytest.mark.parametrize("angle", [0.3, 0.6, math.pi / 4, 1.0])
@pytest.mark.parametrize("mu", [0.2, 0.8, 2.0])
def test_rebound_makes_no_energy(angle: float, mu: float):
    """Newton's law of restitution with e = 1 would, where friction acts on a rod that comes down at an angle."""
    model = rod(angle, 1.0, mu).with_gravity((0, 0, 0))
    q = kn.integrate(model, kn.neutral(model), np.array([0, angle, 0, 0, 0, 0.0]))
    q[6] = 0.5 * math.cos(angle) + 1e-3
    for push in (-1.0, -0.3, 0.6, 2.0):
        v = np.zeros(6)
        v[3:] = kn.pose(model, q, "body0")[:3, :3].T @ (push, 0.0, -1.0)
        motion = run(model, q, v, 0.01)
        energy = kn.kinetic_energy(model, motion.q, motion.v)
        assert np.abs(motion.v[-1] - v).max() > 0.1
        assert energy.max() <= energy[0] * (1 + 1e-9)


def test_overlaps_go_without_a_velocity():
    """A ball in the ground comes out of it, a fifth of what is left in each step, and stands still there."""
    model = on_plane(ball())
    motion = run(model, placed(model, (0, 0, 0.6 * RADIUS)), np.zeros(6), 0.2)
    depth = RADIUS - motion.q[:, 6]
    np.testing.assert_allclose(depth[1:10], 0.4 * RADIUS * 0.8 ** np.arange(1, 10), rtol=1e-6)
    assert abs(depth[-1]) < 1e-8
    assert np.abs(motion.v).max() < 1e-12


@pytest.mark.slow
def test_many_overlaps_at_once():
    model = on_plane(ball(1.0), ball(1e3), ball(1.0), friction=0.5)
    q = placed(model, (0, 0, 0.08), (0.02, 0.01, 0.2), (0, 0, 0.32))
    motion = run(model, q, np.zeros(18), 2.0)
    gaps = kn.contact.gaps(model, motion.q)
    assert gaps[0].min() < -0.05
    assert gaps[-1].min() > -1e-6
    energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
    out = np.argmax(gaps.min(-1) > -1e-4)
    assert np.diff(energy[out:]).max() < 1e-3 * np.ptp(energy)


@pytest.mark.parametrize("spin", [0.0, 3.0])
def test_extrapolated_steps_are_of_the_second_order(spin: float):
    """In flight, and where a body rolls or swings on contacts that stay."""
    inertia = solid_box(1.0, (0.3, 0.2, 0.1))
    free = on_plane((inertia, Sphere(0.05)), friction=0.8)
    flight = placed(free, (0, 0, 5.0)), np.array([1.0, 2.0, 3.0 + spin, 0.5, 0, 0])
    top = placed(free, (0, 0, 0.05)), np.array([0.5, 3.0, spin, 0.15, -0.025, 0.0])  # it rolls
    for q, v in (flight, top):
        ends = {}
        for steps in (50, 100, 1600):
            ends[steps] = run(free, q, v, 0.2, 0.2 / steps, ContactSteps(extrapolated=True)).q[-1]
        coarse, fine = (np.abs(kn.difference(free, ends[n], ends[1600])).max() for n in (50, 100))
        first = np.abs(kn.difference(free, run(free, q, v, 0.2, 0.2 / 100).q[-1], ends[1600])).max()
        assert coarse / fine > 3.0
        assert fine < 0.1 * first


@pytest.mark.slow
def test_extrapolated_steps_stick_and_strike_as_others_do():
    model = on_plane(box(), friction=0.5, slope=math.atan(0.49))
    still = run(model, placed(model, (0, 0, 0.1)), np.zeros(6), 0.2, integrator=ContactSteps(extrapolated=True))
    assert np.abs(still.v).max() < 1e-11
    model = on_plane(ball(), restitution=0.5)
    motion = run(
        model, placed(model, (0, 0, RADIUS + 0.1)), np.zeros(6), 2.0, integrator=ContactSteps(extrapolated=True)
    )
    energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
    assert np.diff(energy).max() < 1e-3 * np.ptp(energy)
    assert motion.q[-1, 6] == pytest.approx(RADIUS, abs=1e-4)


@pytest.mark.slow
def test_what_cannot_move_is_not_pushed():
    """Contacts across the only way that bodies have, and between bodies that are held, do no harm."""
    b = kn.Builder("rail", gravity=(0, 0, -G))
    b.ground()
    b.body("slider", joint=Prismatic("x"), at=(0, 0, 0.1), inertia=solid_sphere(1.0, 0.1), collisions=Sphere(0.1))
    b.body("wheel", joint=Revolute("z"), at=(1, 0, 0.1), inertia=solid_sphere(1.0, 0.1), collisions=Sphere(0.1))
    b.body("free", joint=Free(), at=(3, 0, 0.1), inertia=solid_sphere(1.0, 0.1), collisions=Sphere(0.1))
    model = b.build()
    v = np.zeros(model.nv)
    v[:2] = 1.0, 2.0
    motion = run(model, None, v, 0.1)
    assert np.isfinite(motion.q).all()
    np.testing.assert_allclose(motion.v[-1, :2], [1.0, 2.0], atol=1e-9)  # no normal force: nothing pushes them down
